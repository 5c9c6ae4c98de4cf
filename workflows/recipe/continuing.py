"""What keeps a run from being cut into attempts that go on from each other's checkpoints."""

from __future__ import annotations

from collections.abc import Iterator

from burstlens.cluster_configs.schedulers import LOCAL
from burstlens.cluster_configs.site import Site
from burstlens.core.errors import RecipeError
from burstlens.workflows.models.base import Model
from burstlens.workflows.models.continuation import Continuation
from burstlens.workflows.recipe.findings import ERROR, NOTE, WARNING, Finding
from burstlens.workflows.recipe.recipe import Recipe, option_text

_PATH = "simulation.segments"


def continuing(recipe: Recipe, site: Site | None) -> Iterator[Finding]:
    """Findings on ``simulation.segments`` and ``[checkpoint]``, for a run on that site."""
    simulation, model = recipe.simulation, recipe.model
    if not (simulation.is_cut or recipe.checkpoint.every or simulation.on_failure):
        return
    path = _PATH if simulation.is_cut else "checkpoint.every"
    if type(model).start is Model.start:
        yield Finding(ERROR, f"{path}: {model.name} cannot go on from a checkpoint", path)
        return
    needs_checkpoints = simulation.is_cut or recipe.checkpoint.every
    if needs_checkpoints and (faults := model.checkpoint_faults(recipe.inputs)):
        yield from (Finding(ERROR, f"{path}: {fault}", path) for fault in faults)
    else:
        try:
            yield from _starts(recipe, site)
        except RecipeError as error:
            yield Finding(ERROR, f"{_PATH}: {error}", _PATH)
    if not simulation.is_cut:
        return
    for step in recipe.steps:
        if step.phase != "before":
            path = f"step.{step.name}"
            text = "runs in the folder of one attempt, which has the frames of its stretch alone"
            yield Finding(WARNING, f"{path}: it {text}", path)


def _starts(recipe: Recipe, site: Site | None) -> Iterator[Finding]:
    """What differs from the inputs in the first attempt. Raises RecipeError where the model cannot
    be cut so."""
    simulation, every_s = recipe.simulation, recipe.checkpoint.every
    segments = simulation.segments
    cuts: list[float] = []
    if isinstance(segments, int) and segments > 1 and (site is None or site.scheduler == LOCAL):
        cuts = list(recipe.model.cuts(recipe.inputs, segments, every_s))
    until_s = cuts[0] if cuts else None
    none_come = recipe.model.checkpoint_interval_s(recipe.inputs) is None
    if simulation.is_cut and none_come and not (cuts or every_s):
        raise RecipeError(
            f"{recipe.model.name} would write no checkpoint from which a next job could continue: "
            "[checkpoint] every asks for some"
        )
    start = recipe.model.start(recipe.inputs, Continuation(until_s=until_s, every_s=every_s))
    if simulation.on_failure is not None:
        wanted = {name: option_text(value) for name, value in simulation.on_failure.set.items()}
        recipe.model.start(recipe.inputs, Continuation(settings=wanted))
    if start.changes:
        yield Finding(NOTE, f"the first attempt starts with {'; '.join(start.changes)}", _PATH)
