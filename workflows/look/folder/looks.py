"""Maps of what a person looks at first in files of an unknown model."""

from __future__ import annotations

from typing import Any

from burstlens.core.expression import quoted
from burstlens.viz.diagnostics.derived import DerivedFrame
from burstlens.viz.frames.outline import Outline
from burstlens.workflows.frames.contents import Contents
from burstlens.workflows.look.folder.choices import chosen_words, level_words
from burstlens.workflows.look.folder.fields import MOST, Candidate, candidates, why_none
from burstlens.workflows.look.folder.levels import with_level
from burstlens.workflows.look.folder.names import unique
from burstlens.workflows.look.folder.pairs import pairs
from burstlens.workflows.look.folder.streams import Streams

Table = dict[str, Any]


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
            why.append(level_words(one, tables[-1]["level"], contents))
    for stream, further in shown.items():
        contents = streams.contents(stream)
        why += [] if contents is None else chosen_words(further, contents)
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
