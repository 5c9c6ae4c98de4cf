"""Looks at a model that runs in a job script of one's own, on a real Slurm."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest
from batch_case import BatchCase
from run_case import TIMES, WAITS
from testbed import Testbed

SHOWN = [f"W-5 {time} 1" for time in TIMES]


class LookedJob:
    """A job that a user has submitted, and looks at its folder from the login node."""

    def __init__(self, slurm: Testbed, case: BatchCase) -> None:
        self.slurm, self.case, self.folder = slurm, case, case.inputs
        site = case.folder / "sites" / "bed.toml"
        site.write_text(f'hosts = ["{socket.gethostname()}"]\n{site.read_text()}')
        script = f"#!/bin/sh\n#SBATCH -o slurm.out\ncd {case.inputs}\nexec ./wrf.exe\n"
        self.id = self.submit(script)

    def submit(self, script: str) -> str:
        """The id of a job that runs."""
        job_id = self.slurm.submit(script, cwd=self.case.folder)
        self.slurm.wait(job_id, "RUNNING")
        return job_id

    def look(self, *words: str) -> subprocess.Popen[str]:
        """A look in a terminal."""
        options = "--no-page", "--name", "r", "--product", "W@5"
        return self.case.start("look", str(self.folder), *options, *words)

    def states(self) -> list[tuple[str, str]]:
        """What was observed of the model so far, and how it is known."""
        return [
            (line["state"], line["evidence"])
            for line in self.case.journal() if line["event"] == "model.observed"
        ]  # fmt: skip

    def published(self) -> list[str]:
        """Product, valid time and attempt of what is shown; wider colour limits draw it again."""
        lines = self.case.journal()
        shown = [line for line in lines if line["event"] == "product.published"]
        return sorted({f"{line['product']} {line['time']} {line['attempt']}" for line in shown})

    def signal(self, name: str) -> None:
        """Signal the processes of the job."""
        self.slurm.run(["scancel", "--full", "--signal", name, self.id])


@pytest.fixture
def job(slurm: Testbed, make_case: Any) -> Any:
    """A job whose model waits with its last frame until :meth:`BatchCase.go_on`."""
    return LookedJob(slurm, make_case(model=WAITS, interval=1.0, buffer='kind = "posix"\n'
                                      'folders = ["HERE/buffer"]'))  # fmt: skip


@pytest.mark.slow
def test_a_job_of_ones_own_is_seen_to_run_and_to_end(job: LookedJob) -> None:
    look = job.look("--job", job.id)
    job.case.await_event("product.published", 2)
    state, evidence = job.states()[-1]
    assert state == "running"
    assert evidence.startswith(f"Slurm: job {job.id} RUNNING on ")
    job.case.go_on()
    assert job.case.wait(look).code == 0
    state, evidence = job.states()[-1]
    assert state == "ended"
    # The log's last line is the end, which may be read before Slurm says that the job is over.
    assert "SUCCESS COMPLETE WRF" in evidence
    assert f"Slurm: job {job.id} " in evidence
    assert job.published() == SHOWN


@pytest.mark.slow
def test_a_job_that_may_be_stopped_is_cancelled_and_the_run_ends(job: LookedJob) -> None:
    look = job.look("--job", job.id, "--allow-stop")
    job.case.await_event("product.published", 1)
    with (job.case.folder / "stopped").open("w") as said:
        words = [job.case.python, "-m", "burstlens", "stop", "r", "--yes"]
        runs = {"BURSTLENS_RUNS": str(job.case.runs)}
        assert job.case.popen(words, runs, said).wait(60) == 0
    assert job.slurm.wait(job.id)["JobState"] == "CANCELLED"
    assert job.case.wait(look).code == 1
    state, evidence = job.states()[-1]
    assert state == "failed"
    assert f"Slurm: job {job.id} CANCELLED" in evidence
    over = {state for state, evidence in job.states() if "CANCELLED" in evidence}
    assert over <= {"ending", "failed"}


@pytest.mark.fault
def test_a_job_cancelled_by_hand_has_failed_and_slurm_says_why(job: LookedJob) -> None:
    look = job.look("--job", job.id)
    job.case.await_event("product.published", 1)
    job.slurm.run(["scancel", job.id])
    life = job.case.wait(look)
    assert life.code == 1
    assert f"Slurm: job {job.id} CANCELLED" in life.said
    assert job.states()[-1][0] == "failed"


@pytest.mark.slow
def test_a_model_that_hangs_is_quiet_while_its_job_runs_and_goes_on(job: LookedJob) -> None:
    look = job.look("--job", job.id, "--quiet-after", "4s")
    job.case.await_event("product.published", 2)
    job.signal("STOP")
    job.case.await_that(lambda: job.states()[-1][0] == "quiet", "silence", 60.0)
    assert job.states()[-1][1].startswith(f"Slurm: job {job.id} ")
    assert look.poll() is None
    job.case.go_on()
    job.signal("CONT")
    assert job.case.wait(look).code == 0
    assert job.states()[-1][0] == "ended"
    assert "failed" not in dict(job.states())
    assert job.published() == SHOWN


@pytest.mark.fault
def test_workers_in_a_job_of_their_own_make_the_pictures(job: LookedJob) -> None:
    look = job.look("--job", job.id, "--site", "bed")
    job.case.await_event("product.published", 1)
    running = [found for found in job.slurm.jobs() if found["JobState"] == "RUNNING"]
    blocks = [found for found in running if found["JobId"] != job.id]
    assert len(blocks) == 1
    job.case.go_on()
    assert job.case.wait(look).code == 0
    assert job.published() == SHOWN
    assert job.slurm.wait(blocks[0]["JobId"])["JobState"] != "RUNNING"


@pytest.mark.fault
def test_another_job_id_or_none_is_refused_in_one_sentence(job: LookedJob) -> None:
    assert job.case.wait(job.look("--job", "99999")).code == 1
    assert "Slurm does not know job 99999" in job.case.said()
    assert job.case.wait(job.look("--allow-stop")).code == 1
    assert "--job" in job.case.said().splitlines()[-1]
    assert not job.case.run.exists()


class JobOnDisk(LookedJob):
    """A job whose model runs on the disk of its node, which the login node does not see."""

    def submit(self, script: str) -> str:
        self.folder = self.slurm.daemons.nvme / f"run {os.urandom(2).hex()}"
        copy = f"cp -r {self.case.inputs} '{self.folder}'; cd '{self.folder}'"
        site = self.case.folder / "sites" / "bed.toml"
        site.write_text(f"{site.read_text()}\n[look]\nenter_jobs = true\n")
        return super().submit(script.replace(f"cd {self.case.inputs}\nexec ", f"{copy}\n")
                              + LASTS.replace("HERE", str(self.case.folder)))  # fmt: skip

    def events(self, name: str) -> list[dict[str, Any]]:
        """The journal's events of that name."""
        return [line for line in self.case.journal() if line["event"] == name]

    def priorities(self) -> set[int]:
        """The nice values of the viewing block's processes."""
        pools = [
            pid for pid, command in self.case.processes().items()
            if "python" in command.split()[0] and "worker_pool" in command
        ]  # fmt: skip
        return {os.getpriority(os.PRIO_PROCESS, pid) for pid in pools}


