"""Which of the frames that lie in a folder on arrival are taken: the newest ones by default.

Chosen by name as far as names show it, so that a folder of 50,000 files costs one listing and no
stat of what is passed over; then by the times of the records.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from msgspec.structs import replace

from burstlens.core import valid_time
from burstlens.workflows.frames.cursor import Attached, Done, Unit

NEWEST = 100
"""How many frames of each stream are taken, unless more are asked for."""
_SLACK_S, _SLACK = 2 * 86400.0, 0.02
"""Two dates are as many seconds, and such a part, further apart in one calendar than in another."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What is wanted of the frames that are there on arrival.

    ``newest``: so many of each stream (None: all). ``since``: none before this valid-time key.
    ``last_s``: none that is more than so many seconds before the stream's newest one. ``every``:
    each nth, counted from the newest. ``known``: valid time and file of the newest frame of each
    stream that an earlier look has seen; what came after it is always taken.
    """

    newest: int | None = NEWEST
    since: str | None = None
    last_s: float | None = None
    every: int = 1
    known: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def is_new(self, unit: Unit) -> bool:
        """Whether the file came after an earlier look, by its name."""
        time, file = self.known.get(unit.stream, ("", ""))
        return bool(file) and unit.order > (time if unit.time is not None else "", len(file), file)


def choose(selection: Selection, units: Iterable[Unit]) -> tuple[list[Unit], dict[str, Done]]:
    """The units to look at, newest first, and what is passed over, as :attr:`.Cursor.done`."""
    streams: defaultdict[str, list[Unit]] = defaultdict(list)
    for unit in units:
        streams[unit.stream].append(unit)
    taken: list[Unit] = []
    done: dict[str, Done] = {}
    for found in streams.values():
        found.sort(key=lambda unit: unit.order, reverse=True)
        chosen = _of_stream(selection, found)
        taken += chosen
        done |= _passed_over(found, set(chosen))
    taken.sort(key=newest_first, reverse=True)
    return taken, done


def newest_first(unit: Unit) -> tuple[str, int, str, str]:
    """Sort key, largest first: all streams side by side in time."""
    return (*unit.order, unit.stream)


def _of_stream(selection: Selection, found: list[Unit]) -> list[Unit]:
    """Those of one stream, which is sorted newest first."""
    chosen: list[Unit] = []
    # So many files can hold what is wanted; None: any number.
    limit = None if selection.newest is None else selection.newest * selection.every
    newest = next((unit.time for unit in found if unit.time), None)
    # Names do not say their calendar: some that are too early are read, and passed over then.
    oldest = _oldest(selection, newest, slack_s=_SLACK_S + _SLACK * (selection.last_s or 0.0))
    before = False
    for unit in found:
        if not selection.is_new(unit):
            if before or (limit is not None and len(chosen) >= limit):
                break
            # A file may grow beyond the time in its name: the first one before the limit is read.
            before = unit.time is not None and oldest is not None and unit.time <= oldest
        chosen.append(unit)
    return chosen


def _passed_over(found: list[Unit], chosen: set[Unit]) -> dict[str, Done]:
    left: defaultdict[str, list[str]] = defaultdict(list)
    low: dict[str, str] = {}
    for unit in found:
        if unit in chosen:
            low[unit.series] = min(unit.name, low.get(unit.series, unit.name))
        else:
            left[unit.series].append(unit.name)
    done = {}
    for series, names in left.items():
        names.sort()
        below = [name for name in names if series not in low or name < low[series]]
        high = below[-1] if below else ""
        done[series] = Done(high, tuple(name for name in names if name > high))
    return done


def _oldest(
    selection: Selection, newest: str | None, calendar: str = "", slack_s: float = 0.0
) -> str | None:
    """The oldest time that is wanted of a stream whose newest one is known."""
    oldest = selection.since
    if selection.last_s is not None and newest is not None:
        with suppress(ValueError, OverflowError):  # keys that have no distance
            back = valid_time.earlier(newest, selection.last_s + slack_s, calendar)
            oldest = max(oldest or back, back)
    return oldest


def records(
    selection: Selection, state: Attached, unit: Unit, times: list[str], calendar: str = ""
) -> tuple[Attached, frozenset[int]]:
    """The indices of the records of a unit that are passed over, as it is read for the first time.
    Units are read newest first, so what is taken counts from the newest record back."""
    stream, passed = unit.stream, set()
    newest = dict(state.newest)
    if times:
        newest.setdefault(stream, times[-1])
    oldest = _oldest(selection, newest.get(stream), calendar)
    counted, taken = state.counted.get(stream, 0), state.taken.get(stream, 0)
    known = selection.known.get(stream, ("", ""))[0]
    for index in reversed(range(len(times))):
        if known and times[index] > known:
            continue
        full = selection.newest is not None and taken >= selection.newest
        early = oldest is not None and times[index] < oldest
        if full or early or counted % selection.every:
            passed.add(index)
        else:
            taken += 1
        counted += 1
    after = replace(
        state,
        newest=newest,
        counted={**state.counted, stream: counted},
        taken={**state.taken, stream: taken},
        unread=state.unread - {unit.name},
    )
    return after, frozenset(passed)


def is_full(selection: Selection, state: Attached, unit: Unit) -> bool:
    """Whether nothing more of that unit's stream is wanted."""
    if selection.newest is None or selection.is_new(unit):
        return False
    return state.taken.get(unit.stream, 0) >= selection.newest


def coarseness(number: int) -> int:
    """The rank of a frame that was there on arrival, counted from the newest: the newest four, then
    each 16th, each 4th, the others.

    >>> [coarseness(number) for number in range(9)], coarseness(16)
    ([0, 0, 0, 0, 2, 3, 3, 3, 2], 1)
    """
    if number < 4:
        return 0
    return 1 if number % 16 == 0 else 2 if number % 4 == 0 else 3
