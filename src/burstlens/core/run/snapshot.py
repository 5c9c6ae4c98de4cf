"""The snapshot of a run on disk: ``status.json``, checked, or its replacement."""

from __future__ import annotations

from typing import Any

from burstlens.core.errors import RunError
from burstlens.core.run.directory import RunDir, facts_of
from burstlens.core.run.record import read_record
from burstlens.core.shape import CLOCK, Each, Either, fault

Status = dict[str, Any]

_PROGRESS = {"phase?": str, "fraction?": float, "time?": str, "speed?": float, "rate_mpps?": float,
             "eta_s?": float, "elapsed_s?": float, "total_s?": float}  # fmt: skip
_OUTCOME = {"state?": str, "exit_code?": int, "message?": str, "line?": str,
            "saved_node_hours?": float}  # fmt: skip
_BUFFER = {"path": str, "name?": str, "released": bool, "fill": float, "raw_bytes": int,
           "capacity_bytes": int}  # fmt: skip
_DRIVER = {"heartbeat?": CLOCK, "host?": str, "pid?": int, "ticks?": int, "epoch?": int}

SHAPE = {
    "run": str,
    "title": str,
    "state": str,
    "attempt?": int,
    "started?": CLOCK,
    "took_s?": float,
    "idle_s?": float,
    "progress?": _PROGRESS,
    "frames": {"ready": int, "damaged": int},
    "backlog": int,
    "products": Each({"published": int, "failed": int, "kind?": str, "reason?": str}),
    "latency_s?": {"last": float, "p50": float, "p95": float},
    "ledger": {"raw_bytes": int, "product_bytes": int},
    "buffer?": _BUFFER,
    "block": str,
    "paused?": bool,
    "waits_for?": str,
    "alarms": [{"text": str, "t?": CLOCK}],
    "events": [Either(({"text": str, "t": CLOCK}, str))],
    "trips?": [dict],
    "guards?": [{"name?": str, "text?": str, "state?": str, "repeats?": int}],
    "log_tail?": [str],
    "pictures": str,
    "driver": _DRIVER,
    "outcome?": _OUTCOME,
}
"""Keys that readers rely on; docs/journal.md has all."""
_THEN = "it is only a snapshot: delete it, and what the journal says is shown"


def read_snapshot(run: RunDir) -> Status:
    """The content of ``status.json``, with the keys that an older version has not written.

    Without the file, or when it is not JSON, it is made from the journal. Raises RunError, which
    names the file.
    """
    known = new_status(run)
    found = read_record(run.status, {}, _THEN, foreign_is_none=True)
    if found is None:
        return known | _from_journal(run)
    # An older version has not written every key.
    wrong = fault(known | found, SHAPE)
    if wrong:
        raise RunError(f"{run.status}: {wrong}; {_THEN}")
    return known | found


def new_status(run: RunDir) -> Status:
    """The snapshot of a run that has had no driver yet. Raises RunError."""
    facts = facts_of(run)
    return {
        "run": run.id,
        "title": facts.get("title") or "",
        "state": "new",
        "frames": {"ready": 0, "damaged": 0},
        "products": {},
        "alarms": [],
        "events": [],
        "backlog": 0,
        "ledger": {"raw_bytes": 0, "product_bytes": 0},
        "block": "gone",
        "progress": None,
        "latency_s": None,
        "buffer": None,
        "outcome": None,
        "pictures": str(run.products),
        "driver": {"heartbeat": facts.get("created") or 0.0},
    }


def _from_journal(run: RunDir) -> Status:
    """The state of a run by its journal alone; empty without a journal. Raises RunError."""
    if not run.journal.exists():
        return {}
    from burstlens.core.run.history import replay
    from burstlens.core.run.journal import read

    last: Status = {}
    ended: Status | None = None

    def events() -> Any:
        nonlocal last, ended
        for event in read(run.journal):
            last = event
            ended = event if event["event"] == "run.ended" else ended
            yield event

    history = replay(events())
    if history.state == "new":
        return {}
    names = ("exit_code", "message", "line", "saved_node_hours")
    over = history.state != "running"
    outcome = {"state": history.state, **{name: (ended or {}).get(name) for name in names}}
    return {
        "state": history.state,
        "started": history.started,
        "frames": history.counts(),
        "products": {
            name: {"published": history.standing[name], "failed": history.failures[name]}
            for name in sorted({*history.standing, *history.failures})
        },
        "ledger": {"raw_bytes": history.raw_bytes, "product_bytes": history.product_bytes},
        "outcome": outcome if over else None,
        "driver": {"heartbeat": last.get("t") or 0.0, "epoch": last.get("driver") or 0},
    }
