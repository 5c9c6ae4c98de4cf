"""How runs stand, read from their directories alone: fast, and whether or not a driver lives."""

from __future__ import annotations

import socket
import time
from pathlib import Path
from typing import Any

from burstlens import valid_time
from burstlens.durable import read_json
from burstlens.quantity import show_bytes, show_duration
from burstlens.run_dir import RunDir, all_runs, facts_of, open_run_dir

OVER = {"done", "failed", "stopped", "lost"}
STALE_S = 15.0

Status = dict[str, Any]


def status_of(name: str) -> Status:
    """The snapshot of a run; ``driver_alive`` says whether it is live. Raises RunError."""
    return _status(open_run_dir(name))


def _status(run: RunDir) -> Status:
    found = read_json(run.status)
    if found is None:
        facts = facts_of(run)
        found = {
            "run": run.id,
            "title": facts.get("title", ""),
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
            "pictures": str(run.products),
            "driver": {"heartbeat": facts.get("created", 0.0)},
        }
    alive = _alive(found["driver"])
    found["driver_alive"] = alive
    if not alive and found["state"] not in OVER:
        found["state"] = "lost"
        found["hint"] = f"its driver is gone; burstlens resume {run.id} goes on"
    return found


def _alive(driver: dict[str, Any]) -> bool:
    if driver.get("host") == socket.gethostname() and isinstance(driver.get("pid"), int):
        try:
            stat = Path(f"/proc/{driver['pid']}/stat").read_text(encoding="ascii", errors="replace")
        except OSError:
            return False
        # The start time tells it from a later process of the same number.
        return int(stat.rpartition(")")[2].split()[19]) == driver.get("ticks")
    return bool(time.time() - float(driver.get("heartbeat", 0.0)) < STALE_S)


def rows() -> list[dict[str, Any]]:
    """One row for each run: id, state, frames, title; the newest first."""
    found = []
    for run in all_runs():
        status = _status(run)
        found.append(
            {
                "run": run.id,
                "state": status["state"],
                "frames": status["frames"]["ready"],
                "title": status["title"],
                "path": str(run.path),
            }
        )
    return found


def text(status: Status) -> str:
    """A snapshot as a few lines of text."""
    lines = [f"{status['run']}: {status['state']}"]
    outcome = status.get("outcome")
    if outcome and outcome.get("message"):
        lines.append(f"  {outcome['message']}")
    if outcome and outcome.get("line"):
        lines.append(f"  {outcome['line']}")
    if status.get("hint"):
        lines.append(f"  {status['hint']}")
    progress = status.get("progress")
    if progress and progress.get("fraction") is not None:
        left = progress.get("eta_s") if status["state"] not in OVER else None
        eta = f", ETA {show_duration(left)}" if left else ""
        reached = valid_time.label(progress["time"])
        lines.append(f"  model    {100 * progress['fraction']:.0f} % ({reached}){eta}")
    frames = status["frames"]
    lines.append(f"  frames   {frames['ready']} ready, {frames['damaged']} damaged, "
                 f"{status['backlog']} products to be made")  # fmt: skip
    for name, product in status["products"].items():
        failed = f", {product['failed']} failed" if product["failed"] else ""
        lines.append(f"  {name:<8} {product['published']} published{failed}")
    if status.get("latency_s"):
        latency = status["latency_s"]
        lines.append(
            f"  latency  p50 {show_duration(latency['p50'])}, p95 {show_duration(latency['p95'])}"
        )
    ledger = status["ledger"]
    lines.append(f"  ledger   {show_bytes(ledger['raw_bytes'])} raw, "
                 f"{show_bytes(ledger['product_bytes'])} brought out")  # fmt: skip
    if status["state"] not in OVER:
        lines.append(f"  block    {status['block']}")
        if status.get("waits_for"):
            lines.append(f"  waits    for the scheduler: {status['waits_for']}")
    lines.append(f"  pictures {status['pictures']}")
    lines += [f"  ! {alarm['text']}" for alarm in status["alarms"][-3:]]
    return "\n".join(lines)
