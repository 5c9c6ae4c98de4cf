"""Products and guards that need what the frames will not have, where that is known.

A model's adapter says what the frames of a stream will hold (:meth:`.Model.outline`), a product's
kind what it will read (:class:`.Inspection`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from burstlens.core.allowance import DEFAULT_MEMORY
from burstlens.core.errors import RecipeError
from burstlens.viz.frames.outline import Known, Outline
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.inspection import Inspection
from burstlens.workflows.guards.guard import FieldGuard
from burstlens.workflows.recipe.findings import ERROR, WARNING, Finding, guard_paths
from burstlens.workflows.recipe.recipe import Recipe


def misfits(
    recipe: Recipe, streams: Sequence[str], memory: int = DEFAULT_MEMORY
) -> Iterator[Finding]:
    """What the recipe needs and the streams do not have, or a worker with so many bytes of memory;
    ``streams`` are all possible ones, empty if not known."""
    known: dict[str, Known | None] = {}
    impossible: dict[str, str] = {}
    paths = _streams(recipe)
    for stream, path in paths.items():
        try:
            known[stream] = _known(recipe, stream)
        except RecipeError as error:
            impossible[stream] = str(error)
            yield Finding(ERROR, f"{path}: {error}", path)
            continue
        about = known[stream]
        if about is not None and about.silent and (not streams or stream in streams):
            text = f"there will be no frame of the stream {stream!r}: {about.silent}"
            yield Finding(WARNING, text, path)
    yield from _without_stream(recipe, streams, impossible, paths)
    main = recipe.model.main_stream(recipe.inputs)
    for product in recipe.products:
        stream = product.common.stream or main or ""
        found, path = known.get(stream), f"product.{product.name}"
        if found is not None:
            seen = Inspection(Outline(stream, found), recipe.folder, memory=memory)
            inspect = partial(product.kind.inspect, product.options, seen)
            yield from _inspected(seen, inspect, path, path)
    for path, guard in guard_paths(recipe):
        stream = guard.stream or main or ""
        found = known.get(stream)
        if found is not None and isinstance(guard, FieldGuard):
            # A guard that cannot be evaluated only raises an alarm; the run continues.
            seen = Inspection(Outline(stream, found), recipe.folder, lenient=True)
            inspect = partial(inspect_guard, guard, seen)
            yield from _inspected(seen, inspect, path, f"guard.{guard.called}")


def _streams(recipe: Recipe) -> dict[str, str]:
    """Each stream that the recipe uses, with the path of the first key that names it."""
    main = recipe.model.main_stream(recipe.inputs)
    asked: dict[str, str] = {}
    for product in recipe.products:
        own = f"product.{product.name}"
        asked.setdefault(product.common.stream or main or "", f"{own}.stream")
        for stream in product.kind.wants(product.options).beside:
            asked.setdefault(stream, own)
    for path, guard in guard_paths(recipe):
        if guard.of_frames or guard.stream is not None:
            asked.setdefault(guard.stream or main or "", f"{path}.stream")
    return {stream: path for stream, path in asked.items() if stream}


def _known(recipe: Recipe, stream: str) -> Known | None:
    model = recipe.model.configured(recipe.inputs)
    found = model.outline(recipe.inputs, stream)
    if found is not None and any(step.phase == "before" for step in recipe.steps) and model.mpi:
        # Such a step may make another initial state, with another domain.
        return replace(found, is_placed=False)
    return found


def _inspected(
    seen: Inspection, inspect: Callable[[], None], path: str, called: str
) -> Iterator[Finding]:
    """The misfits that an inspection notes; ``called`` is the table as messages name it."""
    with suppress(Exception):
        # A plugin's kind may fail without values; that is not a fault of the recipe.
        inspect()
    for misfit in seen.found:
        level = ERROR if misfit.sure else WARNING
        key = f".{misfit.path}"
        yield Finding(level, f"{called}{key}: {misfit.text}", f"{path}{key}")


def inspect_guard(guard: FieldGuard, seen: Inspection) -> None:
    """The variables of a guard, its level and its crop."""
    for name in guard.variables:
        seen.variable(name, guard.watches)
    if guard.level is not None:
        deep = [name for name in guard.variables if seen.is_deep(name)]
        for name in deep or guard.variables:
            seen.plane(name, Crop(), level=guard.level, path=guard.watches)
    seen.crop(guard.crop, guard.variables)


def _without_stream(
    recipe: Recipe, streams: Sequence[str], impossible: Collection[str], paths: Mapping[str, str]
) -> Iterator[Finding]:
    """Streams that the model's settings do not ask for, and which products they affect."""
    affected = defaultdict[str, defaultdict[str, list[str]]](lambda: defaultdict(list))
    for product in recipe.products:
        if product.common.stream is not None:
            affected[product.common.stream]["not made"].append(product.name)
    for product in recipe.products:
        for stream in product.kind.wants(product.options).beside:
            affected[stream]["made without it"].append(product.name)
    for guard in recipe.guards:
        if guard.stream is not None:
            affected[guard.stream]["guards without frames"].append(guard.called)
    for stream, names in affected.items():
        if not streams or stream in streams or stream in impossible:
            continue
        means = "; ".join(f"{how}: {', '.join(them)}" for how, them in names.items())
        there = ", ".join(streams)
        text = f"the model's settings ask for no stream {stream!r} (there will be {there}): {means}"
        yield Finding(WARNING, text, paths[stream])
