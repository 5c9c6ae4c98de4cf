"""A batch job that somebody else submitted, by a Slurm that answers well, late, half, never."""

from __future__ import annotations

import os
import time

import pytest
from observer_case import AWAY, SUCCESS, activity, observe, wait_for

from burstlens.core.errors import RunError, SiteError
from burstlens.workflows.look.observer import observed_job
from burstlens.workflows.look.observer.observer import Observer

pytestmark = pytest.mark.integration


def shown_by(observer: Observer, words: str, report=None):
    """The first observation whose evidence has these words; looks for some seconds."""
    wait_for(lambda: words in observer.look(time.monotonic(), report).evidence)
    return observer.look(time.monotonic(), None)


@pytest.mark.parametrize(
    "job",
    ["", "abc", "12;ls", "12 13", "12,13", "-u", "123.0", "123_[1-4]", "1\n", "１２", "$(id)"],
)
def test_an_id_with_other_characters_is_refused_and_never_reaches_a_command(commands, job):
    with pytest.raises(RunError, match="is not the id of a job of Slurm"):
        observe(job)
    assert commands.calls == []


@pytest.mark.parametrize("job", ["123", "123_4", "123+1"])
def test_jobs_tasks_of_arrays_and_parts_of_heterogeneous_jobs_are_asked_about(commands, job):
    assert observe(job).look(0.0, None).state == "running"
    assert commands.calls == [f"scontrol --oneliner show job {job}"]


def test_a_site_without_a_scheduler_is_said_so():
    with pytest.raises(SiteError, match="job 123: this site has no scheduler; --site"):
        Observer(job="123")


def test_a_machine_without_slurms_commands_is_said_so(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SiteError, match="sbatch is not on PATH: is this a login node of Slurm"):
        observe()


