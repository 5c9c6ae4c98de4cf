"""A run that a person resumes from a checkpoint: which one, and whether it can.

``burstlens resume RUN --from TIME`` notes what is wanted; the next driver journals it as a part of
its ``run.resumed``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from burstlens.core import valid_time
from burstlens.core.errors import RecipeError, RunError
from burstlens.core.existence import surely_exists
from burstlens.core.run.checkpoint_record import CheckpointRecord
from burstlens.core.run.continuation import ContinuationWanted, note_wanted
from burstlens.core.run.directory import RunDir
from burstlens.core.run.facts import facts_of
from burstlens.core.run.history import History
from burstlens.core.run.history_file import history_of
from burstlens.workflows.deciding.segments import continuation_from
from burstlens.workflows.driver.claim import free_epoch
from burstlens.workflows.driver.home_taken import unsettled
from burstlens.workflows.driver.run import recipe_of
from burstlens.workflows.publishing.context import settings_of

LATEST = "latest"
ENDED = "ended.json"
"""What the supervisor of an attempt writes in its folder at the end."""


def want_continuation(
    run: RunDir,
    time: str,
    *,
    settings: Mapping[str, str],
    walltime_s: float | None = None,
    force: bool = False,
) -> ContinuationWanted:
    """Have the next driver resume from the checkpoint of that time, or the ``latest`` that is not
    suspect; ``force``: also from a suspect one. Raises RunError where a driver lives, where there
    is no such checkpoint, or where the model cannot continue so (RecipeError); OSError."""
    free_epoch(run)
    history = history_of(run.journal)
    if facts_of(run).attached is not None:
        raise RunError(f"run {run.id} looks at the files of others: it starts no model")
    attempt = f"attempt-{history.attempt}"
    job = history.jobs.get(attempt)
    if job is not None and job.outcome is None and not surely_exists(run.job(attempt) / ENDED):
        raise RunError(
            f"{attempt} of run {run.id} may still run, without a driver: burstlens resume {run.id} "
            f"continues it; burstlens stop {run.id} ends it"
        )
    for event in unsettled(run, history):  # the job's host may have brought one since
        history.apply(event)
    if history.buffer_released and not history.checkpoints.records:
        raise RunError(f"the buffer of run {run.id} was given back, and its checkpoints with it")
    found = _choose(history, time, force=force)
    recipe, _ = recipe_of(run)
    changes = {**history.settings, **settings}
    recipe.model.start(
        settings_of(run, recipe), continuation_from(found, changes, recipe.checkpoint.every)
    )
    wanted = ContinuationWanted(found.time, found.attempt, dict(settings), walltime_s)
    note_wanted(run, wanted)
    return wanted


def changes_of(settings: Iterable[str]) -> dict[str, str]:
    """Settings of the model by name, as ``--set`` gives them. Raises RecipeError."""
    changes: dict[str, str] = {}
    for text in settings:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise RecipeError(f"--set {text}: expected KEY=VALUE")
        changes[name] = value
    return changes


def _choose(history: History, time: str, *, force: bool) -> CheckpointRecord:
    known = history.checkpoints.on(history.lineage)
    if not known:
        raise RunError("no checkpoint of this run is known from which it could resume")
    if time == LATEST:
        good = [one for one in known if force or not one.suspect]
        if not good:
            raise RunError(f"each of its checkpoints is suspect ({known[-1].suspect}): {_FORCE}")
        return good[-1]
    # Also as it is shown: the number of a step cannot be parsed as a time.
    shown = (one.time for one in known if time == valid_time.label(one.time))
    try:
        key = time if valid_time.has_time(time) else next(shown, "") or valid_time.parse_key(time)
    except ValueError as error:
        text = str(error).removeprefix("expected ")
        raise RunError(f"--from: expected {LATEST} or {text}") from None
    for one in known:
        if one.time == key:
            if one.suspect and not force:
                raise RunError(f"that checkpoint is suspect ({one.suspect}): {_FORCE}")
            return one
    raise RunError(f"there is no checkpoint of {valid_time.label(key)}: {_near(known, key)}")


_FORCE = "--force resumes from it all the same"


def _near(known: Sequence[CheckpointRecord], key: str) -> str:
    before = [valid_time.label(one.time) for one in known if one.time < key][-1:]
    after = [valid_time.label(one.time) for one in known if one.time > key][:1]
    named = [f"the one before is of {text}" for text in before]
    return ", ".join([*named, *(f"the one after is of {text}" for text in after)])
