"""How runs stand, read from their directories alone: fast, and whether or not a driver lives."""

from __future__ import annotations

import math
from typing import Any

from burstlens import valid_time
from burstlens.durable import read_json
from burstlens.errors import RunError
from burstlens.exit_codes import FRAMES_LOST, NO_SPACE, STOPPED_BY_GUARD
from burstlens.heartbeat import CONFIRM_S, driver_lives
from burstlens.lines import read_lines
from burstlens.printable import printable
from burstlens.quantity import counted, show_bytes, show_duration
from burstlens.run_dir import RunDir, all_runs, facts_of, open_run_dir

OVER = {"done", "failed", "stopped", "lost"}

Status = dict[str, Any]


def status_of(name: str) -> Status:
    """The snapshot of a run; ``driver_alive`` says whether it is live. Raises RunError."""
    run = open_run_dir(name)
    try:
        found = _status(run)
        text(found)  # what cannot be told is no snapshot of ours
    except OSError as error:
        raise RunError(f"cannot read {error.filename}: {error.strerror}") from error
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise RunError(f"{run.status} is no snapshot of a run: {error!r}") from error
    return found


def _status(run: RunDir) -> Status:
    # A version before this one has not written every key.
    found = new_status(run) | (read_json(run.status) or {})
    # Whoever wrote it may have had another mount, and a run may have been copied.
    found["pictures"] = str(run.products)
    over = found["state"] in OVER
    alive = driver_lives(run, found["driver"], confirm_s=0.0 if over else CONFIRM_S)
    found["driver_alive"] = alive
    if not alive and found["state"] not in OVER:
        found["state"] = "lost"
        found["model_ended"] = _model_ended(run)
        found["hint"] = f"its driver is gone{_left(run, ended=found['model_ended'])}"
    if not alive:
        _add_sentinels(run, found)
    return found


def _model_ended(run: RunDir) -> bool:
    """Whether the newest attempt's supervisor has told that its model ended."""
    started = [int(path.name) for path in run.path.glob("attempts/*") if path.name.isdecimal()]
    return bool(started) and (run.job(f"attempt-{max(started)}") / "ended.json").exists()


def _left(run: RunDir, *, ended: bool) -> str:
    """What a driver that is gone has left behind."""
    if ended:
        return ", and the model has ended"
    if run.asked():
        return "; the model is asked to stop"
    return "; a model that was started may go on"


def _add_sentinels(run: RunDir, found: Status) -> None:
    """Add the trips that the sentinel found without a driver, which journals them later."""
    names = ("guard", "stream", "time", "attempt")
    known = {tuple(trip.get(name) for name in names) for trip in found.get("trips") or []}
    for trip in read_lines(run.sentinel):
        if tuple(trip.get(name) for name in names) not in known:
            found.setdefault("trips", []).append(trip)
            place = {key: trip[key] for key in ("stream", "time") if trip.get(key)}
            text = printable(f'guard "{trip.get("guard")}": {trip.get("text")}')
            found["alarms"].append({"t": trip.get("t"), "text": text, **place})


