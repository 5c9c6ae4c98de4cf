"""Giving back the space of a run that is over, which a failure or a stop has left."""

from __future__ import annotations

import contextlib
import socket

from burstlens.durable import read_json, write_json
from burstlens.errors import RunError
from burstlens.journal import Journal, read
from burstlens.run_dir import RunDir
from burstlens.workflows import buffer as buffers
from burstlens.workflows.buffer import BufferRef
from burstlens.workflows.claim import take_over
from burstlens.workflows.history import replay
from burstlens.workflows.provision import provision
from burstlens.workflows.run import recipe_of, scheduled


def free(run: RunDir, *, discard: bool = False) -> str:
    """Give the run's space on the buffer back; returns what was freed, in words.

    What ``[stage_out]`` names must be home, unless ``discard`` says that it may be lost. Raises
    RunError, SiteError and StagingError.
    """
    history = replay(read(run.journal))
    if history.buffer is None or history.buffer_released:
        return f"run {run.id} holds no space on a buffer"
    recipe, site = recipe_of(run)
    epoch = take_over(run)
    last = history.jobs.get(f"attempt-{history.attempt}")
    runs = last is not None and last.job_id is not None and last.outcome is None
    if last is not None and runs and not (run.job(last.name) / "ended.json").exists():
        raise RunError(f"the model of {run.id} has not ended; burstlens stop {run.id} ends it")
    if recipe.stage_out.keep and not history.kept_home and history.frames and not discard:
        raise RunError(
            f"{', '.join(recipe.stage_out.keep)} of {run.id} are not home: burstlens resume "
            f"{run.id} goes on, --discard gives them up"
        )
    buffer = BufferRef(**history.buffer)
    launcher, _ = scheduled(run, recipe, site)
    space = provision(site, run, recipe, launcher, lambda: False)
    if not space.lasts or (buffer.name and buffer.owned):
        space.give_back(buffer)
        what = f"buffer {buffer.name}"
    elif buffer.path.startswith("$"):
        raise RunError(
            f"buffer {buffer.name} was there before the run, and only jobs see it: delete "
            f"{buffer.path}/{buffer.folder} in a job that mounts it"
        )
    else:
        buffers.destroy(buffer)
        what = f"{buffer.path}/{buffer.folder}"
    with contextlib.closing(Journal(run.journal, epoch)) as journal:
        journal.append("buffer.released", host=socket.gethostname())
    status = read_json(run.status)
    if status and status.get("buffer"):
        status["buffer"]["released"] = True
        with contextlib.suppress(OSError):  # as in the driver: the journal is the truth
            write_json(run.status, status)
    return f"freed {what}"
