"""What symbols mean, in words: the entries of a legend for contours, winds and boxes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from burstlens.core import digits
from burstlens.core.units import printed
from burstlens.viz.drawing import style
from burstlens.viz.drawing.colour_bar import tick_labels
from burstlens.viz.drawing.colours import LabelledField
from burstlens.viz.drawing.legend import LegendEntry, Sign, SignKind, lowered
from burstlens.viz.drawing.maps.isolines import LINE_PT
from burstlens.viz.drawing.maps.layers import Contours

_LISTED = 6
"""Values that are written out, at most."""
_DASHED = ", dashed below 0"
_WIDEST = "00000"
_DIRECTIONS = re.compile(
    r"\b(?:eastwards?|northwards?|zonal|meridional|[ij]-axis|[xyuvij](?= ?-| )|[xyuv]$"
    r"|components?(?: of)?(?: the)?|grid|relative|along)\b[-,]? *|, *(?=$)",
    re.IGNORECASE,
)
"""What the long names of two components have beside the name of the flow."""
_CAPITAL = re.compile(r"\b[A-Z](?=[a-z]+\b)")
_AT_10_M = re.compile(r"^[UV]10$")


def contours_entry(
    asked: Contours, field: LabelledField, levels: Sequence[float], level: str = ""
) -> LegendEntry:
    """``levels`` are those of the lines in one frame, ``level`` the one of a 3-D field."""
    what = f"contours: {in_words(field, level)}"
    unit = printed(field.units)
    dashed = _DASHED if any(value < 0 for value in levels) else ""
    longest = ""
    if asked.interval is not None:
        text = f"every {digits.format_number(asked.interval)} {unit}"
    elif asked.levels:
        text = f"{_listed(asked.levels)} {unit}"
        dashed = _DASHED if min(asked.levels) < 0 else ""
    else:
        steps = {round(b - a, 12) for a, b in pairwise(levels)}
        every = f"every {digits.format_number(min(steps))}" if steps else _listed(levels)
        text = f"{every} {unit}".lstrip()
        longest = f"every {_WIDEST} {unit}"
    if not asked.levels:  # a later frame may have lines below 0
        longest = f"{longest or text}".rstrip() + _DASHED
    drawn = asked.levels or levels
    kind: SignKind = "line" if not dashed else "dashed" if max(drawn) < 0 else "lines"
    text = f"{what}, {text}".rstrip(" ,") + dashed
    longest = f"{what}, {longest}".rstrip() if longest else ""
    return LegendEntry(text, longest, Sign(kind, asked.colour, LINE_PT))


def barbs_entry(wind: str, colour: str = style.INK) -> LegendEntry:
    """Barbs are in knots, whatever the file's units are."""
    return LegendEntry(f"barbs: {wind}, kn (feather 10, flag 50)", sign=Sign("barb", colour, 0.7))


def flow_words(u: LabelledField, v: LabelledField, level: str = "") -> str:
    """A wind or a current in words, from its two components: ``10 m wind``."""
    if _AT_10_M.match(u.name):
        return "10 m wind"
    found = []
    for one in (u, v):
        text = style.words(one.name, one.long_name)
        text = " ".join(_DIRECTIONS.sub(" ", text).split()).strip(" ,-")
        found.append(_CAPITAL.sub(lambda m: m[0].lower(), text) if text != one.name else "")
    if found[0] != found[1] or not found[0]:
        found[0] = f"{u.name}, {v.name}"
    return f"{found[0]}, {level}" if level else found[0]


def boxes_entry(names: Iterable[str]) -> LegendEntry | None:
    """The outlines of domains inside the one that is shown."""
    known = [name for name in names if name]
    if not known:
        return None
    return box_entry(f"{'domain' if len(known) == 1 else 'domains'} {', '.join(known)}")


def box_entry(text: str) -> LegendEntry:
    """An outline."""
    return LegendEntry(text, sign=Sign("box", width=1.2))


def in_words(field: LabelledField, level: str = "") -> str:
    """A field within a sentence: ``sea-level pressure``, ``vertical wind, level 7``."""
    words = style.words(field.name, field.long_name)
    words = words if words == field.name else lowered(words)
    return f"{words}, {level}" if level else words


def _listed(values: Sequence[float]) -> str:
    if not values:
        return ""
    texts = tick_labels(values)
    if len(texts) <= _LISTED:
        return f"at {', '.join(texts)}"
    return f"{len(texts)} values from {texts[0]} to {texts[-1]}"
