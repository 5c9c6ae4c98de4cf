"""Viewing blocks that are batch jobs, and a Slurm whose commands are programs of the test: what it
says late, or never, holds up nobody."""

from __future__ import annotations

import os
import threading
import time

import pytest
from observer_case import Commands, wait_for

from burstlens.cluster_configs import polling
from burstlens.cluster_configs.calls import LatestAnswer, SchedulerCalls
from burstlens.cluster_configs.parsl_config import Block
from burstlens.cluster_configs.parsl_internals import Manager
from burstlens.cluster_configs.scheduler import BatchSite
from burstlens.cluster_configs.site import read
from burstlens.cluster_configs.slurm import Slurm
from burstlens.core.run.directory import RunDir
from burstlens.workflows.viewing import scheduled_blocks
from burstlens.workflows.viewing.blocks import ViewingBlocks

pytestmark = pytest.mark.integration
SITE = """\
scheduler = "slurm"
[buffer]
kind = "posix"
folders = ["/tmp"]
[viewing]
placement = "separate"
address = "127.0.0.1"
workers = 1
"""


class RecordedSlurm:
    """Slurm's commands: sbatch gives the next number, the others say what ``state`` holds."""

    def __init__(self, folder, commands):
        self.folder, self.commands = folder, commands
        self.say("PENDING")
        (folder / "number").write_text("11")
        commands.set(
            "sbatch",
            f"n=$(($(cat {folder}/number) + 1)); echo $n > {folder}/number\n"
            'echo "Welcome to Big."; echo "Submitted batch job $n"',
        )
        said = f". {folder}/job; [ ! -f {folder}/job-$n ] || . {folder}/job-$n; "
        row = r'printf "$n\1$state\1$reason\001$priority\1x\1r\1\2\n"'
        commands.set("squeue", f"for n in $(seq 12 19); do {said} {row}; done")
        shown = "JobId=$n JobName=x Priority=$priority JobState=$state Reason=$reason"
        commands.set("scontrol", f"n=$4; {said} echo {shown}")
        commands.set("scancel", "exit 0")

    def say(self, state, reason="None", priority=1, job=""):
        """Of that job, or of all of which nothing else is said."""
        text = f"state={state} reason={reason} priority={priority}\n"
        (self.folder / (f"job-{job}" if job else "job")).write_text(text)

    def hang(self, name):
        """Let a command not answer until ``go_on``; what it would do then."""
        (self.commands.folder / name).rename(self.folder / name)
        waits = f"while [ ! -e {self.folder}/go-on ]; do sleep 0.05; done"
        self.commands.set(name, f"{waits}\nexec {self.folder}/{name} $*")

    def go_on(self):
        (self.folder / "go-on").touch()

    def calls(self, name):
        return [call for call in self.commands.calls if call.split()[0] == name]


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    for name in ("slurm", "recorded"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path}/slurm:{os.environ['PATH']}")
    monkeypatch.setattr(polling, "FIRST_S", 0.0)
    monkeypatch.setattr(polling, "PROMPT_S", 0.1)
    monkeypatch.setattr(scheduled_blocks, "ENDS_S", 1.0)
    recorded = RecordedSlurm(tmp_path / "recorded", Commands(tmp_path / "slurm"))
    yield recorded
    recorded.go_on()


@pytest.fixture
def blocks(slurm, tmp_path):
    (tmp_path / "bed.toml").write_text(SITE)
    run = RunDir(tmp_path / "run")
    run.create()
    scheduler = Slurm(BatchSite(query_interval_s=1.0), patience_s=0.0)
    batch = Block(scheduler=scheduler, comment="r", token="r-1", walltime_s=3600.0)
    made = ViewingBlocks(read(tmp_path / "bed.toml"), run, 1, batch, late=False)
    made.open()
    yield made
    made.close()


def state_of(blocks):
    """The state now: a look is due."""
    blocks._next_look = 0.0
    return blocks.state()


def test_a_block_is_submitted_beside_the_caller(slurm, blocks):
    slurm.hang("sbatch")
    blocks.ask(None)
    blocks.ask(None)  # only once
    wait_for(lambda: slurm.calls("sbatch"))
    assert not blocks._block.jobs()  # sbatch has not answered yet
    assert state_of(blocks) == "queued"
    assert blocks.mend(lambda: None) is None
    slurm.go_on()
    wait_for(lambda: list(blocks._block.jobs()) == ["12"])
    assert len({*slurm.calls("sbatch")}) == 1
    assert state_of(blocks) == "queued"


