"""Programs that fork, leave their session and go on: they end with their job."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from burstlens.core.durable import read_json, write_json
from burstlens.workflows.placement import job_processes
from burstlens.workflows.placement.launch import LocalLauncher

MODES = ("plain", "stubborn", "restless", "crowd")


@pytest.fixture(scope="session")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program of ``daemon.c``."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    program = tmp_path_factory.mktemp("daemon") / "daemon"
    source = Path(__file__).with_name("daemon.c")
    subprocess.run(["cc", "-o", program, source], check=True)
    return program


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """The file that the daemons write to as long as they live."""
    return tmp_path / "buffer" / "storm-1" / "1" / "out"


@pytest.fixture(autouse=True)
def no_daemon_is_left(run_dir: Any) -> Any:
    yield
    folder = run_dir.job("attempt-1")
    job_processes.end(lambda: job_processes.marked(folder), term_s=0.0)


def written(out: Path) -> int:
    return out.stat().st_size if out.exists() else 0


def is_quiet(out: Path) -> bool:
    """Whether no process writes any more."""
    before = written(out)
    time.sleep(0.3)
    return before > 0 and written(out) == before


@pytest.mark.parametrize("mode", MODES)
def test_stop_now_ends_a_daemon_of_the_program(
    mode: str, daemon: Path, job: Any, supervise: Any, wait_for: Any, out: Path, run_dir: Any
):
    folder = job(f"{daemon} {mode}; sleep 300")
    supervise(folder)
    wait_for(lambda: written(out) > 20)
    run_dir.request("stop-now")
    end = wait_for(lambda: read_json(folder / "ended.json"))
    assert end["reason"] == "stop-now"
    assert is_quiet(out)
    assert not list(job_processes.marked(folder))


@pytest.mark.parametrize("mode", MODES)
def test_a_daemon_does_not_outlive_a_program_that_has_ended(
    mode: str, daemon: Path, job: Any, supervise: Any, out: Path
):
    folder = job(f"{daemon} {mode}")
    assert supervise(folder).wait(120) == 0
    assert read_json(folder / "ended.json")["exit_code"] == 0
    assert is_quiet(out)


@pytest.mark.parametrize("how", ["sigterm", "given up", "walltime"])
def test_a_daemon_ends_with_its_program_for_any_reason(
    how: str, daemon: Path, job: Any, supervise: Any, wait_for: Any, out: Path
):
    walltime = {"walltime_s": 0.5} if how == "walltime" else {}
    folder = job(f"{daemon} plain; sleep 300", **walltime)
    child = supervise(folder)
    wait_for(lambda: written(out) > 5)
    if how == "sigterm":
        child.send_signal(signal.SIGTERM)
    elif how == "given up":
        write_json(folder / "ended.json", {"reason": "lost", "message": "", "ended": 0.0})
    assert child.wait(120) == 0
    assert is_quiet(out)


@pytest.mark.parametrize("mode", MODES)
def test_the_next_driver_ends_the_daemons_of_a_killed_supervisor(
    mode: str, daemon: Path, job: Any, supervise: Any, wait_for: Any, out: Path
):
    folder = job(f"{daemon} {mode}; sleep 300")
    child = supervise(folder)
    wait_for(lambda: written(out) > 20)
    child.kill()
    child.wait()
    wait_for(lambda: written(out) > 40)  # it lives on
    (folder / "started.json").unlink(missing_ok=True)  # the supervisor may not have come so far
    assert LocalLauncher().clear(folder)
    assert is_quiet(out)
    assert not LocalLauncher().clear(folder)


def test_the_daemons_of_another_job_live_on(
    daemon: Path, job: Any, supervise: Any, wait_for: Any, run_dir: Any, tmp_path: Path
):
    other = job(f"{daemon} plain; sleep 300", name="attempt-2", folder="storm-1/2")
    supervise(other)
    theirs = tmp_path / "buffer" / "storm-1" / "2" / "out"
    wait_for(lambda: written(theirs) > 5)
    assert not LocalLauncher().clear(run_dir.job("attempt-1"))
    before = written(theirs)
    wait_for(lambda: written(theirs) > before)
    assert LocalLauncher().clear(other)


def test_a_supervisor_collects_what_it_adopts(
    daemon: Path, job: Any, supervise: Any, wait_for: Any, out: Path, run_dir: Any
):
    folder = job(f"{daemon} restless; sleep 300")
    child = supervise(folder)
    wait_for(lambda: written(out) > 1000)
    time.sleep(1.0)
    states = [job_processes._stat(pid)[:1] for pid in job_processes._children(child.pid)]
    assert states.count(["Z"]) < 900
    run_dir.request("stop-now")
    assert child.wait(120) == 0


def test_the_host_of_a_batch_job_ends_what_a_killed_supervisor_has_left(
    daemon: Path, job: Any, supervise: Any, wait_for: Any, out: Path
):
    folder = job(f"{daemon} stubborn; sleep 300")
    child = supervise(folder)
    wait_for(lambda: written(out) > 5)
    child.kill()
    child.wait()
    done = subprocess.run([sys.executable, "-P", job_processes.__file__, str(folder)], timeout=60)
    assert done.returncode == 0
    assert is_quiet(out)
