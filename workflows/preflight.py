"""Preflight: what can be known to be wrong before a node-hour is spent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from burstlens.errors import RecipeError
from burstlens.quantity import show_bytes
from burstlens.viz.product import wants
from burstlens.workflows.notify import allowed, forbidden
from burstlens.workflows.parameters import config_path
from burstlens.workflows.recipe import Recipe


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding: ``error`` stops the run before it starts, ``warning`` is told."""

    level: str
    text: str


def preflight(recipe: Recipe) -> list[Finding]:
    """What the inputs and the recipe's own files show, errors first.

    Raises RecipeError for a faulty configuration of the user's.
    """
    inputs = recipe.inputs
    if not inputs.is_dir():
        return [Finding("error", f"simulation.inputs: there is no folder {inputs}")]
    found = []
    for text in recipe.model.check(inputs):
        level = "error" if text.startswith("error: ") else "warning"
        found.append(Finding(level, text.removeprefix("error: ")))
    facts = recipe.model.facts(inputs)
    found += [Finding("warning", text) for text in _without_stream(recipe, facts.streams)]
    expected = facts.output_bytes
    capacity = recipe.buffer.capacity
    if expected is not None and expected > capacity and recipe.buffer.raw == "keep":
        found.append(
            Finding(
                "warning",
                f"about {show_bytes(expected)} of output are expected and buffer.capacity is "
                f'{show_bytes(capacity)}; raise it, or release frames with buffer.raw = "release"',
            )
        )
    for product in recipe.products:
        for name in product.kind.ships(product.options):
            if not (recipe.folder / name).is_file():
                text = f"product.{product.name}: there is no file {recipe.folder / name}"
                found.append(Finding("error", text))
    found += [Finding("warning", text) for text in _reaching_out(recipe)]
    return sorted(found, key=lambda finding: finding.level)


def _without_stream(recipe: Recipe, streams: Sequence[str]) -> Iterator[str]:
    """Streams that the model's settings do not ask for, and what that means for which products."""
    made, beside = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    for product in recipe.products:
        if product.common.stream is not None:
            made[product.common.stream].append(product.name)
        for stream in wants(product.kind, product.options).beside:
            beside[stream].append(product.name)
    for stream in [name for name in (made | beside) if streams and name not in streams]:
        means = []
        if stream in made:
            means.append(f"not made: {', '.join(made[stream])}")
        if stream in beside:
            means.append(f"made without it: {', '.join(beside[stream])}")
        there = ", ".join(streams)
        yield (
            f"the model's settings ask for no stream {stream!r} (there will be {there}): "
            f"{'; '.join(means)}"
        )


def _reaching_out(recipe: Recipe) -> Iterator[str]:
    """What guards run or contact when they trip: a recipe may be somebody else's."""
    ways = allowed() if recipe.guards else frozenset()
    for guard in recipe.guards:
        refused = forbidden(guard, ways)
        for way, what in forbidden(guard, frozenset()).items():
            where = f"guard.{guard.called}: when it trips it"
            if way not in refused:
                yield f"{where} will {what}"
            else:
                allow = f'[guards] allow = ["{way}"]'
                yield f"{where} would {what}; allow that in {config_path()}: {allow}"


def require(findings: list[Finding]) -> list[str]:
    """The warnings. Raises RecipeError with all errors when there is one."""
    errors = [finding.text for finding in findings if finding.level == "error"]
    if errors:
        raise RecipeError("the run cannot start:\n  " + "\n  ".join(errors))
    return [finding.text for finding in findings]
