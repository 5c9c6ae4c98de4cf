"""Maps of what a person looks at first in files of an unknown model: fields, and vectors by their
length with arrows; and what they say of members, steps and levels of which they show one. A level
that nobody asks for is next to the ground or at the sea's surface."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from burstlens.core.errors import BurstlensError
from burstlens.core.expression import parse_selection, quoted
from burstlens.core.lengths import metres
from burstlens.viz.diagnostics.derived import DerivedFrame
from burstlens.viz.frames.further import JOINED, is_further
from burstlens.viz.frames.outline import Outline
from burstlens.workflows.frames.contents import Content, Contents
from burstlens.workflows.look.folder.content import record_dimension
from burstlens.workflows.look.folder.fields import MOST, Candidate, candidates, why_none
from burstlens.workflows.look.folder.names import unique
from burstlens.workflows.look.folder.streams import Streams

Table = dict[str, Any]
_HORIZONTAL = 2
_PAIRS = (
    ("eastward_wind", "northward_wind", "Wind speed"),
    (
        "surface_eastward_sea_water_velocity",
        "surface_northward_sea_water_velocity",
        "Speed of the surface current",
    ),
    ("eastward_sea_water_velocity", "northward_sea_water_velocity", "Speed of the current"),
)
_USUAL = (("u10", "v10"), ("10u", "10v"), ("u10m", "v10m"), ("ugrd10m", "vgrd10m"), ("uas", "vas"))
"""Names of ECMWF, NCEP and CORDEX, whose components point east and north."""
_OF_SEA = r"(?:^|_)(?:sea|ocean)_"
_OF_ROMS = ("s_rho", "s_w")
"""Levels that are counted from the sea's floor."""
_PRESSURE = ("pa", "hpa", "mb", "mbar", "millibar", "millibars", "kpa")


def first_looks(streams: Streams) -> tuple[list[Table], list[str]]:
    """At most six maps over all streams, and why a stream has none."""
    offered: list[tuple[Candidate, str, Contents]] = []
    why: list[str] = []
    for stream in streams.names:
        contents, known = streams.contents(stream), streams.known(stream)
        if contents is None or known is None:
            continue
        time = streams.time(stream)
        frame = DerivedFrame(Outline(stream, known)).choosing()
        found = candidates(frame, contents, time)
        offered += [(one, stream, contents) for one in found]
        if not found:
            why.append(f"stream {stream}: {why_none(contents, time)}")
    # One map of a variable: another stream has means of it, or another part of the domain.
    order = {stream: number for number, stream in enumerate(streams.names)}
    offered.sort(key=lambda one: (one[0].order[:2], order[one[1]], one[0].order))
    tables: list[Table] = []
    seen = set[str]()
    shown: dict[str, dict[str, tuple[str, ...]]] = {}
    for one, stream, contents in offered:
        if one.name in seen or len(tables) == MOST:
            continue
        seen |= {
            one.name,
            *(v for u, v, _ in pairs(contents, streams.time(stream)) if u == one.name),
        }
        tables.append(_map(one, stream, contents, streams, [table["name"] for table in tables]))
        shown.setdefault(stream, {})[one.name] = one.further
        if one.counted and "level" in tables[-1]:
            why.append(_level_words(one, tables[-1]["level"], contents))
    for stream, further in shown.items():
        contents = streams.contents(stream)
        why += [] if contents is None else _chosen_words(further, contents)
    return tables, why


def _map(
    one: Candidate, stream: str, contents: Contents, streams: Streams, taken: list[str]
) -> Table:
    table: Table = {"name": unique(one.name, taken), "kind": "map"}
    if stream != streams.main:
        table["stream"] = stream
    table |= {"variable": one.name}
    if one.units:
        table["units"] = one.units
    for u, v, title in pairs(contents, streams.time(stream)):
        if one.name == u:
            # One component alone says little: the speed, and arrows for the direction.
            units = contents.variables[u].text("units")
            table |= {"name": unique(f"{u}-{v}", taken), "title": title}
            table["variable"] = f"hypot({quoted(u)}, {quoted(v)}) [{units}]"
            table["vectors"] = {"u": u, "v": v, "relative_to": "earth"}
    known = streams.known(stream)
    return table if known is None else with_level(table, Outline(stream, known), contents)


def _chosen_words(shown: Mapping[str, Sequence[str]], contents: Contents) -> list[str]:
    """One sentence for each further dimension, with the text that chooses another point.

    ``shown`` are the further dimensions of each variable of a file that is shown.
    """
    said = []
    for dimension in dict.fromkeys(d for further in shown.values() for d in further):
        names = [name for name, further in shown.items() if dimension in further]
        about, size = contents.variables.get(dimension), contents.sizes.get(dimension, 0)
        last = str(max(0, size - 1))
        if about is not None:
            last = f"{about.ends[1]:g}" if about.ends else "..."
        what = f"the first of {size} along {dimension} that has values"
        if JOINED.fullmatch(dimension):
            what = f"the {size} of {dimension} are joined, where one has no value"
        another = f'--product "{names[0]}[{dimension}={last}]" shows another'
        said.append(f"{', '.join(names)}: {what}; {another}")
    return said