LASTS = """code=$?
touch done-with-model
until test -e HERE/leave; do sleep 0.2; done
exit $code
"""
"""The job outlives its model, or its last frames would vanish with the disk unseen."""


@pytest.fixture
def disk_job(slurm: Testbed, make_case: Any) -> Any:
    if not slurm.daemons.nodes_have_disks():
        pytest.skip("this machine lets root mount nothing")
    case = make_case(model=WAITS, interval=1.0, buffer='kind = "posix"\nfolders = ["HERE/buffer"]')
    job = JobOnDisk(slurm, case)
    yield job
    # The disk of a real node is emptied after each job; this one lives as long as its slurmd.
    case.end()
    slurm.run(["scancel", job.id])
    slurm.wait(job.id)
    purge = f"#!/bin/sh\n#SBATCH -N2 -o /dev/null\nsrun rm -rf '{job.folder}'\n"
    slurm.wait(slurm.submit(purge))


@pytest.mark.slow
def test_a_folder_on_the_disk_of_ones_own_jobs_node_is_shown_from_inside_the_job(
    disk_job: JobOnDisk,
) -> None:
    case = disk_job.case
    look = disk_job.look("--job", disk_job.id)
    case.await_event("product.published", 2)
    assert not disk_job.folder.exists(), "the login node sees the disk"
    assert disk_job.priorities() == {19}
    case.go_on()
    case.await_that(lambda: disk_job.published() == SHOWN, "all pictures")
    (case.folder / "leave").touch()
    life = case.wait(look)
    assert life.code == 0, life.said
    state, evidence = disk_job.states()[-1]
    assert state == "ended"
    assert f"Slurm: job {disk_job.id} COMPLETED" in evidence
    (lost,) = disk_job.events("path.lost")
    assert lost["evidence"].startswith(f"the disk of its node went with job {disk_job.id} (")
    assert lost["for_good"]
    namelist = case.run / "watched" / "settings" / "namelist.input"
    assert namelist.read_bytes() == (case.inputs / "namelist.input").read_bytes()
    assert "wrf" in status(case)["attached"]["model"]
    assert "Traceback" not in life.said


