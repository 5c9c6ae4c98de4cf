"""Taking over a run: the claim, which only one driver has, and what the driver before has left: a
model that may still run, a request to stop it."""

from __future__ import annotations

import json
import math
import socket
import time
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from burstlens.cluster_configs.schedulers import LOCAL, scheduler
from burstlens.core.decode import Count
from burstlens.core.durable import make_exclusive, read_json
from burstlens.core.errors import RunError
from burstlens.core.existence import again, surely_exists
from burstlens.core.run.directory import RunDir
from burstlens.core.run.heartbeat import driver_lives, driver_process, shown_driver
from burstlens.core.run.history import History
from burstlens.core.run.record import read_record
from burstlens.core.run.status_file import DriverPart
from burstlens.workflows.placement.launch import LocalLauncher

HEARTBEAT_OLD_S = 60.0
"""A driver on another host is taken for dead when its heartbeat has not changed for so long."""
HEARTBEAT_LOOK_S = 5.0


class Claim(Struct, frozen=True):
    """The process that drives a run; ``ticks`` tells processes of one id apart."""

    host: str
    pid: Count
    ticks: Count


def take_over(run: RunDir) -> int:
    """The epoch of this driver, claimed so that an older one ends. Raises RunError."""
    epoch = free_epoch(run)
    claim = json.dumps(driver_process())
    try:
        again(lambda: make_exclusive(run.claim(epoch), claim))
    except FileExistsError:
        raise RunError(f"another driver of {run.id} started at the same moment") from None
    except OSError as error:
        raise RunError(f"the run directory {run.path} is not writable: {error.strerror}") from error
    return epoch


def free_epoch(run: RunDir) -> int:
    """The epoch that the next driver takes. Raises RunError when the latest one lives."""
    epochs = run.epochs
    driver = driver_alive(run, epochs)
    if driver is not None:
        raise RunError(
            f"run {run.id} has a driver already ({driver}); burstlens watch {run.id} shows it, "
            f"burstlens stop {run.id} stops it"
        )
    return max(epochs, default=0) + 1


def driver_alive(run: RunDir, epochs: Sequence[int]) -> str | None:
    """The process that drives the run, as ``pid 12 on host``; None when none does, as far as can
    be seen."""
    # A file without a claim is a stray, or its driver was killed while it wrote it: the one before
    # it counts. A driver that lives gives way to the next.
    claims = ((epoch, _read(run, epoch)) for epoch in reversed(epochs))
    epoch, claim = next(((epoch, claim) for epoch, claim in claims if claim), (0, None))
    if claim is None:
        return None
    shown = shown_driver(run)
    known = shown if shown and shown.epoch in (None, epoch) else DriverPart()
    driver = replace(known, host=claim.host, pid=claim.pid, ticks=claim.ticks)
    # Whatever the clocks say: a heartbeat that changes is a driver's.
    alive = driver_lives(
        run, driver, stale_s=HEARTBEAT_OLD_S, confirm_s=HEARTBEAT_LOOK_S, certain_s=math.inf
    )
    return f"pid {claim.pid} on {claim.host}" if alive else None


def _read(run: RunDir, epoch: int) -> Claim | None:
    try:
        return read_record(run.claim(epoch), Claim, "")
    except RunError:
        return None


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
