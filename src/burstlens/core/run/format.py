"""The format of a run directory, which says whether this Burstlens can read it."""

from __future__ import annotations

from typing import Any

from burstlens.core.errors import RunError
from burstlens.core.version import __version__

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
