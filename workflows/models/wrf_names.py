"""The settings of a WRF run, as its ``namelist.input`` has them in the groups that WRF reads, and
the names of the files that it writes: the defaults, and those set there.

A template of WRF holds ``<domain>``, ``<date>``, ``<year>``, ``<month>``, ``<day>`` and ``<hour>``,
each any number of times (share/module_io_domain.F); ``<number>`` is ours, for streams.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path, PurePosixPath

from burstlens.core.valid_time import wrf_key
from burstlens.workflows.models import namelist
from burstlens.workflows.models.base import OutputName, OutputNames
from burstlens.workflows.models.continuation import CheckpointName
from burstlens.workflows.models.namelist import Namelist, number

FILE = "namelist.input"
GROUPS = frozenset(
    {"time_control", "domains", "dfi_control", "physics", "fdda", "dynamics", "bdy_control",
     "grib2", "namelist_quilt", "scm", "tc", "fire", "diags", "stoch", "perturbation", "noah_mp",
     "afwa", "chem", "hydro", "ideal", "logging", "lsm", "urban", "derived"}
)  # fmt: skip
"""Of WRF's Registry, and of WRF-Chem. WRF passes over any other, so its settings are none."""
_MOST_DOMAINS = 99
"""WRF's names of files have two digits for them."""
_COLON = r"(?:[-:_]|%3A)"
"""WRF writes ``:`` or ``_``; copies have ``-``, or what URLs put for a colon."""
DATE = rf"\d{{4}}-\d\d-\d\d_\d\d{_COLON}\d\d{_COLON}\d\d"
HISTORY = ("history", "wrfout_d<domain>_<date>")
AUXILIARY = ("auxhist", "auxhist<number>_d<domain>_<date>")
RESTART = ("rst", "wrfrst_d<domain>_<date>")
_TAGS = {
    "domain": (r"\d\d", "??"),
    "number": (r"\d+", "*"),
    "date": (DATE, "????-??-??_??[:_]??[:_]??"),
    "year": (r"\d{4}", "????"),
    "month": (r"\d\d", "??"),
    "day": (r"\d\d", "??"),
    "hour": (r"\d\d", "??"),
}
"""What each tag stands for: as a regular expression and as a glob."""
DATED = re.compile("<(?:date|year|month|day|hour)>")
_TAG = re.compile(rf"<({'|'.join(_TAGS)})>")
_TILE = r"(?:_(?P<tile>\d{4,8}))?(?:\.nc)?"
"""The rank of io_form 102; the ending is that of files which were renamed."""
_FLAG = re.compile(rf"wrfoutReady_d(\d\d)_({DATE})")
_RSL = re.compile(r"rsl\.(?:error|out)\.\d{4,8}")
_OTHERS = ("wrfoutReady_d??_*", "rsl.out.*", "namelist.output", "*.d??.[TUVWPQ][SUVWHR]")
"""What WRF writes whatever the namelist says: flags, logs, its settings, time series of points."""
_MOST_HOURS = 24 * 366


def read_settings(folder: Path) -> Namelist:
    """The settings in the ``namelist.input`` of a folder, none when it is missing or not
    readable."""
    return namelist.read(folder / FILE, GROUPS).settings


def read_faults(folder: Path) -> list[str]:
    """What is broken in it, with the numbers of the lines."""
    return namelist.read(folder / FILE, GROUPS).faults


def domains(settings: Namelist) -> range:
    """The numbers of the domains, from 1."""
    last = int(number(settings, "max_dom", default=1))
    return range(1, max(1, min(last, _MOST_DOMAINS)) + 1)


@dataclass(frozen=True, slots=True)
class Template:
    """An output name in the namelist, of ``stream`` or another setting."""

    stream: str
    text: str

    @property
    def name(self) -> str:
        """Relative to the model's folder, without ``.`` and ``..`` where that is possible."""
        return posixpath.normpath(self.text)

    @property
    def holds_frames(self) -> bool:
        """Whether its files are a stream, rather than restart files or inputs of another run."""
        return re.fullmatch(r"history|auxhist\d+", self.stream) is not None

    @property
    def leads_out(self) -> bool:
        """Whether it leads out of the model's folder at any point."""
        return self.parents is None

    @property
    def dated_folder(self) -> bool:
        """Whether it lies in folders that cannot be made beforehand."""
        return "<date>" in posixpath.dirname(self.text)

    @property
    def parents(self) -> tuple[str, ...] | None:
        """Each folder of the path, parents first; None if it leads out."""
        found: list[str] = []
        here: list[str] = []
        for part in PurePosixPath(self.text).parent.parts:
            if part.startswith("/") or (part == ".." and not here):
                return None
            if part == "..":  # the folder before it must exist
                here.pop()
            else:
                here.append(part)
                found.append("/".join(here))
        return tuple(found)


