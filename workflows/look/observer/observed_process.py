"""A process that somebody else started, watched from outside: by its number and start time.

The kernel gives a number to another process later, so a process is known by its number and its
start time (in ticks of 10 ms) together, and held by a pidfd where the kernel has them. Nothing here
signals it except ``stop``.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import time
from dataclasses import dataclass
from pathlib import Path

from burstlens.core.errors import RunError
from burstlens.core.printable import printable
from burstlens.workflows.look.observer.witness import Standing, Witness

TERM_S = 10.0
"""After a stop, SIGKILL follows SIGTERM so much later."""
TERM_NOW_S = 2.0
"""The same after a stop at once: MPI launchers end their ranks when they get SIGTERM."""
_ENDED = {"Z", "X"}
"""The kernel's states of a process that has ended, and whose parent has not asked for its end."""
_BOOT = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class Stat:
    """A line of ``/proc/PID/stat``: ``ticks`` is the start time in ticks since the boot."""

    name: str
    state: str
    parent: int
    ticks: int


class ObservedProcess:
    """One process. ``mark`` names it for good, also for a later observer.

    Raises RunError when there is no such process and no ``mark`` says that there was one, and with
    ``stoppable`` when this user may not stop it.
    """

    def __init__(self, pid: int, *, stoppable: bool, mark: str | None = None) -> None:
        if pid <= 0:
            raise RunError(f"{pid} is not the number of a process")
        self.pid = pid
        self._ticks: int | None = None
        self._name = self._note = ""
        self._handle: int | None = None
        self._kill_at: float | None = None
        self._children: tuple[tuple[int, int, str], ...] = ()
        self._last = Witness(Standing.UNKNOWN, "")
        self._final: Witness | None = None
        self.mark = mark or self._meet()
        if mark is not None:
            self._recall(mark)
        if self.look().standing is Standing.ALIVE:
            if stoppable:
                self._require_own()
            self._handle = _open(pid)
            self.look()  # if the process of before still runs, the handle is its own

    def look(self) -> Witness:
        """What the kernel says now; after a stop, SIGKILL is sent here when it is due."""
        if self._final is not None:
            return self._final
        try:
            stat = self._read()
        except OSError:  # such as no file handle left: what was known before stays
            return self._last
        if stat is None:
            self._last = self._final = self._end()
            return self._final
        if self._kill_at is not None and time.monotonic() >= self._kill_at:
            self._kill_at = None
            self._note = "; SIGKILL was sent"
            with contextlib.suppress(OSError):
                self._send(signal.SIGKILL)
        self._name = printable(stat.name)
        does = "is stopped (as by Ctrl-Z)" if stat.state in {"T", "t"} else "runs"
        self._last = Witness(Standing.ALIVE, f"{self._title} {does}{self._note}")
        return self._last

    def stop(self, *, at_once: bool) -> str:
        """Send SIGTERM, and note when SIGKILL is due; returns what was done. Raises RunError."""
        witness = self.look()
        if witness.standing is Standing.UNKNOWN:
            raise RunError(f"{witness.text}: it cannot be stopped from here")
        if witness.standing is Standing.OVER:
            return witness.text
        wait_s = TERM_NOW_S if at_once else TERM_S
        self._children = _descendants(self.pid)
        try:
            self._send(signal.SIGTERM)
        except ProcessLookupError:
            return self.look().text
        except OSError as error:
            raise RunError(f"{self._title} cannot be stopped: {error.strerror}") from error
        self._kill_at = time.monotonic() + wait_s
        self._note = "; SIGTERM was sent"
        return f"SIGTERM was sent to {self._title}; SIGKILL follows in {wait_s:.0f} s"

    @property
    def _title(self) -> str:
        return f"process {self.pid}" + (f" ({self._name})" if self._name else "")

    def _meet(self) -> str:
        """The mark of a process that was never seen before. Raises RunError."""
        host, boot = socket.gethostname(), _boot()
        try:
            stat = _stat(self.pid)
            leader = _status(self.pid).get("Tgid", "")
        except OSError as error:
            if _exists(self.pid):  # another user's, on a machine that hides those
                return f"{host} {boot}"
            raise RunError(f"there is no process {self.pid} on {host}") from error
        self._ticks, self._name = stat.ticks, printable(stat.name)
        if leader not in {"", str(self.pid)}:
            raise RunError(f"{self.pid} is a thread of process {leader}: give that number")
        if stat.state in _ENDED:
            raise RunError(f"{self._title} has ended already")
        return f"{host} {boot} {stat.ticks}"

    def _recall(self, mark: str) -> None:
        """Go on with the process of a mark: it may have ended, or be another machine's."""
        host, boot, ticks = [*mark.split(" "), "", "", ""][:3]
        self._ticks = int(ticks) if ticks.isdecimal() else None
        here = socket.gethostname()
        if host != here:
            text = f"process {self.pid} was seen on {host}; {here} cannot see it"
            self._final = Witness(Standing.UNKNOWN, text)
        elif boot != _boot():
            text = f"process {self.pid} has ended: {here} was restarted"
            self._final = Witness(Standing.OVER, text)

    def _read(self) -> Stat | None:
        """The process, None when it has ended. Raises OSError when neither can be said."""
        if self._handle is not None and _is_readable(self._handle):
            return None  # so a pidfd says the end
        try:
            stat = _stat(self.pid)
        except (FileNotFoundError, ProcessLookupError):
            is_hidden = self._ticks is None and _exists(self.pid)  # from this user
            return Stat("", "R", 0, 0) if is_hidden else None
        # With other ticks the number is another process's now.
        is_other = self._ticks is not None and stat.ticks != self._ticks
        return None if is_other or stat.state in _ENDED else stat

    def _end(self) -> Witness:
        self._kill_at = None
        text = f"{self._title} has ended{self._note and ' after SIGTERM'}"
        left = [one for one in self._children if _runs(*one)]
        if left:
            names = ", ".join(f"{pid} ({name})" for pid, _, name in left[:5])
            text += f"; processes that it started still run: {names}"
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
        return Witness(Standing.OVER, text)

    def _send(self, number: signal.Signals) -> None:
        """Signal this very process, never another one with its number. Raises OSError."""
        if self._handle is not None:
            signal.pidfd_send_signal(self._handle, number)
        elif self._ticks is not None and self._read() is not None:
            os.kill(self.pid, number)

    def _require_own(self) -> None:
        try:
            users = _status(self.pid)["Uid"].split()
        except (OSError, KeyError):
            users = []
        if users[:1] != [str(os.getuid())]:
            raise RunError(f"{self._title} is another user's: it can be observed, not stopped")
        if self.pid in _ancestors():
            raise RunError(f"{self._title} started this command: it can be observed, not stopped")