def _level_words(shown: Candidate, level: int, contents: Contents) -> str:
    """The sentence for a dimension of which one point is shown as a level, as nothing in the file
    says what it is."""
    dimension = shown.counted
    about, size = contents.variables.get(dimension), contents.sizes.get(dimension, 0)
    last = f"{about.ends[1]:g}" if about is not None and about.ends else f"{max(0, size - 1)}"
    return (
        f"{shown.name}: level {level} of {size} along {dimension}, which may be no height; "
        f'--product "{shown.name}[{dimension}={last}]" shows another'
    )


def pairs(contents: Contents, time: str | None) -> Iterator[tuple[str, str, str]]:
    """Eastward and northward components on one surface grid, and a title for their speed.

    A height that all points of a variable have is not a further dimension (``height = 10`` m).
    """
    record = record_dimension(contents, time)

    def is_inner(dimension: str, size: int) -> bool:
        about = contents.variables.get(dimension)
        further = is_further(dimension, about.attributes if about is not None else {})
        return size > 1 and dimension != record and not further

    def is_flat(about: Content) -> bool:
        return sum(map(is_inner, about.dimensions, about.shape)) <= _HORIZONTAL

    flat = {name: about for name, about in contents.variables.items() if is_flat(about)}
    standard = {about.text("standard_name"): name for name, about in flat.items()}
    found = [(standard.get(u), standard.get(v), title) for u, v, title in _PAIRS]
    found += [(u, v, "10 m wind speed") for u, v in _USUAL if not _says(flat.get(u))]
    for east, north, title in found:
        if east in flat and north in flat:
            grids = {(flat[one].dimensions, flat[one].text("units")) for one in (east, north)}
            if len(grids) == 1:
                yield east, north, title


def _says(about: Content | None) -> bool:
    return about is not None and about.text("standard_name") not in ("", "unknown")


def with_level(
    table: dict[str, Any], outline: Outline, contents: Contents | None
) -> dict[str, Any]:
    """A map's table with the ``level`` that its variable needs, also for its vectors."""
    from burstlens.viz.geometry.grid import axes

    frame = DerivedFrame(outline).choosing()
    try:
        directions = axes(frame, table["variable"])
        dimensions = frame.variable(table["variable"]).dimensions
    except BurstlensError:
        return table
    z = directions.get("z")
    if z is None:
        return table
    dimension = next((d for d in dimensions if d in (z, f"{z}_stag")), z)
    if outline.dimensions.get(dimension, 2) == 1:
        return table
    base = parse_selection(table["variable"])[0]
    about = contents.variables.get(base) if contents is not None else None
    is_of_sea = about is not None and re.search(_OF_SEA, about.text("standard_name")) is not None
    return table | {"level": surface_level(contents, dimension, is_of_sea=is_of_sea)}


def surface_level(contents: Contents | None, dimension: str, *, is_of_sea: bool = False) -> int:
    """The level that a person wants to see first: 0, or -1 for the last one.

    By the first and the last value of the vertical coordinate: of the air the greatest pressure,
    the hybrid or sigma level of the greatest number, the least height; of the sea and of soil the
    least depth, the height or s coordinate next to zero. Without values the first one, but the
    last one of ROMS's ``s_rho`` and ``s_w``, which begin at the bottom. ``is_of_sea``: levels that
    are only counted downwards (HYCOM's layers) begin at the surface; in the air at the top.
    """
    about = contents.variables.get(dimension) if contents is not None else None
    if about is None or about.ends is None:
        return -1 if dimension in _OF_ROMS else 0
    first, last = about.ends
    standard, units = about.text("standard_name"), about.text("units").lower()
    is_length = metres(about.text("units")) is not None
    down = about.text("positive").lower() == "down"
    named = f"{standard} {about.text('long_name')}".lower()
    is_depth = "depth" in named or dimension.lower().startswith("dep")
    if standard.startswith("ocean_"):
        return 0 if abs(first) <= abs(last) else -1
    if units in _PRESSURE or re.match(r"atmosphere_(hybrid|sigma|ln_pressure)", standard):
        return 0 if first >= last else -1
    if is_length and not (down or is_depth):
        if max(first, last) <= 0.1 * abs(first - last):  # heights below the sea's surface
            return 0 if first >= last else -1
        if first < 0 < last:  # the first one mirrors the second at the ground (PALM)
            return 1
        return 0 if first <= last else -1
    if is_length or is_depth:
        return 0 if abs(first) <= abs(last) else -1
    if units in ("", "1") and min(first, last) >= -1 and max(first, last) <= 0 and first != last:
        return 0 if abs(first) <= abs(last) else -1  # s or sigma of a sea: 0 is its surface
    return -1 if dimension in _OF_ROMS or (down and (first < last) != is_of_sea) else 0
