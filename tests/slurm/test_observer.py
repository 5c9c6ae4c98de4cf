"""The observer of a job that somebody submitted by hand, on a real Slurm."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cluster.daemons import CONTROLLER
from observer_case import SUCCESS, activity
from testbed import Testbed

from burstlens.cluster_configs.scheduler import BatchSite
from burstlens.cluster_configs.slurm import Slurm
from burstlens.core.errors import RunError
from burstlens.workflows.look.observer.observer import Activity, Observation, Observer

ENDED = activity(100.0, ended_well=True, last_line=SUCCESS)
Submit = Callable[..., str]


@pytest.fixture(autouse=True)
def commands(slurm: Testbed, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SLURM_CONF", "PATH"):
        monkeypatch.setenv(name, slurm.env[name])


@pytest.fixture
def submit(commands: None, tmp_path: Path) -> Iterator[Submit]:
    """Submits a script of this process's own user; returns the job's id."""
    submitted: list[str] = []

    def run(shell: str, *options: str) -> str:
        argv = ["sbatch", "--parsable", f"--output={tmp_path}/%j.out", *options, "--wrap", shell]
        done = subprocess.run(argv, capture_output=True, text=True, check=True, cwd=tmp_path)
        submitted.append(done.stdout.strip())
        return submitted[-1]

    yield run
    subprocess.run(["scancel", *submitted], check=False)


def observe(job: str, *, allow_stop: bool = False, patience_s: float = 0.0) -> Observer:
    scheduler = Slurm(BatchSite(query_interval_s=1.0), patience_s)
    return Observer(job=job, scheduler=scheduler, allow_stop=allow_stop)


def until(observer: Observer, words: str, report: Activity | None = None) -> Observation:
    """The first observation whose evidence has these words; each look is quick."""
    end = time.monotonic() + 60.0
    while True:
        begin = time.monotonic()
        seen = observer.look(begin, report)
        assert time.monotonic() - begin < 0.5
        if words in seen.evidence:
            return seen
        assert time.monotonic() < end, seen
        time.sleep(0.2)


def end(observer: Observer, words: str, report: Activity) -> Observation:
    """The first observation whose model is over: its last writes are waited for."""
    until(observer, words, report)
    last = time.monotonic() + 120.0
    while not observer.over():
        assert time.monotonic() < last
        time.sleep(0.2)
        observer.look(time.monotonic(), None)
    return observer.look(time.monotonic(), None)


def test_a_job_is_seen_to_wait_to_run_and_to_end_well(slurm: Testbed, submit: Submit) -> None:
    job = submit("sleep 3", "--begin=now+4")
    observer = observe(job)
    seen = until(observer, "PENDING")
    assert (seen.state, seen.evidence) == ("waiting", f"Slurm: job {job} PENDING (BeginTime)")
    seen = until(observer, "RUNNING", activity())
    assert seen.state == "running"
    assert seen.evidence in {f"Slurm: job {job} RUNNING on dwn{node}" for node in (1, 2, 3)}
    assert not observer.over()
    assert until(observer, "COMPLETED", ENDED).state == "ended"
    assert observer.over()
    assert observer.outcome().state == "done"


def test_a_program_that_fails_is_slurms_word_and_the_logs_line(submit: Submit) -> None:
    observer = observe(submit("exit 3"))
    report = activity(100.0, reason="forrtl: severe (24): end-of-file during read")
    seen = end(observer, "FAILED", report)
    assert seen.state == "failed"
    assert "FAILED (NonZeroExitCode)" in seen.evidence
    assert observer.outcome().line == "forrtl: severe (24): end-of-file during read"


def test_a_job_that_was_cancelled_by_hand_has_failed(submit: Submit) -> None:
    job = submit("sleep 600")
    observer = observe(job)
    until(observer, "RUNNING", activity())
    subprocess.run(["scancel", job], check=True)
    assert end(observer, "CANCELLED", activity(100.0)).state == "failed"


def test_quiet_differs_from_dead(submit: Submit) -> None:
    job = submit("sleep 600")
    observer = observe(job)
    until(observer, "RUNNING", activity())
    seen = observer.look(time.monotonic(), activity(900.0))
    assert seen.state == "quiet"
    assert seen.evidence.startswith(f"Slurm: job {job} RUNNING on dwn")
    assert not observer.over()
    assert not observer.quiet_end(time.monotonic())
    subprocess.run(["scancel", job], check=True)
    assert end(observer, "CANCELLED", activity(905.0)).state == "failed"


def test_an_own_job_is_stopped_with_permission(submit: Submit, tmp_path: Path) -> None:
    job = submit(f"trap 'echo > {tmp_path}/term; exit 0' TERM; sleep 600 & wait")
    observer = observe(job, allow_stop=True)
    until(observer, "RUNNING")
    assert observer.stop(now=False) == f"Slurm: job {job} was cancelled (scancel {job})"
    assert end(observer, "CANCELLED", activity(100.0)).state == "failed"
    assert (tmp_path / "term").exists()
    assert "CANCELLED" in observer.stop(now=True)


def test_a_job_that_waits_is_stopped_as_well(submit: Submit) -> None:
    observer = observe(submit("sleep 600", "--hold"), allow_stop=True)
    assert until(observer, "PENDING").state == "waiting"
    observer.stop(now=True)
    nothing = activity(100.0, newest=None, written=None, last_line="")
    assert end(observer, "CANCELLED", nothing).state == "failed"


def test_an_unknown_job_is_refused(commands: None) -> None:
    for job in ("99999999", "99999999_3", "99999999+1"):
        with pytest.raises(RunError, match="Slurm does not know job 99999999"):
            observe(job)


def test_somebody_elses_job_is_observed_and_never_stopped(slurm: Testbed) -> None:
    job = slurm.submit("#!/bin/sh\nsleep 600\n")
    try:
        observer = observe(job)
        assert until(observer, "RUNNING", activity()).state == "running"
        with pytest.raises(RunError, match=rf"job {job} is {slurm.user.pw_name}'s: it can be"):
            observe(job, allow_stop=True)
        with pytest.raises(RunError, match="--allow-stop"):
            observer.stop(now=True)
        assert slurm.job(job)["JobState"] == "RUNNING"
    finally:
        slurm.clear()


def test_a_task_of_an_array_differs_from_the_array(submit: Submit) -> None:
    array = submit("test $SLURM_ARRAY_TASK_ID = 1 || sleep 600", "--array=1-2")
    task = observe(f"{array}_1")
    until(task, "COMPLETED", ENDED)
    whole = observe(array)
    assert until(whole, "RUNNING", ENDED).evidence.endswith(("on dwn1", "on dwn2", "on dwn3"))
    with pytest.raises(RunError, match="does not know"):
        observe(f"{array}_7")
    stopped = observe(f"{array}_2", allow_stop=True)
    stopped.stop(now=True)
    until(stopped, "CANCELLED", activity(100.0))
    assert end(whole, "CANCELLED", activity(100.0)).state == "failed"


def test_a_part_of_a_heterogeneous_job_is_observed(tmp_path: Path, commands: None) -> None:
    argv = ["sbatch", "--parsable", "-n1", f"--output={tmp_path}/out", ":", "-n1"]
    script = "#!/bin/sh\nsleep 600\n"
    done = subprocess.run(argv, input=script, capture_output=True, text=True, check=True)
    job = done.stdout.strip()
    try:
        for name in (job, f"{job}+1"):
            assert until(observe(name), "RUNNING", activity()).state == "running"
    finally:
        subprocess.run(["scancel", job], check=True)


def test_a_controller_that_is_away_and_comes_back_changes_nothing(
    slurm: Testbed, submit: Submit
) -> None:
    job = submit("sleep 600")
    observer = observe(job)
    until(observer, "RUNNING", activity())
    slurm.daemons.stop(CONTROLLER)
    try:
        seen = until(observer, "Slurm has not answered since ", activity())
        assert seen.state == "running"
        assert f"Slurm: job {job} RUNNING on dwn" in seen.evidence
        assert not observer.over()
    finally:
        slurm.daemons.start(CONTROLLER)
    subprocess.run(["scancel", job], check=True)
    until(observer, "CANCELLED", activity(100.0))


def test_a_controller_that_hangs_holds_nobody_up(slurm: Testbed, submit: Submit) -> None:
    job = submit("sleep 600")
    observer = observe(job, allow_stop=True)
    until(observer, "RUNNING", activity())
    controller = slurm.daemons.pid(CONTROLLER)
    assert controller is not None
    os.kill(controller, signal.SIGSTOP)
    try:
        seen = until(observer, "Slurm has not answered since ", activity())
        assert seen.state == "running"
        begin = time.monotonic()
        assert observer.stop(now=True).endswith("Slurm has not answered it yet")
        assert time.monotonic() - begin < 6.0
    finally:
        os.kill(controller, signal.SIGCONT)
    until(observer, "CANCELLED", activity(100.0))  # the order arrives with its answer


def test_a_job_that_slurm_has_forgotten_is_judged_by_logs_and_frames(
    slurm: Testbed, submit: Submit
) -> None:
    with slurm.configured(MinJobAge=2):
        job = submit("sleep 1")
        first = observe(job)
        until(first, "COMPLETED", ENDED)
        slurm.restart_controller()  # it forgets what is old when it starts
        end = time.monotonic() + 90.0
        while slurm.job(job):
            assert time.monotonic() < end
            time.sleep(0.5)
        with pytest.raises(RunError, match="Slurm does not know job"):
            observe(job)
        scheduler = Slurm(BatchSite(query_interval_s=1.0), 0.0)
        later = Observer(job=job, scheduler=scheduler, mark=first.mark)
        seen = later.look(time.monotonic(), ENDED)
        assert (seen.state, later.over()) == ("ended", True)
        assert seen.evidence == f"Slurm: job {job} is forgotten; the log's last line: {SUCCESS}"