def new_status(run: RunDir) -> Status:
    """The snapshot of a run that no driver has taken yet. Raises RunError."""
    facts = facts_of(run)
    return {
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


def rows() -> list[dict[str, Any]]:
    """One row for each run: id, state, frames, title; the newest first."""
    found = []
    for run in all_runs():
        try:
            status = status_of(str(run.path))
        except RunError as error:  # it hides no other one
            status = {"state": "unreadable", "frames": {"ready": 0}, "title": str(error)}
        found.append(
            {
                "run": run.id,
                "state": status["state"],
                "frames": status["frames"]["ready"],
                "damaged": status["frames"].get("damaged", 0),
                "title": status["title"],
                "path": str(run.path),
            }
        )
    return found


def progress_text(status: Status) -> str:
    """How far the model is; nothing while that is not known."""
    progress = status.get("progress")
    if not progress:
        return ""
    over = status["state"] in OVER
    phase = progress.get("phase")
    parts = [] if over or phase in {None, "", "running"} else [printable(phase)]
    if progress.get("fraction") is not None:
        parts.append(f"{math.floor(100 * progress['fraction'] + 1e-9)} %")  # 100 is the end
    if progress.get("time"):
        parts.append(valid_time.label(progress["time"]))
    if progress.get("speed"):
        parts.append(f"{progress['speed']:.3g} times real time")
    if progress.get("rate_mpps"):
        parts.append(f"{progress['rate_mpps']:.0f} Mpoint/s")
    if progress.get("eta_s") and not over:
        parts.append(f"ETA {show_duration(progress['eta_s'])}")
    return ", ".join(parts)


def facts(status: Status) -> list[tuple[str, str]]:
    """A snapshot as labels and texts, in the order in which they are shown."""
    over = status["state"] in OVER
    frames = f"{status['frames']['ready']} ready"
    if status["frames"]["damaged"]:
        frames += f", {status['frames']['damaged']} damaged"
    if status["backlog"] or not over:
        frames += f", {counted(status['backlog'], 'product')} to be made"
    told = [("model", progress_text(status)), ("frames", frames)]
    for name, product in status["products"].items():
        failed = f", {product['failed']} failed" if product["failed"] else ""
        told.append((name, f"{product['published']} published{failed}"))
    if status.get("latency_s"):
        latency = {key: show_duration(value) for key, value in status["latency_s"].items()}
        last = "" if over else f"last {latency['last']}, "
        told.append(("latency", f"{last}p50 {latency['p50']}, p95 {latency['p95']}"))
    told.append(("ledger", _ledger(status["ledger"])))
    told.append(("buffer", _buffer(status)))
    told.append(("guards", _guards(status)))
    told.append(("saved", _saved(status)))
    if not over:
        waits = status.get("waits_for")
        told.append(("waits", f"in the scheduler's queue: {printable(waits)}" if waits else ""))
        told.append(("viewing", "" if status["block"] == "running" else status["block"]))
        resume = f"burstlens resume-watching {status['run']}"
        told.append(("paused", f"no products are made; {resume}" if status.get("paused") else ""))
    elif status.get("started"):
        told.append(("took", show_duration(status["driver"]["heartbeat"] - status["started"])))
    told.append(("pictures", status["pictures"]))
    return [(label, text) for label, text in told if text]


def _ledger(ledger: dict[str, int]) -> str:
    """Raw bytes against product bytes."""
    raw, products = ledger["raw_bytes"], ledger["product_bytes"]
    told = f"{show_bytes(raw)} raw, {show_bytes(products)} brought out"
    if not products or raw <= products:
        return told
    return f"{told}, {raw / products:.{0 if raw >= 10 * products else 1}f} times less"


def _buffer(status: Status) -> str:
    buffer = status.get("buffer")
    if not buffer:
        return ""
    if status["state"] not in OVER:
        share = f"{100 * buffer['fill']:.1f} %"
        return (
            f"{show_bytes(buffer['raw_bytes'])} of {show_bytes(buffer['capacity_bytes'])} ({share})"
        )
    if buffer["released"]:
        return ""
    return f"kept, {buffer['name'] or buffer['path']}"


def _guards(status: Status) -> str:
    """Which guards tripped or fail; how many are quiet, and how many have judged nothing yet."""
    found = status.get("guards") or []
    told, waiting = [], 0
    for guard in found:
        if guard.get("state") in {"tripped", "failed"}:
            more = f" and {guard['repeats']} times more" if guard.get("repeats") else ""
            told.append(f"{guard.get('name', 'a guard')} {guard['state']}{more}")
        waiting += guard.get("state") == "waiting"
    quiet = len(found) - len(told) - waiting
    told += [f"{quiet} quiet"] if quiet else []
    return ", ".join([*told, f"{waiting} waiting"] if waiting else told)


def _saved(status: Status) -> str:
    """What stopping early has saved."""
    saved = (status.get("outcome") or {}).get("saved_node_hours")
    return "" if saved is None else f"about {saved:.3g} node-hours, by stopping early (estimate)"


def next_steps(status: Status) -> list[str]:
    """What a person may do about a run that did not end well, one sentence each."""
    if status["state"] not in OVER - {"done"}:
        return []
    code = (status.get("outcome") or {}).get("exit_code")
    told = [f"go on with: burstlens resume {status['run']}"]
    if code == STOPPED_BY_GUARD:
        told[0] += "; the guard that stopped it looks again"
    elif code == NO_SPACE:
        told = [
            "when the buffer has more room (what this attempt wrote stays on it): "
            f"burstlens resume {status['run']}"
        ]
    elif code == FRAMES_LOST:
        told = ["only the model can write the lost frames again: start a new run"]
    if (status.get("buffer") or {"released": True})["released"] is False:
        told.append(f"give its buffer back: burstlens free {status['run']}")
    return told


def text(status: Status) -> str:
    """A snapshot as lines of text."""
    lines = [f"{status['run']}: {status['state']}"]
    outcome = status.get("outcome") or {}
    lines += [
        f"  {printable(str(outcome[key]))}" for key in ("message", "line") if outcome.get(key)
    ]
    if status.get("hint"):
        lines.append(f"  {status['hint']}")
    lines += aligned(facts(status))
    lines += [f"  ! {printable(alarm['text'])}" for alarm in status["alarms"][-3:]]
    lines += [f"  {step}" for step in next_steps(status)]
    return "\n".join(lines)


def aligned(pairs: list[tuple[str, str]]) -> list[str]:
    """Labels and texts as lines, the texts below each other."""
    width = max(len(label) for label, _ in pairs)
    return [f"  {label:<{width}}  {told}" for label, told in pairs]
