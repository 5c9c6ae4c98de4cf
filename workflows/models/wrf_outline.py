"""What the frames of a WRF run will hold, from its inputs and WRF's Registry.

``wrf_variables.tsv`` has the variables of WRF v4.3.3 and WRF-Chem (tools/wrf_variables.py makes
it). Which of them the namelist's physics needs is not known here: any of them may be written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

from burstlens.core.errors import RecipeError
from burstlens.viz.frames.outline import Column, Described, Known
from burstlens.viz.geometry.grid import GRAVITY
from burstlens.workflows.models import wrf_files
from burstlens.workflows.models.inputs import Header, known_header
from burstlens.workflows.models.namelist import Namelist, number

TABLE = Path(__file__).with_name("wrf_variables.tsv")
_STREAM = re.compile(r"(?:auxhist(\d+)_)?d(\d\d)")
_MOVING = ("vortex_interval", "corral_dist")
_LINE = re.compile(r"\s*([+-])\s*:\s*([hH])\s*:\s*(\d+)\s*:\s*(.*)")
_DOUBT = "WRF writes it to this stream only where iofields_filename asks for it"
_LISTED = (
    ("num_press_levels_stag", "num_press_levels"),
    ("num_z_levels_stag", "num_z_levels"),
    ("soil_layers_stag", "num_soil_layers"),
)
"""Dimensions whose size the namelist has."""
Variables = dict[str, Described | None]


@dataclass(frozen=True, slots=True)
class TableLine:
    """A line of the table: dimensions, units, history streams; ``chem``: of WRF-Chem alone."""

    dimensions: tuple[str, ...]
    units: str
    streams: frozenset[int]
    chem: bool


@dataclass(frozen=True, slots=True)
class IoFieldChanges:
    """What ``iofields_filename`` adds to a stream and takes out of it, names in lower case.
    ``is_known``: the file could be read, or no file is set."""

    added: frozenset[str] = frozenset()
    taken: frozenset[str] = frozenset()
    is_known: bool = True


@lru_cache(maxsize=1)
def table() -> Mapping[str, TableLine]:
    found = {}
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        name, dimensions, units, streams, chem = line.split("\t")
        numbers = frozenset(int(number) for number in streams.split(",") if number)
        along = tuple(filter(None, dimensions.split(",")))
        found[name] = TableLine(along, units, numbers, bool(chem))
    return found


def outline(
    settings: Namelist, inputs: Path, stream: str, earlier: tuple[Path, ...]
) -> Known | None:
    """What the frames of a stream will hold; None if the namelist does not give the grid size.
    RecipeError if WRF has no stream of that name. ``earlier`` is a frame of it from an earlier run,
    perhaps in tiles; empty if there is none."""
    match = _STREAM.fullmatch(stream)
    if match is None:
        raise RecipeError(
            f"WRF has no stream {stream!r}: d01 is the history of domain 1, auxhist2_d01 an "
            "auxiliary one"
        )
    auxiliary, domain = int(match[1] or 0), int(match[2])
    start, sample = wrf_files.initial(settings, inputs, domain), known_header(earlier)
    sizes = _sizes(settings, domain) | dict(start.sizes if start else {})
    fits = sample is not None and all(
        sizes.get(name, size) == size for name, size in sample.sizes.items()
    )
    if sample is not None and fits:
        sizes = dict(sample.sizes) | sizes
    if not {"west_east", "south_north", "bottom_top"} <= sizes.keys():
        return None
    requested = _io_field_changes(settings, inputs, auxiliary, domain)
    variables, doubtful, unwritten = _variables(auxiliary, requested, start, sample)
    placed = start or (sample if fits else None)
    return Known(
        variables,
        sizes,
        attributes=placed.attributes if placed else None,
        coordinates=placed.coordinates if placed else None,
        column=partial(_column, placed) if placed else None,
        doubtful=doubtful,
        unwritten=unwritten,
        unlisted=frozenset(name for name in variables if name in table() and table()[name].chem),
        doubt=_DOUBT,
        remedy=f"if your WRF writes it, put an earlier file of {stream} among the inputs",
        silent=_silent(settings, auxiliary, domain),
        is_complete=requested.is_known,
        is_placed=not _moves(settings, domain),
    )


def _silent(settings: Namelist, auxiliary: int, domain: int) -> str:
    """Why the stream gets no frame; empty if it has an interval, or history sets none."""
    key = f"auxhist{auxiliary}_interval" if auxiliary else "history_interval"
    given = [name for name in settings if re.fullmatch(rf"{key}(_[ydhms]|_mo)?", name)]
    if any(number(settings, name, domain - 1) for name in given) or not (given or auxiliary):
        return ""
    return f"{key} is {'0' if given else 'not set'} in namelist.input"


def _sizes(settings: Namelist, domain: int) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for key, dimension in (
        ("e_we", "west_east"), ("e_sn", "south_north"), ("e_vert", "bottom_top"),
    ):  # fmt: skip
        faces = int(number(settings, key, domain - 1))
        if faces > 1:
            sizes |= {dimension: faces - 1, f"{dimension}_stag": faces}
    for dimension, key in _LISTED:
        if key in settings:
            sizes[dimension] = int(number(settings, key))
    return sizes


def _variables(
    auxiliary: int, requested: IoFieldChanges, start: Header | None, sample: Header | None
) -> tuple[Variables, Variables, Variables]:
    """The variables that the stream may hold, those of the initial state and of other history
    streams, and those of no stream."""
    known: Variables = {"Times": (("DateStrLen",), {})}
    doubtful: Variables = {}
    unwritten: Variables = {}
    for name, entry in table().items():
        about = entry.dimensions, {"units": entry.units}
        if auxiliary in entry.streams or name.lower() in requested.added:
            known[name] = about
        elif entry.streams or not requested.is_known:
            doubtful[name] = about
        else:
            unwritten[name] = about
    for name, found in (start.variables if start else {}).items():
        # A variable that is not in the table is of a modified WRF.
        (known if name in known or name not in table() else doubtful)[name] = found
    for name in requested.added - {name.lower() for name in known}:
        known[name] = known[name.upper()] = None
    for name, found in (sample.variables if sample else {}).items():
        doubtful.pop(name, None)
        known[name] = found
    for name in {*known, *doubtful}:
        if name.lower() in requested.taken:
            known.pop(name, None)
            doubtful.pop(name, None)
    return known, doubtful, unwritten


def _io_field_changes(
    settings: Namelist, inputs: Path, auxiliary: int, domain: int
) -> IoFieldChanges:
    listed = settings.get("iofields_filename", [])[domain - 1 : domain]
    if not listed or listed[0] in (None, "NONE_SPECIFIED"):
        return IoFieldChanges()
    try:
        text = (inputs / str(listed[0])).read_text(errors="replace")
    except OSError:
        return IoFieldChanges(is_known=False)
    added: set[str] = set()
    taken: set[str] = set()
    for line in text.splitlines():
        match = _LINE.match(line) if "#" not in line else None
        if match is None or int(match[3]) != auxiliary:
            continue
        names = {name.strip().lower() for name in match[4].split(",") if name.strip()}
        into, out_of = (added, taken) if match[1] == "+" else (taken, added)
        into |= names
        out_of -= names
    return IoFieldChanges(frozenset(added), frozenset(taken))


def _column(placed: Header) -> Column | None:
    """From the geopotential of the lowest and highest faces; None without it."""
    try:
        (bottom, _), (_, top) = (placed.extremes("PHB", "bottom_top_stag", at) for at in (0, -1))
    except KeyError:
        return None
    try:
        pressure = float(placed.coordinates("P_TOP"))
    except (KeyError, TypeError, ValueError):
        return Column(bottom / GRAVITY, top / GRAVITY)
    return Column(bottom / GRAVITY, top / GRAVITY, pressure if pressure > 0 else None)


def _moves(settings: Namelist, domain: int) -> bool:
    """Whether the domain may move: a nest with set moves, or one that follows a vortex."""
    moves = number(settings, "num_moves") > 0 or any(key in settings for key in _MOVING)
    return domain > 1 and moves
