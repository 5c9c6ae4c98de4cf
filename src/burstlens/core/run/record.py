"""The format of a run directory, which says whether this Burstlens can read it; a small JSON file
of it, read and checked in one place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from burstlens.core.decode import convert, loads
from burstlens.core.durable import open_regular
from burstlens.core.errors import RunError
from burstlens.core.version import __version__

T = TypeVar("T", bound=Struct)
FORMAT = 2
"""Increased when an older Burstlens would misread the files; not for new fields and events.

2: a journal of many events lies in several files.
"""


def stamp() -> dict[str, Any]:
    """The format's fields in ``run.json`` and in the first line of each driver and each volume of
    the journal."""
    return {"format": FORMAT, "burstlens": __version__}


def require_format(written: int | None, burstlens: str | None, place: str) -> None:
    """Raise RunError when what stands in ``place`` was ``written`` in a newer format."""
    if (written or 1) > FORMAT:
        version = str(burstlens or "a newer version")[:40]
        raise RunError(
            f"{place}: written by Burstlens {version} in format {written}; this is Burstlens "
            f"{__version__}, which reads up to format {FORMAT}: use that version"
        )


class _Written(Struct):
    """What wrote the file, where it says so."""

    format: int | None = None
    burstlens: str | None = None


def read_record(
    path: Path, kind: type[T], then: str, *, lacking: Callable[[], Mapping[str, Any]] | None = None
) -> T | None:
    """The object in ``path`` as that type; None when the file is missing.

    ``lacking`` gives the values of keys that an older version has not written; with it the result
    is None also for a file that is not a JSON object. Raises RunError, which names the file and
    says what to do ``then``, when it cannot be read, is not a JSON object, does not fit, or is of a
    newer format than this Burstlens reads.
    """
    try:
        with open_regular(path) as stream:
            text = stream.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise RunError(f"cannot read {path}: {error.strerror}") from error
    try:
        value = loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        if lacking is not None:
            return None
        raise RunError(f"{path}: it is not a JSON object; {then}")
    try:
        written = convert(value, _Written)
        require_format(written.format, written.burstlens, str(path))
        return convert({**lacking(), **value} if lacking else value, kind)
    except ValueError as error:
        raise RunError(f"{path}: {error}; {then}") from None
