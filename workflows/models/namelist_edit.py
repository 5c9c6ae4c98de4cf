"""Changes of single settings in the text of a Fortran namelist; all other text stays as it is.

The text is read with :mod:`.namelist`. The edited text is read again, and refused unless it holds
the old settings with the changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from burstlens.core.errors import RecipeError
from burstlens.core.nearness import did_you_mean
from burstlens.workflows.models.namelist import Assignment, Group, Value, ValueText, groups_in

Changes = Mapping[tuple[str, str], Sequence[Value | None]]
"""The first values of settings, by group and name in lower case. None: this value stays, as do
those beyond the last one given."""
_COMMA = re.compile(r"[ \t]*,")
_BLANKS = re.compile(r"[ \t]*")


@dataclass(frozen=True, slots=True)
class EditedNamelist:
    """The ``text`` with the changes, and one line for each setting that differs:
    ``start_minute = 0 -> 2``."""

    text: str
    changes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, order=True)
class _Span:
    """``text`` for what stands from ``start`` to ``end``. Of those at one position new settings
    come last."""

    start: int
    is_setting: bool
    end: int
    text: str


def edit(text: str, changes: Changes, *, insert: bool = False) -> EditedNamelist:
    """The text with these settings changed.

    With ``insert`` a setting that its group lacks is added at the group's end. Raises RecipeError
    for a missing group, else for a missing setting, and for text that cannot be edited.
    """
    groups = {group.name: group for group in groups_in(text)}
    spans: list[_Span] = []
    lines: list[str] = []
    for (name, key), values in changes.items():
        group = groups.get(name)
        if group is None:
            raise RecipeError(f"there is no group &{name}{did_you_mean(name, groups)}")
        old = group.settings.get(key)
        if old is None and not insert:
            near = did_you_mean(key, group.settings)
            raise RecipeError(f"there is no {key} in &{name}{near}")
        new = _merged(old or [], values)
        if old is not None and _same(old, new):
            continue
        spans += (
            _replaced(text, group, key, new) if old is not None else _added(text, group, key, new)
        )
        before = _shown(old) if old is not None else "not set"
        lines.append(f"{key} = {before} -> {_shown(new)}")
    edited = _applied(text, spans)
    _verify(groups, edited, changes)
    return EditedNamelist(edited, tuple(lines))


def fortran(value: Value) -> str:
    """A value as namelists have it.

    >>> [fortran(value) for value in (True, 3, 0.5, "it's")]
    ['.true.', '3', '0.5', "'it''s'"]
    """
    if isinstance(value, bool):
        return ".true." if value else ".false."
    if isinstance(value, str):
        return "'{}'".format(value.replace("'", "''"))
    return repr(value)


def _merged(old: Sequence[Value | None], values: Sequence[Value | None]) -> list[Value | None]:
    kept = [*old, *[None] * (len(values) - len(old))]
    first = [kept[at] if value is None else value for at, value in enumerate(values)]
    return [*first, *kept[len(values) :]]


def _same(left: Sequence[Value | None], right: Sequence[Value | None]) -> bool:
    """Whether the values are equal; a truth value is not a number."""
    kinds = ([isinstance(value, bool) for value in values] for values in (left, right))
    return list(left) == list(right) and next(kinds) == next(kinds)


def _shown(values: Sequence[Value | None]) -> str:
    return ", ".join("" if value is None else fortran(value) for value in values) or "nothing"


def _replaced(text: str, group: Group, key: str, new: Sequence[Value | None]) -> Iterator[_Span]:
    """What to replace so that an existing setting has these values."""
    old = group.settings[key]
    places = [place for place in group.assignments if place.name == key]
    if not all(place.has_places for place in places):
        raise RecipeError(f"{key} has an index of several dimensions: change it by hand")
    deciding: dict[int, ValueText] = {}
    for place in places:
        for value in place.texts:
            deciding |= dict.fromkeys(range(value.first, value.first + value.count), value)
    changed = [at for at in range(len(old)) if not _same(old[at : at + 1], new[at : at + 1])]
    for value in dict.fromkeys(deciding[at] for at in changed if at in deciding):
        values = new[value.first : value.first + value.count]
        yield _Span(value.start, False, value.end, _written(values))
    for at in changed:
        if at not in deciding:  # between two indices
            yield _indexed(places[-1], at, new[at : at + 1])
    if len(new) > len(old):
        yield _appended(text, places, len(old), new[len(old) :])


def _appended(
    text: str, places: Sequence[Assignment], count: int, values: Sequence[Value | None]
) -> _Span:
    """Further values of a setting that has so many."""
    for place in reversed(places):
        if place.index is not None:  # it may bound a list
            continue
        if place.texts and place.texts[-1].first + place.texts[-1].count == count:
            end = place.texts[-1].end
            return _Span(end, False, end, f", {_written(values)}")
        if not place.texts and not count:
            behind = place.equals
            rest = "" if text[behind : behind + 1] in " \t\r\n,/!" else " "
            return _Span(behind, False, behind, f" {_written(values)}{rest}")
    return _indexed(places[-1], count, values)


def _indexed(last: Assignment, first: int, values: Sequence[Value | None]) -> _Span:
    """A further assignment of these values, behind the last one."""
    behind = last.texts[-1].end if last.texts else last.equals
    text = f"{',' if last.texts else ''} {last.name}({first + 1}) = {_written(values)}"
    return _Span(behind, False, behind, text if last.texts else f"{text} ")


def _written(values: Sequence[Value | None]) -> str:
    """A list of values; null values as their count, since a trailing comma alone is none."""
    runs = [list(run) for _, run in groupby(values, lambda value: (type(value), value))]
    found = []
    for run in runs:
        value = run[0]
        if value is None:
            found.append(f"{len(run)}*")
        elif len(runs) == 1 and len(run) > 1:
            found.append(f"{len(run)}*{fortran(value)}")
        else:
            found += [fortran(value)] * len(run)
    return ", ".join(found)


def _added(text: str, group: Group, key: str, new: Sequence[Value | None]) -> Iterator[_Span]:
    """A setting at the end of its group, as its last neighbour is written."""
    if group.end is None:
        raise RecipeError(f"the group &{group.name} does not end with /")
    line = text.rfind("\n", 0, group.end) + 1
    last = group.assignments[-1] if group.assignments else None
    written = _as_neighbour(text, last, key, _written(new))
    if line > group.begin and not text[line : group.end].strip():
        indent = " "
        if last is not None:
            begin = text.rfind("\n", 0, last.start) + 1
            indent = text[begin : last.start] if not text[begin : last.start].strip() else " "
        ending = "\r\n" if text[line - 2 : line] == "\r\n" else "\n"
        yield _Span(line, True, line, f"{indent}{written}{ending}")
    else:
        blank = "" if text[group.end - 1].isspace() else " "
        yield _Span(group.end, True, group.end, f"{blank}{written} ")


def _as_neighbour(text: str, last: Assignment | None, key: str, values: str) -> str:
    """An assignment with the case, the blanks and the comma of another one."""
    if last is None:
        return f"{key} = {values},"
    name = text[last.start : last.equals - 1]
    bare = name.rstrip()
    gap = name[len(bare) :]
    called = key.upper() if bare.isupper() else key
    called = f"{called:<{len(name) - 1}} " if len(gap) > 1 else called + gap
    after = _BLANKS.match(text, last.equals)
    end = last.texts[-1].end if last.texts else last.equals
    comma = "," if _COMMA.match(text, end) else ""
    return f"{called}={after[0] if after else ''}{values}{comma}"


def _applied(text: str, spans: Sequence[_Span]) -> str:
    parts, at = [], 0
    for span in sorted(spans, key=lambda span: (span.start, span.is_setting)):
        parts += [text[at : span.start], span.text]
        at = span.end
    return "".join([*parts, text[at:]])


def _verify(groups: Mapping[str, Group], edited: str, changes: Changes) -> None:
    """Raise RecipeError unless the edited text has the old settings and the changes."""
    wanted = {name: dict(group.settings) for name, group in groups.items()}
    for (name, key), values in changes.items():
        wanted[name][key] = _merged(wanted[name].get(key, []), values)
    found = {group.name: group.settings for group in groups_in(edited)}
    for name, settings in wanted.items():
        there = found.get(name, {})
        odd = [key for key in settings if not _same(settings[key], there.get(key, []))]
        if odd or there.keys() != settings.keys():
            about = f"{odd[0]} in " if odd else ""
            fault = f": {groups[name].faults[0][1]}" if groups[name].faults else ""
            raise RecipeError(f"{about}&{name} cannot be edited{fault}; correct it by hand")
