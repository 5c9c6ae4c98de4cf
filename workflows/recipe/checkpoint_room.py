"""Whether checkpoints have room: on the buffer beside the frames, and where runs are kept."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path

from burstlens.cluster_configs.site import Site
from burstlens.core.quantity import counted, show_bytes
from burstlens.core.run.places import runs_folder
from burstlens.workflows.models.base import Facts
from burstlens.workflows.recipe.findings import ERROR, WARNING, Finding
from burstlens.workflows.recipe.recipe import Recipe

_PATH = "checkpoint.keep"


def checkpoint_room(recipe: Recipe, facts: Facts, site: Site | None) -> Iterator[Finding]:
    """Findings on the room for ``keep`` checkpoints and the one that is being written. An error
    where the recipe asks for checkpoints, a warning where only the model's settings do."""
    each, count = facts.checkpoint_bytes, _count(recipe, facts)
    if each is None or not count:
        return
    is_asked = recipe.simulation.is_cut or recipe.checkpoint.every is not None
    level = ERROR if is_asked else WARNING
    capacity, frames = recipe.buffer.capacity, _frames_bytes(recipe, facts)
    if (size := count * each + frames) > capacity:
        beside = f" and {show_bytes(frames)} of frames beside them" if frames else ""
        text = (
            f"{_of(count, each)}{beside} are {show_bytes(size)}, and buffer.capacity is "
            f"{show_bytes(capacity)}: raise it, or keep fewer checkpoints"
        )
        yield Finding(level, f"{_PATH}: {text}", "buffer.capacity")
    # Where the buffer ends with its job each comes home before the older ones go there.
    at_home = count if site is not None and site.viewing.placement == "same-job" else 1
    folder = _existing(runs_folder())
    try:
        status = os.statvfs(folder)
    except OSError:
        return
    free = status.f_bavail * status.f_frsize
    if at_home * each > free:
        text = (
            f"{_of(at_home, each)} must fit {folder}, which has {show_bytes(free)} free: "
            "BURSTLENS_RUNS names another place"
        )
        yield Finding(level, f"{_PATH}: {text}", _PATH)


def _of(count: int, each: int) -> str:
    return f"{counted(count, 'checkpoint')} of {show_bytes(each)} each"


def _count(recipe: Recipe, facts: Facts) -> int:
    """How many there are at once: those that are kept and one that is being written, or all of a
    run that writes fewer."""
    simulation = recipe.simulation
    every_s = recipe.checkpoint.every or recipe.model.checkpoint_interval_s(recipe.inputs)
    most = recipe.checkpoint.keep + 1
    if every_s is None:
        if isinstance(simulation.segments, int):
            return min(most, simulation.segments - 1)
        return most if recipe.stop_by else 0  # one at the end of each job
    if facts.total_s is None:
        return most
    return min(most, math.ceil(facts.total_s / every_s))


def _frames_bytes(recipe: Recipe, facts: Facts) -> int:
    """All frames where none is ever released; else one. 0 where their size is not known."""
    if facts.output_bytes is None:
        return 0
    if recipe.buffer.raw == "keep" and recipe.buffer.on_pressure == "stop":
        return facts.output_bytes
    return facts.output_bytes // facts.frames if facts.frames else 0


def _existing(folder: Path) -> Path:
    """The folder itself, or its nearest parent that exists."""
    return next(path for path in (folder, *folder.parents) if path.exists())
