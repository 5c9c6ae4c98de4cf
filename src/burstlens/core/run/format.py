"""The format of a run directory, which says whether this Burstlens can read it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from burstlens.core.errors import RunError
from burstlens.core.version import __version__

FORMAT = 1
"""Increased when an older Burstlens would misread the files; not for new fields and events."""


def stamp() -> dict[str, Any]:
    """The format's fields in ``run.json`` and in each driver's first line of the journal."""
    return {"format": FORMAT, "burstlens": __version__}


def require_format(value: Mapping[str, Any], place: str) -> None:
    """Raise RunError when ``value``, read from ``place``, is of a newer format."""
    written = value.get("format") or 1
    if written > FORMAT:
        version = str(value.get("burstlens") or "a newer version")[:40]
        raise RunError(
            f"{place}: written by Burstlens {version} in format {written}; this is Burstlens "
            f"{__version__}, which reads up to format {FORMAT}: use that version"
        )
