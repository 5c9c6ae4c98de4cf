"""A Python with the project's dependencies that another user can run.

The one that runs the tests often cannot be: it may lie below root's home. Then a virtual
environment of the system's Python is made beside the testbed that borrows the packages.
"""

from __future__ import annotations

import hashlib
import os
import pwd
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Iterator
from pathlib import Path

from cluster.installation import CACHE, UnavailableError, locked

CHECKOUT = Path(__file__).resolve().parents[3]
SYSTEM = Path("/usr/bin/python3")
CODE = ("src", "workflows", "stagers", "viz", "cluster_configs")


def provide(folder: Path, user: pwd.struct_passwd) -> Path:
    """The interpreter, with the packages' programs beside it. Raises UnavailableError."""
    own = Path(sys.executable)
    works = _try(user, [str(own), "-c", "import burstlens, parsl; print(burstlens.__file__)"])
    if works and Path(works).is_relative_to(CHECKOUT):
        return own
    if not SYSTEM.exists():
        raise UnavailableError(f"{user.pw_name} cannot run {own}, and there is no {SYSTEM}")
    packages, programs = Path(sysconfig.get_path("purelib")), Path(sysconfig.get_path("scripts"))
    same = _try(user, [str(SYSTEM), "-c", "import sys; print(sys.version_info[:2])"])
    if same != str(sys.version_info[:2]) or not _readable(user, packages / "parsl"):
        packages, programs = _installed(same)
    code = CHECKOUT / "src"
    if not _readable(user, code / "burstlens" / "workflows"):
        code = _copy(folder / "code")
    return _linked(folder / "venv", [packages, code], [own.parent, programs])


def _linked(venv: Path, packages: list[Path], programs: list[Path]) -> Path:
    """An environment of the system's Python that sees these packages and has these programs."""
    subprocess.run([SYSTEM, "-m", "venv", "--without-pip", venv], check=True, timeout=60)
    python = venv / "bin" / "python3"
    lines = [f"import site; site.addsitedir({str(path)!r})" for path in packages]
    site = next((venv / "lib").glob("python3.*/site-packages"))
    (site / "borrowed.pth").write_text("\n".join([*lines, ""]))
    for path, text in _python_programs(programs):
        target = venv / "bin" / path.name
        target.write_text(f"#!{python}\n{text}")
        target.chmod(0o755)
    return python


def _python_programs(folders: list[Path]) -> Iterator[tuple[Path, str]]:
    for folder in folders:
        for path in folder.iterdir():
            if path.is_symlink() or not path.is_file():
                continue
            with path.open("rb") as stream:
                first = stream.readline(256)
            if first.startswith(b"#!") and b"python" in first:
                yield path, path.read_text().partition("\n")[2]


def _installed(version: str) -> tuple[Path, Path]:
    """The dependencies in an environment that is kept between test runs: minutes, once."""
    if tuple(map(int, version.strip("()").split(","))) < (3, 11):
        raise UnavailableError(f"{SYSTEM} is {version}, Burstlens needs 3.11")
    wanted = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]["dependencies"]
    key = hashlib.sha256(repr((version, wanted)).encode()).hexdigest()[:16]
    venv = CACHE / f"dependencies-{key}"
    with locked("dependencies"):
        if not venv.exists():
            made = venv.with_suffix(".new")
            shutil.rmtree(made, ignore_errors=True)
            subprocess.run([SYSTEM, "-m", "venv", "--without-pip", made], check=True)
            pip = [sys.executable, "-m", "pip", "--python", made / "bin" / "python3", "install"]
            done = subprocess.run([*pip, "--quiet", *wanted], capture_output=True, text=True)
            if done.returncode:
                raise UnavailableError(
                    f"no dependencies for {SYSTEM}: {done.stderr.strip()[-300:]}"
                )
            made.rename(venv)
    return next((venv / "lib").glob("python3.*/site-packages")), venv / "bin"


def _copy(folder: Path) -> Path:
    for name in CODE:
        shutil.copytree(CHECKOUT / name, folder / name, symlinks=True)
    return folder / "src"


def _readable(user: pwd.struct_passwd, path: Path) -> bool:
    return _try(user, ["/usr/bin/test", "-r", str(path), "-a", "-x", str(path)]) is not None


def _try(user: pwd.struct_passwd, words: list[str]) -> str | None:
    """What a program of that user says, None if it fails."""
    try:
        done = subprocess.run(
            words, user=user.pw_uid, group=user.pw_gid, extra_groups=[], cwd="/",
            env={"PATH": os.defpath, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None
