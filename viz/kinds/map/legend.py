"""What the symbols on a map mean: the entries of its legend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from burstlens.viz.drawing.legend import LegendEntry, Sign, lowered
from burstlens.viz.drawing.maps.meanings import box_entry, boxes_entry, contours_entry, in_words
from burstlens.viz.drawing.style import words
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.kinds.map.options import MapOptions
from burstlens.viz.kinds.map.read import Layers

_LOWEST = LegendEntry("lowest value", sign=Sign("lowest"))
_HIGHEST = LegendEntry("highest value", sign=Sign("highest"))
_MARKS = {"min": [_LOWEST], "max": [_HIGHEST], "both": [_LOWEST, _HIGHEST]}


def entries(
    layers: Layers, options: MapOptions, levels: Sequence[Sequence[float]] = ()
) -> list[LegendEntry]:
    """An entry for each kind of symbol; ``levels`` are the values of the lines of each contour set.

    Without ``levels`` only the longest texts are right, by which room is kept.
    """
    found: list[LegendEntry | None] = []
    for n, (asked, field) in enumerate(layers.contours):
        lines = levels[n] if levels else ()
        found.append(contours_entry(asked, field, lines, field.level))
    found += [wind.entry for wind in layers.winds]
    found += _MARKS[options.mark] if options.mark else []
    track = Sign("track", width=1.3)
    if layers.storm is not None:
        storm = layers.storm.track
        which = "lowest" if storm.extreme == "min" else "highest"
        what = f"{which} {lowered(words(storm.variable, storm.long_name))}"
        found.append(LegendEntry(f"track of the {what}, dotted where it was lost", sign=track))
        found.append(LegendEntry("newest position", sign=Sign("ring")))
    elif layers.track:
        found.append(LegendEntry("track", sign=track))
    if options.nests:
        found.append(_boxes(layers, options))
    if options.margin_km:
        cropped = options.crop != Crop(stride=options.crop.stride)
        found.append(box_entry("the part shown" if cropped else "the domain"))
    if layers.source is not None:
        found.append(LegendEntry("epicentre", sign=Sign("star")))
    if layers.stations:
        found.append(LegendEntry("stations", sign=Sign("triangle")))
    if layers.relief is not None:
        shade = f"slopes of {in_words(layers.relief)}"
        found.append(LegendEntry(shade, sign=Sign("shade")))
    return [entry for entry in found if entry is not None]


def _boxes(layers: Layers, options: MapOptions) -> LegendEntry | None:
    """The outlined nests, with room for those that are not there yet."""
    names = [nest if isinstance(nest, str) else nest.name for nest in options.nests]
    missing = {str(nest.facts["stream"]) for nest in layers.nests if nest.border is None}
    longest = boxes_entry(names)
    now = boxes_entry(name for name in names if name not in missing)
    return longest and replace(longest, text=now.text if now else "", longest=longest.text)