def test_a_slurm_that_does_not_answer_does_not_hold_up_the_state_of_a_block(slurm, blocks):
    blocks.ask(None)
    wait_for(lambda: blocks._block.jobs())
    for name in ("squeue", "scontrol"):
        slurm.hang(name)
    blocks._state = "running"  # and the workers are missed from now on
    assert state_of(blocks) == "running"
    wait_for(lambda: slurm.calls("scontrol"))
    assert state_of(blocks) == "running"  # what became of the block is not known yet
    assert blocks.mend(lambda: None) is None
    assert not blocks._jobs._calls.idle  # nobody has waited for the answer
    slurm.say("NODE_FAIL")
    slurm.go_on()
    wait_for(lambda: state_of(blocks) == "gone")
    assert blocks.mend(lambda: None) == (
        "its block had ended (job 12: NODE_FAIL): a new one was asked for"
    )
    wait_for(lambda: list(blocks._block.jobs()) == ["12", "13"])


@pytest.mark.slow
def test_a_block_that_is_put_back_into_the_queue_is_reported(slurm, blocks):
    blocks.ask(None)
    wait_for(lambda: blocks._block.jobs())
    blocks._state = "running"
    wait_for(lambda: state_of(blocks) == "queued")
    assert blocks.mend(lambda: None) == "Slurm put job 12 back into its queue: PENDING"


HELD = ("PENDING", "Error_managing_persistent_burst_buffers", 0)
"""What Slurm 22.05 says for ever of a job whose buffer it has lost."""


def test_a_block_that_will_never_begin_is_cancelled_and_replaced_with_the_reason(slurm, blocks):
    slurm.say(*HELD, job=12)
    blocks.ask(None)
    wait_for(lambda: state_of(blocks) == "gone")
    assert blocks.mend(lambda: None) == (
        "its block cannot begin (job 12: PENDING (Error_managing_persistent_burst_buffers, "
        "priority 0)): a new one was asked for"
    )
    wait_for(lambda: list(blocks._block.jobs()) == ["12", "13"])
    assert "scancel 12" in slurm.calls("scancel")
    assert not any(call.endswith("13") for call in slurm.calls("scancel"))
    assert state_of(blocks) == "queued"
    assert blocks.mend(lambda: None) is None


def test_one_that_will_never_begin_is_cancelled_until_slurm_has_done_so(slurm, blocks):
    away = "echo 'slurm error: Unable to contact slurm controller' >&2; exit 1"
    slurm.commands.set("scancel", away)
    slurm.say(*HELD, job=12)
    blocks.ask(None)
    wait_for(lambda: state_of(blocks) == "gone" and slurm.calls("scancel"))
    slurm.say("RUNNING", job=12)  # somebody has released it
    slurm.commands.set("scancel", "exit 0")
    before = len(slurm.calls("scancel"))
    wait_for(lambda: state_of(blocks) == "gone" and len(slurm.calls("scancel")) > before)
    slurm.say("CANCELLED", job=12)
    assert "its block cannot begin" in blocks.mend(lambda: None)


def test_the_next_block_of_one_that_ends_is_replaced_if_it_will_never_begin(
    slurm, blocks, monkeypatch
):
    slurm.say("RUNNING", job=12)
    blocks.ask(None)
    wait_for(lambda: blocks._block.jobs())
    old = Manager(name="m", block="0", workers=2, active=True, draining=True)
    monkeypatch.setattr(blocks._block, "managers", lambda live: [old])
    wait_for(lambda: state_of(blocks) == "draining")
    slurm.say(*HELD, job=13)
    assert "its block is about to end" in blocks.mend(lambda: None)
    mended = wait_for(lambda: state_of(blocks) == "draining" and blocks.mend(lambda: None))
    assert "its block cannot begin (job 13: " in mended
    wait_for(lambda: "scancel 13" in slurm.calls("scancel"))
    wait_for(lambda: list(blocks._block.jobs()) == ["12", "13", "14"])
    for _ in range(3):
        wait_for(lambda: blocks._jobs._calls.idle)
        assert (state_of(blocks), blocks.mend(lambda: None)) == ("draining", None)


