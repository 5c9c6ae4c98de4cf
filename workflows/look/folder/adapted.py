"""Folders of models that have an adapter: WRF, awm, and those of plugins."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from burstlens.core.errors import AttachError
from burstlens.core.printable import printable
from burstlens.core.quantity import counted
from burstlens.workflows.look.folder.found import Found, StreamFound
from burstlens.workflows.look.folder.listing import Listing, below, listed
from burstlens.workflows.look.folder.names import NETCDF, grouped, natural
from burstlens.workflows.look.folder.sampling import Sampler
from burstlens.workflows.models import registry
from burstlens.workflows.models.base import Model, OutputName
from burstlens.workflows.models.wrf_names import DATE, HISTORY, read_faults, read_settings

_WRF_KEYS = frozenset(
    {"e_we", "history_interval", "frames_per_outfile", "io_form_history", "run_hours", "max_dom",
     "history_outname"}
)  # fmt: skip
_WRF_DEFAULT = re.compile(rf"wrfout_d\d\d_{DATE}")
_WRF_APART = (
    ("wrfrst", "restart file"), ("wrfinput", "initial state"), ("wrfbdy", "boundary file"),
    ("wrffdda", "nudging file"), ("wrflowinp", "surface file"), ("geo_em", "geo_em file"),
    ("met_em", "met_em file"),
)  # fmt: skip
_MOST_FOLDERS = 256
_AWM = re.compile(r"(surface|volume)(_\d{6,})?\.nc")


def wrf(folder: Path, top: Listing, sampler: Sampler, *, forced: bool) -> Found | None:
    """WRF, by its namelist or the names of its output; None where neither is there.

    ``forced``: the user says that it is WRF.
    """
    has_namelist = "namelist.input" in top.names and bool(read_settings(folder).keys() & _WRF_KEYS)
    if not (forced or has_namelist or any(_WRF_DEFAULT.match(name) for name in top.names)):
        return None
    model = registry.load("wrf")().configured(folder)
    names, settings = _names(folder, top, model), dict[str, Any]()
    streams = _streams(names, model)
    if not _has_history(streams):
        elsewhere = registry.load("wrf")(moved=True).configured(folder)
        if _has_history(found := _streams(top.names, elsewhere)):
            streams, model, names, settings = found, elsewhere, list(top.names), {"moved": True}
    if not forced:
        if not streams and any(
            _WRF_DEFAULT.match(name) for _, inner in below(folder, top) for name in inner.names
        ):
            return None  # frames in a folder that the namelist does not name
        if any(not _has_times(sampler, one) for one in streams[:1]):
            return None  # made by other tools from WRF's files
    logs = sorted(name for name in top.names if re.fullmatch(r"rsl\.error\.\d{4,8}", name))
    faults = read_faults(folder) if has_namelist else []
    words = [f"namelist.input{f' ({faults[0]})' if faults else ''}"] if has_namelist else []
    words += _counts(streams)
    apart = tuple(_apart(top, names, model))
    if settings:
        words.append("moved here from where history_outname says")
    elif has_namelist and not streams:
        words += _awaited(folder, top, model)
    words += [f"log {logs[0]}"] if logs else ["no log rsl.error.*"] if streams else []
    if not words:
        words = ["as you said; it has none of its files yet"]
    return Found("wrf", settings, f"WRF: {', '.join(words)}", streams, apart)


def _has_history(streams: Iterable[StreamFound]) -> bool:
    return any(re.fullmatch(r"d\d\d", stream.name) for stream in streams)


def _awaited(folder: Path, top: Listing, model: Model) -> Iterable[str]:
    """Which frames are waited for, if others lie here or the namelist renames them."""
    there = sorted(
        name for name in top.names
        if NETCDF.search(name) and not name.startswith(tuple(start for start, _ in _WRF_APART))
    )  # fmt: skip
    named = [str(value) for value in read_settings(folder).get("history_outname", []) if value]
    if named or there:
        yield f"waits for {printable((named or [HISTORY[1]])[0])}"
    if there:
        more = f" and {counted(len(there) - 1, 'other file')}" if there[1:] else ""
        yield f"here lies {printable(there[0])}{more}"


def awm(folder: Path, top: Listing, sampler: Sampler, *, forced: bool) -> Found | None:
    """awm, by its parameter file or the attributes of its output."""
    has_file = "awm.toml" in top.names
    outputs = sorted(name for name in top.names if _AWM.fullmatch(name))
    if not (forced or has_file or any(_is_of_awm(sampler, name) for name in outputs[-1:])):
        return None
    model = registry.load("awm")()
    streams = _streams(top.names, model)
    words = [*(["awm.toml"] if has_file else []), *_counts(streams)]
    words += ["log model.log"] if "model.log" in top.names else []
    apart = ("stations.nc, whole seismograms",) if "stations.nc" in top.names else ()
    reason = f"awm: {', '.join(words) or 'as you said; it has none of its files yet'}"
    return Found("awm", {}, reason, streams, apart)


def plugin(name: str, folder: Path, top: Listing) -> Found:
    """A model of an installed package, which has to be asked for by name."""
    model = registry.load(name)().configured(folder)
    streams = _streams(_names(folder, top, model), model)
    words = ", ".join(_counts(streams)) or "none of its files yet"
    return Found(name, {}, f"{name}, as you said: {words}", streams, ())


def with_time(found: Found, time_variable: str | None) -> Found:
    """The same with another time variable, where one is given."""
    if time_variable is None:
        return found
    return replace(found, settings={**found.settings, "time_variable": time_variable})


def _names(folder: Path, top: Listing, model: Model) -> list[str]:
    """The names in the folders that hold the model's output, relative to its own."""
    names = list(top.names)
    inside = {*top.folders, *top.links}
    folders = [sub for sub in model.facts(folder).folders if sub]
    reached = [sub for sub in folders if sub.startswith((".", "/")) or sub.split("/")[0] in inside]
    for sub in sorted(reached, reverse=True)[:_MOST_FOLDERS]:
        try:
            names += [f"{sub}/{name}" for name in listed(folder / sub).names]
        except AttachError:
            continue  # not made yet, or not readable
    return names


