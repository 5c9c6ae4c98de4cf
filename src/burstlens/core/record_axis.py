"""Along what the records of a file lie, and which variable holds their times: the one rule.

CF conventions 1.11, sections 4.4 (units "... since ..."), 4 (``axis``), 3.3 (``standard_name``),
5.7 (scalar coordinates); text as WRF, MPAS, FVCOM and xarray write it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Protocol

from burstlens.core.calendars import calendar_of
from burstlens.core.errors import TimesError
from burstlens.core.time_axis import text_key
from burstlens.core.time_units import read_units

TIME_NAMES = ("Time", "time", "XTIME")
"""Usual names of the dimension of records; CDO names WRF's after its coordinate, XTIME."""
_TEXT_TIMES = ("Times", "xtime")
"""Times as text of WRF, MPAS and FVCOM, exact where numbers of 4 bytes beside them are not."""
_OWN_NAMES = frozenset(
    {"time", "t", "times", "valid_time", "validtime", "datetime", "date_time", "timestamp",
     "time_str", "timestr", "date"}
)  # fmt: skip
_OTHER_TIMES = re.compile(
    r"bnds|bounds|reference|reftime|forecast|instant|centered|created", re.IGNORECASE
)
_SINCE = re.compile(r"\bsince\s|\bas\s+%Y", re.IGNORECASE)
_SURE, _UNDECODED = 5, 8
_COUNTED = re.compile(
    r"n?_?t|mt|t_?dim|dim_?t|(?:n|num|ocean|dim)?_?times?(?:_?(?:steps?|index|dim|counter|levels?))?"
    r"|n?_?(?:records?|frames?|snapshots?|timesteps?)",
    re.IGNORECASE,
)
"""Names of the dimension of records in files that have no times along it."""
_TRACERS_TOO = re.compile(r"n_?t|mt", re.IGNORECASE)
"""Those of them that are also numbers of tracers or types."""
_WIDEST = ("standard", "360_day", "all_leap")
"""Calendars that have all days that any one has."""


class StoredVariable(Protocol):
    """What is known of a variable. ``kind`` is numpy's letter for its type, ``c`` for text,
    ``size`` the bytes of a number, 1 for single characters; ``sample`` is the text of its first
    record, "" if it has none."""

    @property
    def dimensions(self) -> tuple[str, ...]: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def kind(self) -> str: ...
    @property
    def size(self) -> int: ...
    @property
    def sample(self) -> str: ...
    @property
    def attributes(self) -> Mapping[str, Any]: ...


def time_variable(variables: Mapping[str, StoredVariable], worst: int = _UNDECODED) -> str | None:
    """The variable that holds the times of a file's records; None if there is none.

    The coordinate of the dimension that most variables have comes first; among the variables of
    one dimension its own, then text, then CF units. One whose times cannot be decoded comes last,
    and not at all in a file with one record: that is a frame without a time. ``worst`` leaves out
    what is less certain.
    """
    uses = Counter(one.dimensions[0] for one in variables.values() if len(one.dimensions) > 1)
    best: tuple[int, int, int, str] | None = None
    for name, one in variables.items():
        rank = _rank(name, one)
        if rank is None or rank > worst:
            continue
        used = uses[one.dimensions[0]] if one.dimensions else 0
        # A scalar time is that of the whole file; any axis that fields have is better.
        own = (min(used, 1), -rank, used, name)
        if best is None or own[:3] > best[:3]:
            best = own
    return best[3] if best else None


def record_dimension(
    variables: Mapping[str, StoredVariable],
    sizes: Collection[str],
    unlimited: Iterable[str],
    name: str,
) -> str | None:
    """The dimension along which a file's records lie; None: the file is one frame.

    That of the time variable ``name`` if the file has it, or a dimension of that name, along which
    records are counted; else one with a usual name, then that of a sure time variable, then the
    first unlimited one, then one that fields begin with and whose name is that of a time; for
    names that tracers have too (``nt``), most fields.
    ``sizes`` and ``unlimited`` are names of dimensions.
    """
    if name in variables:
        return _along(variables[name])
    if name in sizes:
        return name
    for usual in TIME_NAMES:  # tools may make another dimension unlimited
        if usual in sizes:
            return usual
    if own := time_variable(variables, _SURE):
        return _along(variables[own])
    return next(iter(unlimited), None) or next(_counted(variables), None)


