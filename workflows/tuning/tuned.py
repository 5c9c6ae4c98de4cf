"""``tuned.toml``: a recipe that extends the one that was tuned, with the leader's values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from burstlens.core.toml.written import lines, written
from burstlens.workflows.tuning.space import Configuration, steps


def tuned_recipe(source: str, leader: Configuration, about: Sequence[str], inputs: str = "") -> str:
    """The text of the file; ``about`` becomes comments at its head. ``inputs`` is their folder
    where it does not follow from the recipe ``source`` alone."""
    whole: dict[str, Any] = {"simulation": {"inputs": inputs}} if inputs else {}
    for key, value in leader.values:
        *above, last = steps(key)
        table = whole
        for step in above:
            table = table.setdefault(step, {})
        table[last] = value
    head = [f"# {' '.join(line.split())}".rstrip() for line in about]
    return "\n".join([*head, f"extends = {written(source)}", *_tables(whole, ())]) + "\n"


def base_of(source: str, recipes: Mapping[str, Path]) -> str:
    """What to extend: the name of a recipe that has one, which holds after an update, else its
    path."""
    return next((name for name, path in recipes.items() if str(path.resolve()) == source), source)


def _tables(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    """The lines of a table and of those in it, each below its header."""
    own = {key: value for key, value in table.items() if not isinstance(value, Mapping)}
    if own and path:
        yield ""
        yield f"[{'.'.join(map(_quoted, path))}]"
    yield from lines(own)
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _tables(value, (*path, key))


def _quoted(step: str) -> str:
    return step if step.replace("_", "").isalnum() and step.isascii() else written(step)
