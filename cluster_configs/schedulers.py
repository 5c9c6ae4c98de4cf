"""Schedulers by name: those that ship, and those of installed packages."""

from __future__ import annotations

import functools
from importlib import import_module

from burstlens.cluster_configs.scheduler import Scheduler
from burstlens.core.errors import SiteError
from burstlens.core.nearness import did_you_mean
from burstlens.core.plugins import points

BUILT_IN = {
    "slurm": "burstlens.cluster_configs.slurm:Slurm",
}
GROUP = "burstlens.schedulers"
LOCAL = "local"
"""The name that stands for no scheduler: jobs are processes of this machine."""


@functools.cache
def scheduler(name: str) -> type[Scheduler]:
    """The class of that scheduler: a built-in one, else that of an entry point.

    Raises SiteError with near names when there is none, and for a plugin of that name that cannot
    be loaded or is not a scheduler. Broken plugins of other names are not looked at.
    """
    require_scheduler(name)
    if name in BUILT_IN:
        module, _, attribute = BUILT_IN[name].partition(":")
        built_in: type[Scheduler] = getattr(import_module(module), attribute)
        return built_in
    point = {point.name: point for point in points(GROUP)}[name]
    try:
        found: type[Scheduler] = point.load()
        fits = isinstance(found, type) and isinstance(found(), Scheduler) and found.name == name
    except Exception as error:  # a plugin may raise anything
        raise SiteError(
            f"the scheduler {name!r} of {point.value} cannot be loaded: {error}"
        ) from error
    if not fits:
        raise SiteError(f"{point.value} is not a scheduler with the name {name!r}")
    return found


def require_scheduler(name: str) -> None:
    """Raise SiteError with near names when there is no scheduler of that name; loads none."""
    if name not in BUILT_IN:
        added = {point.name for point in points(GROUP)}
        if name not in added:
            known = {LOCAL, *BUILT_IN, *added}
            raise SiteError(f'there is no scheduler "{name}"{did_you_mean(name, known)}')