def _counted(variables: Mapping[str, StoredVariable]) -> Iterator[str]:
    """The first dimensions of fields that have the name of a time, but no such variable."""
    fields = [one.dimensions for one in variables.values() if len(one.dimensions) > 2]
    for first in dict.fromkeys(dimensions[0] for dimensions in fields):
        is_sure = not _TRACERS_TOO.fullmatch(first) or _is_everywhere(first, fields)
        if is_sure and _COUNTED.fullmatch(first) and first not in variables:
            yield first


def _is_everywhere(first: str, fields: Sequence[tuple[str, ...]]) -> bool:
    """Whether most fields begin with a dimension, and others with one that these have too: the
    levels of a file have values at each time, and none for each tracer."""
    uses = Counter(dimensions[0] for dimensions in fields)
    along = {one for dimensions in fields if dimensions[0] == first for one in dimensions}
    return all(uses[other] < uses[first] and other in along for other in uses if other != first)


def text_calendar(
    attributes: Mapping[str, Any], beside: Callable[[str], Mapping[str, Any] | None]
) -> str:
    """The calendar of times kept as text: the one that their attributes name, else those of the
    numbers with a usual name beside them, else of the file (MPAS); empty where none does.
    ``beside`` gives the attributes of a variable, "" of the file."""
    others = map(beside, (*TIME_NAMES, ""))
    named = map(calendar_of, (attributes, *(about for about in others if about is not None)))
    return next(filter(None, named), "")


def _along(time: StoredVariable) -> str | None:
    """The dimension of the records whose times a variable holds; None: it holds one time. The last
    dimension of characters is the length of the text."""
    is_text = time.kind == "c" and time.size == 1
    return next(iter(time.dimensions[:-1] if is_text else time.dimensions), None)


def _rank(name: str, one: StoredVariable) -> int | None:
    """How certainly a variable holds the times, 0 first; None: it does not."""
    standard, axis = (str(one.attributes.get(key, "")).strip() for key in ("standard_name", "axis"))
    other = bool(standard not in ("", "time") or _OTHER_TIMES.search(name))
    is_marked = standard == "time" or axis.upper() == "T"
    is_time = (is_marked or name.lower() in _OWN_NAMES) and not other
    own = one.dimensions == (name,)
    if one.kind == "c":
        return None if other else _text_rank(one, is_usual=name in _TEXT_TIMES, is_time=is_time)
    if len(one.dimensions) > 1:
        return None
    units = str(one.attributes.get("units", "")).strip()
    is_since, several = bool(_SINCE.search(units)), 0 not in one.shape and one.shape != (1,)
    is_time = is_time and name.lower() != "date"  # a number such as 20000101
    if not units:  # they are read as seconds
        return 5 if is_time and (own or is_marked) and several and one.dimensions else None
    try:
        found = read_units(units, calendar_of(one.attributes))
    except TimesError:
        named = (is_time and own and several) or (is_since and not other)
        return _UNDECODED if named and one.dimensions else None
    if found.is_month and not several:
        return None  # which month the file's name says better, with its year
    if not is_since:
        return (0 if own else 6) if is_time else None
    if not own:
        return 7 if other else 4 if is_time else 6
    # A date in 4 bytes may be minutes off: text beside it is not.
    return 2 if other else 3 if one.kind == "f" and one.size < 8 else 0


def _text_rank(one: StoredVariable, *, is_usual: bool, is_time: bool) -> int | None:
    if not 1 <= len(one.dimensions) <= 2:
        return None
    # Which calendar is named elsewhere: any of them makes a date of it.
    if one.sample and not any(text_key(one.sample, calendar) for calendar in _WIDEST):
        return _UNDECODED if is_usual and one.shape[0] > 1 else None
    if not (is_usual or is_time):  # a date with a time of day in each record says enough
        is_row = len(one.dimensions) == 2 or one.size != 1
        return 7 if ":" in one.sample and is_row else None
    return 1 if is_usual else 2


def no_variable(name: str, names: Iterable[str]) -> str:
    """The message for a file without its time variable, with similar names."""
    known = list(names)
    near = get_close_matches(name, known, 3, 0.4) or known[:5]
    return f"it has no variable {name!r}" + (f" (near: {', '.join(near)})" if near else "")
