"""Adapters of simulation codes by name: the built-in ones and those of installed packages."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from difflib import get_close_matches
from importlib.metadata import EntryPoint

from burstlens.core.errors import RecipeError
from burstlens.core.plugins import complete, has_leaf, leaf, points
from burstlens.workflows.models.base import Model

BUILT_IN = {
    "awm": "burstlens.workflows.awm.adapter:Awm",
    "command": "burstlens.workflows.models.command:Command",
    "wrf": "burstlens.workflows.models.wrf:Wrf",
}
GROUP = "burstlens.models"

Adapter = Callable[..., Model]
"""An adapter's class: its keyword arguments are the keys of ``[simulation]``."""


def load(name: str) -> Adapter:
    """The adapter of that name: a built-in one, else that of an entry point. Raises
    :class:`RecipeError` with near names when there is none, and for a plugin of that name that
    cannot be imported. Broken plugins of other names are not looked at."""
    if name in BUILT_IN:
        adapter: Adapter | None = leaf(BUILT_IN[name])
        if adapter is not None:
            return adapter
    known = names()
    for point in _points():
        if point.name == name:
            return _plugin(point)
    near = get_close_matches(name, known, 3, 0.5) or known
    raise RecipeError(f"there is no model {name!r}; known: {', '.join(near)}")


def is_built_in(name: str) -> bool:
    """Whether Burstlens itself has that model; its room may be missing from this copy."""
    return name in BUILT_IN and has_leaf(BUILT_IN[name])


def names() -> list[str]:
    """All known names, sorted. A plugin with a built-in's name is left out, with a warning."""
    found = {name for name in BUILT_IN if is_built_in(name)}
    for point in _points():
        if point.name in BUILT_IN:
            warnings.warn(
                f"the plugin {point.value} is not used: {point.name!r} is built in", stacklevel=2
            )
        found.add(point.name)
    return sorted(found)


def _points() -> list[EntryPoint]:
    return sorted(points(GROUP), key=lambda point: point.name)


def _plugin(point: EntryPoint) -> Adapter:
    try:
        adapter: Adapter = point.load()
    except Exception as error:
        # A plugin is foreign code: whatever it raises, the message names it.
        raise RecipeError(
            f"the model {point.name!r} of {point.value} cannot be loaded: {error}"
        ) from error
    if isinstance(adapter, type):
        complete(adapter, Model)
    return adapter