def test_a_job_that_slurm_does_not_know_is_refused(commands):
    commands.set("scontrol", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1")
    with pytest.raises(RunError, match="Slurm does not know job 123"):
        observe()


def test_a_slurm_without_its_configuration_is_said_so(commands):
    commands.set("scontrol", "echo 'fatal: Could not establish a configuration source' >&2; exit 1")
    with pytest.raises(SiteError, match="there is no configuration of Slurm"):
        observe()


def test_a_job_that_runs_is_a_model_that_runs(commands):
    seen = observe().look(0.0, activity())
    assert (seen.state, seen.evidence) == ("running", "Slurm: job 123 RUNNING on nid00012")


def test_a_job_that_waits_says_why(commands):
    commands.job("JobState=PENDING Reason=Priority NodeList=(null)")
    observer = observe()
    seen = observer.look(0.0, activity(5000.0))
    assert (seen.state, seen.evidence) == ("waiting", "Slurm: job 123 PENDING (Priority)")
    assert not observer.over()
    assert not observer.quiet_end(1e6)


def test_a_job_that_runs_and_writes_nothing_is_quiet_and_has_not_ended(commands):
    observer = observe()
    seen = observer.look(0.0, activity(900.0))
    assert seen.state == "quiet"
    assert seen.evidence.startswith("Slurm: job 123 RUNNING on nid00012; nothing was written for")
    assert not observer.over()
    assert not observer.quiet_end(1e6)


DONE = {"ended_well": True, "last_line": SUCCESS}
SILENT = {"last_line": ""}


@pytest.mark.parametrize(
    ("word", "log", "state", "says"),
    [
        ("COMPLETED", DONE, "ended", SUCCESS),
        ("COMPLETED", SILENT, "ended", "COMPLETED"),
        ("COMPLETED", {"reason": "Disk quota exceeded"}, "failed", "Disk quota exceeded"),
        ("COMPLETED", {}, "failed", "its log does not say that it ended well"),
        ("FAILED", {"reason": "Disk quota exceeded"}, "failed", "Disk quota exceeded"),
        ("FAILED", DONE, "failed", SUCCESS),
        ("CANCELLED", {}, "failed", "Timing for main"),
        ("TIMEOUT", {}, "failed", "Timing for main"),
        ("NODE_FAIL", SILENT, "failed", "NODE_FAIL"),
        ("OUT_OF_MEMORY", {}, "failed", "Timing for main"),
    ],
)
def test_how_a_job_ended_is_slurms_word_and_the_logs_line(commands, word, log, state, says):
    commands.job(f"JobState={word} Reason=None NodeList=nid00012")
    observer = observe()
    seen = observer.look(0.0, activity(100.0, **log))
    assert seen.state == state
    assert seen.evidence.startswith(f"Slurm: job 123 {word} on nid00012")
    assert says in seen.evidence
    assert observer.over()
    assert observer.outcome().state == {"ended": "done"}.get(state, state)


def test_a_job_that_was_just_cancelled_is_not_said_to_run(commands):
    """Its last writes are waited for: it has not ended for good."""
    observer = observe(interval_s=1.0)
    assert observer.look(0.0, activity()).state == "running"
    commands.job("JobState=CANCELLED Reason=None NodeList=nid00012")
    seen = shown_by(observer, "CANCELLED", activity(1.0))
    assert (seen.state, observer.over()) == ("ending", False)
    assert seen.evidence.startswith("Slurm: job 123 CANCELLED on nid00012; wrfout_d01 was written ")
    assert observer.look(time.monotonic() + 11.0, activity(12.0)).state == "failed"


def test_a_state_that_is_not_known_is_shown_by_its_name_and_is_no_end(commands):
    commands.job("JobState=POWER_UP_NODE Reason=None")
    observer = observe()
    seen = observer.look(0.0, activity())
    assert seen.state == "running"
    assert seen.evidence == "Slurm: job 123 POWER_UP_NODE (not a known state)"
    assert not observer.over()


def test_what_slurm_said_has_an_age_until_the_job_is_over(commands):
    observer = observe(interval_s=60.0)
    first = observer.look(0.0, activity()).age_s
    time.sleep(0.3)
    assert observer.look(0.0, activity()).age_s >= first + 0.3
    commands.job("JobState=COMPLETED Reason=None")
    assert observe().look(0.0, activity()).age_s is None


def test_before_the_log_is_read_a_completed_job_is_not_called_well(commands):
    commands.job("JobState=COMPLETED Reason=None")
    observer = observe()
    assert observer.look(0.0, None).state == "unknown"
    assert observer.over()


def test_slurm_is_asked_once_in_its_interval_however_often_one_looks(commands):
    observer = observe(interval_s=1.5)
    begin = time.monotonic()
    while time.monotonic() < begin + 4.0:
        observer.look(0.0, None)
        time.sleep(0.05)
    assert 3 <= len(commands.calls) <= 4


def test_a_job_that_has_ended_is_not_asked_about_any_more(commands):
    commands.job("JobState=COMPLETED Reason=None")
    observer = observe()
    observer.look(0.0, None)
    time.sleep(1.3)
    observer.look(0.0, None)
    time.sleep(0.3)
    assert len(commands.calls) == 1


def test_a_slurm_that_does_not_answer_leaves_the_last_known_state(commands):
    observer = observe()
    observer.look(0.0, activity())
    commands.set("scontrol", f"{AWAY}; exit 1")
    seen = shown_by(observer, "Slurm has not answered since ")
    assert seen.state == "running"
    assert seen.evidence.startswith("Slurm: job 123 RUNNING on nid00012; Slurm has not answered")
    commands.job("JobState=PENDING Reason=BeginTime")
    assert shown_by(observer, "PENDING").evidence == "Slurm: job 123 PENDING (BeginTime)"


def test_a_slurm_that_hangs_holds_nobody_up(commands, monkeypatch):
    monkeypatch.setattr(observed_job, "SLOW_S", 0.3)
    observer = observe()
    commands.set("scontrol", "echo $$ >> $0.pids; exec sleep 60")
    pids = commands.folder / "scontrol.pids"
    try:
        begin = time.monotonic()
        seen = shown_by(observer, "Slurm has not answered since ")
        assert seen.state == "running"
        for _ in range(100):
            observer.look(0.0, activity())
        assert time.monotonic() - begin < 50.0
        assert len(pids.read_text().split()) == 1  # one question at a time
    finally:
        for pid in wait_for(lambda: pids.read_text().split()):
            os.kill(int(pid), 9)


def test_one_that_hangs_from_the_start_lets_look_begin(commands, monkeypatch):
    monkeypatch.setattr(observed_job, "FIRST_S", 0.5)
    commands.set("scontrol", "echo $$ > $0.pid; exec sleep 60")
    begin = time.monotonic()
    observer = observe(allow_stop=True)
    assert time.monotonic() - begin < 50.0
    try:
        seen = observer.look(0.0, activity(900.0))
        assert seen.state == "quiet"  # by logs and frames
        assert seen.evidence.startswith("Slurm: job 123 is not known yet; Slurm has not answered")
        assert not observer.quiet_end(0.0)  # it may answer yet
    finally:
        os.kill(int((commands.folder / "scontrol.pid").read_text()), 9)


def test_a_witness_that_is_silent_for_long_no_longer_holds_up_the_end(commands, monkeypatch):
    observer = observe()
    observer.look(0.0, activity(1000.0))
    commands.set("scontrol", f"{AWAY}; exit 1")
    shown_by(observer, "has not answered since")
    assert not observer.quiet_end(0.0)
    later = time.monotonic() + 700.0
    monkeypatch.setattr(observed_job.time, "monotonic", lambda: later)
    assert observer.look(0.0, None).state == "quiet"
    assert observer.quiet_end(0.0)
    assert not observer.over()


@pytest.mark.parametrize("half", ["", "JobId=123 JobName=wrf UserId=me(0)", "\n\n", "\ufffd{"])
def test_half_an_answer_is_not_an_end(commands, half):
    observer = observe()
    commands.set("scontrol", f"printf '%s' '{half}'")
    seen = shown_by(observer, "has not answered since", activity())
    assert seen.state == "running"
    assert not observer.over()


def test_an_answer_that_is_not_text_is_not_an_end(commands):
    observer = observe()
    commands.set("scontrol", r"printf '\377\376JobState=\377'")
    assert shown_by(observer, "has not answered since", activity()).state == "running"


def test_a_job_that_slurm_forgets_is_judged_by_logs_and_frames_which_is_said(commands):
    observer = observe()
    observer.look(0.0, activity())
    commands.set("scontrol", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1")
    seen = shown_by(observer, "is forgotten", activity(3.0))
    assert seen.state == "running"
    assert seen.evidence.startswith("Slurm: job 123 is forgotten; wrfout_d01 was written ")
    assert not observer.over()
    observer.look(1.0, activity(700.0))
    assert observer.quiet_end(1.0)


def test_a_quiet_model_whose_job_ends_may_have_written_just_before(commands):
    observer = observe(quiet_after_s=4.0)
    quiet = activity(900.0)
    assert observer.look(0.0, quiet).state == "quiet"
    commands.job("JobState=COMPLETED ExitCode=0:0 NodeList=nid00012")
    shown_by(observer, "COMPLETED", quiet)
    assert not observer.quiet_end(0.0)
    assert observer.look(2.0, activity(0.5, **DONE)).state == "ended"
    assert observer.over()


def test_a_later_observer_accepts_a_forgotten_job(commands):
    mark = observe().mark
    commands.set("scontrol", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1")
    observer = observe(mark=mark)
    seen = observer.look(0.0, activity(30.0, ended_well=True, last_line=SUCCESS))
    assert seen.evidence == f"Slurm: job 123 is forgotten; the log's last line: {SUCCESS}"
    assert observer.over()


@pytest.mark.parametrize(
    ("parts", "state"),
    [
        (("PENDING", "RUNNING", "COMPLETED"), "running"),
        (("COMPLETED", "PENDING"), "waiting"),
        (("COMPLETED", "COMPLETED"), "ended"),
        (("COMPLETED", "FAILED", "COMPLETED"), "failed"),
    ],
)
def test_of_a_job_with_parts_the_one_that_is_least_far_counts(commands, parts, state):
    commands.job(*(f"JobState={part} Reason=None" for part in parts))
    report = activity(100.0, ended_well=True, last_line=SUCCESS)
    seen = observe().look(0.0, report if state in ("ended", "failed") else activity())
    assert seen.state == state


def test_an_answer_of_after_a_moment_is_asked_for_soon(commands):
    observer = observe(interval_s=3600.0)
    observer.look(0.0, None)
    moment = time.monotonic()
    assert observer.job_since(0.0).state == "RUNNING"
    assert observer.job_since(moment) is None, "it was heard before"
    commands.job("JobState=COMPLETING Reason=None")

    def answer():
        observer.look(0.0, None)
        return observer.job_since(moment)

    state = wait_for(answer)
    assert (state.state, state.ending, state.over) == ("COMPLETING", True, False)
    assert len(commands.calls) == 2, "each look must not ask again"


def test_what_slurm_said_for_good_is_not_asked_again(commands):
    commands.job("JobState=COMPLETED Reason=None")
    observer = observe()
    assert observer.job_since(time.monotonic() + 60.0).state == "COMPLETED"
    assert len(commands.calls) == 1


def test_of_a_folder_that_went_with_its_job_the_last_log_line_says_nothing_of_a_bad_end(commands):
    observer = observe()
    observer.look(0.0, activity())
    commands.job("JobState=COMPLETED Reason=None")
    observer.lose()
    seen = shown_by(observer, "COMPLETED")
    assert (seen.state, observer.over()) == ("ended", True)
    assert seen.evidence == "Slurm: job 123 COMPLETED; the end of its log was not seen"


def test_of_a_folder_that_went_with_its_job_slurm_says_that_it_failed(commands):
    observer = observe()
    observer.lose()
    commands.job("JobState=TIMEOUT Reason=TimeLimit")
    assert shown_by(observer, "TIMEOUT (TimeLimit)").state == "failed"
    assert observer.outcome().exit_code == 1
