"""The supervisor: starts one program on the buffer, obeys ``control/``, says how it ended.

``python supervisor.py JOB_FOLDER`` runs in the simulation's job (or locally, in a session of
its own) on the standard library alone, so that any python3 of a compute node will do. It reads
``job.json`` in that folder of the run directory, and writes there ``baseline.json`` (what lay
in the program's folder before), ``started.json`` and ``ended.json``. It needs no driver: stop
works, and the end is reported, even if the driver has died.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import FrameType, ModuleType
from typing import IO, Any, NoReturn

if not __package__:  # started by its path: a package of the files here, without its __init__
    sys.modules["burstlens"] = package = ModuleType("burstlens")
    package.__path__ = [str(Path(__file__).parents[2])]

from burstlens.core.existence import PASSING, Existence, again, existence, patiently, surely_exists
from burstlens.core.run import logs
from burstlens.workflows.hints import striping
from burstlens.workflows.placement import direct_requests, job_processes, model_folder
from burstlens.workflows.placement.direct_requests import FULL, write_trips
from burstlens.workflows.placement.go import claimed_start
from burstlens.workflows.placement.job_end import (
    TERM_GRACE_S,
    JobEnd,
    StopRequest,
    scheduled_end,
)
from burstlens.workflows.placement.job_folder import ClaimedFolder
from burstlens.workflows.placement.job_processes import start_ticks
from burstlens.workflows.placement.sentry import Sentry

_log = logging.getLogger("burstlens.workflows.placement.supervisor")

CONTROL_PERIOD_S = 0.25
"""A stop that a guard asks for must come before the next but one frame."""
STOP_GRACE_S = 60.0
"""Time that ``stop`` leaves for the frame in progress (the driver cuts it short)."""
TERM_GRACE_NOW_S = 2.0
EACH_NODE_S = 60.0  # for logs to come home from the other nodes
STALL_S = 5.0
"""A look at ``control/`` that takes longer is logged: the run directory does not answer."""


def main(job_folder: Path) -> int:
    """Run the job in ``job_folder`` to its end. Returns 1 when the job cannot be claimed."""
    try:
        start = claimed_start(job_folder)
    except FileExistsError:
        _print("this job has a supervisor already")
        return 1
    except OSError as error:
        _print(f"this job cannot be claimed: {error}")
        return 1
    if start is None:  # it waited for an attempt in vain
        return 0
    try:
        return Supervisor(start.folder, start.idle_s).run()
    except Exception:
        _log.exception("the supervisor ends by a defect")
        raise


class Supervisor:
    """One job: its folder, its processes, its end. It has waited ``idle_s`` for an attempt."""

    def __init__(self, folder: ClaimedFolder, idle_s: float = 0.0) -> None:
        self.idle_s = idle_s
        self.folder, self.job_folder = folder, folder.path
        self.job: dict[str, Any] = {}
        self.run_dir = self.job_folder.parents[1]
        self.signalled: str | None = None
        self.grace_s: float | None = None
        self.inbox = direct_requests.RequestInbox(self.job_folder)
        self.in_control: dict[str, bool] = {}
        self.ended = threading.Event()
        self.sentry: Sentry | None = None
        self.started, self._began = time.time(), time.monotonic() - idle_s

    def run(self) -> int:
        """Make the folder, start the program, wait, report the end, bring the logs home."""
        signal.signal(signal.SIGTERM, self._on_signal)
        signal.signal(signal.SIGINT, self._on_signal)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        job_processes.adopt()
        try:
            self._read_job()
            self._open_log()
            base = self._base()
            if "stage_in" in self.job:
                self._stage_in(base)
            folder = self._make_folder(base)
            baseline = again(lambda: model_folder.baseline(folder, PASSING))
            self.folder.write("baseline.json", baseline)
            if self._asked():  # while it waited in a queue, or staged in
                raise ValueError("stopped before its program was started")
            process, ticks = self._start(folder)
        except (OSError, ValueError) as error:
            _log.error("the program is not started: %s", error)
            end = self._end(None, self._asked() or "not started", str(error))
            self.folder.write("ended.json", end)
            self._send_word()
            return 0
        self.folder.write(
            "started.json",
            {
                "host": socket.gethostname(),
                "job_id": self._batch_job(),
                "supervisor": os.getpid(),
                "supervisor_ticks": start_ticks(os.getpid()),
                "group": process.pid,
                "group_ticks": ticks,
                "started": self.started,
                "idle_s": self.idle_s,
            },
        )
        _log.info("%s is started in %s: pid %d", self.job["argv"][0], folder, process.pid)
        reason = self._watch(process, folder)
        _log.info("the program has ended with status %s: %s", process.returncode, reason)
        # Children and daemons may have outlived it: nothing writes once its end is written.
        job_processes.end_children({process.pid})
        if reason != "given up":  # then another process has written it
            end = self._end(process.returncode, reason, "")
            said = model_folder.last_line(folder / self.job["log"]) if process.returncode else ""
            self.folder.write("ended.json", end | {"last_line": said}, self._write_last_trips)
        self._bring_logs_home(base)
        if reason != "given up":
            self._send_word()
        _log.info("the supervisor ends")
        return 0

    def _send_word(self) -> None:
        if self.sentry and not self.folder.is_anothers():
            self.signalled = None  # a signal that comes now ends the word
            self.sentry.send_word(lambda: bool(self.signalled))
            job_processes.end_children(())  # a user's program whose sentinel was killed

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        self.signalled = signal.Signals(number).name

    def _read_job(self) -> None:
        path = self.job_folder / "job.json"
        try:
            self.job = json.loads(patiently(lambda: path.read_text(encoding="utf-8")))
            self.run_dir = Path(self.job["run_dir"])
            if given := self.job.get("sentinel"):
                self.sentry = Sentry(self.run_dir, self.job_folder, given)
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{path} cannot be used: {error!r}") from error

    def _open_log(self) -> None:
        """Log to a file of the run, named by the job, which gives the level as well."""
        name = self.job.get("name", self.job_folder.name)
        logs.open_log(self.run_dir, "supervisor", self.job.get("log_level", "info"), name)
        python, batch = sys.version.split()[0], self._batch_job()
        _log.info("begins with %s, Python %s, batch job %s", self.job_folder, python, batch)

    def _batch_job(self) -> str | None:
        """The id of the batch job in which it runs, by the variable that the job file names."""
        return os.environ.get(self.job.get("job_id_variable", ""))

    def _base(self) -> Path:
        """The buffer's root as this job sees it: ``$NAME`` stands for a variable."""
        root: str = self.job["root"]
        if not root.startswith("$"):
            return Path(root)
        path = os.environ.get(root[1:])
        if not path:
            raise ValueError(f"{root[1:]} is not set: the job does not have its buffer")
        return Path(path)

    def _stage_in(self, base: Path) -> None:
        """Run the program that stages in; it does nothing on a buffer that has its inputs."""
        given = self.job["stage_in"]
        list_, folder = str(self.run_dir / given["list"]), str(base / given["folder"])
        words = ("-m", "burstlens.workflows.placement.stage_in", list_, folder)
        self._run_first("stage in", *words, socket.gethostname())

    def _make_folder(self, base: Path) -> Path:
        """The program's folder, on each node where these have a disk of their own."""
        wanted = self.job.get("stripes", ())
        for worked, text in striping.set_stripes(base / self.job["folder"], wanted):
            _log.log(logging.INFO if worked else logging.WARNING, "%s", text)
        folder: Path = again(lambda: model_folder.make(base, self.job))
        if "each_node" in self.job:
            words = model_folder.__file__, "make", str(self.job_folder), str(base)
            self._run_first("making the folder", *words)
        return folder

    def _run_first(self, what: str, *words: str) -> None:
        """Run a program of Burstlens before the job's own, on each node where the job says how.
        Raises ValueError with its last line when it fails."""
        name = f"{what.replace(' ', '-')}.log"
        with patiently(lambda: open(self.job_folder / name, "w+b")) as log:
            child = _spawn([*self.job.get("each_node", ()), sys.executable, "-P", *words], log)
            while True:
                try:
                    code = child.wait(CONTROL_PERIOD_S)
                    break
                except subprocess.TimeoutExpired:
                    if self.signalled or self._asked():
                        job_processes.kill(child.pid)
            log.seek(0)
            lines = log.read().decode(errors="replace").strip().splitlines()
        if code:
            # A launcher ends with lines of its own on the nodes that failed.
            own = tuple(self.job.get("launcher_lines", ()))
            said = [line for line in lines if not line.startswith(own)] or lines
            why = "stopped" if self._asked() else said[-1] if said else f"exit code {code}"
            raise ValueError(f"{what} failed: {why}")

    def _start(self, folder: Path) -> tuple[subprocess.Popen[bytes], int]:
        """The program's process, leader of a group of its own, and its start time."""
        environment = {**os.environ, **self.job.get("environment", {})}
        for name, place in self.job.get("places", {}).items():
            environment[name] = str(self._base() / place)
        environment[job_processes.MARK] = job_processes.mark(self.job_folder)
        path = folder / self.job["log"]
        again(lambda: model_folder.remove_link(path))  # to a log among the inputs
        with again(lambda: path.open("ab")) as log:
            process = again(lambda: _spawn(self.job["argv"], log, cwd=folder, env=environment))
        ticks = start_ticks(process.pid)  # before it is reaped, however short it runs
        threading.Thread(target=self._reap, args=(process,), daemon=True).start()
        return process, ticks

    def _reap(self, process: subprocess.Popen[bytes]) -> None:
        process.wait()
        self.ended.set()

    def _watch(self, process: subprocess.Popen[bytes], folder: Path) -> str:
        """Wait for the end; returns why it ended (``exited``, ``stop`` ...)."""
        stop_at = float("inf")
        reason = ""
        stop_by = self.job.get("stop_by")
        asks = StopRequest(stop_by, folder, process.pid) if stop_by else None
        unix = scheduled_end(self.job, self._batch_job())
        end = JobEnd(self.job, self._began, asks, unix)
        while not self.ended.wait(CONTROL_PERIOD_S):
            now = time.monotonic()
            if self.sentry:
                self.sentry.look(now)
                if not self.sentry.is_watching():
                    with suppress(OSError):
                        self._write_trips()
            job_processes.reap(self._own(process))
            asked = self._asked()
            if time.monotonic() - now > STALL_S:
                _log.warning("control/ answered after %.0f s", time.monotonic() - now)
            if asked == "stop":
                done = self._has("frame-done")
                grace = 0.0 if done else float(self.job.get("stop_grace_s", STOP_GRACE_S))
                stop_at = min(stop_at, now + grace)
            if self.signalled:
                end.take_signal(self.signalled, now)
            if end.is_over(now):
                reason = end.reason
                self._end_all(process, end.grace_s)
            elif surely_exists(self.job_folder / "ended.json"):
                reason = "given up"
                self._end_all(process, TERM_GRACE_NOW_S)
            elif asked == "stop-now" or now >= stop_at:
                reason = "stop" if stop_at < float("inf") else "stop-now"
                self._end_all(process, TERM_GRACE_NOW_S if asked == "stop-now" else TERM_GRACE_S)
            else:
                end.look(now)
        if self.sentry:
            self.sentry.end()
        if self.signalled:  # also since the last look
            end.take_signal(self.signalled, time.monotonic())
        self.grace_s = end.early_grace_s
        return reason or end.reason_of(process.returncode)

    def _asked(self) -> str | None:
        """The stop that is asked for; what was last seen counts while ``control/`` gives errors."""
        self.inbox.take_requests()
        return next((n for n in ("stop-now", "stop") if self._has(n)), None)

    def _write_trips(self) -> None:
        """Write what a sentinel has passed on. Raises OSError."""
        self.inbox.take_requests()
        write_trips(self.run_dir / "sentinel.jsonl", self.inbox.trips)

    def _write_last_trips(self) -> None:
        """Write them once more before the end is written. Raises OSError while there is no room;
        what can never be written holds up no end."""
        try:
            again(self._write_trips)
        except OSError as error:
            if error.errno in FULL:
                raise
            _log.warning("trips are not written: %s", error)

    def _has(self, name: str) -> bool:
        there = existence(self.run_dir / "control" / name)
        if there is not Existence.UNKNOWN:
            self.in_control[name] = there is Existence.PRESENT
        return name in self.inbox.requests or self.in_control.get(name, False)

    def _own(self, process: subprocess.Popen[bytes]) -> set[int]:
        """The processes that this one has started and collects itself."""
        return {process.pid} | (self.sentry.pids if self.sentry else set())

    def _end_all(self, process: subprocess.Popen[bytes], grace_s: float) -> None:
        """End the program and all that it has started: by SIGTERM, after ``grace_s`` by SIGKILL."""
        why = self.signalled or self._asked() or "its time is over"
        _log.warning("the program gets SIGTERM, after %g s SIGKILL: %s", grace_s, why)
        own, keep = self._own(process), self._own(process) - {process.pid}
        job_processes.send(job_processes.descendants(keep), signal.SIGTERM)
        end = time.monotonic() + grace_s
        while time.monotonic() < end and job_processes.descendants(keep):
            if self.ended.wait(CONTROL_PERIOD_S):
                time.sleep(CONTROL_PERIOD_S / 5)
            if self._asked() == "stop-now":
                end = min(end, time.monotonic() + TERM_GRACE_NOW_S)
        job_processes.end_children(own, keep)
        self.ended.wait()

    def _end(self, status: int | None, reason: str, message: str) -> dict[str, object]:
        died_of = signal.Signals(-status).name if status is not None and status < 0 else None
        return {
            "exit_code": status if status is not None and status >= 0 else None,
            "signal": died_of,
            "reason": reason,
            "message": message,
            "started": self.started,
            "ended": time.time(),
            "seconds": round(time.monotonic() - self._began, 3),
            "idle_s": self.idle_s,
            "grace_s": self.grace_s,  # the scheduler ends the job early: it may say why
            "cores": len(os.sched_getaffinity(0)),
            "why": self.inbox.why,  # control/ may never have taken it
        }

    def _bring_logs_home(self, base: Path) -> None:
        if self.folder.is_anothers():
            return
        try:
            names = again(lambda: list(model_folder.logs(base, self.job)))
        except OSError as error:
            _log.warning("the logs are not brought home: %s", error)
            names = []
        for brought in names:
            try:
                again(partial(model_folder.bring_home, base, self.job, brought))
            except OSError as error:
                _log.warning("the log %s is not brought home: %s", brought, error)
                _print(f"log not brought home: {error}")
        if "each_node" in self.job:
            words = model_folder.__file__, "logs", str(self.job_folder), str(base)
            with suppress(OSError, subprocess.TimeoutExpired):
                subprocess.run(
                    [*self.job["each_node"], sys.executable, "-P", *words],
                    stdin=subprocess.DEVNULL,
                    timeout=EACH_NODE_S,
                )


def _spawn(words: list[str], log: IO[bytes], **where: Any) -> subprocess.Popen[bytes]:
    """Start a program in a session of its own, which ends with this process."""
    tie = partial(job_processes.die_with_parent, os.getpid())
    return job_processes.start_session(words, log, preexec_fn=tie, **where)


def _print(text: str) -> None:
    with suppress(OSError):  # its file lies in the run directory, which may be full
        print(text, file=sys.stderr, flush=True)


def _exit(status: int) -> NoReturn:
    # The reaper thread and a hung file server must not keep a finished supervisor alive.
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__)
        sys.exit()
    _exit(main(Path(sys.argv[1])))