def templates(settings: Namelist) -> list[Template]:
    """Every output name that the namelist sets (``history_outname``, ``rst_outname`` ...)."""
    return [
        Template(key.removesuffix("_outname"), value)
        for key, values in settings.items()
        if key.endswith("_outname")
        for value in values
        if isinstance(value, str) and value
    ]


def frames(settings: Namelist, *, moved: bool = False) -> tuple[tuple[str, str], ...]:
    """Stream and template of the files that hold frames, as given and by default; ``moved``: out of
    any folder in their names, or by default names."""
    given = [(output.stream, output.name) for output in templates(settings) if output.holds_frames]
    if moved:
        bare = [(stream, posixpath.basename(name)) for stream, name in given]
        return tuple(dict.fromkeys([*bare, HISTORY, AUXILIARY]))
    history = [pair for pair in given if pair[0] == HISTORY[0]] or [HISTORY]
    others = [pair for pair in given if pair[0] != HISTORY[0]]
    return (*history, *others, AUXILIARY)


def restarts(settings: Namelist) -> tuple[str, ...]:
    """Templates of restart files, those that are written and those that are read."""
    given = [output.name for output in templates(settings) if output.stream == RESTART[0]]
    read = [posixpath.normpath(str(value)) for value in settings.get("rst_inname", []) if value]
    return tuple(dict.fromkeys([*given, *read, RESTART[1]]))


def inputs(settings: Namelist) -> tuple[str, ...]:
    """Templates of the files that the namelist names as inputs, restart files apart."""
    return tuple(
        posixpath.normpath(str(value))
        for key, values in settings.items()
        if key.endswith("_inname") and key != "rst_inname"
        for value in values
        if value
    )


def stream_of(name: str, outnames: Sequence[tuple[str, str]]) -> OutputName | None:
    """The stream, time and (io_form 102) tile in the name of a file with frames."""
    for stream, template in outnames:
        if match := _whole(template).fullmatch(name):
            return _output(stream, match.groupdict())
    return None


def logged_frame(name: str, outnames: Sequence[tuple[str, str]]) -> tuple[str, str] | None:
    """Stream and time key of a frame named in the log. The log cuts names at 30 characters, which
    may leave the time only down to the hour."""
    name = posixpath.normpath(name)
    for stream, template in outnames:
        match = _cut(template).fullmatch(name)
        digits = re.sub(r"\D", "", match["date"]) if match else ""
        if match and len(digits) >= 10:
            output = _output(stream, {**match.groupdict(), "date": None})
            return output.stream, f"{digits[:8]}T{digits[8:14]}"
    return None


def checkpoint(name: str, wanted: Sequence[str]) -> CheckpointName | None:
    """The time, domain and (io_form 102) tile in the name of a restart file of these templates;
    None for any other name, and for one without a date."""
    for template in wanted:
        match = _whole(template).fullmatch(name)
        found = _output(HISTORY[0], match.groupdict()) if match else None
        if found is not None and found.time is not None:
            return CheckpointName(found.time, found.stream, found.tile)
    return None


def filled(template: str, domain: int, time: datetime, *, colons: bool = True) -> str:
    """The name that WRF makes of a template; without ``colons``, as with ``nocolons``."""
    text = template.replace("<domain>", f"{domain:02d}")
    text = _dated(text, time).replace("<date>", f"{time.year:04d}-{time:%m-%d_%H:%M:%S}")
    return text if colons else text.replace(":", "_")


def is_of(name: str, wanted: Sequence[str]) -> bool:
    """Whether one of these templates makes the name."""
    return any(_whole(template).fullmatch(name) for template in wanted)


def flag(name: str) -> OutputName | None:
    """The frame that a ready flag announces."""
    match = _FLAG.fullmatch(name)
    return OutputName(f"d{match[1]}", wrf_key(match[2])) if match else None


