"""What an observer says of a model with neither a job nor a process: by logs and frames."""

from __future__ import annotations

import time

import pytest
from observer_case import SUCCESS, activity

from burstlens.core.errors import RunError
from burstlens.core.outcome import Outcome
from burstlens.workflows.look.observer.observer import Observer

FATAL = "FATAL CALLED FROM FILE: <stdin> LINE: 419; program wrf: error opening wrfinput_d01"


def test_before_the_first_report_nothing_is_known():
    observer = Observer()
    seen = observer.look(100.0, None)
    assert (seen.state, seen.evidence) == ("unknown", "the folder is not read yet")
    assert not observer.over()
    assert not observer.quiet_end(1e6)


def test_a_folder_where_nothing_was_written_yet_is_unknown():
    seen = Observer().look(0.0, activity(5.0, newest=None, written=None, last_line=""))
    assert (seen.state, seen.evidence) == ("unknown", "no frame and no log was written yet")


def test_a_model_that_wrote_a_moment_ago_runs():
    seen = Observer().look(0.0, activity(3.0))
    assert (seen.state, seen.evidence) == ("running", "wrfout_d01 was written 3.0 s ago")


def test_quiet_says_since_when_by_the_newest_file():
    written = time.mktime((2026, 11, 20, 9, 41, 2, 0, 0, -1))
    seen = Observer().look(0.0, activity(840.0, written=written))
    assert seen.state == "quiet"
    assert seen.evidence == (
        "nothing was written for 14 min 00 s (newest file wrfout_d01, 2026-11-20 09:41)"
    )
    assert seen.since == written


@pytest.mark.parametrize(
    ("quiet_s", "intervals", "state"),
    [
        (500.0, (), "running"),
        (600.0, (), "quiet"),
        (59.0, (1.0, 1.0), "running"),  # streams that are written together
        (61.0, (1.0, 1.0), "quiet"),
        (7000.0, (3600.0, 3600.0), "running"),
        (7300.0, (3600.0, 3600.0), "quiet"),
        (7000.0, (1.0, 1.0, 3600.0, 1.0, 1.0, 3600.0), "running"),
        (700.0, (300.0, 300.0, 80_000.0, 300.0), "quiet"),  # a pause between two starts
    ],
)
def test_a_model_is_quiet_after_twice_its_usual_interval(quiet_s, intervals, state):
    assert Observer().look(0.0, activity(quiet_s, intervals=intervals)).state == state


@pytest.mark.parametrize("quiet_s", [0.0, 1e3, 1e6])
def test_quiet_is_never_over(quiet_s):
    observer = Observer()
    observer.look(0.0, activity(quiet_s))
    assert not observer.over()


def test_a_quiet_model_that_writes_again_runs():
    observer = Observer()
    assert observer.look(0.0, activity(900.0)).state == "quiet"
    assert observer.look(1.0, activity(0.2)).state == "running"


def test_the_logs_own_last_line_is_a_good_end():
    observer = Observer()
    seen = observer.look(0.0, activity(20.0, ended_well=True, last_line=SUCCESS))
    assert (seen.state, seen.evidence) == ("ended", f"the log's last line: {SUCCESS}")
    assert observer.over()
    assert observer.outcome() == Outcome("done", 0)


def test_after_the_logs_end_other_ranks_may_write_for_a_moment():
    observer = Observer()
    observer.look(0.0, activity(0.5, ended_well=True, last_line=SUCCESS))
    assert not observer.over()
    observer.look(9.0, activity(9.5, ended_well=True, last_line=SUCCESS, in_progress=True))
    assert not observer.over()
    observer.look(12.0, activity(12.0, ended_well=True, last_line=SUCCESS, in_progress=True))
    assert not observer.over()
    observer.look(13.0, activity(13.0, ended_well=True, last_line=SUCCESS))
    assert observer.over()


def test_a_half_written_frame_holds_up_the_end_for_a_minute_only():
    observer = Observer()
    observer.look(0.0, activity(61.0, ended_well=True, last_line=SUCCESS, in_progress=True))
    assert observer.over()


def test_what_is_written_long_after_the_logs_end_is_another_start():
    observer = Observer()
    old = {"ended_well": True, "last_line": SUCCESS}
    assert observer.look(0.0, activity(5000.0, **old)).state == "ended"
    assert observer.look(100.0, activity(0.5, **old)).state == "running"
    assert not observer.over()
    assert observer.look(180.0, activity(80.0, **old, reason=FATAL)).state == "running"
    assert observer.look(1000.0, activity(900.0, **old)).state == "ended"


def test_a_good_end_stays_while_a_busy_watcher_counts_too_little_quiet():
    observer = Observer()
    written = time.time()
    for now, counted in ((0.0, 0.5), (40.0, 6.0), (80.0, 10.0), (400.0, 30.0)):
        report = activity(counted, written=written, ended_well=True, last_line=SUCCESS)
        assert observer.look(now, report).state == "ended"


def test_a_good_end_stays_while_no_report_comes():
    observer = Observer()
    report = activity(20.0, ended_well=True, last_line=SUCCESS)
    for now in (0.0, 30.0, 500.0):
        assert observer.look(now, report).state == "ended"
        assert observer.look(now + 1, None).state == "ended"