def _stat(pid: int) -> Stat:
    """Raises OSError."""
    text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    head, _, rest = text.rpartition(")")
    words = rest.split()
    if len(words) < 20:  # it ended while it was read
        raise ProcessLookupError(f"/proc/{pid}/stat")
    return Stat(head.partition("(")[2], words[0], int(words[1]), int(words[19]))


def _status(pid: int) -> dict[str, str]:
    """The fields of ``/proc/PID/status``. Raises OSError."""
    text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    pairs = (line.partition(":") for line in text.splitlines())
    return {key: value.strip() for key, _, value in pairs}


def _exists(pid: int) -> bool:
    """Whether the kernel has the process, which ``/proc`` may hide. Signal 0 is not sent."""
    try:
        os.kill(pid, 0)
    except OSError as error:
        return not isinstance(error, ProcessLookupError)
    return True


def _runs(pid: int, ticks: int, _name: str) -> bool:
    with contextlib.suppress(OSError):
        stat = _stat(pid)
        return stat.ticks == ticks and stat.state not in _ENDED
    return False


def _descendants(pid: int) -> tuple[tuple[int, int, str], ...]:
    """Number, start time and name of each process that descends from this one."""
    stats: dict[int, Stat] = {}
    for name in os.listdir("/proc"):
        if name.isdecimal():
            with contextlib.suppress(OSError):
                stats[int(name)] = _stat(int(name))
    found, waiting = [], [pid]
    while waiting:
        parent = waiting.pop()
        children = [one for one, stat in stats.items() if stat.parent == parent]
        waiting += children
        found += children
    return tuple((one, stats[one].ticks, printable(stats[one].name)) for one in sorted(found))


def _ancestors() -> set[int]:
    """This process and those that started it."""
    found: set[int] = set()
    pid = os.getpid()
    with contextlib.suppress(OSError):
        while pid > 0 and pid not in found:
            found.add(pid)
            pid = _stat(pid).parent
    return found


def _open(pid: int) -> int | None:
    """A pidfd, which never stands for another process; None where the kernel has none (5.3)."""
    with contextlib.suppress(OSError):
        return os.pidfd_open(pid)
    return None


def _is_readable(handle: int) -> bool:
    waiting = select.poll()
    waiting.register(handle, select.POLLIN)
    return bool(waiting.poll(0))


def _boot() -> str:
    with contextlib.suppress(OSError):
        return _BOOT.read_text(encoding="utf-8").strip()
    return ""
