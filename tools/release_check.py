"""Check a release before it is tagged: ``make release-check``.

Builds the source distribution, and the wheel both from the tree and from that source distribution;
they must be equal. Checks the metadata, installs the wheel with its extras into a bare virtual
environment outside the tree, and runs the demo there, in an empty folder with a home of its own.
What was checked is then in dist/; everything else is deleted. Exit code 1, with one line that says
what is wrong, when a step fails.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from packaging.metadata import Metadata

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = "[movie,serve]"
PNG_BEGIN, PNG_END = b"\x89PNG\r\n\x1a\n", b"IEND\xaeB`\x82"


class CheckError(Exception):
    """The release cannot be made; the message says why, in one line."""


def build(folder: Path) -> tuple[Path, Path]:
    """The source distribution and the wheel. Raises CheckError when they disagree."""
    make = [sys.executable, "-m", "build", "--no-isolation"]
    run([*make, "--wheel", "--outdir", str(folder / "tree"), str(ROOT)])
    # Without --wheel the wheel is built from the source distribution, as packagers build it.
    run([*make, "--outdir", str(folder / "sdist"), str(ROOT)])
    [source] = (folder / "sdist").glob("*.tar.gz")
    [direct], [indirect] = (folder / "tree").glob("*.whl"), (folder / "sdist").glob("*.whl")
    if unequal := differences(direct, indirect):
        raise CheckError(
            f"the wheel from the tree and the one from {source.name} differ in {listed(unequal)}"
        )
    return source, direct


def differences(one: Path, other: Path) -> set[str]:
    """Names of the files that only one of two wheels holds, or that differ in content."""
    contents = [
        {(entry.filename, entry.CRC) for entry in zipfile.ZipFile(wheel).infolist()}
        for wheel in (one, other)
    ]
    return {name for name, _ in contents[0] ^ contents[1]}


def check_metadata(source: Path, wheel: Path) -> Metadata:
    """The wheel's metadata. Raises CheckError when an index or a reader could not use it."""
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        written = archive.read(name)
    try:
        metadata = Metadata.from_email(written, validate=True)
    except ExceptionGroup as faults:
        raise CheckError(f"metadata: {'; '.join(map(str, faults.exceptions))}") from faults
    if metadata.description_content_type != "text/markdown":
        raise CheckError("metadata: the description is not declared as text/markdown")
    if metadata.description != (ROOT / "README.md").read_text(encoding="utf-8"):
        raise CheckError("metadata: the description is not README.md")
    with tarfile.open(source) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    if missing := {"LICENSE", "README.md", "pyproject.toml"} - packed:
        raise CheckError(f"{source.name} lacks {listed(missing)}")
    return metadata


def install(wheel: Path, folder: Path) -> Path:
    """The folder of the programs of a bare virtual environment with the wheel and its extras."""
    run([sys.executable, "-m", "venv", str(folder)])
    pip = [str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check"]
    run([*pip, "install", "--quiet", f"{wheel}{EXTRAS}"])
    return folder / "bin"


def check_demo(programs: Path, version: str, folder: Path) -> int:
    """Run the demo from an installation. Returns its pictures; raises CheckError without them."""
    home, empty, runs = folder / "home", folder / "empty", folder / "runs"
    for made in (home, empty):
        made.mkdir()
    environment = {
        "HOME": str(home),
        "PATH": f"{programs}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "BURSTLENS_RUNS": str(runs),
    }
    burstlens = str(programs / "burstlens")
    printed = run([burstlens, "--version"], empty, environment).strip()
    if printed != f"burstlens {version}":
        raise CheckError(f'the wheel is version {version}, the program prints "{printed}"')
    run([burstlens, "demo", "--name", "demo"], empty, environment, shown=True)
    run([burstlens, "movie", "demo"], empty, environment)
    products = runs / "demo" / "products"
    pictures = sorted((products / "ground").glob("*.png"))
    if not pictures:
        raise CheckError("the demo has published no picture")
    if broken := {picture.name for picture in pictures if not is_png(picture.read_bytes())}:
        raise CheckError(f"not PNG pictures: {listed(broken)}")
    if not (empty / "demo-ground.mp4").is_file():
        raise CheckError("`burstlens movie` has made no movie of the demo")
    return len(pictures)


def is_png(content: bytes) -> bool:
    """Whether a picture begins and ends as a PNG file does."""
    return content.startswith(PNG_BEGIN) and content.endswith(PNG_END)


def run(
    command: Sequence[str],
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    *,
    shown: bool = False,
) -> str:
    """Run a command to its end; returns its output, unless that is ``shown`` as it comes.

    Raises CheckError when it fails, after its output was printed.
    """
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, text=True,
        stdout=None if shown else subprocess.PIPE, stderr=None if shown else subprocess.STDOUT,
    )  # fmt: skip
    try:
        output, _ = process.communicate()
    except KeyboardInterrupt:
        process.wait()  # it got Ctrl-C as well: a demo releases its buffer
        raise
    if process.returncode:
        print(output or "", end="", file=sys.stderr)
        called = " ".join([Path(command[0]).name, *command[1:]])
        raise CheckError(f"`{called}` failed with exit code {process.returncode}")
    return output or ""


def listed(names: Iterable[str]) -> str:
    """At most five names, and how many more there are."""
    ordered = sorted(names)
    more = f" and {len(ordered) - 5} more" if len(ordered) > 5 else ""
    return ", ".join(ordered[:5]) + more


def main() -> None:
    """Run all steps. Raises CheckError at the first that fails."""
    with TemporaryDirectory(prefix="burstlens-release-") as name:
        folder = Path(name)
        source, wheel = build(folder)
        print(f"built {source.name} and, equal from tree and source, {wheel.name}", flush=True)
        metadata = check_metadata(source, wheel)
        print(f"metadata {metadata.metadata_version} of version {metadata.version} is valid")
        programs = install(wheel, folder / "venv")
        print(f"installed {wheel.name}{EXTRAS} into a bare environment; the demo:", flush=True)
        pictures = check_demo(programs, str(metadata.version), folder)
        print(f"the demo from the wheel published {pictures} pictures and made a movie of them")
        (ROOT / "dist").mkdir(exist_ok=True)
        for path in (source, wheel):
            shutil.copy2(path, ROOT / "dist")
    print(f"release {metadata.version} can be made: dist/{source.name}, dist/{wheel.name}")


if __name__ == "__main__":
    try:
        main()
    except CheckError as error:
        sys.exit(f"release-check: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
