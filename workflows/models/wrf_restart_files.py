"""The restart files that a continued WRF run opens: whether they are all there, and their names."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from burstlens.core.errors import RecipeError
from burstlens.core.valid_time import label
from burstlens.workflows.models import wrf_files, wrf_names, wrf_times
from burstlens.workflows.models.continuation import Continuation
from burstlens.workflows.models.namelist import Namelist, Value, first, flag, number
from burstlens.workflows.models.wrf_forms import io_ranks, is_split


@dataclass(frozen=True, slots=True)
class OpenedFiles:
    """``settings`` of the namelist with which WRF opens the files; ``ranks`` is the number of MPI
    ranks that it must have, None: any."""

    settings: dict[str, Sequence[Value | None]]
    ranks: int | None


def opened_files(
    settings: Namelist, wanted: Continuation, begun: Sequence[int], time: datetime
) -> OpenedFiles:
    """How WRF opens the files of the checkpoint, whose names are relative to the model's folder.
    Raises RecipeError where it would not find one, or read one wrongly."""
    files = _by_domain(settings, wanted)
    for domain in begun:
        if domain not in files:
            raise _incomplete(wanted, f"no file of d{domain:02d}, and WRF ends without it")
    of_begun = {domain: files[domain] for domain in begun}
    ranks = _ranks(settings, of_begun, wanted)
    names = {domain: next(iter(tiles.values())) for domain, tiles in of_begun.items()}
    return OpenedFiles(_inname(settings, names, time), ranks)


def ranks_of_inputs(settings: Namelist, inputs: Path) -> int | None:
    """The number of MPI ranks that inputs need which themselves continue from restart files in
    tiles; None: any."""
    start = wrf_times.date(settings, "start")
    if start is None or not flag(settings, "restart") or not _is_split(settings):
        return None
    template = str(first(settings, "rst_inname", wrf_names.RESTART[1]))
    colons = not flag(settings, "nocolons")
    tiles = wrf_files.found(inputs, wrf_names.filled(template, 1, start, colons=colons))
    return len(tiles) + io_ranks(settings) if tiles else None


def _by_domain(settings: Namelist, wanted: Continuation) -> dict[int, dict[int | None, str]]:
    """The names of the files of each domain by tile, without the tile."""
    templates = wrf_names.restarts(settings)
    found = defaultdict[int, dict[int | None, str]](dict)
    for file in wanted.files:
        name = posixpath.normpath(file)
        about = wrf_names.checkpoint(name, templates)
        if about is None or about.time != wanted.time:
            raise RecipeError(
                f"{file} is not a restart file of {label(wanted.time or '')} by the names in "
                f"{wrf_names.FILE} ({', '.join(templates)})"
            )
        whole = name if about.tile is None else name.rpartition("_")[0]
        found[int(about.part[1:])][about.tile] = whole
    return found


def _ranks(
    settings: Namelist, files: Mapping[int, Mapping[int | None, str]], wanted: Continuation
) -> int | None:
    """The number of ranks that wrote the tiles, which WRF does not compare with its own: it hangs
    in its first step. None for files that any number of ranks reads."""
    is_split = _is_split(settings)
    for domain, tiles in files.items():
        if (None in tiles) == is_split:
            form, there = number(settings, "io_form_restart"), "one file" if is_split else "tiles"
            raise RecipeError(
                f"d{domain:02d} has {there} in the checkpoint of {label(wanted.time or '')}, which "
                f"io_form_restart = {form:g} does not read: set what it was when they were written"
            )
        missing = set(range(len(tiles))) - tiles.keys() if is_split else set()
        if missing:
            raise _incomplete(wanted, f"no file of rank {min(missing)} for d{domain:02d}")
    if not is_split:
        return None
    counts = {len(tiles) for tiles in files.values()}
    if len(counts) > 1:
        raise _incomplete(wanted, "different numbers of files for its domains")
    return counts.pop() + io_ranks(settings)


def _incomplete(wanted: Continuation, text: str) -> RecipeError:
    at = label(wanted.time or "")
    return RecipeError(f"the checkpoint of {at} has {text}: continue from another checkpoint")


def _inname(
    settings: Namelist, names: Mapping[int, str], time: datetime
) -> dict[str, Sequence[Value | None]]:
    """``rst_inname`` where the files lie under another name than that which WRF would open."""
    colons = not flag(settings, "nocolons")
    given = posixpath.normpath(str(first(settings, "rst_inname", wrf_names.RESTART[1])))
    templates = dict.fromkeys([given, *wrf_names.restarts(settings)])

    def made(template: str, *, colons: bool) -> bool:
        return all(
            wrf_names.filled(template, domain, time, colons=colons) == name
            for domain, name in names.items()
        )

    for template in templates:
        if made(template, colons=colons):
            return {} if template == given else {"rst_inname": [template]}
    name = next(iter(names.values()))
    if any(made(template, colons=not colons) for template in templates):
        opens, setting = ("with", ".true.") if colons else ("without", ".false.")
        raise RecipeError(
            f"WRF opens the checkpoint's file {name} by its name {opens} colons: set nocolons = "
            f"{setting}, as when it was written"
        )
    raise RecipeError(f"WRF does not open a restart file of the name {name}: rename it")


def _is_split(settings: Namelist) -> bool:
    return is_split(number(settings, "io_form_restart"))
