"""munged, slurmctld and the slurmd of each node: started, stopped and waited for, one by one."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from pathlib import Path

from cluster import configuration, processes
from cluster.configuration import NODES

CONTROLLER = "slurmctld"
START_S = 60.0
"""Longest time until a daemon is there; seconds on an idle machine."""
ATTEMPTS = 3


class TestbedError(Exception):
    """A testbed does not start or stop; the message holds what its logs say."""

    __test__ = False


class Daemons:
    """The daemons of the testbed in ``root``, each known by the id in its pid file."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.conf = root / "etc" / "slurm.conf"
        self._env = {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "SLURM_CONF": str(self.conf),
            processes.MARK: str(root),
        }

    def start_all(self) -> None:
        """Munge, the controller and the nodes, on ports that are free. Raises TestbedError."""
        self._key()
        self.start("munged")
        for attempt in range(ATTEMPTS):
            configuration.write(self.root, _free_ports(1 + len(NODES)))
            try:
                for name in (CONTROLLER, *NODES):
                    self.start(name)
                self.wait_idle()
                return
            except TestbedError:
                # A port may be taken between the look and the start.
                if attempt == ATTEMPTS - 1:
                    raise
                for name in (*NODES, CONTROLLER):
                    self.stop(name)

    def start(self, name: str) -> None:
        """Start ``slurmctld``, ``munged`` or a node, and wait until it is there."""
        run, log = self.root / "run", self.root / "log"
        commands = {
            "munged": [
                "munged", f"--key-file={self.root}/etc/munge.key", "--force", "--num-threads=2",
                f"--socket={run}/munge.sock", f"--pid-file={run}/munged.pid",
                f"--log-file={log}/munged.log", f"--seed-file={run}/munge.seed",
            ],
            CONTROLLER: ["slurmctld", "-f", str(self.conf)],
        }  # fmt: skip
        command = commands.get(name) or [
            *self._own_disk(), "slurmd", "-N", name, "-f", str(self.conf)
        ]  # fmt: skip
        self._pid_file(name).unlink(missing_ok=True)
        with (log / f"{name}.out").open("a") as out:
            code = subprocess.run(
                command, env=self._env, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                cwd=log, timeout=START_S, start_new_session=True,
            ).returncode  # fmt: skip
        until = time.monotonic() + START_S
        while code == 0 and time.monotonic() < until:
            if self.pid(name) is not None and (name != CONTROLLER or self._knows_nodes()):
                return
            time.sleep(0.05)
        raise TestbedError(f"{name} does not start:\n{self.log(name)}")

    @property
    def nvme(self) -> Path:
        """Where a job finds the disk of its node: another one on each node, empty elsewhere."""
        return self.root / "nvme"

    def nodes_have_disks(self) -> bool:
        """Whether this machine lets root mount for some processes alone."""
        words = ["unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", str(self.nvme)]
        return subprocess.run(words, capture_output=True).returncode == 0

    def _own_disk(self) -> list[str]:
        """The words that give a slurmd and its jobs a mount namespace with a disk of their own."""
        self.nvme.mkdir(exist_ok=True)
        if not self.nodes_have_disks():
            return []
        mount = 'mount -t tmpfs -o mode=1777 tmpfs "$0" && exec "$@"'
        return ["unshare", "--mount", "sh", "-c", mount, str(self.nvme)]

    def stop(self, name: str, *, kill: bool = False) -> None:
        """End a daemon, with ``kill`` at once. Jobs go on without their slurmd."""
        pid = self.pid(name)
        if pid is None:
            return
        if kill:
            os.kill(pid, 9)
        processes.end([pid], patience_s=20.0)
        self._pid_file(name).unlink(missing_ok=True)

    def stop_all(self) -> None:
        """End all that this testbed has started, jobs included."""
        processes.end(processes.marked(self.root))
        # What was being started meanwhile.
        processes.end(processes.marked(self.root))

    def pid(self, name: str) -> int | None:
        """The daemon's process, None when it does not run."""
        try:
            pid = int(self._pid_file(name).read_text())
        except (FileNotFoundError, ValueError):
            return None
        return pid if processes.carries(pid, self.root) and processes.alive(pid) else None

    def wait_idle(self) -> None:
        """Wait until no node is down, busy or unknown. Raises TestbedError."""
        until = time.monotonic() + START_S
        said = ""
        while time.monotonic() < until:
            said = self.ask("sinfo", "-h", "-N", "-o", "%N %t")
            if sorted(said.splitlines()) == [f"{node} idle" for node in NODES]:
                return
            time.sleep(0.1)
        raise TestbedError(f"the nodes are not idle:\n{said}\n{self.log(CONTROLLER)}")

    def ask(self, *command: str) -> str:
        """What a command of Slurm says to root, nothing when it fails."""
        done = subprocess.run(
            command, env=self._env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=START_S,
        )  # fmt: skip
        return done.stdout if done.returncode == 0 else ""

    def log(self, name: str, lines: int = 30) -> str:
        """The end of a daemon's log."""
        texts = [
            path.read_text(errors="replace")
            for suffix in ("out", "log")
            if (path := self.root / "log" / f"{name}.{suffix}").exists()
        ]
        return "\n".join("".join(texts).splitlines()[-lines:])

    def _knows_nodes(self) -> bool:
        """Whether the controller answers, and has heard of each node whose slurmd runs."""
        said = self.ask("sinfo", "-h", "-N", "-o", "%N %t").splitlines()
        states = dict(line.split() for line in said)
        # A star stands behind the state of a node that does not respond.
        return bool(states) and not any(
            states[node].startswith("unk") or states[node].endswith("*")
            for node in NODES
            if self.pid(node) is not None
        )

    def _pid_file(self, name: str) -> Path:
        return self.root / "run" / f"{name}.pid"

    def _key(self) -> None:
        key = self.root / "etc" / "munge.key"
        with os.fdopen(os.open(key, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
            stream.write(os.urandom(1024))


def _free_ports(count: int) -> list[int]:
    """Ports that no process listens on, below the range of outgoing connections."""
    with open("/proc/sys/net/ipv4/ip_local_port_range") as stream:
        lowest = int(stream.read().split()[0])
    found: list[int] = []
    held = []
    while len(found) < count:
        candidate = 10_000 + int.from_bytes(os.urandom(4), "little") % max(1, lowest - 10_000)
        listener = socket.socket()
        try:
            listener.bind(("0.0.0.0", candidate))
        except OSError:
            listener.close()
            continue
        held.append(listener)
        found.append(candidate)
    for listener in held:
        listener.close()
    return found
