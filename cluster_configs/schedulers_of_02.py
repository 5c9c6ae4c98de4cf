"""Schedulers of other packages, written for 0.2, when their seam was a protocol. Until 0.4.

What a scheduler says since about its jobs and its launcher, Burstlens knew itself: it was Slurm's.
"""

from __future__ import annotations

import warnings

from burstlens.cluster_configs.scheduler import EnterableScheduler, Scheduler
from burstlens.cluster_configs.slurm import Slurm
from burstlens.core import plugins


def complete(cls: type) -> None:
    """Give a scheduler's class what it does not say itself; with a DeprecationWarning."""
    plugins.complete(cls, Scheduler)
    if not issubclass(cls, Scheduler):
        return
    variable = getattr(cls, "cpus_variable", "")
    if variable and cls.cpus_on_node == Scheduler.cpus_on_node:
        cls.cpus_on_node = f"${{{variable}:-$(nproc)}}"
        _warn(cls, "cpus_on_node", f"in place of cpus_variable: {cls.cpus_on_node}")
    starts_steps = "same-job" in cls.offers or issubclass(cls, EnterableScheduler)
    if starts_steps and cls.step_words is Scheduler.step_words:
        for name in ("step_words", "each_node", "launcher_lines"):
            setattr(cls, name, vars(Slurm)[name])
        _warn(cls, "step_words and each_node", "which were those of srun")


def _warn(cls: type, names: str, more: str) -> None:
    owner = f"{cls.__module__}.{cls.__qualname__}"
    text = f"{owner} has to say {names} itself from 0.4 on, {more}"
    warnings.warn(text, DeprecationWarning, stacklevel=4)