@pytest.mark.fault
def test_a_job_that_is_cancelled_takes_its_disk_along_and_the_look_says_what_is_not_made(
    disk_job: JobOnDisk,
) -> None:
    case = disk_job.case
    look = disk_job.look("--job", disk_job.id)
    case.await_event("product.published", 1)
    disk_job.slurm.run(["scancel", disk_job.id])
    life = case.wait(look)
    assert life.code == 1, life.said
    assert f"Slurm: job {disk_job.id} CANCELLED" in life.said
    assert disk_job.states()[-1][0] == "failed"
    assert len(disk_job.events("path.lost")) == 1
    assert len(disk_job.events("viewing.queued")) == 1
    # The same command shows what there is, and says once more that there will be no more.
    again = case.wait(disk_job.look("--job", disk_job.id))
    assert again.code == 1, again.said
    assert len(disk_job.events("path.lost")) == 1
    assert len({line["name"] for line in disk_job.events("product.published")}) == len(
        disk_job.published()
    )
    assert "Traceback" not in again.said


@pytest.mark.fault
def test_a_step_that_is_killed_is_replaced_while_the_job_runs(disk_job: JobOnDisk) -> None:
    case = disk_job.case
    look = disk_job.look("--job", disk_job.id)
    case.await_event("product.published", 1)
    steps = disk_job.slurm.run(["squeue", "-h", "-s", "-j", disk_job.id, "-o", "%i"]).stdout.split()
    viewing = [step for step in steps if step.partition(".")[2].isdigit()]
    assert viewing, steps
    disk_job.slurm.run(["scancel", *viewing])
    case.await_event("viewing.ended")
    case.go_on()
    case.await_that(lambda: disk_job.published() == SHOWN, "all pictures")
    (case.folder / "leave").touch()
    assert case.wait(look).code == 0
    ready = [(line["stream"], line["time"]) for line in disk_job.events("frame.ready")]
    assert len(ready) == len(set(ready)) == len(SHOWN)


