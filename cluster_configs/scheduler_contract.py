"""What every scheduler must do, as tests that each scheduler's test class subclasses.

They submit and cancel small jobs, so they run where that scheduler does. Also for schedulers of
other packages: subclass :class:`SchedulerContract` in a pytest module and give it the fixtures it
names. Needs pytest; nothing else imports this module.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from burstlens.cluster_configs.batch_script import batch_script
from burstlens.cluster_configs.scheduler import (
    FORGOTTEN,
    BatchJob,
    BlockJob,
    EnterableScheduler,
    JobState,
    OpenScheduler,
    Scheduler,
    SchedulerError,
    user_name,
)
from burstlens.cluster_configs.schedulers import own_job
from burstlens.cluster_configs.schedulers import scheduler as scheduler_class
from burstlens.core.errors import SiteError

UNKNOWN = "99999999"
"""A number that no job has."""


class SchedulerContract:
    """The contract. A subclass provides the fixtures ``scheduler`` and ``folder``.

    ``scheduler`` is connected to a scheduler that starts a job within ``patience_s``; ``folder`` is
    one that its nodes see.
    """

    patience_s = 60.0

    @pytest.fixture
    def scheduler(self) -> Scheduler:
        """The scheduler under test."""
        raise NotImplementedError

    @pytest.fixture
    def folder(self) -> Path:
        """An empty folder that jobs can write."""
        raise NotImplementedError

    @pytest.fixture
    def comment(self, scheduler: Scheduler) -> Iterator[str]:
        """One for this test's jobs, which are cancelled at its end."""
        comment = f"contract-{uuid.uuid4().hex[:8]}"
        yield comment
        scheduler.cancel_all(comment, "")

    @pytest.fixture
    def submit(self, scheduler: Scheduler, folder: Path, comment: str) -> Callable[..., str]:
        """Submits a job that runs a shell command; returns its id."""

        def submit(command: str, name: str = "job", *lines: str, nodes: int = 1) -> str:
            job = BatchJob(
                name=f"{comment}-{name}",
                comment=comment,
                argv=("sh", "-c", command),
                output=folder / f"{name}.log",
                nodes=nodes,
                buffer_lines=lines,
            )
            return scheduler.submit(batch_script(job, scheduler))

        return submit

    def wait(
        self, scheduler: Scheduler, job_id: str, until: Callable[[JobState], bool]
    ) -> JobState:
        """The job's state as soon as it is as wanted."""
        end = time.monotonic() + self.patience_s
        while not until(state := scheduler.look(job_id)):
            assert time.monotonic() < end, state
            time.sleep(0.3)
        return state

    def test_it_has_all_that_is_asked_of_one(self, scheduler: Scheduler) -> None:
        """And the registry knows it by its name."""
        assert isinstance(scheduler, Scheduler)
        assert isinstance(scheduler, scheduler_class(scheduler.name))
        scheduler.require()

    def test_a_job_runs_and_ends(
        self, scheduler: Scheduler, submit: Callable[..., str], folder: Path
    ) -> None:
        """What it prints is in its file; its program alone has ended it."""
        job_id = submit("echo here")
        state = self.wait(scheduler, job_id, lambda state: state.final)
        assert (state.job_id, state.waiting, state.cut) == (job_id, False, False)
        assert (folder / "job.log").read_text() == "here\n"

    def test_a_job_that_was_just_submitted_waits(
        self, scheduler: Scheduler, submit: Callable[..., str]
    ) -> None:
        """Before the scheduler is asked, which has it to its end later."""
        job_id = submit("true")
        scheduler.submitted(job_id)
        assert scheduler.state(job_id).waiting
        end = time.monotonic() + self.patience_s
        while not scheduler.state(job_id).over:
            assert time.monotonic() < end
            time.sleep(0.3)

    def test_a_job_that_has_reported_its_begin_runs(
        self, scheduler: Scheduler, submit: Callable[..., str]
    ) -> None:
        """Whatever was known before."""
        job_id = submit("sleep 600")
        scheduler.submitted(job_id)
        scheduler.calm(job_id)
        state = scheduler.state(job_id)
        assert not state.waiting
        assert not state.over

    def test_jobs_are_found_by_their_comment(
        self, scheduler: Scheduler, submit: Callable[..., str], comment: str
    ) -> None:
        """With their names; others are not."""
        jobs = {submit("sleep 600", name): f"{comment}-{name}" for name in ("a", "b")}
        assert {job.job_id: job.name for job in scheduler.jobs(comment)} == jobs
        assert scheduler.jobs(f"{comment}-other") == []

    def test_a_job_that_was_cancelled_is_over_and_did_not_end_by_itself(
        self, scheduler: Scheduler, submit: Callable[..., str]
    ) -> None:
        """Cancelled again, nothing happens."""
        job_id = submit("sleep 600")
        self.wait(scheduler, job_id, lambda state: not state.waiting)
        scheduler.cancel([job_id])
        assert self.wait(scheduler, job_id, lambda state: state.final).cut
        scheduler.cancel([job_id])
        scheduler.cancel([])

    def test_jobs_are_cancelled_by_the_beginning_of_their_names(
        self, scheduler: Scheduler, submit: Callable[..., str], comment: str
    ) -> None:
        """Others with that comment stay."""
        ends, stays = submit("sleep 600", "ends-1"), submit("sleep 600", "stays-1")
        scheduler.cancel_all(comment, f"{comment}-ends")
        self.wait(scheduler, ends, lambda state: state.over)
        assert not scheduler.look(stays).over

    def test_the_command_that_is_shown_cancels_a_job(
        self, scheduler: Scheduler, submit: Callable[..., str]
    ) -> None:
        """As a user would type it."""
        job_id = submit("sleep 600")
        subprocess.run(shlex.split(scheduler.cancel_command(job_id)), check=True)
        self.wait(scheduler, job_id, lambda state: state.over)

    def test_a_job_that_waits_for_anothers_begin_runs_beside_it(
        self, scheduler: Scheduler, submit: Callable[..., str]
    ) -> None:
        """It need not wait for that one's end."""
        first = submit("sleep 600", "first")
        second = submit("true", "second", scheduler.after(first))
        self.wait(scheduler, second, lambda state: state.over)
        state = scheduler.look(first)
        assert not state.waiting
        assert not state.over

    def test_a_job_that_waits_for_anothers_end_begins_when_that_has_failed_too(
        self, scheduler: Scheduler, submit: Callable[..., str]
    ) -> None:
        """Where jobs can wait so; else SchedulerError says that they cannot."""
        first = submit("sleep 5; exit 1", "first")
        try:
            line = scheduler.after_end(first)
        except SchedulerError:
            return
        second = submit("true", "second", line)
        assert scheduler.look(second).waiting
        self.wait(scheduler, second, lambda state: state.over)
        assert scheduler.look(first).over

    def test_only_a_job_that_waits_has_a_place_in_the_queue(
        self, scheduler: Scheduler, submit: Callable[..., str]
    ) -> None:
        """None does, where the scheduler cannot be asked for places."""
        job_id = submit("sleep 600")
        self.wait(scheduler, job_id, lambda state: not state.waiting)
        assert scheduler.place(job_id) is None
        assert scheduler.place(UNKNOWN) is None

    def test_a_job_that_the_scheduler_does_not_know_is_over(self, scheduler: Scheduler) -> None:
        """Its own files have the rest."""
        state = scheduler.look(UNKNOWN)
        assert (state.state, state.final) == (FORGOTTEN, True)

    @pytest.mark.parametrize(("code", "failed"), [(0, False), (3, True)])
    def test_how_a_program_ended_is_reported_if_anything_is(
        self, scheduler: Scheduler, submit: Callable[..., str], code: int, failed: bool
    ) -> None:
        """None where the scheduler does not say."""
        job_id = submit(f"exit {code}")
        state = self.wait(scheduler, job_id, lambda state: state.final)
        assert state.failed in (failed, None)
        assert not state.cut

    def test_a_job_that_may_be_given_by_its_id_has_an_owner(
        self, scheduler: Scheduler, submit: Callable[..., str]
    ) -> None:
        """Only where the scheduler can be asked for it."""
        if not isinstance(scheduler, OpenScheduler):
            pytest.skip("it does not report the owners of jobs")
        job_id = submit("sleep 600")
        assert scheduler.job_ids.fullmatch(job_id)
        assert not scheduler.job_ids.fullmatch(f"{job_id} --user=x")
        assert not scheduler.job_ids.fullmatch("--user=x")
        assert scheduler.owner(job_id) == user_name(os.getuid())

    def test_a_job_knows_its_id_and_its_cpus(
        self,
        scheduler: Scheduler,
        submit: Callable[..., str],
        folder: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """By the variable and the shell expression that the scheduler names."""
        variable = scheduler.variables.job_id
        job_id = submit(f'echo "${variable}" {scheduler.cpus_on_node}')
        self.wait(scheduler, job_id, lambda state: state.final)
        own, cpus = (folder / "job.log").read_text().split(" ")
        assert int(cpus) >= 1
        if not variable:
            pytest.skip("it does not say by which variable a job knows its id")
        assert own == job_id
        monkeypatch.setenv(variable, job_id)
        job = own_job()
        assert job is not None
        assert job.job_id == job_id

    def test_a_program_is_started_once_on_each_node_of_a_job(
        self, scheduler: Scheduler, submit: Callable[..., str], folder: Path
    ) -> None:
        """Only where the scheduler can do that."""
        try:
            words = scheduler.each_node(2)
        except SchedulerError:
            pytest.skip("it starts no program on each node of a job")
        job_id = submit(f"{shlex.join(words)} echo here", nodes=2)
        self.wait(scheduler, job_id, lambda state: state.final)
        assert (folder / "job.log").read_text() == "here\n" * 2

    def test_a_program_is_started_in_a_job_that_runs(
        self, scheduler: Scheduler, submit: Callable[..., str]
    ) -> None:
        """Only where the scheduler can do that."""
        if not isinstance(scheduler, EnterableScheduler):
            pytest.skip("it starts no steps inside of a job that runs")
        job_id = submit("sleep 600")
        self.wait(scheduler, job_id, lambda state: not state.waiting)
        words = scheduler.step_words(scheduler.inside(job_id), 1, quiet=True)
        step = subprocess.run([*words, "echo", "here"], capture_output=True, text=True, check=True)
        assert step.stdout == "here\n"

    @pytest.mark.parametrize("name", ["two words", "new\nline", "100%"])
    def test_a_name_that_a_script_cannot_hold_is_refused(
        self, scheduler: Scheduler, folder: Path, name: str
    ) -> None:
        """Before it is submitted."""
        job = BatchJob(name=name, comment="c", argv=("true",), output=folder / "log")
        with pytest.raises(SiteError):
            batch_script(job, scheduler)

    def test_its_viewing_block_is_one_of_parsls_providers(self, scheduler: Scheduler) -> None:
        """With the lines that mount a buffer before all others."""
        from parsl.providers.base import ExecutionProvider

        block = BlockJob(comment="c", nodes=1, cpus=2, lines=("# mount",), options=())
        provider, arguments = scheduler.provider(block)
        assert issubclass(provider, ExecutionProvider)
        assert arguments["scheduler_options"].startswith("# mount\n")
