"""The program, compiled by the site's MPI compiler, and the files that it reads."""

from __future__ import annotations

import math
import shutil
import struct
import subprocess
from pathlib import Path

from burstlens.core.errors import RecipeError
from burstlens.workflows.iostudy.profile import WORD, Profile, study

SOURCE = Path(__file__).parent / "iostudy.c"
PROGRAM = "iostudy"
LIMIT_S = 300.0
_DIMENSIONS, _VARIABLES, _ATTRIBUTES = 10, 11, 12
_CHAR, _INT = 2, 4
_NAMES = ("z", "y", "x")


def compile_to(program: Path, compiler: str = "mpicc") -> None:
    """Compile the program to that path. Raises RecipeError with the compiler's first line."""
    if shutil.which(compiler) is None:
        raise RecipeError(
            f"there is no {compiler} on PATH: install MPI with its compiler (Debian: apt install "
            "mpich libmpich-dev), load the site's module, or name the compiler (on a Cray: cc)"
        )
    words = [compiler, "-O2", "-std=c11", "-D_POSIX_C_SOURCE=200809L", "-o"]
    part = program.with_name(f".{program.name}.part")
    try:
        done = subprocess.run(
            [*words, str(part), str(SOURCE)],
            capture_output=True, text=True, errors="replace", timeout=LIMIT_S,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise RecipeError(f"{compiler} did not end within {LIMIT_S:g} s") from None
    except OSError as error:
        raise RecipeError(f"{compiler} cannot be started: {error.strerror}") from error
    if done.returncode or not part.is_file():
        said = [line for line in done.stderr.splitlines() if line.strip()]
        first = next((line for line in said if "error" in line), said[0] if said else "no message")
        raise RecipeError(f"{compiler} ended with {done.returncode}: {first.strip()}")
    part.replace(program)


def lay(profile: Profile, ranks: int, folder: Path) -> None:
    """Write ``study.txt`` and ``study.head`` there. Raises RecipeError and OSError."""
    profile.require_ranks(ranks)
    head = header(profile, ranks)
    (folder / "study.head").write_bytes(head)
    (folder / "study.txt").write_text(study(profile, ranks, len(head)))


def header(profile: Profile, ranks: int) -> bytes:
    """The bytes before the data of one netCDF file, so that frames can be read: up to a multiple of
    ``profile.align``. As the CDF-5 specification (PnetCDF project) lays them out: variables of
    4-byte integers, one after the other, in the order of their numbers."""
    lengths = profile.dimensions(ranks)
    begin = profile.align
    while len(_head(profile, lengths, begin)) > begin:
        begin += profile.align
    return _head(profile, lengths, begin).ljust(begin, b"\0")


def _head(profile: Profile, lengths: tuple[int, ...], begin: int) -> bytes:
    last = ["word"] if profile.pattern == "segments" or profile.words > 1 else []
    names = [*_NAMES[len(_NAMES) - len(lengths) + len(last) :], *last]
    size = WORD * math.prod(lengths)
    parts = [b"CDF\x05", struct.pack(">q", 0), _list(_DIMENSIONS, len(lengths))]
    for name, length in zip(names, lengths, strict=True):
        parts += [_name(name), struct.pack(">q", length)]
    parts += [_list(_ATTRIBUTES, 1), _name("title"), _text(profile.title)]
    parts.append(_list(_VARIABLES, profile.variables))
    for number in range(profile.variables):
        parts += [_name(f"v{number:02d}"), struct.pack(">q", len(lengths))]
        parts += [struct.pack(">q", index) for index in range(len(lengths))]
        parts += [_list(0, 0), struct.pack(">iqq", _INT, size, begin + number * size)]
    return b"".join(parts)


def _list(tag: int, count: int) -> bytes:
    return struct.pack(">iq", tag, count)


def _name(name: str) -> bytes:
    return struct.pack(">q", len(name)) + _padded(name.encode())


def _text(text: str) -> bytes:
    raw = text.encode()
    return struct.pack(">iq", _CHAR, len(raw)) + _padded(raw)


def _padded(raw: bytes) -> bytes:
    return raw + b"\0" * (-len(raw) % 4)
