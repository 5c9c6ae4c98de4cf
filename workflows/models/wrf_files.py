"""The files that WRF reads at its start: which ones must exist and fit the namelist.

What must exist: share/mediation_wrfmain.F and share/input_wrf.F of WRF v4.3.3.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from burstlens.core.errors import FrameError
from burstlens.workflows.models.base import Lack
from burstlens.workflows.models.inputs import Header, known_header, read_header
from burstlens.workflows.models.namelist import Namelist, first, flag, number
from burstlens.workflows.models.wrf_forms import NETCDF, PARALLEL, SERIAL
from burstlens.workflows.models.wrf_names import domains

READABLE = (*SERIAL, *PARALLEL)
"""Each io_form of input whose header is read here."""
_SIZES = (
    ("e_we", "WEST-EAST_GRID_DIMENSION", "west_east_stag"),
    ("e_sn", "SOUTH-NORTH_GRID_DIMENSION", "south_north_stag"),
    ("e_vert", "BOTTOM-TOP_GRID_DIMENSION", "bottom_top_stag"),
)
_TAG = re.compile(r"<\w+>")


def input_name(settings: Namelist, domain: int) -> str | None:
    """The initial state of a domain; None where its name is not known beforehand."""
    return _named(settings, "input_inname", "wrfinput_d<domain>", domain)


def found(inputs: Path, name: str) -> tuple[Path, ...]:
    """The file of that name, with or without colons, or its tiles; empty if missing."""
    for spelling in dict.fromkeys((name, name.replace(":", "_"))):
        if (inputs / spelling).is_file():
            return (inputs / spelling,)
        place = inputs / spelling
        tiles = sorted(place.parent.glob(f"{place.name}_[0-9][0-9][0-9][0-9]*"))
        if tiles:
            return tuple(tiles)
    return ()


def initial(settings: Namelist, inputs: Path, domain: int) -> Header | None:
    """The header of a domain's initial state; None if it is missing or cannot be read."""
    name = input_name(settings, domain)
    return known_header(found(inputs, name)) if name else None


def lacks(settings: Namelist, inputs: Path, start: datetime | None, *, script: bool) -> list[Lack]:
    """What is missing for WRF, or does not have the namelist's size. ``script``: the executable is
    a script. If there is no initial state at all, the script is assumed to make it."""
    if not settings:
        return []
    if script and not flag(settings, "restart") and not _is_prepared(inputs):
        return []
    needed = [
        *_missing(settings, inputs, start),
        *_nudging(settings, inputs),
        *_misfits(settings, inputs),
    ]
    return [*needed, *_further(settings, inputs)]


def _missing(settings: Namelist, inputs: Path, start: datetime | None) -> Iterator[Lack]:
    restart = flag(settings, "restart")
    for domain in domains(settings):
        if restart:
            name = _named(settings, "rst_inname", "wrfrst_d<domain>_<date>", domain, start)
            why = "restart = .true. in namelist.input"
        else:
            name = input_name(settings, domain)
            why = f"the initial state of domain {domain}"
            if domain > 1:
                if not _flag_of(settings, "input_from_file", domain):
                    continue
                why += ", input_from_file = .true. in namelist.input"
        if name and not found(inputs, name):
            # A nest may begin after the time of the restart.
            yield Lack(f"there is no {name} ({why})", name, sure=domain == 1 or not restart)
    if flag(settings, "specified") and not flag(settings, "multi_bdy_files"):
        name = _named(settings, "bdy_inname", "wrfbdy_d<domain>", 1)
        if name and not found(inputs, name):
            why = "boundaries, specified = .true. in namelist.input"
            yield Lack(f"there is no {name} ({why})", name)


def _nudging(settings: Namelist, inputs: Path) -> Iterator[Lack]:
    """Analyses that a domain is nudged towards. Without them WRF ends at its first step: "Possibly
    missing file for = auxinput10"."""
    for switch, key, template in (
        ("grid_fdda", "gfdda_inname", "gfdda_d<domain>"),
        ("grid_sfdda", "sgfdda_inname", "sgfdda_d<domain>"),
    ):
        for domain in domains(settings):
            given = settings.get(switch, [])[domain - 1 : domain]
            name = _named(settings, key, template, domain)
            if given and given[0] in (1, 2) and name and not found(inputs, name):
                text = f"there is no {name} ({switch} = {given[0]} for domain {domain}, {key} in "
                # Not tried for the surface analyses.
                sure = switch == "grid_fdda" and _has_interval(settings, domain)
                yield Lack(f"{text}namelist.input)", name, sure=sure)


def _further(settings: Namelist, inputs: Path) -> Iterator[Lack]:
    """Files that WRF opens later, or that it can do without."""
    if number(settings, "sst_update") > 0 and "auxinput4_inname" in settings:
        name = _named(settings, "auxinput4_inname", "", 1)
        if name and not found(inputs, name):
            text = f"there is no {name} (sst_update = 1 in namelist.input)"
            yield Lack(text, name, sure=False)
    for name in dict.fromkeys(str(value or "") for value in settings.get("iofields_filename", [])):
        if name not in ("", "NONE_SPECIFIED") and not (inputs / name).is_file():
            stops = settings.get("ignore_iofields_warning") == [False]
            text = f"there is no {name} (iofields_filename in namelist.input)"
            yield Lack(text, name, sure=stops)


def _misfits(settings: Namelist, inputs: Path) -> Iterator[Lack]:
    if flag(settings, "restart") or first(settings, "io_form_input", NETCDF) not in READABLE:
        return
    for domain in domains(settings):
        name = input_name(settings, domain)
        paths = found(inputs, name) if name else ()
        if not name or not paths:
            continue
        if domain > 1 and not _flag_of(settings, "input_from_file", domain):
            continue
        try:
            header = read_header(paths)
        except FrameError as error:
            yield Lack(str(error), name)
            continue
        for key, attribute, dimension in _SIZES:
            given = settings.get(key, [])[domain - 1 : domain]
            there = header.attributes.get(attribute)
            # A file cut out of another one keeps the other's attributes.
            fits = {there, header.sizes.get(dimension)}
            if there is not None and given and isinstance(given[0], int) and given[0] not in fits:
                yield Lack(
                    f"{name} has {attribute} = {int(there)}, and namelist.input {key} = {given[0]} "
                    f"for domain {domain}: make it again with this namelist",
                    name,
                )


def _named(
    settings: Namelist, key: str, default: str, domain: int, date: datetime | None = None
) -> str | None:
    """The name that a template makes; None if a tag in it is not known."""
    text = str(first(settings, key, default)).replace("<domain>", f"{domain:02d}")
    if date is not None:
        text = text.replace("<date>", f"{date.year:04d}-{date:%m-%d_%H:%M:%S}")
    return None if _TAG.search(text) or text.startswith("/") else text


def _flag_of(settings: Namelist, key: str, domain: int) -> bool:
    """A logical of one domain, false if the list is too short."""
    return settings.get(key, [])[domain - 1 : domain] == [True]


def _has_interval(settings: Namelist, domain: int) -> bool:
    """Whether analyses are read at all: without an interval WRF reads none."""
    keys = [key for key in settings if key.startswith("gfdda_interval")]
    return any(number(settings, key, domain - 1) > 0 for key in keys)


def _is_prepared(inputs: Path) -> bool:
    """Whether the inputs hold files that real.exe or an earlier run makes."""
    names = ("wrfinput_d*", "wrfbdy_d*", "wrfrst_d*", "wrflowinp_d*", "wrffdda_d*")
    return any(next(inputs.glob(pattern), None) is not None for pattern in names)
