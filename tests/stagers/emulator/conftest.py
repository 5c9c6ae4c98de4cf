"""The emulator and C clients, built once plain and once with sanitizers; a job that uses them."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from emulated import build_emulator

CLIENTS = Path(__file__).parents[1] / "clients"
SANITIZE = "-fsanitize=address,undefined -fno-sanitize-recover=undefined"


def install(prefix: Path, library: str, client: str) -> Path:
    """The emulator, and the clients as their authors would build them: by pkg-config alone."""
    if not (shutil.which("cc") and shutil.which("pkg-config")):
        pytest.skip("the emulator and its C clients need cc and pkg-config")
    build_emulator(prefix, library)
    environment = os.environ | {"PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")}
    found = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "cray-datawarp"],
        env=environment, capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    (prefix / "clients").mkdir()
    for source in CLIENTS.glob("*.c"):
        subprocess.run(
            ["cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-pthread", *client.split(), source,
             "-o", prefix / "clients" / source.stem, *found],
            check=True,
        )  # fmt: skip
    return prefix


@pytest.fixture(scope="session")
def plain(tmp_path_factory):
    return install(tmp_path_factory.mktemp("plain"), "-O2 -Werror -Wshadow", "")


@pytest.fixture(scope="session")
def sanitized(tmp_path_factory):
    """Library, program and clients with the sanitizers of addresses and of undefined behaviour."""
    try:
        return install(tmp_path_factory.mktemp("sanitized"), f"-O2 {SANITIZE}", SANITIZE)
    except subprocess.CalledProcessError:
        pytest.skip("this compiler has no address sanitizer")


@dataclass
class Job:
    """A job that holds one instance: its environment, the clients, the two file systems."""

    prefix: Path
    dw: Path
    pfs: Path
    environment: dict[str, str]
    # What a call and the four counts of a query are for one file's stage.
    complete = (0, 1, 0, 0, 0)
    pending = (0, 0, 1, 0, 0)
    deferred = (0, 0, 0, 1, 0)
    failed = (0, 0, 0, 0, 1)
    slow = {"DW_EMULATOR_BANDWIDTH": "1000000"}  # noqa: RUF012

    def run(self, *words, env=None, timeout=120, **how):
        done = subprocess.run(
            [self.prefix / "clients" / words[0], *words[1:]],
            env=self.environment | (env or {}), capture_output=True, text=True, timeout=timeout,
            **how,
        )  # fmt: skip
        assert "Sanitizer" not in done.stderr, done.stderr
        assert "runtime error" not in done.stderr, done.stderr
        return done

    def call(self, *words, env=None, **how):
        """What a call returned, and the counts of a query."""
        done = self.run("dwcall", *words, env=env, **how)
        assert done.stdout, (words, done.returncode, done.stderr)
        numbers = tuple(int(word) for word in done.stdout.split())
        return numbers if len(numbers) > 1 else numbers[0]

    def tool(self, *words):
        return subprocess.run(
            [self.prefix / "bin" / "dw-emulator", *words],
            env=self.environment, capture_output=True, text=True, timeout=120,
        )  # fmt: skip

    def file(self, name="frame.nc", content=b"frame"):
        path = self.dw / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    def out(self, name="frame.nc", when="now", env=None):
        """Start staging a file of the instance out under its own name."""
        return self.call("file_out", self.dw / name, self.pfs / Path(name).name, when, env=env)

    def settled(self, name="frame.nc"):
        """Wait for a file's stage, then ask for it."""
        self.call("wait_file", self.dw / name)
        return self.call("query_file", self.dw / name)

    @property
    def state(self):
        return self.dw.with_name(self.dw.name + ".stages")

    def copiers(self):
        """The processes that copy for this instance."""
        found = []
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_bytes().split(b"\0")
                if words[1:3] == [b"copy", os.fsencode(self.state)]:
                    found.append(int(entry.name))
        return found

    @staticmethod
    def until(condition, seconds=120.0):
        end = time.monotonic() + seconds
        while not (found := condition()):
            assert time.monotonic() < end, "never came true"
            time.sleep(0.005)
        return found


@pytest.fixture
def make_job(tmp_path):
    made = []

    def make(prefix):
        environment = {key: value for key, value in os.environ.items() if key[:3] != "DW_"}
        job = Job(prefix, tmp_path / "instance", tmp_path / "pfs", environment)
        job.dw.mkdir()
        job.pfs.mkdir()
        job.environment["DW_PERSISTENT_STRIPED_storm"] = f"{job.dw}/"
        made.append(job)
        return job

    yield make
    for pid in (pid for job in made for pid in job.copiers()):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@pytest.fixture(params=["plain", "sanitized"])
def job(request, make_job):
    """A job with an empty instance; what it runs is built plainly, then with sanitizers."""
    return make_job(request.getfixturevalue(request.param))
