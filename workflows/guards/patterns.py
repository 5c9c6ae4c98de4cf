"""The expression each log guard searches for: the model's by name, else the guard's own."""

from __future__ import annotations

from collections.abc import Iterable

from burstlens.workflows.frames.log_search import LogPattern
from burstlens.workflows.guards.guard import Guard
from burstlens.workflows.models.base import Model


def patterns_of(guards: Iterable[Guard], model: Model) -> tuple[LogPattern, ...]:
    """The patterns of the guards that search the logs of that model."""
    named = model.log_guards()
    return tuple(
        LogPattern(guard.called, named.get(guard.log, guard.log))
        for guard in guards
        if guard.log is not None
    )
