"""A Slurm cluster with DataWarp on one machine, for tests and for people who want to play.

    .venv/bin/python tests/slurm/testbed.py up DIR      start it; says how to use it
    .venv/bin/python tests/slurm/testbed.py down DIR    end all that it has started, delete DIR

Real munge, slurmctld and three slurmd of Debian with Slurm's own burst_buffer/datawarp plugin, on
loopback and on ports of their own; only the DataWarp service behind the plugin is emulated. All
of it lies in DIR. Slurm refuses burst buffers to root, so jobs run as an ordinary user.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cluster import installation, interpreter, processes
from cluster.configuration import GRANULE, POOL
from cluster.daemons import CONTROLLER, Daemons, TestbedError
from cluster.installation import SYSTEM_PATH, UnavailableError

EMULATOR = Path(__file__).resolve().parents[2] / "emulator"
FOLDERS = ("etc", "run", "log", "bin", "lib", "controller", "datawarp/mounts/batch", "datawarp")
ACTIVE = {
    *("PENDING", "CONFIGURING", "RUNNING", "COMPLETING", "STAGE_OUT", "SUSPENDED"),
    *("STOPPED", "SIGNALING", "RESIZING", "REQUEUED"),
}
_FIELD = re.compile(r"(?:^|\s)([A-Za-z][\w/:]*)=")


@dataclass(frozen=True, slots=True)
class Call:
    """One call of dw_wlm_cli by Slurm, or ``deferred``: the stages that a job had put off."""

    t: float
    function: str
    token: str
    argv: tuple[str, ...]
    code: int
    seconds: float
    error: str


class Testbed:
    """A cluster in ``root``. What runs on it runs as ``user``, with ``env`` and below ``home``.

    ``python`` is an interpreter with the project that this user can run.
    """

    __test__ = False

    def __init__(self, root: Path) -> None:
        self.root = root
        self.daemons = Daemons(root)
        self.home = root / "home"
        self.python = Path()
        self.env: dict[str, str] = {}

    def start(self) -> None:
        """Install what is missing and start it. Raises UnavailableError and TestbedError."""
        self.user = installation.provide()
        for name in FOLDERS:
            (self.root / name).mkdir(parents=True, exist_ok=True)
        for folder in (self.root, *(self.root / name for name in FOLDERS)):
            folder.chmod(0o700 if folder.name == "controller" else 0o755)
        self._check_path()
        self._own(self.home)
        cache = installation.CACHE / "numba"
        self._own(cache)
        self.python = interpreter.provide(self.root, self.user)
        path = f"{self.python.parent}:{self.root / 'bin'}:{SYSTEM_PATH}"
        self.env = {
            "PATH": path, "HOME": str(self.home), "USER": self.user.pw_name,
            "LOGNAME": self.user.pw_name, "LANG": "C.UTF-8", "SLURM_CONF": str(self.daemons.conf),
            "PYTHONDONTWRITEBYTECODE": "1", "NUMBA_CACHE_DIR": str(cache),
        }  # fmt: skip
        self._configure_service()
        self.daemons.start_all()

    def purge(self) -> None:
        """End all that it has started, also when it was started by another process; delete it."""
        self.daemons.stop_all()
        shutil.rmtree(self.root, ignore_errors=True)

    def folder(self, name: str) -> Path:
        """A new folder of the user's."""
        return self._own(self.home / name, exist_ok=False)

    def run(
        self, argv: Sequence[str | Path], *, cwd: Path | None = None, input: str | None = None,
        env: dict[str, str] | None = None, timeout: float = 60.0,
    ) -> subprocess.CompletedProcess[str]:  # fmt: skip
        """Run a command as the user; ``env`` is added to the testbed's."""
        stdin: dict[str, Any] = {"input": input} if input else {"stdin": subprocess.DEVNULL}
        return subprocess.run(
            argv, **stdin, **self._identity(cwd, env), capture_output=True, text=True,
            timeout=timeout,
        )  # fmt: skip

    def popen(
        self, argv: Sequence[str | Path], *, cwd: Path | None = None,
        env: dict[str, str] | None = None, **options: Any,
    ) -> subprocess.Popen[str]:  # fmt: skip
        """Start a command as the user, in a session of its own."""
        return subprocess.Popen(
            argv, **self._identity(cwd, env), text=True, start_new_session=True, **options
        )

    def submit(self, script: str, *, cwd: Path | None = None) -> str:
        """The job's id. What it says stands in ``slurm-<id>.out`` in ``cwd``, else in ``home``."""
        done = self.run(["sbatch", "--parsable"], input=script, cwd=cwd)
        if done.returncode:
            raise TestbedError(done.stderr.strip())
        return done.stdout.strip()

    def job(self, job_id: str) -> dict[str, str]:
        """What ``scontrol show job`` says, nothing when Slurm has forgotten it."""
        return _fields(self.daemons.ask("scontrol", "-o", "show", "job", job_id))

    def jobs(self) -> list[dict[str, str]]:
        """All jobs that Slurm remembers."""
        said = self.daemons.ask("scontrol", "-o", "show", "jobs")
        return [fields for line in said.splitlines() if (fields := _fields(line)).get("JobId")]

    def wait(self, job_id: str, *states: str, timeout: float = 180.0) -> dict[str, str]:
        """Wait until the job is in one of the states, else until it and its buffer are over.

        Raises TestbedError.
        """
        until = time.monotonic() + timeout
        job: dict[str, str] = {}
        while time.monotonic() < until:
            job = self.job(job_id)
            state = job.get("JobState", "")
            if state in states:
                return job
            if not states and state not in ACTIVE and job_id not in self.burst():
                return job
            time.sleep(0.1)
        raise TestbedError(f"job {job_id}: {job}\n{self.daemons.log(CONTROLLER)}")

    def burst(self) -> dict[str, dict[str, str]]:
        """Buffers that exist, by name (or job id), as ``scontrol show burst`` lists them."""
        said = self.daemons.ask("scontrol", "show", "burst")
        rows = [_fields(line) for line in said.splitlines()]
        return {row.get("Name", row.get("JobID", "")): row for row in rows if "CreateTime" in row}

    def calls(self, function: str | None = None) -> list[Call]:
        """Calls of the DataWarp service, or those of one function, in order."""
        found = []
        with contextlib.suppress(FileNotFoundError):
            for line in (self.root / "datawarp" / "calls.jsonl").read_text().splitlines():
                row = {"seconds": 0.0, "error": "", **json.loads(line)}
                row["argv"] = tuple(row["argv"])
                del row["pid"]
                found.append(Call(**row))
        return [call for call in found if function in (None, call.function)]

    @contextlib.contextmanager
    def knobs(self, *, pool_bytes: int | None = None, **values: object) -> Iterator[None]:
        """For a while, a service with ``setup_delay_s``, ``create_delay_s`` and ``destroy_delay_s``
        (of persistent buffers), ``copy_bytes_per_s``, ``fail_stage`` (a pattern of source paths),
        ``away`` (it answers nothing), ``enforce_capacity`` or a pool of ``pool_bytes``."""
        self._configure_service(pool_bytes, **values)
        if pool_bytes is not None:
            self.restart_controller()
        try:
            yield
        finally:
            self._configure_service()
            if pool_bytes is not None:
                self.restart_controller()

    @contextlib.contextmanager
    def configured(self, **values: object) -> Iterator[None]:
        """For a while, a Slurm with other values in slurm.conf, such as ``MinJobAge=2``."""
        before = self.daemons.conf.read_text()
        text = before
        for key, value in values.items():
            text, count = re.subn(rf"(?m)^{key}=.*$", f"{key}={value}", text)
            if not count:
                raise TestbedError(f"slurm.conf has no {key}")
        # Not by `scontrol reconfigure`: after it the plugin forgets the granule for half a minute.
        try:
            self.daemons.conf.write_text(text)
            self.restart_controller()
            yield
        finally:
            self.daemons.conf.write_text(before)
            self.restart_controller()

    @contextlib.contextmanager
    def closed(self) -> Iterator[None]:
        """For a while no job begins, as in a full queue; those that run go on."""
        words = ["scontrol", "update", "PartitionName=batch"]
        self.daemons.ask(*words, "State=DOWN")
        try:
            yield
        finally:
            self.daemons.ask(*words, "State=UP")

    @contextlib.contextmanager
    def silent_service(self) -> Iterator[None]:
        """For a while, a DataWarp service that answers nothing."""
        program, kept = (self.root / "bin" / name for name in ("dw_wlm_cli", "dw_wlm_cli.kept"))
        program.rename(kept)
        try:
            program.write_text("#!/bin/sh\nexit 1\n")
            program.chmod(0o755)
            yield
        finally:
            kept.rename(program)

    def burst_soon(self) -> dict[str, dict[str, str]]:
        """As :meth:`burst`, as soon as a controller that was restarted lists a buffer: it knows of
        the pools before."""
        until = time.monotonic() + 60.0
        while not (found := self.burst()):
            if time.monotonic() > until:
                raise TestbedError("slurmctld does not learn of its buffers")
            time.sleep(0.5)
        return found

    def restart_controller(self) -> None:
        """Stop and start slurmctld."""
        self.daemons.stop(CONTROLLER)
        self.daemons.start(CONTROLLER)

    def clear(self) -> None:
        """No job, no buffer: what a test that failed has left. Raises TestbedError."""
        self._await_pools()
        self.daemons.ask("scancel", "--user", self.user.pw_name)
        for job in self.jobs():
            self.wait(job["JobId"])
        names = [name for name, row in self.burst().items() if "JobID" not in row]
        made = [
            self.submit(f"#!/bin/sh\n#BB destroy_persistent name={name} hurry\ntrue\n")
            for name in names
        ]
        for job_id in made:
            self.wait(job_id)
        if left := self.burst():
            raise TestbedError(f"buffers are left: {left}")

    def _await_pools(self) -> None:
        """Wait for a controller that began while the service was silent: it asks again after half a
        minute, and knows of no buffer before."""
        until = time.monotonic() + 60.0
        while "TotalSpace=0 " in self.daemons.ask("scontrol", "show", "burst"):
            if time.monotonic() > until:
                raise TestbedError("slurmctld does not learn of its pools")
            time.sleep(0.5)

    def _identity(self, cwd: Path | None, env: dict[str, str] | None) -> dict[str, Any]:
        mark = {processes.MARK: str(self.root)}
        return {
            "user": self.user.pw_uid, "group": self.user.pw_gid, "extra_groups": [],
            "umask": 0o022, "cwd": cwd or self.home, "env": {**self.env, **mark, **(env or {})},
        }  # fmt: skip

    def _own(self, folder: Path, *, exist_ok: bool = True) -> Path:
        folder.mkdir(parents=True, exist_ok=exist_ok)
        os.chown(folder, self.user.pw_uid, self.user.pw_gid)
        return folder

    def _check_path(self) -> None:
        done = subprocess.run(
            ["test", "-r", self.root / "etc", "-a", "-x", self.root / "etc"],
            user=self.user.pw_uid, group=self.user.pw_gid, extra_groups=[],
        )  # fmt: skip
        if done.returncode:
            raise TestbedError(f"{self.user.pw_name} cannot enter {self.root}: take another folder")

    def _configure_service(self, pool_bytes: int | None = None, **values: object) -> None:
        quantity = POOL if pool_bytes is None else pool_bytes // GRANULE
        pool = {"id": "wlm_pool", "units": "bytes", "granularity": GRANULE, "quantity": quantity}
        path = self.root / "datawarp" / "config.json"
        new = path.with_suffix(".new")
        new.write_text(json.dumps({"pools": [pool], **values}))
        new.rename(path)