def is_old(name: str, restarted: bool | None) -> bool:
    """Whether a name, in any folder, is a default name of WRF's output. Restart files count if the
    run does not start from them."""
    base = PurePosixPath(name).name
    if is_of(base, (HISTORY[1], AUXILIARY[1])) or _FLAG.fullmatch(base) or _RSL.fullmatch(base):
        return True
    return restarted is False and is_of(base, (RESTART[1],))


def output_names(
    settings: Namelist, outnames: Sequence[tuple[str, str]], start: datetime | None, total_s: float
) -> OutputNames:
    """Where WRF writes with these settings. ``start`` and ``total_s`` say when."""
    given = templates(settings)
    written = [output.name for output in given if not output.leads_out]
    written += [RESTART[1], HISTORY[1], *(template for _, template in outnames)]
    # WRF writes no restart file at its start: it only reads the one that it starts from.
    read = [] if start is None else [_glob(template, start) for template in restarts(settings)]
    makeable = (output for output in given if not output.dated_folder)
    parents = (parent for output in makeable for parent in output.parents or ())
    made = {folder for parent in parents for folder in _made(parent, settings, start, total_s)}
    return OutputNames(
        tuple(sorted(made)),
        tuple(dict.fromkeys([*map(_glob, written), *_OTHERS])),
        tuple(read),
    )


def watched_folders(
    settings: Namelist, outnames: Sequence[tuple[str, str]], start: datetime | None, total_s: float
) -> tuple[str, ...]:
    """The folders that hold frames, flags or restart files, ``""`` for the model's own."""
    restarts = [
        template.name
        for template in templates(settings)
        if template.stream == RESTART[0] and not (template.leads_out or template.dated_folder)
    ]
    names = [*(template for _, template in outnames), *restarts]
    parents = map(posixpath.dirname, names)
    found = {folder for parent in parents for folder in _made(parent, settings, start, total_s)}
    return tuple(sorted({"", *found}))


def _made(parent: str, settings: Namelist, start: datetime | None, total_s: float) -> Iterator[str]:
    """The folders that a template gives in a run of that length."""
    for domain in domains(settings):
        text = parent.replace("<domain>", f"{domain:02d}")
        if not _TAG.search(text):
            yield text
        elif start is not None:
            for hour in range(min(int(total_s // 3600), _MOST_HOURS) + 2):
                yield _dated(text, start + timedelta(hours=hour))


def _dated(text: str, time: datetime) -> str:
    values = {"year": f"{time.year:04d}", "month": f"{time.month:02d}", "day": f"{time.day:02d}",
              "hour": f"{time.hour:02d}"}  # fmt: skip
    return _TAG.sub(lambda tag: values.get(tag[1], tag[0]), text)


def _glob(template: str, time: datetime | None = None) -> str:
    """A glob of a template's files, with any tile number; only of ``time`` if given."""
    if time is not None:
        date = f"{time:%m-%d_%H[:_]%M[:_]%S}"
        template = _dated(template, time).replace("<date>", f"\0{time.year:04d}-{date}\0")
    parts = template.split("\0")
    parts[::2] = [_globbed(part) for part in parts[::2]]
    return "".join(parts) + "*"


def _globbed(text: str) -> str:
    found = re.sub(r"([*?[])", r"[\1]", text)
    return _TAG.sub(lambda tag: _TAGS[tag[1]][1], found)


@lru_cache(maxsize=64)
def _whole(template: str) -> re.Pattern[str]:
    return re.compile(_expression(template) + _TILE)


@lru_cache(maxsize=64)
def _cut(template: str) -> re.Pattern[str]:
    return re.compile(_expression(template.partition("<date>")[0]) + r"(?P<date>[-\d:_]*).*")


def _expression(template: str) -> str:
    """A template as a regular expression with a group for each tag; repeated tags must be equal."""
    parts = _TAG.split(template)
    found, known = [], set[str]()
    for index, part in enumerate(parts):
        if index % 2 == 0:
            found.append(re.escape(part))
        elif part in known:
            found.append(f"(?P={part})")
        else:
            known.add(part)
            found.append(f"(?P<{part}>{_TAGS[part][0]})")
    return "".join(found)


def _output(stream: str, parts: dict[str, str | None]) -> OutputName:
    domain = f"d{parts.get('domain') or '01'}"
    if stream != HISTORY[0]:
        domain = f"{stream}{parts.get('number') or ''}_{domain}"
    tile = parts.get("tile")
    date = parts.get("date") or ""
    time = wrf_key(date[:10] + re.sub(_COLON, "_", date[10:]))
    return OutputName(domain, time, int(tile) if tile else None)
