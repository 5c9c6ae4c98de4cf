"""The host of a batch job that has a buffer of its own: starts supervisors inside that job.

``python host.py FOLDER VARIABLE RUN_FOLDER [BYTES CANDIDATE ...]`` is the job's program, on the
standard library alone. ``VARIABLE`` holds the buffer's root; with candidates, the first of them
with room for ``BYTES`` on this node becomes that root. It says in ``host.json`` of its folder of
the run directory where the buffer is mounted, starts the supervisor of each job folder that a
driver names in ``queue/``, and ends when it finds ``leave``, or when no driver has shown a sign of
life for long and nothing runs any more: an idle job costs node-hours. Where no driver has asked it
to leave, it has a program of the package bring results home first; one that was submitted ahead,
and not used, says in ``ended.json`` how long it was idle. By what the scheduler's jobs know their
id, node and CPUs the driver wrote to ``job.json`` there.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

if not __package__:  # started by its path: a package of the files here, without its __init__
    sys.modules["burstlens"] = package = ModuleType("burstlens")
    package.__path__ = [str(Path(__file__).parents[2])]

from burstlens.core.existence import patiently, surely_exists
from burstlens.core.whole_copy import rename
from burstlens.workflows.placement import job_processes

PERIOD_S = 0.5
CLEANS_S = 60.0
"""How long the other nodes may take to delete what the run has there."""
DRIVERLESS_S = 600.0
"""How long an idle job waits for a driver that is silent."""
LEAVING, HOME = "leaving", "home.json"
"""The mark of a host that brings results home by itself, and its report of what came."""


def main(folder: Path, variable: str, run_folder: str, *choice: str) -> int:
    """Serve until asked to leave. Returns 1 when the job has no buffer, or cannot write to it."""
    try:
        given = os.environ.get(variable)
        root = _chosen(int(choice[0]), choice[1:], run_folder) if choice else given
        if not root:
            raise OSError(f"{variable} is not set: the job does not have its buffer")
        Path(root, run_folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        print(_reason(error), file=sys.stderr)
        return 1
    os.environ[variable] = root  # for the supervisors and the model
    patiently(lambda: (folder / "queue").mkdir(exist_ok=True))
    job = patiently(lambda: _job(folder))
    node = job["node_variable"]
    facts = {
        "host": socket.gethostname(),
        "node": os.environ.get(node) if node else socket.gethostname(),
        "job_id": os.environ.get(job["job_id_variable"]),
        "root": root,
        "cpus": _cpus(job["cpus"]),
        "started": time.time(),
    }
    part = folder / ".host.json.part"

    def write() -> None:
        part.write_text(json.dumps(facts), encoding="utf-8")
        rename(part, folder / "host.json")

    patiently(write)
    begin = time.monotonic()
    Host(folder).serve()
    if not surely_exists(folder / "leave"):
        if any(Path(root, run_folder).iterdir()):
            bring_results_home(folder)
        else:
            end_idle(folder, time.monotonic() - begin)
    # A job's own buffer goes with it; on a disk of the node no other process would clean up.
    shutil.rmtree(Path(root, run_folder), ignore_errors=True)
    if choice and job["each_node"]:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            command = [*job["each_node"], "rm", "-rf", "--", os.path.join(root, run_folder)]
            subprocess.run(command, stdin=subprocess.DEVNULL, timeout=CLEANS_S)
    return 0


def _job(folder: Path) -> dict[str, Any]:
    """What the driver wrote of the scheduler's jobs; a driver of 0.2 wrote nothing."""
    job: dict[str, Any] = {
        "job_id_variable": "", "node_variable": "-", "cpus": "$(nproc)", "each_node": []
    }  # fmt: skip
    with contextlib.suppress(FileNotFoundError):
        job |= json.loads((folder / "job.json").read_text(encoding="utf-8"))
    return job


def _cpus(expression: str) -> int:
    """The value of a shell expression; where it has none, the CPUs of this machine."""
    shown = subprocess.run(["sh", "-c", f"echo {expression}"], stdout=subprocess.PIPE, text=True)
    return int(shown.stdout) if shown.stdout.strip().isdecimal() else os.cpu_count() or 1


def _chosen(capacity_bytes: int, candidates: Sequence[str], run_folder: str) -> str:
    """The first candidate where the run's folder can be made and that has room. Raises OSError."""
    refused = []
    for candidate in candidates:
        root = os.path.expandvars(os.path.expanduser(candidate))
        if "$" in root:
            refused.append(f"{candidate} has a variable that this job lacks")
            continue
        try:
            Path(root, run_folder).mkdir(parents=True, exist_ok=True)
            status = os.statvfs(root)
        except OSError as error:
            refused.append(_reason(error))
            continue
        free = status.f_bavail * status.f_frsize
        if free >= capacity_bytes:
            return root
        with contextlib.suppress(OSError):  # what lies there is the run's, of an earlier job
            os.rmdir(os.path.join(root, run_folder))
        refused.append(f"{root} has {free:,} of {capacity_bytes:,} bytes free")
    raise OSError(f"{socket.gethostname()} has no folder for the buffer: {'; '.join(refused)}")


