"""The journal of a run: append-only, written by the driver alone, the authoritative record.

Resume, dashboards and benchmarks read nothing else. Each line has ``t`` (Unix seconds UTC,
microseconds), ``driver`` (the epoch of the driver that wrote it), ``event``, and its fields;
docs/journal.md names the events.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from burstlens.core.errors import RunError
from burstlens.core.lines import HeldLines, whole_lines
from burstlens.core.run.format import require_format
from burstlens.core.shape import CLOCK, Each, Shape, fault, too_deep

Event = dict[str, object]

_FRAME = {"stream": str, "time": str, "attempt": int}
_PRODUCT = {"product": str, **_FRAME}
_FILE = {"incoming": str, "name": str, "bytes": int, "crc32": int}
_RECEIPT = {**_PRODUCT, **_FILE, "uuid": str, "clock?": dict, "facts?": dict, "state?": _FILE,
            "limits?": [float, float]}  # fmt: skip
_BUFFER = {"kind": str, "path": str, "folder": str, "name?": str, "owned?": bool, "by?": str}
_READING = {"least?": float, "most?": float, "mean?": float, "points?": int, "bad?": int,
            "error?": str}  # fmt: skip
_TRIP = {**_FRAME, "guard": str, "then": str, "text": str, "what": str, "found?": CLOCK,
         "variable?": str, "value?": float, "limit?": float, "units?": str,
         "place?": dict}  # fmt: skip
_JOB = {"job": str, "job_id?": str, "outcome?": str}
_ATTEMPT = {**_JOB, "attempt": int}

EVENTS: dict[str, Shape] = {
    "run.started": {"t": CLOCK},
    "run.resumed": {"t": CLOCK, "idle_s?": float},
    "run.ended": {"outcome?": str, "exit_code?": int, "message?": str},
    "buffer.created": _BUFFER,
    "buffer.adopted": _BUFFER,
    "simulation.submitting": _ATTEMPT,
    "simulation.submitted": _ATTEMPT,
    "simulation.started": _ATTEMPT,
    "simulation.ended": _ATTEMPT,
    "stageout.done": {"outcome?": str},
    "step.submitting": _JOB,
    "step.started": _JOB,
    "step.ended": _JOB,
    "frame.ready": {**_FRAME, "bytes?": int},
    "frame.damaged": {
        "stream": str, "attempt": int, "time?": str, "paths?": [str], "record?": int,
    },
    "frame.released": _FRAME,
    "frame.inspected": {**_FRAME, "readings": Each(_READING)},
    "guard.tripped": _TRIP,
    "product.limits": {"product": str, "limits": [float, float]},
    "product.publishing": _RECEIPT,
    "product.published": _RECEIPT,
    "product.failed": {**_PRODUCT, "reason?": str},
    "product.added": {"product": str, "table": dict, "gone?": int},
    "control.received": {"control": str},
}  # fmt: skip
"""Fields that readers rely on, by event; docs/journal.md has all. Other events are skipped."""

_EVERY = {"event": str, "t?": CLOCK, "driver?": int, "format?": int, "burstlens?": str}


def read(path: Path) -> Iterator[Event]:
    """The events in order, up to a torn last line.

    Raises RunError with the line's number for one that is damaged, or of a newer format than this
    Burstlens reads; OSError.
    """
    for number, line in whole_lines(path):
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            raise _damaged(path, number, "it is not JSON") from None
        wrong = fault(event, _EVERY)
        if wrong:
            raise _damaged(path, number, wrong)
        require_format(event, f"{path}, line {number}")
        name = event["event"]
        wrong = fault(event, EVENTS.get(name, {}))
        if wrong:
            raise _damaged(path, number, f"{name}: {wrong}")
        if too_deep(event):
            raise _damaged(path, number, f"{name[:80]} is nested too deep")
        yield event


def _damaged(path: Path, number: int, what: str) -> RunError:
    return RunError(
        f"{path}, line {number}: {what}; the journal is damaged: restore it from a copy, or delete "
        "that line, whose event is then unknown to the run"
    )


class Journal:
    """Appends events and hands each, once written, to ``seen``."""

    def __init__(self, path: Path, epoch: int, seen: Callable[[Event], None] | None = None) -> None:
        self.epoch = epoch
        self._lines = HeldLines(path)
        self._seen = seen

    def append(self, event: str, **fields: object) -> Event:
        """Write one event and return it. A full disk holds it back until it can be written."""
        record: Event = {"t": round(time.time(), 6), "driver": self.epoch, "event": event, **fields}
        self._lines.append(record)
        if self._seen is not None:
            self._seen(record)
        return record

    def sync(self) -> None:
        """Flush all events to disk: before a rename, a release, a cancel or a destroy.

        Raises OSError when the target is full or unavailable.
        """
        self._lines.sync()

    def close(self) -> None:
        """Sync and close."""
        self._lines.close()
