"""Looks at a model that runs in a job script of one's own, on a real Slurm."""

from __future__ import annotations

import socket
import subprocess
from typing import Any

import pytest
from batch_case import BatchCase
from run_case import TIMES, WAITS
from testbed import Testbed

SHOWN = [f"W-5 {time} 1" for time in TIMES]


class LookedJob:
    """A job that a user has submitted, and looks at its folder from the login node."""

    def __init__(self, slurm: Testbed, case: BatchCase) -> None:
        self.slurm, self.case = slurm, case
        site = case.folder / "sites" / "bed.toml"
        site.write_text(f'hosts = ["{socket.gethostname()}"]\n{site.read_text()}')
        script = f"#!/bin/sh\n#SBATCH -o slurm.out\ncd {case.inputs}\nexec ./wrf.exe\n"
        self.id = slurm.submit(script, cwd=case.folder)
        slurm.wait(self.id, "RUNNING")

    def look(self, *words: str) -> subprocess.Popen[str]:
        """A look in a terminal."""
        options = "--no-page", "--name", "r", "--product", "W@5"
        return self.case.start("look", str(self.case.inputs), *options, *words)

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
    assert f"Slurm: job {job.id} COMPLETED" in evidence
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
