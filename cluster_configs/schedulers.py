"""Schedulers by name: those that ship, and those of installed packages; the job one stands in."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from burstlens.core.errors import SiteError
from burstlens.core.nearness import did_you_mean
from burstlens.core.plugins import points

if TYPE_CHECKING:
    from burstlens.cluster_configs.scheduler import Scheduler

BUILT_IN = {
    "slurm": "burstlens.cluster_configs.slurm:Slurm",
}
GROUP = "burstlens.schedulers"
LOCAL = "local"
"""The name that stands for no scheduler: jobs are processes of this machine."""
FIRST = "slurm"
"""The scheduler of runs that do not name theirs: those of 0.2. A local site keeps its table."""
_JOB_ID = re.compile(r"JOB_?ID$")
_OTHERS = ("PBS_JOBID", "LSB_JOBID")
"""Variables with a job's id of schedulers that do not ship, and may not be installed."""


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
    from burstlens.cluster_configs.scheduler import Scheduler
    from burstlens.cluster_configs.schedulers_of_02 import complete

    point = {point.name: point for point in points(GROUP)}[name]
    try:
        found: type[Scheduler] = point.load()
        complete(found)
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
    if name not in (known := names()):
        raise SiteError(f'there is no scheduler "{name}"{did_you_mean(name, {LOCAL, *known})}')


def names() -> tuple[str, ...]:
    """The schedulers that there are; those that ship come first."""
    return (*BUILT_IN, *sorted({point.name for point in points(GROUP)} - BUILT_IN.keys()))


def loadable() -> Iterator[type[Scheduler]]:
    """The class of each scheduler but those of broken plugins."""
    for name in names():
        try:
            yield scheduler(name)
        except SiteError:
            continue


def job_id_variable(name: str) -> str:
    """The environment variable with the id of a job of that scheduler; of ``local``, of the job in
    which this process runs. Empty where there is none."""
    if name != LOCAL:
        return scheduler(name).variables.job_id
    job = own_job()
    return job.variable if job else ""


@dataclass(frozen=True, slots=True)
class OwnJob:
    """The batch job in which a process runs."""

    job_id: str
    variable: str
    """The environment variable that has the id."""
    submit_host: str = ""
    """Where it was submitted; empty where its scheduler does not say."""


def own_job() -> OwnJob | None:
    """The batch job in which this process runs, of whichever scheduler; None outside of one."""
    if not any(map(_JOB_ID.search, os.environ)):
        return None  # no scheduler need be imported
    for variables in (one.variables for one in loadable()):
        if job_id := os.environ.get(variables.job_id):
            return OwnJob(job_id, variables.job_id, os.environ.get(variables.submit_host, ""))
    return next((OwnJob(os.environ[name], name) for name in _OTHERS if name in os.environ), None)
