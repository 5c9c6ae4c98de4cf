"""The words for a run that looks at a folder in which others started a model."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from burstlens.core.printable import printable
from burstlens.core.quantity import show_duration
from burstlens.core.run.snapshot import Status


def attached_facts(status: Status) -> list[tuple[str, str]]:
    """The folder, what it was taken for, the model's state and its attempt, as labels and texts;
    empty for a run that launches its model."""
    part = status.get("attached")
    if not part:
        return []
    attempt = status.get("attempt")
    shown = [
        ("looks at", _text(part, "path")),
        ("taken for", taken_for(part)),
        ("folder", f"cannot be read: {_text(part, 'lost')}" if part.get("lost") else ""),
        ("observed", observed(part) + _as_of(status)),
        ("attempt", f"{attempt}, {_text(part, 'began')}" if attempt and part.get("began") else ""),
        ("left out", "; ".join(printable(str(it)) for it in part.get("left_out") or ())),
    ]
    return [(label, text) for label, text in shown if text]


def _as_of(status: Status) -> str:
    """When that was, where no driver observes any more: its ages are those of then."""
    heartbeat = (status.get("driver") or {}).get("heartbeat")
    gone = bool(status.get("outcome")) or status.get("driver_alive") is False
    if not gone or not isinstance(heartbeat, int | float):
        return ""
    return f" (as of {time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(heartbeat))})"


def taken_for(part: Mapping[str, Any]) -> str:
    """The model that the folder was taken for, and why."""
    model, reason = _text(part, "model"), _text(part, "reason")
    if reason.casefold().startswith(model.casefold()):
        return reason
    return ": ".join(filter(None, (model, reason)))


def observed(part: Mapping[str, Any]) -> str:
    """The model's state with its evidence, in one line: ``quiet: nothing was written for 14 min``,
    and when a scheduler was asked for that.

    Empty before the first look.
    """
    state, evidence = _text(part, "state"), _text(part, "evidence")
    age_s = part.get("age_s")
    asked = f" (asked {show_duration(age_s)} ago)" if evidence and age_s is not None else ""
    return ": ".join(filter(None, (state, evidence + asked)))


def subject(part: Mapping[str, Any]) -> str:
    """What would be stopped: ``job 4711``, ``process 12``; empty where none is named."""
    if part.get("job") is not None:
        return f"job {_text(part, 'job')}"
    return f"process {part['pid']}" if part.get("pid") is not None else ""


def may_stop(part: Mapping[str, Any]) -> bool:
    """Whether the run may stop the model that it looks at."""
    return bool(part.get("allow_stop")) and bool(subject(part))


def _text(part: Mapping[str, Any], key: str) -> str:
    value = part.get(key)
    return "" if value is None else printable(str(value))
