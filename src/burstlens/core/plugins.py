"""Plugins: implementations of a seam that other packages add by an entry-point group."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Collection
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Protocol, TypeVar


class Named(Protocol):
    """The least that a seam's protocol has."""

    @property
    def name(self) -> str:
        """Its name in recipes and sites."""


T = TypeVar("T", bound=Named)


def points(group: str) -> tuple[EntryPoint, ...]:
    """The entry points of a group. All packages are scanned once, which takes 0.03 s."""
    return _found(group, tuple(sys.path))


@cache
def _found(group: str, _path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=group))


def plugins(group: str, noun: str, seam: type[T], taken: Collection[str]) -> dict[str, T]:
    """The plugins of an entry-point group by name; classes are instantiated.

    A plugin that cannot be loaded, does not implement ``seam`` (a runtime-checkable protocol, a
    ``noun`` in messages) or has a name that is taken is left out with a warning: a broken plugin
    never breaks the others.
    """
    known: dict[str, T] = {}
    for point in points(group):
        try:
            loaded = point.load()
            plugin = loaded() if isinstance(loaded, type) else loaded
        except Exception as error:  # a plugin may raise anything
            _warn(noun, point.name, str(error))
            continue
        if not isinstance(plugin, seam):
            _warn(noun, point.name, f"it is not a {noun}")
        elif plugin.name in known or plugin.name in taken:
            _warn(noun, point.name, f"it takes the name {plugin.name!r}, which is taken")
        else:
            known[plugin.name] = plugin
    return known


def _warn(noun: str, name: str, reason: str) -> None:
    warnings.warn(f"{noun} plugin {name!r} is left out: {reason}", stacklevel=4)
