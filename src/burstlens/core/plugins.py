"""What plugs into a seam: leaf rooms of Burstlens, and plugins of other packages."""

from __future__ import annotations

import copyreg
import sys
import warnings
from abc import ABCMeta
from collections.abc import Callable, Collection
from functools import cache, partial
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from typing import Any, Protocol, TypeVar


class Named(Protocol):
    """The least that a seam's protocol has."""

    @property
    def name(self) -> str:
        """Its name in recipes and sites."""


T = TypeVar("T", bound=Named)


def load(target: str) -> Any:
    """What a room puts into a seam, named ``module:attribute``."""
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute)


def leaf(target: str) -> Any | None:
    """As :func:`load`; None where this copy of Burstlens does not have the leaf room."""
    try:
        return load(target)
    except ModuleNotFoundError as error:
        if error.name and target.startswith(f"{error.name}."):
            return None
        raise


def has_leaf(target: str) -> bool:
    """Whether this copy has what ``leaf`` would import; imports the room's door alone."""
    try:
        return find_spec(target.partition(":")[0]) is not None
    except ModuleNotFoundError:
        return False


def points(group: str) -> tuple[EntryPoint, ...]:
    """The entry points of a group. All packages are scanned once, which takes 0.03 s."""
    return _found(group, tuple(sys.path))


@cache
def _found(group: str, _path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=group))


def plugins(group: str, noun: str, seam: type[T], taken: Collection[str]) -> dict[str, T]:
    """The plugins of an entry-point group by name; classes are instantiated.

    A plugin that cannot be loaded, does not implement ``seam`` (a base class or a runtime-checkable
    protocol, a ``noun`` in messages) or has a name that is taken is left out with a warning: a
    broken plugin never breaks the others.
    """
    known: dict[str, T] = {}
    for point in points(group):
        try:
            loaded = point.load()
            plugin = loaded() if isinstance(loaded, type) else loaded
        except Exception as error:  # a plugin may raise anything
            _warn(noun, point.name, str(error))
            continue
        complete(type(plugin), seam)
        named = all(hasattr(plugin, name) for name in seam.__annotations__)
        if not (isinstance(plugin, seam) and named):
            _warn(noun, point.name, f"it is not a {noun}")
        elif plugin.name in known or plugin.name in taken:
            _warn(noun, point.name, f"it takes the name {plugin.name!r}, which is taken")
        else:
            known[plugin.name] = plugin
    return known


def _warn(noun: str, name: str, reason: str) -> None:
    warnings.warn(f"{noun} plugin {name!r} is left out: {reason}", stacklevel=4)


def complete(cls: type, base: type) -> None:
    """Give ``cls`` the default methods of a seam's base class if it has those without a default and
    does not derive from it; with a DeprecationWarning. For plugins of 0.2, whose seams were
    protocols; until 0.4.

    It then counts as derived from ``base``, also in a process that unpickles an object of it.
    """
    if not isinstance(base, ABCMeta) or not base.__abstractmethods__ or issubclass(cls, base):
        return
    if not all(hasattr(cls, name) for name in base.__abstractmethods__):
        return
    derive = f"{base.__module__}.{base.__qualname__}"
    text = f"{cls.__module__}.{cls.__qualname__} has to derive from {derive} from 0.4 on"
    warnings.warn(text, DeprecationWarning, stacklevel=3)
    for name, default in vars(base).items():
        if not (name.startswith("_") or hasattr(cls, name)):
            setattr(cls, name, default)
    copyreg.pickle(cls, partial(_reduced, base))
    base.register(cls)


def _reduced(base: type, plugin: object) -> str | tuple[Any, ...]:
    how = plugin.__reduce_ex__(2)
    if isinstance(how, str):
        return how
    make, arguments, *state = how
    return _restored, (type(plugin), base, make, arguments), *state


def _restored(cls: type, base: type, make: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    complete(cls, base)
    return make(*arguments)