def _fields(line: str) -> dict[str, str]:
    """``A=1 B=two words C=3``, as scontrol writes it."""
    parts = _FIELD.split(line.strip())
    return {key: value.strip() for key, value in zip(parts[1::2], parts[2::2], strict=True)}


def guard(root: Path) -> None:
    """Purge the testbed as soon as standard input ends: with the process at its other end."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sys.stdin.buffer.read()
    Testbed(root).purge()


def up(root: Path) -> None:
    """Start a testbed that stays, and say how to use it."""
    if root.exists() and any(root.iterdir()):
        raise TestbedError(f"{root} is not empty; is it up already?")
    testbed = Testbed(root)
    try:
        testbed.start()
    except BaseException:
        testbed.daemons.stop_all()
        raise
    library = root / "libdatawarp"
    subprocess.run(["make", "-C", EMULATOR, f"PREFIX={library}"], check=True, capture_output=True)
    known = testbed.env | {"BURSTLENS_LIBDATAWARP": str(library / "lib" / "libdatawarp.so.1")}
    lines = [f"export {key}='{value}'" for key, value in known.items()]
    (root / "env.sh").write_text("\n".join([*lines, f"cd '{testbed.home}'", ""]))
    print(f"up; in a shell of its user: runuser -u {testbed.user.pw_name} -- bash")
    print(f"then there: . {root}/env.sh")


def main(words: list[str]) -> int:
    """The command line."""
    commands = {"up": up, "down": lambda root: Testbed(root).purge(), "guard": guard}
    if len(words) != 2 or words[0] not in commands:
        print((__doc__ or "").partition("\n\nReal")[0], file=sys.stderr)
        return 2
    root = Path(words[1]).resolve()
    if words[0] == "down" and not (root / "etc" / "slurm.conf").exists():
        print(f"there is no testbed in {root}", file=sys.stderr)
        return 1
    try:
        commands[words[0]](root)
    except (UnavailableError, TestbedError) as error:
        print(f"testbed: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
