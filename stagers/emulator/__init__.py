"""The emulator of libdatawarp, built on demand: for tests, and for machines without DataWarp.

It has the library's functions and works on ordinary directories; docs/emulator.md tells what of
its behaviour is documented and what was chosen. ``python -m burstlens.stagers.emulator PREFIX``
installs header, library, pkg-config file and the program ``dw-emulator``.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from burstlens.errors import SiteError

HERE = Path(__file__).parent
SONAME = "libdatawarp.so.1"
VERSION = "1.0"
_FLAGS = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-pthread")
_PKG_CONFIG = """\
prefix={prefix}
libdir=${{prefix}}/lib
includedir=${{prefix}}/include

Name: cray-datawarp
Description: An emulator of libdatawarp by Burstlens; no DataWarp hardware is involved
Version: {version}
Libs: -L${{libdir}} -Wl,-rpath,${{libdir}} -ldatawarp
Cflags: -I${{includedir}}
"""


def build(prefix: Path, flags: tuple[str, ...] = ()) -> Path:
    """Build and install below ``prefix``, unless this very version is there; the library's path.

    Safe when several processes call it at once. ``flags`` are added for the compiler. Raises
    SiteError when there is no C compiler or it fails, or the place cannot be written.
    """
    prefix = prefix.resolve()
    library = prefix / "lib" / SONAME
    try:
        prefix.mkdir(parents=True, exist_ok=True)
        with open(prefix / ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            mark = prefix / ".built"
            version = _version(flags)
            if not (mark.exists() and mark.read_text() == version and library.exists()):
                _install(prefix, flags)
                mark.write_text(version)
    except OSError as error:
        raise SiteError(f"cannot build the emulator in {prefix}: {error}") from error
    return library


def cache() -> Path:
    """Where it is built when nobody says where: below the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(os.path.expanduser(base)) / "burstlens" / "emulator"


def _version(flags: tuple[str, ...]) -> str:
    digest = hashlib.sha256(repr((flags, VERSION)).encode())
    for path in sorted([*HERE.glob("*.c"), *HERE.glob("*.h"), Path(__file__)]):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _install(prefix: Path, flags: tuple[str, ...]) -> None:
    sources = sorted(str(path) for path in HERE.glob("*.c"))
    library = [path for path in sources if not path.endswith(("copier.c", "tool.c"))]
    with tempfile.TemporaryDirectory(dir=prefix) as work:
        made, tool = Path(work, SONAME), Path(work, "dw-emulator")
        shared = ("-shared", "-fPIC", "-fvisibility=hidden", f"-Wl,-soname,{SONAME}")
        _compile([*_FLAGS, *flags, *shared, "-o", str(made), *library, "-ldl"])
        _compile([*_FLAGS, *flags, "-o", str(tool), *sources, "-ldl"])
        for name in ("bin", "lib/pkgconfig", "include"):
            (prefix / name).mkdir(parents=True, exist_ok=True)
        # The library last: whoever finds it finds its program beside it.
        os.replace(tool, prefix / "bin" / "dw-emulator")
        shutil.copyfile(HERE / "datawarp.h", prefix / "include" / "datawarp.h")
        text = _PKG_CONFIG.format(prefix=prefix, version=VERSION)
        (prefix / "lib" / "pkgconfig" / "cray-datawarp.pc").write_text(text)
        os.replace(made, prefix / "lib" / SONAME)
        link = Path(work, "link")
        link.symlink_to(SONAME)
        os.replace(link, prefix / "lib" / "libdatawarp.so")


def _compile(words: list[str]) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        raise SiteError(
            "the emulator of libdatawarp needs a C compiler, and there is no cc on PATH"
        )
    done = subprocess.run([compiler, *words], capture_output=True, text=True)
    if done.returncode:
        raise SiteError(f"the emulator of libdatawarp cannot be compiled: {done.stderr.strip()}")
