"""The job of the next attempt with a buffer of its own, of a Slurm whose answers a test gives."""

from __future__ import annotations

import json
import os
import threading
import time

import pytest

from burstlens.cluster_configs.scheduler import BatchSite
from burstlens.cluster_configs.site import choose
from burstlens.cluster_configs.slurm import Slurm
from burstlens.core.run.directory import RunDir
from burstlens.workflows.placement.batch import BatchLauncher
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.placement.job_buffer import HostedLauncher, JobBuffer

pytestmark = pytest.mark.integration
KNOWN = BufferRef("posix", "$BURSTLENS_JOB_BUFFER", "r-1")


@pytest.fixture
def run(tmp_path) -> RunDir:
    made = RunDir(tmp_path / "run")
    made.create()
    return made


@pytest.fixture
def space(run, recipe, monkeypatch) -> JobBuffer:
    monkeypatch.setattr("burstlens.workflows.placement.batch.SETTLES_S", 0.0)
    site = choose("local")
    batch = BatchLauncher(Slurm(BatchSite(query_interval_s=0.1), 0.0), site, run, "r-1")
    return JobBuffer(site, run, HostedLauncher(batch), recipe(), "r-1", lambda: False)


@pytest.fixture
def says(commands):
    """Lets Slurm say this of jobs; 14 is the next that is submitted."""
    commands.set("sbatch", f"cat > {commands.folder}/script; echo 14")
    commands.set("scancel", "exit 0")

    def set_states(**states):
        user = f"UserId=me({os.getuid()})"
        for name, state in {"j14": "RUNNING", **states}.items():
            line = f"JobId={name[1:]} JobName=r {user} JobState={state} Reason=None Priority=10\n"
            (commands.folder / name).write_text(line)
        commands.set("scontrol", f"cat {commands.folder}/j$4")
        commands.set("squeue", "exit 0")

    return set_states


@pytest.fixture
def host(run):
    """The folder of a host's job, with its number and further files."""

    def make(name, number, **files):
        folder = run.job(name)
        folder.mkdir(parents=True)
        (folder / "job_id").write_text(number)
        for file, text in files.items():
            (folder / file.replace("_", ".")).write_text(text)
        (folder / "queue").mkdir()
        return folder

    return make


def test_its_job_waits_for_the_end_of_the_current_one_and_is_found_again(
    run, space, says, host, commands
):
    says(j12="RUNNING")
    space.launcher.host = host("host-1", "12")
    assert space.submit_ahead(run.job("ahead-2")) == "slurm:14"
    script = (commands.folder / "script").read_text()
    assert "#SBATCH --dependency=afterany:12\n" in script
    assert "--job-name=r-1-ahead-2\n" in script
    assert "host.py" in script
    calls = len(commands.calls)
    assert space.submit_ahead(run.job("ahead-2")) == "slurm:14"
    assert not any(call.startswith("sbatch") for call in commands.calls[calls:])


def test_its_buffer_is_the_next_one_and_that_of_the_current_job_until_it_leaves(
    run, space, says, host, commands
):
    says(j12="RUNNING", j13="RUNNING")
    first, ahead = host("host-1", "12", host_json="{}"), host("ahead-2", "13")
    (first / "queue" / "attempt-1").touch()
    assert space.provide(KNOWN) == (KNOWN, True)
    assert space.launcher.host == first
    (first / "leave").touch()
    (ahead / "host.json").write_text(json.dumps({"started": time.time() - 100}))
    assert space.provide(None) == (KNOWN, False)
    assert os.readlink(space.launcher.host) == "ahead-2"
    assert 100 <= space.launcher.idle_s < 110
    assert not any(call.startswith("sbatch") for call in commands.calls)
    # It is the run's buffer by now, and its job is not one that waits any more.
    assert space.left(KNOWN) == KNOWN
    assert space.launcher.batch.submitted_ahead() == []
    space.launcher.cancel_waiting()
    assert not any("13" in call for call in commands.calls if call.startswith("scancel"))


def test_one_on_which_nothing_was_started_is_a_new_buffer_to_the_next_driver(
    run, space, says, host
):
    says(j12="COMPLETED", j13="RUNNING")
    host("host-1", "12", host_json="{}", leave="")
    host("ahead-2", "13", host_json="{}")
    (run.path / "steps" / "host-2").symlink_to("ahead-2")
    assert space.provide(KNOWN) == (KNOWN, False)
    (run.path / "steps" / "host-2" / "queue" / "attempt-2").touch()
    assert space.provide(KNOWN) == (KNOWN, True)


@pytest.mark.parametrize("mark", ["leave", "ended.json"])
def test_one_that_has_ended_idle_gives_no_buffer(run, space, says, host, commands, mark):
    says(j12="COMPLETED", j13="COMPLETED")
    host("host-1", "12", host_json="{}", leave="")
    (host("ahead-2", "13", host_json="{}") / mark).touch()
    assert begun(space, run.job("host-2")) == (KNOWN, False)
    assert space.launcher.batch.find(space.launcher.host) == "slurm:14"


def test_one_that_is_cancelled_in_the_queue_is_followed_by_a_job_of_its_own(run, space, says, host):
    says(j12="COMPLETED", j13="PENDING")
    host("host-1", "12", host_json="{}", leave="")
    host("ahead-2", "13")
    timer = threading.Timer(1.0, says, kwargs={"j12": "COMPLETED", "j13": "CANCELLED"})
    timer.start()
    assert begun(space, run.job("host-3")) == (KNOWN, False)
    timer.join()
    assert space.launcher.batch.find(space.launcher.host) == "slurm:14"


def begun(space, folder):
    """The space, when the host of that folder has begun."""

    def begin():
        while not (folder / "job_id").exists():
            time.sleep(0.05)
        (folder / "queue").mkdir()
        (folder / "host.json").write_text("{}")

    thread = threading.Thread(target=begin, daemon=True)
    thread.start()
    return space.provide(None)
