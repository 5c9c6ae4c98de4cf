"""The pool's workers are forks of one process that has imported what each of them needs."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

# A worker says which of these modules it has without having imported any.
PROGRAM = """
import parsl.multiprocessing
from burstlens.cluster_configs import worker_pool
worker_pool._fork_workers()
with parsl.multiprocessing.SpawnContext.Pool(1) as workers:
    print(*workers.apply(eval, ("sorted(__import__('sys').modules)",)), sep="\\n")
"""


@pytest.mark.slow
@pytest.mark.integration
def test_a_worker_has_from_its_start_what_each_product_needs():
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM], capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr
    needed = {"parsl", "netCDF4", "matplotlib.figure", "burstlens.workflows.making.tasks"}
    found = set(done.stdout.split())
    assert needed <= found
    assert "sqlalchemy" not in found  # is installed, with ObsPy


@pytest.mark.integration
def test_what_parsl_is_imported_without_can_be_imported_later():
    program = (
        "import burstlens.cluster_configs.unmonitored, sys; assert 'parsl' in sys.modules;"
        "assert 'sqlalchemy' not in sys.modules; import sqlalchemy; print(sqlalchemy.__name__)"
    )
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("sqlalchemy\n", "")


@pytest.fixture
def pool(tmp_path: Path):
    """Starts a pool whose logs go into the folder of this name, and which no interchange answers;
    what it says goes to ``said``."""
    started = []

    def start(folder: Path, **how: Any) -> subprocess.Popen[bytes]:
        options = [
            "-a", "127.0.0.1", "-p", "0", "-c", "1", "-m", "None", "--poll", "10", "--port=1",
            "--cert_dir", "None", "--block_id=0", "--hb_period=2", "--hb_threshold=10",
            "--drain_period=None", "--cpu-affinity", "none", "--mpi-launcher=mpiexec",
            "--available-accelerators",
        ]  # fmt: skip
        module = ("-P", "-m", "burstlens.cluster_configs.worker_pool")
        command = [sys.executable, *module, f"--logdir={folder}", *options]
        with (tmp_path / "said").open("wb") as said:
            started.append(subprocess.Popen(command, stderr=said, **how))
        return started[-1]

    yield start
    for one in started:
        one.kill()
        one.wait()


@pytest.fixture
def scratch() -> Iterator[Path]:
    """A TMPDIR for sockets, whose paths have at most 107 characters."""
    with tempfile.TemporaryDirectory(prefix="pool-") as folder:
        yield Path(folder)


def holds(process: int, folder: Path) -> bool:
    with contextlib.suppress(FileNotFoundError):  # one was closed just now
        return any(os.path.samefile(one, folder) for one in Path(f"/proc/{process}/fd").iterdir())
    return False


def until(condition: Callable[[], object], limit_s: float = 60.0) -> None:
    end = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


@pytest.mark.integration
def test_the_logs_of_a_pool_follow_a_run_directory_that_is_moved(pool, tmp_path: Path):
    run, away = tmp_path / "run", tmp_path / "away"
    (run / "logs").mkdir(parents=True)
    process = pool(run / "logs")
    until(lambda: holds(process.pid, run / "logs"))
    run.rename(away)
    until(lambda: list(away.glob("logs/block-0/*/manager.log")))
    assert not run.exists()


@pytest.mark.integration
def test_a_pool_makes_no_run_directory(pool, tmp_path: Path):
    process = pool(tmp_path / "run" / "logs")
    assert process.wait(60) == 1
    assert "the folder of its logs cannot be opened: " in (tmp_path / "said").read_text()
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
@pytest.mark.integration
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_pool_that_a_signal_ends_leaves_nothing_in_its_folder_for_temporary_files(
    pool, tmp_path: Path, scratch: Path, number: signal.Signals
):
    """A scheduler ends all its processes by SIGTERM, a lack of memory one of them by SIGKILL."""
    (tmp_path / "logs").mkdir()
    environment = {**os.environ, "TMPDIR": str(scratch)}
    process = pool(tmp_path / "logs", env=environment, start_new_session=True)
    until(lambda: list((tmp_path / "logs").glob("block-0/*/manager.log")))
    assert list(scratch.glob("pymp-*/listener-*"))
    if number == signal.SIGTERM:
        os.killpg(process.pid, number)
    else:
        process.kill()
    process.wait()
    until(lambda: not list(scratch.iterdir()))
