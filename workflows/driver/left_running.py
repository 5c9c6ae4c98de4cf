"""What the driver before has left: a model that may still run, a request to stop it."""

from __future__ import annotations

import socket
import time

from burstlens.cluster_configs.schedulers import LOCAL
from burstlens.core.durable import read_json
from burstlens.core.errors import RunError
from burstlens.core.run.directory import RunDir
from burstlens.core.run.history import History


def forget_stop(run: RunDir, history: History, *, was_over: bool) -> None:
    """Remove a request to stop that was obeyed, or came too late; one that a live attempt has still
    to obey stays. A run that ``was_over`` has obeyed it, whatever is known of its attempt."""
    last = history.jobs.get(f"attempt-{history.attempt}")
    if was_over or last is None or last.outcome is not None:
        run.clear_control()


def idle_s(run: RunDir, history: History) -> float:
    """Seconds since the previous driver's last event in which no model ran.

    A model that still runs, or whose supervisor has not reported its end, counts as running.
    """
    last = history.jobs.get(f"attempt-{history.attempt}")
    until = history.last
    if last is not None and last.outcome is None and history.state == "running":
        ended = read_json(run.job(last.name) / "ended.json")
        if ended is None:
            return 0.0
        end = ended.get("ended")
        until = max(until, float(end)) if isinstance(end, int | float) else until
    return round(max(0.0, time.time() - until), 3)


def require_host(run: RunDir, history: History) -> None:
    """Raise RunError when the model runs, under its supervisor, on another host."""
    last = history.jobs.get(next(reversed(history.trials), f"attempt-{history.attempt}"))
    if last is None or last.outcome is not None:
        return
    if not (last.job_id or LOCAL).startswith(LOCAL):  # a scheduler's
        return
    folder = run.job(last.name)
    host = (read_json(folder / "started.json") or {}).get("host")
    if host not in {None, socket.gethostname()} and not (folder / "ended.json").exists():
        raise RunError(f"the model of {run.id} runs on {host}; resume it there")
