"""What keeps a run from being cut into attempts that resume from each other's checkpoints."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace

from burstlens.cluster_configs.schedulers import LOCAL
from burstlens.cluster_configs.site import Site
from burstlens.core.errors import RecipeError
from burstlens.workflows.models.base import Model
from burstlens.workflows.models.continuation import Continuation
from burstlens.workflows.recipe.findings import ERROR, NOTE, WARNING, Finding
from burstlens.workflows.recipe.lead import lead_s
from burstlens.workflows.recipe.recipe import Recipe, option_text

_PATH = "simulation.segments"


def continuing(recipe: Recipe, site: Site | None) -> Iterator[Finding]:
    """Findings on ``simulation.segments`` and ``[checkpoint]``, for a run on that site."""
    yield from _stopping(recipe)
    simulation, model = recipe.simulation, recipe.model
    yield from _ranks(recipe)
    yield from _on_failure(recipe, site)
    inputs, every_s = recipe.inputs, recipe.checkpoint.every
    if not (simulation.is_cut or every_s):
        return
    path = _PATH if simulation.is_cut else "checkpoint.every"
    if fault := _unable(recipe):
        yield Finding(ERROR, f"{path}: {fault}", path)
        return
    if faults := model.checkpoint_faults(inputs, every_s):
        yield from (Finding(ERROR, f"{path}: {fault}", path) for fault in faults)
    else:
        try:
            yield from _starts(recipe, site, path)
        except RecipeError as error:
            yield Finding(ERROR, f"{path}: {error}", path)
        else:
            for text in model.checkpoint_warnings(inputs, every_s):
                yield Finding(WARNING, f"{path}: {text}", path)
    if not simulation.is_cut:
        return
    for step in recipe.steps:
        if step.phase != "before":
            path = f"step.{step.name}"
            text = "runs in the folder of one attempt, which has the frames of its stretch alone"
            yield Finding(WARNING, f"{path}: it {text}", path)


def _unable(recipe: Recipe) -> str:
    """Why the model continues from no checkpoint; "" where it can."""
    model = recipe.model
    if type(model).start is not Model.start:
        return ""
    own = model.checkpoint_faults(recipe.inputs)
    return own[0] if own else f"{model.name} cannot continue from a checkpoint"


def _cuts(recipe: Recipe, site: Site | None) -> Sequence[float]:
    """Seconds of the run at which attempts are to stop; none where the walltime of jobs cuts it.
    Raises RecipeError where the model cannot be cut so."""
    segments = recipe.simulation.segments
    if isinstance(segments, int) and segments > 1 and (site is None or site.scheduler == LOCAL):
        return recipe.model.cuts(recipe.inputs, segments, recipe.checkpoint.every)
    return ()


def _on_failure(recipe: Recipe, site: Site | None) -> Iterator[Finding]:
    """What is wrong with the settings of an attempt that follows a failed one."""
    given, path = recipe.simulation.on_failure, "simulation.on_failure"
    if given is None:
        return
    if not recipe.simulation.retries:
        text = "without simulation.retries no attempt follows a failed one: it has no effect"
        yield Finding(WARNING, f"{path}: {text}", path)
    if fault := _unable(recipe):
        yield Finding(ERROR, f"{path}: {fault}", path)
        return
    settings = {name: option_text(value) for name, value in given.set.items()}
    cuts: Sequence[float] = ()
    with contextlib.suppress(RecipeError):  # a finding on segments
        cuts = _cuts(recipe, site)
    fault = _refusal(recipe, Continuation(settings=settings))
    for until_s in cuts or (None,):
        plain = Continuation(until_s=until_s, every_s=recipe.checkpoint.every)
        if not (fault or _refusal(recipe, plain)):
            fault = _refusal(recipe, replace(plain, settings=settings))
    if fault:
        yield Finding(ERROR, f"{path}: {fault}", path)


def _refusal(recipe: Recipe, wanted: Continuation) -> str:
    """Why the model cannot be started so; "" where it can."""
    try:
        recipe.model.start(recipe.inputs, wanted)
    except RecipeError as error:
        return str(error)
    return ""


def _stopping(recipe: Recipe) -> Iterator[Finding]:
    """What is wrong with how the model is asked to stop."""
    given, model = recipe.checkpoint, recipe.model
    path = "checkpoint.stop_by"
    if given.stop_by is not None and not model.obeys_recipe:
        why = "is asked in its own way" if model.stop_by else "cannot be asked to stop"
        yield Finding(ERROR, f"{path}: {model.name} {why}: leave it out", path)
    elif given.stop_by is not None and not model.facts(recipe.inputs).tells_end:
        text = "an end of the model just after it was asked to stop is taken for a stop"
        yield Finding(WARNING, f"{path}: without simulation.done {text}", path)
    try:
        lead_s(recipe.simulation.walltime, given.lead, None)
    except RecipeError as error:
        yield Finding(ERROR, str(error), "checkpoint.lead")


def _ranks(recipe: Recipe) -> Iterator[Finding]:
    """Another number of ranks than wrote the checkpoint among the inputs, if that matters."""
    with contextlib.suppress(RecipeError):
        start = recipe.model.start(recipe.inputs, Continuation())
        if fault := start.rank_fault(recipe.simulation.ranks):
            path = "simulation.ranks_per_node"
            yield Finding(ERROR, f"{path}: {fault}", path)


def _starts(recipe: Recipe, site: Site | None, path: str) -> Iterator[Finding]:
    """What differs from the inputs in the first attempt. Raises RecipeError where the model cannot
    be cut so."""
    simulation, every_s = recipe.simulation, recipe.checkpoint.every
    cuts = _cuts(recipe, site)
    until_s = cuts[0] if cuts else None
    model = recipe.model
    none_come = not model.checkpoints_unasked and model.checkpoint_interval_s(recipe.inputs) is None
    comes = cuts or every_s or recipe.stop_by
    if simulation.is_cut and none_come and not comes:
        raise RecipeError(
            f"{recipe.model.name} would write no checkpoint from which a next job could continue: "
            "[checkpoint] every asks for some"
        )
    start = recipe.model.start(recipe.inputs, Continuation(until_s=until_s, every_s=every_s))
    if start.changes:
        yield Finding(NOTE, f"the first attempt starts with {'; '.join(start.changes)}", path)
