"""The words for a run that looks at a folder in which others started a model."""

from __future__ import annotations

import time

from burstlens.core.printable import printable
from burstlens.core.quantity import show_duration
from burstlens.core.run.status_file import AttachedPart, RunStatus


def attached_facts(status: RunStatus) -> list[tuple[str, str]]:
    """The folder, what it was taken for, the model's state and its attempt, as labels and texts;
    empty for a run that launches its model."""
    part, attempt = status.attached, status.attempt
    if not part:
        return []
    shown = [
        ("looks at", printable(part.path)),
        ("taken for", taken_for(part)),
        ("folder", f"cannot be read: {printable(part.lost)}" if part.lost else ""),
        ("observed", observed(part) + _as_of(status)),
        ("attempt", f"{attempt}, {printable(part.began)}" if attempt and part.began else ""),
        ("left out", "; ".join(map(printable, part.left_out))),
    ]
    return [(label, text) for label, text in shown if text]


def _as_of(status: RunStatus) -> str:
    """When that was, where no driver observes any more: its ages are those of then."""
    gone = status.outcome is not None or status.driver_alive is False
    if not gone or status.driver.heartbeat is None:
        return ""
    then = time.localtime(status.driver.heartbeat)
    return f" (as of {time.strftime('%Y-%m-%d %H:%M:%S', then)})"


def taken_for(part: AttachedPart) -> str:
    """The model that the folder was taken for, and why."""
    model, reason = printable(part.model), printable(part.reason)
    if reason.casefold().startswith(model.casefold()):
        return reason
    return ": ".join(filter(None, (model, reason)))


def observed(part: AttachedPart) -> str:
    """The model's state with its evidence, in one line: ``quiet: nothing was written for 14 min``,
    and when a scheduler was asked for that.

    Empty before the first look.
    """
    state, evidence = printable(part.state or ""), printable(part.evidence or "")
    ago = "" if part.age_s is None else f" (asked {show_duration(part.age_s)} ago)"
    asked = ago if evidence else ""
    return ": ".join(filter(None, (state, evidence + asked)))


def subject(part: AttachedPart) -> str:
    """What would be stopped: ``job 4711``, ``process 12``; empty where none is named."""
    if part.job is not None:
        return f"job {printable(part.job)}"
    return "" if part.pid is None else f"process {part.pid}"


def may_stop(part: AttachedPart) -> bool:
    """Whether the run may stop the model that it looks at."""
    return part.allow_stop and bool(subject(part))
