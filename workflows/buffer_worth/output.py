"""What a run will write, as far as its model says so before it starts."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from fnmatch import fnmatch

from burstlens.core.errors import RecipeError
from burstlens.core.quantity import show_duration
from burstlens.workflows.models.inputs import selected
from burstlens.workflows.recipe.recipe import Recipe


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What a run writes, and what is brought home of it. Sizes in bytes."""

    frame_bytes: float
    frames: int
    compute_s: float
    """Seconds of computing, without output."""
    staged_in: float = 0.0
    kept: float = 0.0
    """Raw frames that ``[stage_out] keep`` brings home."""
    model_s: float | None = None
    """Simulated seconds."""


def output_of(
    recipe: Recipe, frame_bytes: int | None, frames: int | None, compute_s: float | None
) -> tuple[Output, list[str]]:
    """What a run of the recipe writes, and notes on what was estimated. Raises RecipeError."""
    facts = recipe.model.configured(recipe.inputs).facts(recipe.inputs)
    frames = facts.frames if frames is None else frames
    if frame_bytes is None and facts.output_bytes is not None and facts.frames:
        frame_bytes = facts.output_bytes // facts.frames
    given = {"--frames": frames, "--frame-size": frame_bytes, "--compute": compute_s}
    if wrong := [name for name, value in given.items() if value is not None and value <= 0]:
        raise RecipeError(f"{' and '.join(wrong)} must be above 0")
    if not frames or not frame_bytes:
        raise RecipeError(
            f"the model {recipe.model.name} does not say how many frames it writes and how large "
            "they are: give --frames and --frame-size"
        )
    notes = []
    if compute_s is None:
        compute_s = recipe.simulation.walltime
        notes.append(
            f"computing is taken to last the walltime, {show_duration(compute_s)}: give --compute "
            "for the time without output, or shares are too low"
        )
    files = selected(recipe.inputs, recipe.model, recipe.simulation.leave).files
    staged_in = sum(os.path.getsize(source) for source, _ in files)
    kept = frame_bytes * frames if _keeps_frames(recipe) else 0
    if kept:
        notes.append("stage_out.keep is taken to match every frame")
    if recipe.products:
        notes.append("products are not counted: they are brought home while the model runs")
    found = Output(
        frame_bytes=frame_bytes, frames=frames, compute_s=compute_s,
        staged_in=staged_in, kept=kept, model_s=facts.total_s,
    )  # fmt: skip
    return found, notes


def _keeps_frames(recipe: Recipe) -> bool:
    """Whether a glob of ``stage_out.keep`` matches names such as the model gives to frames."""
    model = recipe.model.configured(recipe.inputs)
    samples = [
        re.sub(r"\[(.).*?\]", r"\1", glob).replace("?", "0").replace("*", "0")
        for glob in model.output_names(recipe.inputs).written
    ]
    names = [name for name in samples if model.identify(name)] or samples
    return any(fnmatch(name, glob) for name in names for glob in recipe.stage_out.keep)
