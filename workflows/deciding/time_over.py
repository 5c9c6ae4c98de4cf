"""What is reported when the time of a model's job was over: what is lost, and what can be done."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from burstlens.core import valid_time
from burstlens.core.quantity import show_duration
from burstlens.core.run.checkpoint_record import CheckpointRecord
from burstlens.core.run.history import History
from burstlens.workflows.models.base import Model
from burstlens.workflows.placement.supervised import Ended
from burstlens.workflows.recipe.recipe import Simulation

if TYPE_CHECKING:
    from burstlens.workflows.deciding.state import RunState

LONGER = "start a new run with a longer simulation.walltime"
LEAST_S = 1e-3
"""Less model time than this is not lost: keys of elapsed times have milliseconds."""


def core_hours(simulation: Simulation, seconds: float, cores: int | None = None) -> float:
    """What a job of the simulation costs in that time. ``cores`` are those of each of its nodes, as
    its supervisor has counted them; None: one for each rank."""
    return round(seconds / 3600 * simulation.nodes * (cores or simulation.ranks_per_node), 4)


@dataclass(frozen=True, slots=True)
class LostWork:
    """What an attempt has computed after the checkpoint ``since``, in model time and in core-hours:
    it is computed again. None where that is not known; without a checkpoint all that it has."""

    since: str
    model_s: float | None
    core_hours: float | None

    @property
    def is_any(self) -> bool:
        """Whether frames that there are come again, or nothing is kept at all."""
        return not self.since or self.model_s is None or self.model_s > LEAST_S

    def text(self) -> str:
        """In words, for people."""
        if not self.is_any:
            return f"nothing is lost after its checkpoint of {valid_time.label(self.since)}"
        parts = []
        if self.model_s is not None:
            parts.append(f"{show_duration(self.model_s)} of model time")
        if self.core_hours is not None:
            parts.append(f"{self.core_hours:.2g} core-hours")
        what = ", ".join(parts) or "all that it has computed"
        since = f"since the checkpoint of {valid_time.label(self.since)}" if self.since else ""
        return f"lost {since or 'without a checkpoint'}: {what}"


def lost_work(
    history: History,
    attempt: int,
    end: Ended,
    newest: CheckpointRecord | None,
    start: str | None,
    simulation: Simulation,
) -> LostWork:
    """What is lost where the next attempt resumes from the ``newest`` checkpoint, None: from the
    run's ``start``."""
    reached = max((time for _, time, number in history.frames if number == attempt), default="")
    since = newest.time if newest else ""
    model_s = None
    with suppress(ValueError):  # frames may be named by their files
        if reached and (base := since or start):
            model_s = max(0.0, valid_time.seconds(reached) - valid_time.seconds(base))
        elif since:
            model_s = 0.0
    seconds = end.seconds
    own = newest is not None and newest.attempt == attempt
    if own and newest is not None and newest.written and end.ended:
        seconds = max(0.0, end.ended - newest.written)
    cost = None if seconds is None else core_hours(simulation, seconds, end.cores)
    return LostWork(since, model_s, cost)


def advice(state: RunState) -> str:
    """What a person may do about a run whose last job's time was over."""
    recipe, site, run = state.recipe, state.site, state.run.id
    simulation = recipe.simulation
    lasts = not (site.viewing.placement == "same-job" or site.buffer.node_local)
    known = state.history.checkpoints.on(state.history.lineage)
    is_kept = any(not one.suspect and (lasts or one.home) for one in known)
    if not is_kept or type(recipe.model).start is Model.start:
        if simulation.is_cut or type(recipe.model).start is Model.start or not lasts:
            return LONGER
        return f'{LONGER}, or with checkpoints and simulation.segments = "until done"'
    more = f"burstlens resume {run} --from latest --walltime {_clock(2 * simulation.walltime)}"
    if simulation.is_cut:
        return f"resume with as many jobs again: burstlens resume {run}; with longer ones: {more}"
    return (
        f"resume from its newest checkpoint with more time: {more}; a run with "
        'simulation.segments = "until done" continues by itself'
    )


def _clock(seconds: float) -> str:
    """``HH:MM:SS``."""
    whole = round(seconds)
    return f"{whole // 3600:02d}:{whole % 3600 // 60:02d}:{whole % 60:02d}"
