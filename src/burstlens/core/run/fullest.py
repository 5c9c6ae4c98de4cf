"""Which picture of a run stands for it: after the end, the newest with something in it."""

from __future__ import annotations

from collections.abc import Sequence

from burstlens.core.run.index import Published

_SHARE = 2 / 3
"""The part of the largest picture's bytes that a picture with something in it has: what a PNG takes
beyond letters and lines is what is shown."""


def fullest(entries: Sequence[Published]) -> Published | None:
    """Of pictures in order of valid time, the newest that is not nearly empty beside the others.

    The last frames of an earthquake are still ground, and those of a storm that left the domain
    calm air. Placeholders only where there is nothing else; None without pictures.
    """
    pictures = [entry for entry in entries if not entry.placeholder] or list(entries)
    most = max((entry.bytes for entry in pictures), default=0)
    full = (entry for entry in reversed(pictures) if entry.bytes >= _SHARE * most)
    return next(full, None)
