"""Maps of what a person looks at first in files of an unknown model: fields, and vectors by their
length with arrows; and what they say of members, steps and levels of which they show one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from burstlens.core.expression import quoted
from burstlens.viz.diagnostics.derived import DerivedFrame
from burstlens.viz.frames.further import JOINED, is_further
from burstlens.viz.frames.outline import Outline
from burstlens.workflows.frames.contents import Content, Contents
from burstlens.workflows.look.folder.content import record_dimension
from burstlens.workflows.look.folder.fields import MOST, Candidate, candidates, why_none
from burstlens.workflows.look.folder.levels import with_level
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
