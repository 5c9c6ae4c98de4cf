"""How WRF continues from its restart files and stops at one: the attempt's copy of its namelist.

Measured with v4.3.3. A continued run counts ``run_*`` from its restart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from burstlens.core.errors import RecipeError
from burstlens.core.valid_time import label
from burstlens.workflows.models import wrf_names, wrf_restart_names, wrf_rings, wrf_times
from burstlens.workflows.models.continuation import Continuation, NothingLeftError, Proof, Start
from burstlens.workflows.models.namelist import MAX_BYTES, Namelist, Value, flag, number, parse
from burstlens.workflows.models.namelist_edit import edit
from burstlens.workflows.models.wrf_forms import SERIAL
from burstlens.workflows.models.wrf_restart_files import opened_files, ranks_of_inputs
from burstlens.workflows.models.wrf_settings import wanted_changes
from burstlens.workflows.models.wrf_timers import frame_notes, needs_override

_GROUP = "time_control"
_MOST_S = 2**31 - 1
"""The greatest integer that WRF reads."""
_NOT_UTF8 = re.compile("[\udc80-\udcff]")
"""A byte that is not UTF-8, as ``surrogateescape`` decodes it."""
_Values = dict[str, Sequence[Value | None]]


def proof(form: int) -> Proof:
    """What proves that a restart file of that io_form is whole. PnetCDF's has its number of
    records from the beginning, and WRF reads a cut one without a message. That the bytes of
    parallel netCDF-4 prove anything was not measured."""
    return Proof.FILE if form in SERIAL else Proof.LOG


def parts(settings: Namelist, time: str) -> list[str]:
    """The domains whose restart files WRF opens when it continues at that valid-time key."""
    return [f"d{domain:02d}" for domain in _open_domains(settings, time)] if settings else []


def _open_domains(settings: Namelist, time: str) -> list[int]:
    """The domains that WRF has open at that time."""
    return [number for number in wrf_names.domains(settings) if _is_open(settings, number, time)]


def _is_open(settings: Namelist, domain: int, time: str) -> bool:
    """Whether WRF opens a domain at that time: a nest from its start until before its end, if its
    parent is open (``nests_to_open`` in frame/module_nesting.F)."""
    for _ in wrf_names.domains(settings):  # there are no more parents than domains
        if domain <= 1:
            break
        start = wrf_times.key(settings, "start", domain - 1) or time
        end = wrf_times.key(settings, "end", domain - 1)
        if time < start or (end is not None and time >= end):
            return False
        domain = int(number(settings, "parent_id", domain - 1, default=1))
    return True


def cuts(settings: Namelist, count: int, every_s: float | None = None) -> list[float]:
    """Seconds of the run between so many stretches, each a time of restart files; not the start of
    a nest: WRF that stops there has not opened it, and the next attempt needs its file. Where
    restart files come late each stretch has two intervals, so that one comes in it."""
    total_s = wrf_times.total_s(settings)
    if total_s is None:
        raise RecipeError(f"{wrf_names.FILE} does not say how long the run is: it cannot be cut")
    every_s = every_s or _restart_interval_s(settings)
    ring_s = 2 * every_s if wrf_rings.comes_late(settings, every_s) else every_s
    last = -int(-total_s // ring_s) - 1
    nests = _nest_starts_s(settings)
    rings = [ring * ring_s for ring in range(1, last + 1) if ring * ring_s not in nests]
    if len(rings) < count - 1:
        raise RecipeError(
            f"a run of {total_s:g} s with restart files every {every_s:g} s cannot be cut into "
            f"{count} stretches; the most is {len(rings) + 1}: ask for fewer, or for more restart "
            "files"
        )
    found: list[float] = []
    for cut in range(1, count):
        wanted_s, later = total_s * cut / count, len(rings) - (count - 1 - cut)
        left = [ring for ring in rings[:later] if not found or ring > found[-1]]
        found.append(min(left, key=lambda ring: abs(ring - wanted_s)))
    return found


def _nest_starts_s(settings: Namelist) -> set[float]:
    """Seconds of the run at which nests begin."""
    start = wrf_times.date(settings, "start")
    nests = (wrf_times.date(settings, "start", n - 1) for n in wrf_names.domains(settings) if n > 1)
    return {(one - start).total_seconds() for one in nests if one is not None and start is not None}


def start(inputs: Path, wanted: Continuation, command: list[str]) -> Start:
    """How WRF is started so. Raises NothingLeftError at the end of the run, RecipeError for what
    WRF would refuse, or do wrong without a message."""
    if wanted == Continuation():
        return Start(command, ranks=ranks_of_inputs(wrf_names.read_settings(inputs), inputs))
    text = _text(inputs / wrf_names.FILE)
    changes = wanted_changes(text, wanted.settings)
    settings = parse(edit(text, changes).text, wrf_names.GROUPS).settings
    overrides = needs_override(settings, wanted, (key for _, key in changes))
    overridden = overrides or flag(settings, "override_restart_timers")
    own: _Values = {}
    notes: Sequence[str] = ()
    ranks = ranks_of_inputs(settings, inputs)
    for fault in _faults(settings, wanted, (key for _, key in changes)):
        raise RecipeError(fault)
    if wanted.time is not None or wanted.until_s is not None:
        stretch = _Stretch.of(settings, wanted)
        if wanted.time is not None:
            begun = _open_domains(settings, wanted.time)
            opened = opened_files(settings, wanted, begun, stretch.begin)
            own |= _begin(settings, stretch) | opened.settings
            ranks = opened.ranks
            notes = [*frame_notes(settings, stretch.begin, begun, overridden=overridden)]
        own |= _length(settings, stretch)
    if wanted.time is None and overrides and (begin := wrf_times.date(settings, "start")):
        notes = [*frame_notes(settings, begin, wrf_names.domains(settings), overridden=True)]
    if wanted.every_s is not None:
        own |= _interval(settings, wanted.every_s)
    if (wanted.time, wanted.until_s, wanted.every_s) != (None, None, None):
        notes = [*notes, *wrf_rings.step_notes(settings, wanted.every_s)]
    if overrides:
        own["override_restart_timers"] = [True]
    try:
        every = {(_GROUP, key): values for key, values in own.items()}
        edited = edit(text, {**changes, **every}, insert=True)
    except RecipeError as error:
        raise RecipeError(f"{wrf_names.FILE}: {error}") from error
    files = {wrf_names.FILE: edited.text} if edited.text != text else {}
    return Start(command, files, (*edited.changes, *notes), ranks)


def _faults(settings: Namelist, wanted: Continuation, changed: Iterable[str]) -> Iterator[str]:
    """Why WRF could not continue from the checkpoint, or from those that it would make."""
    makes_checkpoints = wanted.until_s is not None or wanted.every_s is not None
    if makes_checkpoints or any("time_step" in key for key in changed):
        yield from wrf_restart_names.faults(settings, wanted.every_s)
    elif wanted.time is not None:
        yield from filter(None, [wrf_restart_names.form_fault(settings)])
        yield from wrf_restart_names.name_faults(settings)


@dataclass(frozen=True, slots=True)
class _Stretch:
    """What an attempt computes: from ``begin``, ``begin_s`` seconds after the start of the run, to
    ``end_s``. ``ends_early``: the run continues after it."""

    begin: datetime
    begin_s: float
    end_s: float
    ends_early: bool

    @classmethod
    def of(cls, settings: Namelist, wanted: Continuation) -> _Stretch:
        start, total_s = wrf_times.date(settings, "start"), wrf_times.total_s(settings)
        if start is None or total_s is None:
            raise RecipeError(f"{wrf_names.FILE} does not say when the run begins and ends")
        begin = start if wanted.time is None else _date(wanted.time)
        begin_s = (begin - start).total_seconds()
        end_s = total_s if wanted.until_s is None else float(wanted.until_s)
        if begin_s < 0:
            raise RecipeError(f"{label(wanted.time or '')} is before the start of the run")
        if wanted.time is not None and begin_s >= total_s:
            raise NothingLeftError.at(wanted.time)
        if end_s > total_s or not end_s.is_integer():
            raise RecipeError(f"WRF cannot stop at {end_s:g} s of a run of {total_s:g} s")
        if begin_s >= end_s:
            at = f"the checkpoint of {label(wanted.time)}" if wanted.time else "the start"
            raise RecipeError(f"WRF cannot stop at {end_s:g} s: {at} is not before that")
        if end_s < total_s:
            every_s = wanted.every_s or _restart_interval_s(settings)
            # An interval of the attempt's own counts from its begin.
            off_s = (end_s - (begin_s if wanted.every_s else 0.0)) % every_s
            if off_s and not wrf_rings.comes_late(settings, every_s):
                raise RecipeError(
                    f"WRF writes no restart file at {end_s:g} s of the run, where it is to stop: "
                    f"they come every {every_s:g} s"
                )
        return cls(begin, begin_s, end_s, end_s < total_s)


def _begin(settings: Namelist, stretch: _Stretch) -> _Values:
    """The start of each domain that has begun, and the restart."""
    found: _Values = {"restart": [True]}
    moments = dict(zip(wrf_times.DATE_PARTS, stretch.begin.timetuple()[:6], strict=True))
    most = len(wrf_names.domains(settings))
    for part, moment in moments.items():
        key = f"start_{part}"
        values: list[Value | None] = []
        for index in range(max(most, len(settings.get(key, [])))):
            own = wrf_times.date(settings, "start", index)
            later = index > 0 and own is not None and own > stretch.begin
            values.append(wrf_times.date_part(settings, "start", part, index) if later else moment)
        if key in settings or part not in ("minute", "second") or any(values):  # 0 by default
            found[key] = values
    return found


def _length(settings: Namelist, stretch: _Stretch) -> _Values:
    """``run_*`` for the stretch, in the units that the namelist uses and smaller ones; nothing
    where ``end_*`` decide."""
    if not (wrf_times.run_s(settings) or stretch.ends_early):
        return {}
    left = stretch.end_s - stretch.begin_s
    used = [size for unit, size in wrf_times.RUN_UNITS.items() if number(settings, f"run_{unit}")]
    largest = max(used, default=max(wrf_times.RUN_UNITS.values()))
    found: _Values = {}
    for unit, size in wrf_times.RUN_UNITS.items():
        value, left = divmod(left, size) if size <= largest else (0.0, left)
        if value or f"run_{unit}" in settings:
            found[f"run_{unit}"] = [int(value)]
    return found


def _interval(settings: Namelist, every_s: float) -> _Values:
    """The settings that make restart files so often: in the unit that the namelist uses, if it can,
    else in minutes, else in seconds. WRF adds units up."""
    if not 1 <= every_s <= _MOST_S or not float(every_s).is_integer():
        raise RecipeError(
            f"WRF writes restart files every 1 to {_MOST_S} whole seconds, not every {every_s:g} s"
        )
    units = {**wrf_times.INTERVAL_UNITS, "": 60}
    used = [unit for unit in units if number(settings, f"restart_interval{unit}")]
    fitting = (unit for unit in [*used, "", "_s"] if every_s % units[unit] == 0)
    chosen = next(fitting)
    zeros: _Values = {f"restart_interval{unit}": [0] for unit in used if unit != chosen}
    return {**zeros, f"restart_interval{chosen}": [int(every_s // units[chosen])]}


def _restart_interval_s(settings: Namelist) -> float:
    if found := wrf_times.interval_s(settings, "restart"):
        return found
    raise RecipeError(
        f"{wrf_names.FILE} has no restart_interval: without restart files a run cannot be cut"
    )


def _date(key: str) -> datetime:
    """The time of a valid-time key."""
    try:
        return datetime.strptime(key, "%Y%m%dT%H%M%S")
    except ValueError:
        raise RecipeError(f"{label(key)} is not a time that WRF can have") from None


def _text(path: Path) -> str:
    try:
        with open(path, "rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise RecipeError(f"{path} cannot be read ({error.strerror})") from error
    if len(raw) > MAX_BYTES:
        raise RecipeError(f"{path} has more than {MAX_BYTES} bytes: it is not a namelist")
    text = raw.decode(errors="surrogateescape")
    for key, values in parse(text, wrf_names.GROUPS).settings.items():
        if any(isinstance(value, str) and _NOT_UTF8.search(value) for value in values):
            raise RecipeError(
                f"{key} in {path} is not UTF-8, as the copy is that an attempt gets: WRF would "
                "look for another file; use a name in UTF-8"
            )
    return _NOT_UTF8.sub(lambda byte: chr(ord(byte[0]) - 0xDC00), text)  # as Latin-1