def test_a_failure_in_the_log_counts_when_nothing_more_is_written():
    observer = Observer()
    assert observer.look(0.0, activity(5.0, reason=FATAL)).state == "running"
    assert not observer.over()
    seen = observer.look(70.0, activity(75.0, reason=FATAL))
    assert seen.state == "failed"
    assert seen.evidence.startswith(f"the log says: {FATAL}; nothing was written for 1 min 15 s")
    assert observer.over()
    outcome = observer.outcome()
    assert (outcome.state, outcome.exit_code, outcome.line) == ("failed", 1, FATAL)


def test_a_model_that_survives_a_failure_runs_on():
    observer = Observer()
    assert observer.look(0.0, activity(80.0, reason=FATAL)).state == "failed"
    assert observer.look(1.0, activity(0.1, reason=FATAL)).state == "running"
    assert not observer.over()
    seen = observer.look(60.0, activity(60.0, reason=FATAL, ended_well=True, last_line=SUCCESS))
    assert seen.state == "ended"


@pytest.mark.parametrize(
    ("quiet_s", "ends"), [(599.0, False), (600.0, True), (86_400.0 * 300, True)]
)
def test_without_a_page_ten_quiet_minutes_are_an_end_also_those_before_arrival(quiet_s, ends):
    observer = Observer()
    observer.look(0.0, activity(quiet_s))
    assert observer.quiet_end(0.0) is ends


def test_three_long_intervals_are_waited_for():
    observer = Observer()
    observer.look(0.0, activity(10_000.0, intervals=(3600.0, 3600.0)))
    assert not observer.quiet_end(0.0)
    observer.look(1.0, activity(10_801.0, intervals=(3600.0, 3600.0)))
    assert observer.quiet_end(1.0)


def test_the_users_time_replaces_it_and_the_outcome_says_how_long_it_was_quiet():
    observer = Observer(quiet_after_s=30.0)
    observer.look(0.0, activity(31.0))
    assert observer.quiet_end(0.0)
    outcome = observer.outcome()
    assert (outcome.state, outcome.exit_code) == ("quiet", 0)
    assert outcome.message.startswith("nothing was written for 31 s (newest file wrfout_d01, ")


@pytest.mark.parametrize("wrong", [-1.0, float("nan"), float("inf")])
def test_a_time_that_is_none_is_refused(wrong):
    with pytest.raises(RunError, match="the time must be 0 or more"):
        Observer(quiet_after_s=wrong)


def test_a_file_or_a_line_with_control_characters_is_shown_without_them():
    observer = Observer()
    assert observer.look(0.0, activity(3.0, newest="a\nb\x1b[2J")).evidence.startswith("a b[2J ")
    seen = observer.look(1.0, activity(30.0, ended_well=True, last_line="done\x1b]0;x\x07\n"))
    assert seen.evidence == "the log's last line: done]0;x"


def test_nothing_is_stopped_without_permission_and_a_name():
    with pytest.raises(RunError, match="--allow-stop"):
        Observer().stop(now=True)
    with pytest.raises(RunError, match="only a job or process that is named can be stopped"):
        Observer(allow_stop=True)


def test_a_user_who_says_how_long_quiet_is_has_it_so():
    observer = Observer(quiet_after_s=5.0)
    assert observer.look(0.0, activity(4.0)).state == "running"
    assert observer.look(1.0, activity(6.0)).state == "quiet"
    assert not observer.over()


def test_the_end_of_a_quiet_run_names_a_file_that_is_not_whole():
    observer = Observer(quiet_after_s=5.0)
    observer.look(0.0, activity(6.0, in_progress=True))
    assert observer.quiet_end(0.0)
    assert observer.outcome().message.endswith("; a file there is not whole")


def test_an_age_that_no_clock_can_tell_is_said_to_be_unknown_and_is_no_sign_of_life():
    observer = Observer()
    written = time.mktime((2026, 11, 20, 9, 41, 2, 0, 0, -1))
    seen = observer.look(0.0, activity(0.11, written=written, dated=False))
    assert seen.state == "unknown"
    assert seen.evidence == (
        "wrfout_d01 was written at 2026-11-20 09:41; how long ago is not known: no clock of its "
        "file server can be read"
    )
    assert not observer.quiet_end(0.0)
    seen = observer.look(61.0, activity(61.0, written=written, dated=False))
    assert (seen.state, seen.since) == ("quiet", written)
    assert "since this look began, for 1 min 01 s" in seen.evidence
    assert observer.quiet_end(61.0)
    assert observer.outcome().state == "quiet"


def test_of_an_unknown_age_a_model_that_writes_runs():
    observer = Observer()
    observer.look(0.0, activity(0.0, dated=False))
    assert observer.look(1.0, activity(0.5)).state == "running"


def test_an_age_counts_on_between_two_reports_and_changes_no_state():
    observer = Observer()
    report = activity(3.0, intervals=(30.0, 30.0))
    observer.look(0.0, report)
    seen = observer.look(5.0, report)
    assert (seen.state, seen.evidence) == ("running", "wrfout_d01 was written 8.0 s ago")
    seen = observer.look(200.0, report)
    assert seen.state == "running"  # the watcher may wait for its worker
    assert seen.evidence == (
        "wrfout_d01 was written 3.0 s before the folder was last read, 3 min 20 s ago"
    )


def test_a_silence_counts_on_between_two_reports():
    observer = Observer()
    report = activity(840.0)
    observer.look(0.0, report)
    assert "nothing was written for 14 min 50 s" in observer.look(50.0, report).evidence
    later = observer.look(600.0, report).evidence
    assert "nothing was written for 14 min 00 s when the folder was last read, 10 min" in later
    assert observer.outcome().message == later
