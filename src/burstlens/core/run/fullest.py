"""Which picture of a run stands for it: after the end, the newest with something in it."""

from __future__ import annotations

from collections.abc import Sequence

from burstlens.core.run.index import Published

_SHARE = 2 / 3
"""The part of the largest picture's bytes that a picture with something in it has: what a PNG takes
beyond letters and lines is what is shown."""


def fullest(*series: Sequence[Published]) -> Published | None:
    """Of pictures in order of valid time, the newest that is not nearly empty beside the others; of
    several series that of the first one whose values are not the same everywhere at all times.

    The last frames of an earthquake are still ground, and those of a storm that left the domain
    calm air; an ideal run has T2 = 0. Placeholders only where there is nothing else; None without
    pictures.
    """
    constant: list[Published] = []
    placeholders: list[Published] = []
    for entries in series:
        pictures = [entry for entry in entries if not entry.placeholder]
        if drawn := [entry for entry in pictures if not _is_constant(entry)]:
            return _newest(drawn)
        constant = constant or pictures
        placeholders = placeholders or list(entries)
    return _newest(constant or placeholders)


def _is_constant(entry: Published) -> bool:
    least, most = (entry.facts.get(name) for name in ("min", "max"))
    return isinstance(least, int | float) and least == most


def _newest(pictures: Sequence[Published]) -> Published | None:
    most = max((entry.bytes for entry in pictures), default=0)
    full = (entry for entry in reversed(pictures) if entry.bytes >= _SHARE * most)
    return next(full, None)
