"""How a scheduler is asked: never so that a caller waits for one that is silent, and its silence is
measured. Slurm's commands are programs of the test."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from observer_case import Commands, wait_for

from burstlens.cluster_configs import polling, silence
from burstlens.cluster_configs.scheduler import BatchSite
from burstlens.cluster_configs.slurm import Slurm

pytestmark = pytest.mark.integration
AWAY = "echo 'slurm_load_jobs error: Unable to contact slurm controller (connect failure)' >&2"
RUNNING = r"printf '12\1RUNNING\1None\001100\1name\1r\1\2\n'"
PENDING = r"printf '12\1PENDING\1Priority\001100\1name\1r\1\2\n'"


class Gate:
    """Programs that tell that they were begun, and answer when they are let."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def before(self, shell: str) -> str:
        """Shell that waits before it does that."""
        return (
            f"echo $$ > {self.folder}/asked\n"
            f"while [ ! -e {self.folder}/answer ]; do sleep 0.05; done\n{shell}"
        )

    @property
    def holds(self) -> bool:
        """Whether a program waits now."""
        try:
            pid = int((self.folder / "asked").read_text())
        except (OSError, ValueError):
            return False
        return Path(f"/proc/{pid}").exists()

    def open(self) -> None:
        (self.folder / "answer").touch()


@pytest.fixture
def gate(tmp_path):
    folder = tmp_path / "gate"
    folder.mkdir()
    gate = Gate(folder)
    yield gate
    gate.open()


@pytest.fixture
def commands(tmp_path, monkeypatch) -> Commands:
    folder = tmp_path / "slurm"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return Commands(folder)


@pytest.fixture
def slurm(monkeypatch) -> Slurm:
    """One that is asked about a job at once, and whose commands are soon given up."""
    monkeypatch.setattr(polling, "FIRST_S", 0.0)
    monkeypatch.setattr(polling, "PROMPT_S", 0.1)
    monkeypatch.setattr(polling, "LIMIT_S", 20.0)
    return Slurm(BatchSite(query_interval_s=1.0), patience_s=0.0)


def test_the_state_of_a_job_is_had_while_slurm_does_not_answer(commands, gate, slurm):
    commands.set("squeue", gate.before(RUNNING))
    slurm.submitted("12")
    assert slurm.state("12").state == "PENDING"
    wait_for(lambda: gate.holds)
    assert slurm.state("12").state == "PENDING"
    assert gate.holds  # nobody has waited for its answer
    gate.open()
    wait_for(lambda: slurm.state("12").state == "RUNNING")


def test_one_question_is_open_at_a_time_however_many_ask(commands, gate, slurm):
    commands.set("squeue", gate.before(RUNNING))
    for job in ("12", "13", "14"):
        slurm.submitted(job)
        slurm.state(job)
    wait_for(lambda: gate.holds)
    for job in ("12", "13", "14"):
        slurm.state(job)
    assert len(commands.calls) == 1


def test_what_a_job_has_reported_is_not_undone_by_an_answer_to_an_older_question(
    commands, gate, slurm
):
    """Else a job that runs would be taken for one that was put back into the queue."""
    commands.set("squeue", gate.before(PENDING))
    slurm.submitted("12")
    slurm.state("12")
    wait_for(lambda: gate.holds)
    slurm.calm("12")
    gate.open()
    wait_for(lambda: not slurm._asking.locked())
    assert slurm.state("12").state == "RUNNING"


def test_the_first_answer_about_a_job_of_another_process_is_waited_for(commands, slurm):
    commands.set("squeue", f"sleep 0.3; {RUNNING}")
    assert slurm.state("12").state == "RUNNING"


def test_a_question_that_is_open_for_long_is_silence_until_it_is_answered(
    commands, gate, slurm, monkeypatch
):
    monkeypatch.setattr(silence, "SLOW_S", 0.2)
    commands.set("squeue", gate.before(RUNNING))
    slurm.submitted("12")
    assert slurm.silent_s == 0.0
    slurm.state("12")
    wait_for(lambda: slurm.silent_s > 0.2)
    gate.open()
    wait_for(lambda: slurm.silent_s == 0.0)


def test_the_silence_lasts_from_the_first_question_without_an_answer(commands, slurm):
    commands.set("scontrol", f"{AWAY}; exit 1")
    begin = time.monotonic()
    lasted = []
    for _ in range(3):
        with pytest.raises(Exception, match="Unable to contact"):
            slurm.look("12")
        lasted.append(slurm.silent_s)
    assert 0.0 < lasted[0] < lasted[1] < lasted[2] <= time.monotonic() - begin
    commands.set("scontrol", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1")
    commands.set("sacct", "echo 'sacct: error: Connection refused' >&2; exit 1")
    assert slurm.look("12").state == "FORGOTTEN"  # an answer, though accounting has none
    assert slurm.silent_s == 0.0


def test_a_slurm_that_nobody_asks_is_not_silent(slurm, monkeypatch):
    monkeypatch.setattr(silence, "SLOW_S", 0.0)
    time.sleep(0.05)
    assert slurm.silent_s == 0.0
