"""The program that brings results home from a job's buffer when no driver does.

``python -m burstlens.workflows.driver.left_results HOST`` is started by the job's host before it
leaves, in the folder of which it writes ``home.json``: what came. It reads the run's journal and
writes none: the next driver takes what is there into it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from burstlens.core.durable import write_json
from burstlens.core.errors import BurstlensError, RunError
from burstlens.core.existence import surely_exists
from burstlens.core.lines import read_lines
from burstlens.core.run.directory import RunDir
from burstlens.core.run.history import History
from burstlens.core.run.history_file import history_of
from burstlens.core.version import answer
from burstlens.workflows.driver.run import recipe_of
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.report import WholeCheckpoint
from burstlens.workflows.making.watching import watch_buffer
from burstlens.workflows.placement.buffer import BufferRef, bring_all_home
from burstlens.workflows.placement.checkpoint_home import bring_checkpoint
from burstlens.workflows.placement.host import HOME
from burstlens.workflows.publishing.context import settings_of
from burstlens.workflows.recipe.recipe import Recipe
from burstlens.workflows.recipe.wanted import Wanted

LOOK_S = 5.0
LIMIT_S = 120.0
"""How long the output is looked at: a file that is not whole by then will not be."""


def bring_left(host: Path) -> dict[str, object]:
    """Bring home the newest whole checkpoint, then the files that the recipe keeps, and the logs.
    Returns what ``home.json`` gets. Raises BurstlensError, OSError."""
    run = RunDir(host.parents[1])
    history, (recipe, _) = history_of(run.journal), recipe_of(run)
    if not history.buffer or not history.attempt:
        raise RunError(f"run {run.id} has nothing on the buffer")
    buffer = BufferRef(**history.buffer)
    lineage = [one.attempt for one in history.lineage.segments] or [history.attempt]
    attempts = [one for one in lineage if one >= history.first_on_buffer]
    brought, facts = None, recipe.model.facts(settings_of(run, recipe))
    for attempt in reversed(attempts):
        found = _usable(run, recipe, history, buffer, attempt)
        # From one at the run's end nothing is left to compute.
        newest = max(found, key=lambda one: (not facts.is_end(one.time), one.time), default=None)
        if newest is not None:
            brought = [attempt, newest.time]
            if not _is_home(history, attempt, newest.time):
                files = newest.files
                bring_checkpoint(buffer, run, attempt, newest.time, files, ahead=True)
            break
    keep, output, logs = Wanted(recipe.stage_out.keep), str(run.output), str(run.logs)
    home = bring_all_home(
        buffer,
        attempts,
        recipe.model,
        keep,
        output,
        logs,
        shared=_shared(history, recipe, attempts),
    )
    return {"files": home.files, "checkpoint": brought}


def _shared(history: History, recipe: Recipe, attempts: Sequence[int]) -> dict[str, list[int]]:
    """Files with frames that attempts on another buffer have brought home under these names."""
    return {
        name: [attempt, *attempts]
        for name, attempt in history.home_names.items()
        if attempt not in attempts and recipe.model.identify(name) is not None
    }


def _is_home(history: History, attempt: int, valid: str) -> bool:
    record = history.checkpoints.find(attempt, valid)
    return record is not None and bool(record.home)


def _usable(
    run: RunDir, recipe: Recipe, history: History, buffer: BufferRef, attempt: int
) -> Iterator[WholeCheckpoint]:
    """The whole checkpoints of an attempt before which no guard has tripped."""
    trips = [str(one.get("time")) for one in _trips(run) if one.get("attempt") == attempt]
    trips += [one.time for one in history.stopping.values() if one.attempt == attempt]
    for found in _whole(run, recipe, buffer, attempt):
        record = history.checkpoints.find(attempt, found.time)
        is_suspect = record is not None and record.suspect
        if not is_suspect and all(found.time < trip for trip in trips):
            yield found


def _trips(run: RunDir) -> Iterator[dict[str, object]]:
    """What the sentinel has found of guards that stop the model."""
    return (one for one in read_lines(run.sentinel) if one.get("then") == "stop")


def _whole(
    run: RunDir, recipe: Recipe, buffer: BufferRef, attempt: int
) -> Iterator[WholeCheckpoint]:
    job, cursor, begin = str(run.job(f"attempt-{attempt}")), Cursor(), time.monotonic()
    poll_s, ended = 0.5, False
    while not ended and time.monotonic() - begin < LIMIT_S:
        watched = watch_buffer(buffer, recipe.model, run.id, attempt, cursor, job, LOOK_S, poll_s)
        yield from watched.report.checkpoints
        cursor, ended = watched.report.cursor, watched.report.ended
        if not surely_exists(Path(job, "ended.json")) and not watched.report.urgent:
            return  # its supervisor was killed: nothing says that the model has ended


def main() -> int:
    """Bring it home; returns 1, with one line on standard error, when something stays."""
    host = Path(sys.argv[1])
    try:
        write_json(host / HOME, bring_left(host))
    except (BurstlensError, OSError) as error:
        print(f"results stay on the buffer: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    answer(__doc__)
    sys.exit(main())
