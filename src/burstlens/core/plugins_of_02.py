"""Plugins written for 0.2, when the seams of product kinds and models were protocols. Until 0.4."""

from __future__ import annotations

import copyreg
import warnings
from abc import ABCMeta
from collections.abc import Callable
from functools import partial
from typing import Any


def complete(cls: type, base: type) -> None:
    """Give ``cls`` the default methods of a seam's base class if it has those without a default and
    does not derive from it; with a DeprecationWarning.

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
