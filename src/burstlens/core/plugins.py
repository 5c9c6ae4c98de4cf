"""Plugins: what other packages add to a seam through an entry-point group."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Collection
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Protocol, TypeVar


class Named(Protocol):
    """What a seam's protocol has at least."""

    @property
    def name(self) -> str:
        """The word by which recipes and sites call for it."""


T = TypeVar("T", bound=Named)


def points(group: str) -> tuple[EntryPoint, ...]:
    """The entry points of a group. All packages are looked at once, which takes 0.03 s."""
    return _found(group, tuple(sys.path))


@cache
def _found(group: str, _path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=group))


def plugins(group: str, noun: str, seam: type[T], taken: Collection[str]) -> dict[str, T]:
    """The plugins of an entry-point group by name; classes are called to make one.

    One that cannot be loaded, is no ``seam`` (a runtime-checkable protocol, a ``noun`` in
    messages) or has a name that is taken is left out with a warning: a broken plugin never breaks
    the rest.
    """
    known: dict[str, T] = {}
    for point in points(group):
        try:
            loaded = point.load()
            plugin = loaded() if isinstance(loaded, type) else loaded
        except Exception as error:  # foreign code may fail in any way
            _warn(noun, point.name, str(error))
            continue
        if not isinstance(plugin, seam):
            _warn(noun, point.name, f"it is no {noun}")
        elif plugin.name in known or plugin.name in taken:
            _warn(noun, point.name, f"it takes the name {plugin.name!r}, which is taken")
        else:
            known[plugin.name] = plugin
    return known


def _warn(noun: str, name: str, reason: str) -> None:
    warnings.warn(f"{noun} plugin {name!r} is left out: {reason}", stacklevel=4)