@pytest.mark.fault
def test_a_driver_that_is_killed_is_resumed_inside_the_job(disk_job: JobOnDisk) -> None:
    case = disk_job.case
    look = disk_job.look("--job", disk_job.id)
    case.await_event("product.published", 1)
    look.kill()
    look.wait()
    again = disk_job.look("--job", disk_job.id)
    case.await_event("run.resumed")
    case.go_on()
    case.await_that(lambda: disk_job.published() == SHOWN, "all pictures")
    (case.folder / "leave").touch()
    assert case.wait(again).code == 0, case.said()
    ready = [(line["stream"], line["time"]) for line in disk_job.events("frame.ready")]
    assert len(ready) == len(set(ready)) == len(SHOWN)


@pytest.mark.fault
def test_with_a_page_the_run_stays_when_the_disk_is_gone_until_it_is_stopped(
    disk_job: JobOnDisk,
) -> None:
    case = disk_job.case
    words = "look", str(disk_job.folder), "--name", "r", "--product", "W@5", "--detach"
    assert case.wait(case.start(*words, "--job", disk_job.id)).code == 0, case.said()
    case.await_event("product.published", 2)
    disk_job.slurm.run(["scancel", disk_job.id])
    case.await_event("path.lost")
    case.await_that(lambda: disk_job.states()[-1][0] == "failed", "the end of the job")
    case.await_that(lambda: status(case)["attached"]["gone"], "the status")
    assert not disk_job.events("run.ended")
    assert "went with job" in case.wait(case.start("status", "r")).said
    blocks = len(disk_job.events("viewing.queued")) + len(disk_job.events("viewing.ended"))
    assert case.wait(case.start("stop", "r")).code == 0, case.said()
    case.await_event("run.ended")
    assert blocks == 1, "a block was asked for after the end of the job"
    assert "Traceback" not in (case.run / "logs" / "driver.log").read_text()


def status(case: BatchCase) -> Any:
    """What ``status.json`` says."""
    return json.loads((case.run / "status.json").read_text())


@pytest.mark.slow
def test_a_job_that_cannot_be_entered_is_refused_in_one_sentence(disk_job: JobOnDisk) -> None:
    case, slurm = disk_job.case, disk_job.slurm
    site = case.folder / "sites" / "bed.toml"
    allowed = site.read_text()

    def refused(job_id: str) -> str:
        life = case.wait(disk_job.look("--job", job_id))
        assert life.code == 1, life.said
        assert "Traceback" not in life.said
        assert not case.run.exists()
        return life.said.splitlines()[-1]

    assert "on the node dwn" in refused_elsewhere(disk_job)
    site.write_text(allowed.replace("enter_jobs = true", "enter_jobs = false"))
    assert "[look] enter_jobs" in refused(disk_job.id)
    site.write_text(allowed)
    with slurm.closed():
        waiting = slurm.submit("#!/bin/sh\nsleep 60\n")
        assert "it has not begun" in refused(waiting)
        slurm.run(["scancel", waiting])
    assert f"job {waiting} CANCELLED" in refused(waiting)
    assert "does not know job 99999" in refused("99999")
    others = subprocess.run(
        ["sbatch", "--parsable", "--wrap", "sleep 60", "--output=/dev/null"],
        env={**os.environ, **slurm.env}, capture_output=True, text=True, cwd=Path("/"),
    ).stdout.strip()  # fmt: skip
    slurm.wait(others, "RUNNING")
    assert "is root's: look enters jobs of your own only" in refused(others)
    slurm.daemons.ask("scancel", others)
    site.write_text(allowed.replace('scheduler = "slurm"', 'scheduler = "local"').replace(
        'placement = "separate"', 'placement = "local"'))  # fmt: skip
    assert "has no scheduler" in refused(disk_job.id)


def refused_elsewhere(job: JobOnDisk) -> str:
    """What is said of a folder that is not on the job's node, either."""
    look = job.case.start("look", str(job.folder / "none"), "--no-page", "--job", job.id)
    life = job.case.wait(look)
    assert life.code == 1, life.said
    return life.said.splitlines()[-1]