def test_why_a_block_waits_is_known_as_long_as_it_waits(slurm, blocks):
    assert blocks.waits == ""
    slurm.say("PENDING", "Resources")
    blocks.ask(None)
    wait_for(lambda: state_of(blocks) == "queued" and blocks.waits == "Resources")
    slurm.say("RUNNING")
    wait_for(lambda: state_of(blocks) == "queued" and blocks.waits == "")


def test_a_new_block_after_a_dead_interchange_was_not_put_back_into_the_queue(slurm, blocks):
    blocks.ask(None)
    wait_for(lambda: blocks._block.jobs())
    blocks._state = "running"
    blocks._block.interchange_proc.kill()
    wait_for(blocks._block.is_broken)
    assert blocks.mend(lambda: None) == "its interchange had died: replaced"
    wait_for(lambda: list(blocks._block.jobs()) == ["13"])
    assert state_of(blocks) == "queued"
    for _ in range(3):
        wait_for(lambda: blocks._jobs._calls.idle)
        blocks._next_look = 0.0
        assert blocks.mend(lambda: None) is None
    wait_for(lambda: any(call.endswith("scancel 12") for call in slurm.calls("scancel")))


@pytest.mark.slow
def test_a_block_that_is_not_accepted_is_replaced_with_the_reason(slurm, blocks, monkeypatch):
    monkeypatch.setattr(scheduled_blocks, "AGAIN_S", 0.0)
    slurm.commands.set("sbatch", "echo 'sbatch: error: invalid partition specified' >&2; exit 1")
    blocks.ask(None)
    wait_for(lambda: state_of(blocks) == "gone")
    assert "invalid partition specified" in blocks.mend(lambda: None)


@pytest.mark.slow
def test_a_submission_that_slurm_does_not_answer_is_repeated_and_no_block_has_ended(
    slurm, blocks, monkeypatch
):
    monkeypatch.setattr(scheduled_blocks, "AGAIN_S", 0.0)
    away = "echo 'slurm error: Unable to contact slurm controller' >&2; exit 1"
    (slurm.commands.folder / "sbatch").rename(slurm.folder / "sbatch")
    for name in ("sbatch", "squeue"):
        slurm.commands.set(name, away)
    blocks.ask(None)
    wait_for(lambda: state_of(blocks) == "queued" and len(slurm.calls("sbatch")) > 1)
    assert blocks.mend(lambda: None) is None
    assert blocks._jobs.batch.scheduler.silent_s > 0.0
    (slurm.folder / "sbatch").rename(slurm.commands.folder / "sbatch")
    slurm.commands.set("squeue", "exit 0")
    wait_for(lambda: state_of(blocks) == "queued" and blocks._block.jobs())


def test_calls_are_made_one_by_one_in_order_and_an_error_ends_none():
    made, both = [], SchedulerCalls()
    both.begin(lambda: made.append(1) or 1 / 0)
    both.begin(lambda: made.append(2))
    assert both.wait(120.0)
    assert made == [1, 2]
    assert both.idle


def test_a_question_is_asked_as_soon_as_a_thread_can_be_started(monkeypatch):
    def refuse(thread):
        raise RuntimeError("can't start new thread")

    answer = LatestAnswer(lambda: 1, 0.0)
    with monkeypatch.context() as limited:
        limited.setattr(threading.Thread, "start", refuse)
        assert answer.since(0.0) is None
    wait_for(lambda: answer.since(0.0) == 1)


def test_an_answer_counts_for_what_was_asked_before_it_and_nobody_waits_for_the_next(tmp_path):
    asked = []

    def ask():
        asked.append(time.monotonic())
        if len(asked) == 1:
            raise OSError("away")
        while len(asked) == 3 and not (tmp_path / "go-on").exists():
            time.sleep(0.01)
        return len(asked)

    answer = LatestAnswer(ask, 0.0)
    wait_for(lambda: answer.since(0.0) == 2)  # asked again after an error
    assert answer.since(0.0) == 2
    later = time.monotonic()
    assert answer.since(later) is None
    wait_for(lambda: len(asked) == 3)
    assert (answer.since(later), answer.since(0.0)) == (None, 2)
    (tmp_path / "go-on").touch()
    wait_for(lambda: answer.since(later) == 3)
