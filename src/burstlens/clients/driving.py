"""Drive a run from a command: in this terminal, in a session of its own, or as a batch job."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from burstlens.clients.opened.status import next_steps, read_status
from burstlens.clients.posted_output import posted_output
from burstlens.core.decode import record
from burstlens.core.durable import read_json
from burstlens.core.errors import BurstlensError, RunError
from burstlens.core.exit_codes import INTERRUPTED
from burstlens.core.printable import print_stderr, printable, say
from burstlens.core.run.directory import RunDir
from burstlens.core.run.facts import facts_of

if TYPE_CHECKING:
    from burstlens.core.outcome import Outcome
    from burstlens.core.run.status_file import RunStatus
    from burstlens.workflows.making.early import EarlyWorker
    from burstlens.workflows.publishing.snapshot import Snapshot


def drive(run: RunDir, *, as_json: bool, note: str = "") -> int:
    """Drive a run to its end, shown in this terminal; returns the exit code.

    ``note`` is printed when this process has become the driver, not when it is refused. Ctrl-C
    before that, while the driver is loaded, ends it: the run exists, and has not begun.
    Raises the BurstlensError that ends the driver before the run has an outcome.
    """
    try:
        return _drive(run, as_json=as_json, note=note)
    except KeyboardInterrupt:
        print_stderr(f"interrupted; go on with: burstlens resume {run.id}")
        return INTERRUPTED


def drive_prepared() -> int:
    """Load what a look's driver needs, then drive the run whose path comes on standard input; its
    output goes to the run's log. Returns the exit code, 0 when no run comes."""
    from burstlens.workflows.making.early import EarlyWorker

    early = EarlyWorker(lowest=True)
    from burstlens.workflows.look.driving.attached_kind import load_driver

    load_driver()

    path = os.fsdecode(sys.stdin.buffer.readline().rstrip(b"\n"))
    if not path:
        early.close()
        return 0
    run = RunDir(Path(path))
    with (run.logs / "driver.log").open("ab") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    return _drive(run, as_json=False, note="", early=early)


def _drive(run: RunDir, *, as_json: bool, note: str, early: EarlyWorker | None = None) -> int:
    from burstlens.clients.terminal import View
    from burstlens.core.run.status_file import RunStatus
    from burstlens.workflows.driver.run import execute

    if facts_of(run).tuning is not None:
        return _drive_tuning(run, as_json=as_json, note=note)

    def begun() -> None:
        if note:
            print_stderr(note)
        if not as_json:
            view.say(f"run {run.id}\npictures arrive in {run.products}")

    def tick(snapshot: Snapshot) -> None:
        if not as_json:
            view.show(RunStatus.of(snapshot.value()))

    with posted_output():
        view = View()
        with view:
            outcome = execute(run, tick, begun, early)
        last = read_status(str(run.path))
        if not as_json:
            view.end(last)
            _print_outcome(outcome, last)
    if as_json:
        _print_json(record(last))
    return outcome.exit_code


def _print_outcome(outcome: Outcome, status: RunStatus) -> None:
    """Print why the run has ended so, and what can be done next."""
    for line in (f"burstlens: {outcome.message}" if outcome.message else "", outcome.line or ""):
        if line:
            print_stderr(printable(line))
    for step in next_steps(status):
        print_stderr(step)


def _print_json(value: Mapping[str, Any]) -> None:
    """Print the result of a run that has ended: what takes it may be slow, but not change the
    exit code by being full or gone."""
    try:
        say(json.dumps(value, indent=2))
    except OSError as error:
        # Else what is left of it fails again at the exit.
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        with contextlib.suppress(OSError):
            print_stderr(f"burstlens: the result cannot be printed: {error.strerror}")


def _drive_tuning(run: RunDir, *, as_json: bool, note: str) -> int:
    """As :func:`_drive`, of a tuning: its trials as they end, then the verdict."""
    from burstlens.clients.tuning_view import TuningView
    from burstlens.workflows.driver.run import execute

    def begun() -> None:
        if note:
            print_stderr(note)
        if not as_json:
            view.say(f"tuning {run.id}; if it is interrupted: burstlens resume {run.id}")

    def tick(snapshot: Snapshot) -> None:
        if not as_json:
            view.show(snapshot)

    with posted_output():
        view = TuningView()
        with contextlib.nullcontext() if as_json else view:
            outcome = execute(run, tick, begun)
        if not as_json:
            _print_verdict(run, outcome)
    if as_json:
        found = read_json(run.path / "tuning" / "tuning.json") or {}
        about = {"run": run.id, "path": str(run.path), "outcome": outcome.state,
                 "exit_code": outcome.exit_code, "message": outcome.message}  # fmt: skip
        _print_json({**about, **found})
    return outcome.exit_code


def _print_verdict(run: RunDir, outcome: Outcome) -> None:
    from burstlens.workflows.tuning.options import TuneOptions

    folder = run.path / "tuning"
    if outcome.state != "done":
        print_stderr(printable(f"burstlens: {outcome.message}"))
        for step in next_steps(read_status(str(run.path))):
            print_stderr(step)
        return
    with contextlib.suppress(OSError):
        say("\n".join(map(printable, (folder / "verdict.txt").read_text("utf-8").splitlines())))
    tuned = folder / "tuned.toml"
    say(f"table, picture and JSON: {folder}")
    if tuned.is_file():
        given = TuneOptions.of(facts_of(run).tuning or {}).again
        say(f"the tuned recipe: burstlens run {shlex.quote(str(tuned))} {given}".rstrip())


def send_off(run: RunDir, *, batch: bool, as_json: bool, note: str = "", again: str = "") -> None:
    """Start a driver that outlives this command: as a batch job, or in a session of its own.

    ``note`` is printed when it has begun. ``again``: options with which the run is resumed so.
    Raises RunError, saying how to go on, when it does not begin.
    """
    from burstlens.workflows.driver import detach

    launched = {"run": run.id, "path": str(run.path)}
    try:
        if batch:
            launched["driver_job"] = detach.submit_driver(run)
        else:
            detach.detach(run)
    except BurstlensError as error:
        how = " ".join(filter(None, [again, "--batch" if batch else "--detach"]))
        raise RunError(f"{error}\ngo on with: burstlens resume {run.id} {how}") from error
    if note:
        print_stderr(note)
    if not batch and detach.is_ended_at_logout():
        print_stderr("warning: systemd ends your processes here when you log out "
                     "(KillUserProcesses=yes); --batch puts the driver into a job")  # fmt: skip
    if as_json:
        say(json.dumps(launched))
        return
    driver = f"is driven by job {launched['driver_job']}" if batch else "runs"
    say(f"{run.id} {driver}; watch it: burstlens watch {run.id}")
