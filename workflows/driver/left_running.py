"""What the driver before has left: a model that may still run, a request to stop it."""

from __future__ import annotations

import socket
import time
from pathlib import Path

from burstlens.cluster_configs.schedulers import LOCAL, scheduler
from burstlens.core.durable import read_json
from burstlens.core.errors import RunError
from burstlens.core.existence import surely_exists
from burstlens.core.run.directory import RunDir
from burstlens.core.run.history import History
from burstlens.workflows.placement.launch import LocalLauncher


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


def model_left(history: History, scheduler_name: str) -> str:
    """What still runs when the driver ends without it, with the command that ends it; empty where
    no model runs."""
    last = history.jobs.get(next(reversed(history.trials), f"attempt-{history.attempt}"))
    if last is None or last.outcome is not None or last.job_id is None:
        return ""
    kind, number, *_ = last.job_id.split(":")
    if kind != LOCAL:
        command = scheduler(scheduler_name)().cancel_command(number)
    elif LocalLauncher().alive(last.job_id) and _has_children(number):
        command = f"kill {number}"
    else:
        return ""
    return f". Its model is left running: {command} ends it"


def _has_children(pid: str) -> bool:
    """Whether a supervisor still has its program. True where the kernel does not say."""
    try:
        return Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii") != ""
    except OSError:
        return True


def require_host(run: RunDir, history: History) -> None:
    """Raise RunError when the model runs, under its supervisor, on another host."""
    last = history.jobs.get(next(reversed(history.trials), f"attempt-{history.attempt}"))
    if last is None or last.outcome is not None:
        return
    if not (last.job_id or LOCAL).startswith(LOCAL):  # a scheduler's
        return
    folder = run.job(last.name)
    host = (read_json(folder / "started.json") or {}).get("host")
    if host not in {None, socket.gethostname()} and not surely_exists(folder / "ended.json"):
        raise RunError(f"the model of {run.id} runs on {host}; resume it there")
