"""The census of a run's processes: CPU seconds and peak memory of each, by role.

All processes of a run inherit one environment variable and are found by it, even those that left
the session. ``/proc`` is read twice per second, so at most the final half second of a process is
missed.
"""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

MARK = "BURSTLENS_BENCH"
PERIOD_S = 0.5
_TICK_S = 1.0 / os.sysconf("SC_CLK_TCK")
_ROLES = (
    ("interchange", b"interchange"),
    ("supervisor", b"supervisor.py"),
    ("manager", b"burstlens.cluster_configs.worker_pool"),
    ("worker", b"multiprocessing.forkserver"),
    ("model", b"writer.py"),
    ("model", b"burstlens.workflows.awm"),
    ("driver", b"burstlens\0run\0"),
)


@dataclass(slots=True)
class Process:
    """The latest reading of a process: ``rss_bytes`` is its memory, ``peak_bytes`` its peak."""

    role: str
    cpu_s: float = 0.0
    rss_bytes: int = 0
    peak_bytes: int = 0


@dataclass(slots=True)
class Census:
    """Counts in a ``with`` block. ``series`` holds Unix seconds, each with CPU seconds by role."""

    mark: str
    processes: dict[int, Process] = field(default_factory=dict)
    series: list[tuple[float, dict[str, float]]] = field(default_factory=list)
    _strangers: set[int] = field(default_factory=set)
    _over: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def __enter__(self) -> Census:
        self._thread = threading.Thread(target=self._count_on, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def cpu_s(self, *roles: str, begin: float = 0.0, end: float = float("inf")) -> float:
        """CPU seconds of these roles between two Unix seconds, interpolated."""
        return self._at(roles, end) - self._at(roles, begin)

    def peak_bytes(self, role: str) -> int:
        """The most memory that one process of the role held."""
        return max((p.peak_bytes for p in self.processes.values() if p.role == role), default=0)

    def rss_bytes(self, *roles: str) -> int:
        """Total memory of all processes of these roles, each at its latest reading."""
        return sum(p.rss_bytes for p in self.processes.values() if p.role in roles)

    def _at(self, roles: tuple[str, ...], moment: float) -> float:
        before_t, before = self.series[0][0], 0.0
        for t, by_role in self.series:
            total = sum(by_role.get(role, 0.0) for role in roles)
            if t >= moment:
                part = (moment - before_t) / (t - before_t) if t > before_t else 1.0
                return before + max(0.0, part) * (total - before)
            before_t, before = t, total
        return before

    def _count_on(self) -> None:
        while not self._over.wait(PERIOD_S):
            self._count()

    def _count(self) -> None:
        alive = {int(name) for name in os.listdir("/proc") if name.isdigit()}
        self._strangers &= alive
        for pid in alive - self._strangers:
            try:
                self._see(pid)
            except (OSError, ValueError):  # it has ended meanwhile
                continue
        total: dict[str, float] = {}
        for process in self.processes.values():
            total[process.role] = total.get(process.role, 0.0) + process.cpu_s
        self.series.append((time.time(), total))

    def _see(self, pid: int) -> None:
        folder = Path(f"/proc/{pid}")
        if pid not in self.processes:
            if self.mark.encode() not in (folder / "environ").read_bytes():
                self._strangers.add(pid)
                return
            self.processes[pid] = Process("other")
        process = self.processes[pid]
        command = (folder / "cmdline").read_bytes()
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
        if process.role == "other":  # a child looks like its parent until it calls exec
            process.role = _role(command)
        process.cpu_s = max(process.cpu_s, (int(fields[11]) + int(fields[12])) * _TICK_S)
        for line in (folder / "status").read_text().splitlines():
            name, _, value = line.partition(":")
            if name == "VmRSS":
                process.rss_bytes = int(value.split()[0]) * 1024
            elif name == "VmHWM":
                process.peak_bytes = int(value.split()[0]) * 1024


def _role(command: bytes) -> str:
    return next((role for role, sign in _ROLES if sign in command), "other")
