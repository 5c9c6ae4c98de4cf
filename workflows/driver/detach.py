"""A driver that outlives its login shell: in a session of its own, or as a one-core batch job."""

from __future__ import annotations

import configparser
import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from burstlens.cluster_configs.scheduler import BatchJob
from burstlens.cluster_configs.schedulers import LOCAL
from burstlens.cluster_configs.site import Site
from burstlens.core.errors import RunError, SiteError
from burstlens.core.run.directory import RunDir
from burstlens.core.run.heartbeat import last_words, note_start, read_start, shown_driver
from burstlens.core.run.history_file import history_of
from burstlens.core.run.log_level import DEFAULT, VARIABLE, log_level
from burstlens.workflows.driver.claim import forget_stop, free_epoch
from burstlens.workflows.driver.run import recipe_of
from burstlens.workflows.driver.scheduling import scheduled
from burstlens.workflows.placement.job_buffer import HostedLauncher

LOGIND = Path("/etc/systemd")
BEGINS_S = 30.0


def detach(run: RunDir) -> int:
    """Start a driver of its own for the run, in a session of its own; returns its pid.

    Raises RunError where the run directory cannot be written, and with the end of the driver's log
    when it dies at once.
    """
    child = start_driver(run)
    await_begin(run, child)
    return child.pid


def prepare_driver() -> subprocess.Popen[bytes]:
    """A driver that loads what it needs before its run exists, for :func:`start_driver`.

    It ends when its standard input is closed without a run.
    """
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "burstlens", "drive", "-"],
        env=_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def start_driver(
    run: RunDir, prepared: subprocess.Popen[bytes] | None = None
) -> subprocess.Popen[bytes]:
    """Start a driver in a session of its own, and do not wait for it. Raises RunError."""
    epoch = _ask(run)
    if prepared is not None and prepared.stdin is not None and prepared.poll() is None:
        with _writing(run):
            log = run.logs / "driver.log"
            said = log.stat().st_size if log.exists() else 0
            note_start(run, epoch, prepared.pid, log_from=said)
        with contextlib.suppress(BrokenPipeError), prepared.stdin as way:
            way.write(os.fsencode(run.path) + b"\n")
        return prepared
    with _writing(run):
        stream = (run.logs / "driver.log").open("ab")
    with stream:
        said = stream.tell()
        with _writing(run):
            note_start(run, epoch, os.getpid(), log_from=said)
        child = subprocess.Popen(
            _command(run),
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    # From here on the start is the child's: this process may end before it has begun.
    with contextlib.suppress(OSError):
        note_start(run, epoch, child.pid, log_from=said)
    return child


def await_begin(run: RunDir, child: subprocess.Popen[bytes]) -> None:
    """Wait until a driver has begun. Raises RunError with the end of its log when it dies."""
    start = read_start(run)
    deadline = time.monotonic() + BEGINS_S
    while time.monotonic() < deadline and not (start and _has_begun(run, start.epoch)):
        if child.poll() is not None:
            start = read_start(run)
            why = last_words(run, start) if start is not None else ""
            raise RunError(f"the driver ended at once: {why or f'exit code {child.returncode}'}")
        time.sleep(0.1)


def _ask(run: RunDir) -> int:
    """The epoch of the driver that is to be started; a stop of an earlier life is forgotten now,
    so that one which is asked for while the driver starts is obeyed."""
    epoch = free_epoch(run)
    history = history_of(run.journal)
    if history.state != "new":
        forget_stop(run, history, was_over=history.outcome is not None)
    return epoch


def _has_begun(run: RunDir, epoch: int) -> bool:
    """Whether that driver's loop has written its first snapshot."""
    driver = shown_driver(run)
    return driver is not None and driver.epoch == epoch and not driver.loading


def submit_driver(run: RunDir) -> str:
    """Put the driver into a batch job of one core; returns the job's number.

    For sites that end what runs on a login node. Raises SiteError, and RunError where the run
    directory cannot be written.
    """
    recipe, site = recipe_of(run)
    require_batch(site)
    epoch = _ask(run)
    launcher, _ = scheduled(run, recipe, site)
    if isinstance(launcher, HostedLauncher):
        launcher = launcher.batch
    assert launcher is not None
    number = len(list((run.path / "steps").glob("driver-*"))) + 1
    job = driver_job(run, site, launcher.token, number)
    said = job.output.stat().st_size if job.output.exists() else 0
    with _writing(run):
        note_start(run, epoch, os.getpid(), log_from=said)
        job_id = launcher.hand_in(run.path / "steps" / f"driver-{number}", job)
        name, _, number_of_job = job_id.partition(":")
        note_start(run, epoch, os.getpid(), job=number_of_job, scheduler=name, log_from=said)
    return number_of_job


def driver_job(run: RunDir, site: Site, token: str, number: int) -> BatchJob:
    """The batch job of the run's driver."""
    return BatchJob(
        name=f"{token}-driver-{number}",
        comment=run.id,
        argv=tuple(_command(run)),
        output=run.logs / "driver.log",
        walltime_s=site.batch.driver_walltime,
        options=site.batch.driver_options,
        init=_level() + site.batch.job_init,
    )


def _level() -> str:
    """The line that gives the level of the logs to a job, which may get no variable of ours."""
    level = log_level()
    return "" if level == DEFAULT else f"export {VARIABLE}={level}\n"


@contextlib.contextmanager
def _writing(run: RunDir) -> Iterator[None]:
    """Raise a RunError that names what cannot be written in the run directory."""
    try:
        yield
    except OSError as error:
        place = error.filename or run.path
        raise RunError(f"cannot write {place}: {error.strerror}") from error


def require_batch(site: Site) -> None:
    """Raise SiteError where there are no batch jobs."""
    if site.scheduler == LOCAL:
        raise SiteError(f"--batch: site {site.name} has no scheduler; --detach serves there")


def is_ended_at_logout(folder: Path = LOGIND) -> bool:
    """Whether systemd ends a user's processes at logout here (logind.conf, KillUserProcesses)."""
    ends = False
    for path in [folder / "logind.conf", *sorted(folder.glob("logind.conf.d/*.conf"))]:
        settings = configparser.ConfigParser(strict=False, interpolation=None)
        with contextlib.suppress(configparser.Error, ValueError):
            settings.read(path)
            ends = settings.getboolean("Login", "KillUserProcesses", fallback=ends)
    return ends


def _environment() -> dict[str, str]:
    """This process's environment without a notebook's matplotlib backend, which workers lack."""
    inline = os.environ.get("MPLBACKEND", "").startswith("module://matplotlib_inline")
    return {
        name: value for name, value in os.environ.items() if not (inline and name == "MPLBACKEND")
    }


def _command(run: RunDir) -> list[str]:
    return [sys.executable, "-P", "-m", "burstlens", "drive", str(run.path)]
