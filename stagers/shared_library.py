"""The shared library libdatawarp: found, loaded at the first call, searched for functions."""

from __future__ import annotations

import functools
import glob
import os
import shutil
import subprocess
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from burstlens.core.errors import SiteError

VARIABLE = "BURSTLENS_LIBDATAWARP"
"""The environment variable that holds the library's path."""
PACKAGE = "cray-datawarp"
SONAME = "libdatawarp.so"
# Sandia's notes for building SEACAS on Mutrino name the first folder, and Slurm's
# burst_buffer/datawarp plugin finds dwstat below the second; "default" is the site's choice.
FOLDERS = (
    "/opt/cray/datawarp/default/lib*",
    "/opt/cray/dws/default/lib*",
    "/opt/cray/datawarp/*/lib*",
    "/opt/cray/dws/*/lib*",
)

_ONCE = threading.Lock()


def symbol(name: str) -> Any:
    """A function or constant of the library. Raises SiteError, also when the library lacks it."""
    library, path = load()
    try:
        return getattr(library, name)
    except AttributeError:
        raise SiteError(f"{path} has no {name}: it is another version of libdatawarp") from None


def ffi() -> Any:
    """cffi with the declarations of ``libdatawarp.h``."""
    with _ONCE:  # types of two instances are not compatible
        return _ffi()


@functools.cache
def _ffi() -> Any:
    from cffi import FFI

    made = FFI()
    made.cdef(Path(__file__).with_name("libdatawarp.h").read_text(encoding="utf-8"))
    return made


@functools.cache
def libc() -> Any:
    """The C library of this process."""
    return ffi().dlopen(None)


@functools.cache
def load() -> tuple[Any, str]:
    """The library and its path. Raises SiteError that lists where it was looked for."""
    refused = []
    for place, candidates, otherwise in _places():
        if not candidates:
            refused.append(f"{place}: {otherwise}")
        for candidate in candidates:
            try:
                library = ffi().dlopen(candidate)
            except OSError as error:
                refused.append(f"{place}: {_reason(error)}")
                continue
            if os.environ.get(VARIABLE) not in (None, "", candidate):
                warnings.warn(f"{refused[0]}; {candidate} is taken instead", stacklevel=4)
            return library, candidate
    raise SiteError("libdatawarp is not here. Looked at " + "; ".join(refused))


def _places() -> Iterator[tuple[str, list[str], str]]:
    """Where the library may be, the best place first: a name, paths, and why there are none."""
    given = os.environ.get(VARIABLE)
    yield f"${VARIABLE}", [given] if given else [], "not set"
    installed = shutil.which("pkg-config") is not None
    yield (
        f"pkg-config {PACKAGE}",
        _packaged() if installed else [],
        "no such package" if installed else "pkg-config is not installed",
    )
    yield "the dynamic linker", [SONAME], ""
    for pattern in FOLDERS:
        yield pattern, sorted(glob.glob(f"{pattern}/{SONAME}"), reverse=True), "nothing there"


def _packaged() -> list[str]:
    words = ["pkg-config", "--variable=libdir", PACKAGE]
    done = subprocess.run(words, capture_output=True, text=True)
    folder = done.stdout.strip()
    return [f"{folder}/{SONAME}"] if folder else []


def _reason(error: OSError) -> str:
    """cffi's message without the repeated path and the advice."""
    message = str(error).partition(".  Additionally,")[0].removeprefix("cannot load library ")
    quoted, _, rest = message.partition(": ")
    return rest if quoted.startswith("'") and rest else message