def _streams(names: Iterable[str], model: Model) -> tuple[StreamFound, ...]:
    """The streams by the adapter's own rule, its main one first."""
    files: defaultdict[str, list[tuple[str, list[tuple[int, str]], str]]] = defaultdict(list)
    for name in names:
        output: OutputName | None = model.identify(name)
        if output is not None:
            order = (output.time or "", [] if output.time else natural(name), name)
            files[output.stream].append(order)
    last = {stream: max(several)[2] for stream, several in files.items()}
    return tuple(
        StreamFound(stream, _pattern(last[stream]), len(files[stream]), last[stream])
        for stream in sorted(files, key=lambda one: (not re.fullmatch(r"d\d\d|surface", one), one))
    )


def _pattern(name: str) -> str:
    """The glob of a file's family, for words."""
    dated = re.sub(rf"{DATE}(?:_\d{{4,8}})?", "*", name)
    return dated if dated != name else grouped([name])[0].pattern


def _counts(streams: Sequence[StreamFound]) -> list[str]:
    words = [f"{one.files} of {one.pattern}" for one in streams]
    return [f"{counted(one.files, 'file')} {one.pattern}" for one in streams[:1]] + words[1:]


def _apart(top: Listing, names: Iterable[str], model: Model) -> Iterable[str]:
    """Remarks on netCDF that WRF reads or restarts from, and on what is not WRF's."""
    for start, kind in _WRF_APART:
        there = sorted(name for name in top.names if name.startswith(start))
        if len(there) == 1:
            yield there[0]
        elif there:
            yield f"{counted(len(there), kind)} ({_pattern(there[0])})"
    known = tuple(start for start, _ in _WRF_APART)
    rest = sorted(
        name for name in names
        if NETCDF.search(name) and not name.startswith(known) and model.identify(name) is None
    )  # fmt: skip
    if rest:
        yield f"{counted(len(rest), 'other netCDF file')} (such as {rest[0]})"


def _has_times(sampler: Sampler, stream: StreamFound) -> bool:
    """Whether files with WRF's names have WRF's times: what tools cut out of them has none."""
    contents = sampler.readable(stream.newest) if stream.newest is not None else None
    return contents is None or "Times" in contents.variables or not contents.variables


def _is_of_awm(sampler: Sampler, name: str) -> bool:
    contents = sampler.readable(name)
    return contents is not None and str(contents.attributes.get("source", "")).startswith("awm")
