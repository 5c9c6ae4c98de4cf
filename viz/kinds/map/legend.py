"""What the symbols on a map mean: the entries of its legend."""

from __future__ import annotations

from collections.abc import Sequence

from burstlens.viz.drawing.legend import Entry, lowered
from burstlens.viz.drawing.maps.meanings import boxes_entry, contours_entry, in_words
from burstlens.viz.drawing.style import words
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.kinds.map.options import MapOptions
from burstlens.viz.kinds.map.read import Layers

_MARKS = {
    "min": "▽: lowest value",
    "max": "△: highest value",
    "both": "▽, △: lowest, highest value",
}


def entries(
    layers: Layers, options: MapOptions, levels: Sequence[Sequence[float]] = ()
) -> list[Entry]:
    """An entry for each kind of symbol; ``levels`` are the values of the lines of each contour set.

    Without ``levels`` only the longest texts are right, by which room is kept.
    """
    found: list[Entry | None] = []
    alone = len(layers.contours) == 1
    for n, (asked, field) in enumerate(layers.contours):
        lines = levels[n] if levels else ()
        found.append(contours_entry(asked, field, lines, field.level, alone=alone))
    found += [wind.entry for wind in layers.winds]
    if options.mark is not None:
        found.append(Entry(_MARKS[options.mark]))
    if layers.storm is not None:
        track = layers.storm.track
        which = "lowest" if track.extreme == "min" else "highest"
        what = f"{which} {lowered(words(track.variable, track.long_name))}"
        found.append(Entry(f"line: track of the {what}, dotted where it was lost; ring: now"))
    elif layers.track:
        found.append(Entry("line: track"))
    if options.nests:
        found.append(_boxes(layers, options))
    if options.margin_km:
        cropped = options.crop != Crop(stride=options.crop.stride)
        found.append(Entry(f"box: {'the part shown' if cropped else 'the domain'}"))
    if layers.source is not None:
        found.append(Entry("★: epicentre"))
    if layers.stations:
        found.append(Entry("▲: stations"))
    if layers.relief is not None:
        found.append(Entry(f"shade: slopes of {in_words(layers.relief)}"))
    return [entry for entry in found if entry is not None]


def _boxes(layers: Layers, options: MapOptions) -> Entry | None:
    """The outlined nests, with room for those that are not there yet."""
    names = [nest if isinstance(nest, str) else nest.name for nest in options.nests]
    missing = {str(nest.facts["stream"]) for nest in layers.nests if nest.border is None}
    longest = boxes_entry(names)
    now = boxes_entry(name for name in names if name not in missing)
    return longest and Entry(now.text if now else "", longest.text)