def _reason(error: OSError) -> str:
    if error.filename is None:
        return str(error)
    return f"cannot make {error.filename} on the buffer ({error.strerror})"


def bring_results_home(folder: Path) -> None:
    """Have the newest checkpoint and kept files brought home before the buffer goes. From then on
    the job serves no driver: one that comes meanwhile waits for ``home.json``, or the job's end."""
    with contextlib.suppress(OSError):
        (folder / "leave").touch()
        (folder / LEAVING).touch()
    words = [sys.executable, "-P", "-m", "burstlens.workflows.driver.left_results", str(folder)]
    with contextlib.suppress(OSError):
        subprocess.run(words, stdin=subprocess.DEVNULL)


def end_idle(folder: Path, idle_s: float) -> None:
    """Report that nothing has come to the buffer, and for how long the job was idle."""
    print(f"no driver has used this job within {idle_s:.0f} s", file=sys.stderr)
    with contextlib.suppress(OSError):
        (folder / "leave").touch()
        part = folder / ".ended.json.part"
        part.write_text(json.dumps({"idle_s": round(idle_s, 3)}), encoding="utf-8")
        rename(part, folder / "ended.json")


class Host:
    """The supervisors of one job."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.children: dict[str, subprocess.Popen[bytes]] = {}
        self.signals: list[int] = []
        self._passed = 0
        self._beat: int | None = None
        self._moved_at = time.monotonic()

    def serve(self) -> None:
        """Start what is asked for, and pass the scheduler's SIGTERM on; then end when no
        supervisor is left."""
        signal.signal(signal.SIGTERM, self._on_signal)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        while True:
            live = self._reap()
            if self.signals:
                self._pass_on()
                if not live:
                    return
            else:
                self._start_new()
                leave = self.folder / "leave"
                if not self.children_alive() and (surely_exists(leave) or self._forsaken()):
                    return
            time.sleep(PERIOD_S)

    def children_alive(self) -> bool:
        return any(child.poll() is None for child in self.children.values())

    def _start_new(self) -> None:
        with contextlib.suppress(OSError):  # the run directory may be away for a while
            for entry in sorted((self.folder / "queue").iterdir()):
                if entry.suffix or entry.name in self.children:
                    continue
                job_folder = entry.read_text(encoding="utf-8").strip()
                supervisor = Path(__file__).with_name("supervisor.py")
                words = [sys.executable, "-P", str(supervisor), job_folder]
                with open(os.path.join(job_folder, "supervisor.log"), "ab") as log:
                    self.children[entry.name] = job_processes.start_session(words, log)

    def _reap(self) -> bool:
        """Note which supervisors have ended; one that was killed leaves no program behind."""
        for name, child in self.children.items():
            over = self.folder / "queue" / f"{name}.over"
            if child.poll() is None or surely_exists(over):
                continue
            with contextlib.suppress(OSError):  # the next look tries again
                job_folder = Path((self.folder / "queue" / name).read_text().strip())
                if not surely_exists(job_folder / "ended.json"):
                    words = [sys.executable, "-P", job_processes.__file__, str(job_folder)]
                    with contextlib.suppress(subprocess.SubprocessError):
                        subprocess.run(words, timeout=30)
                over.touch()
        return self.children_alive()

    def _forsaken(self) -> bool:
        """Whether no driver has written its status for long, by this clock alone. Nobody can write
        one while the run directory is full or away: then it is not known."""
        now = time.monotonic()
        with contextlib.suppress(OSError):
            beat = (self.folder.parents[1] / "status.json").stat().st_mtime_ns
            if beat != self._beat:
                self._beat, self._moved_at = beat, now
        if now - self._moved_at <= DRIVERLESS_S:
            return False
        part = self.folder / ".asked.part"
        try:
            part.write_bytes(b"x")
            part.unlink()
        except OSError:
            self._moved_at = now
            return False
        return True

    def _pass_on(self) -> None:
        """Give the supervisors the signals that came since the last call."""
        passed, self._passed = self._passed, len(self.signals)
        for number in self.signals[passed:]:
            for child in self.children.values():
                if child.poll() is None:
                    child.send_signal(number)

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        self.signals.append(number)  # no more: the loop acts on it


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__)
        sys.exit()
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:]))
