"""How long the model is at its output, by the journal's events."""

from __future__ import annotations

import pytest

from burstlens.core.run import events as ev
from burstlens.core.run.history import History, replay
from burstlens.core.run.output import LATEST, MEASURED, WAITING


def timed(n: int, took_s: float = 4.0, *, attempt: int = 1, **more: object) -> ev.OutputTimed:
    about = {"stream": "d01", "time": f"20050828T12{n:02d}", "file": f"out_{n}"} | more
    about.setdefault("t", 100.0 + 10 * n)
    return ev.OutputTimed(attempt=attempt, took_s=took_s, **about)


def ready(n: int, *, attempt: int = 1) -> ev.FrameReady:
    return ev.FrameReady(
        t=101.0 + 10 * n, attempt=attempt, stream="d01", time=f"20050828T12{n:02d}00",
        file=f"out_{n}", bytes=8_000_000,
    )  # fmt: skip


def test_output_takes_its_part_of_the_time_between_the_first_and_the_last():
    output = replay([timed(0, 99.0), timed(1), timed(2), timed(3)]).output
    assert output.part == pytest.approx(12 / 30)


def test_the_part_is_unknown_before_three_outputs():
    assert replay([timed(0), timed(1)]).output.part is None


def test_lines_that_were_read_late_count_but_say_nothing_about_the_part():
    output = replay([timed(n, late=True) for n in range(5)]).output
    assert (output.part, output.streams["d01"].count, output.lines) == (None, 5, 5)


def test_restart_files_count_to_the_part_and_to_no_stream():
    rest = timed(2, 5.0, stream=None, time=None, file="wrfrst_d01")
    output = replay([timed(0), timed(1), rest, timed(3)]).output
    assert output.part == pytest.approx(13 / 30)
    assert output.streams["d01"].count == 3


def test_first_outputs_of_several_streams_say_nothing_about_the_part():
    """At its start a model writes them one after another, without computing between them."""
    first = [timed(0, t=100.0 + 5 * n, stream=f"d0{n}") for n in range(1, 6)]
    restarts = [timed(0, t=130.0 + 5 * n, stream=None, file=f"wrfrst_{n}") for n in range(4)]
    assert replay([*first, *restarts]).output.part is None


def test_lines_that_come_at_once_say_nothing_about_the_part():
    at_once = [timed(n, t=200.0 + n / 1e6) for n in range(6)]
    assert replay(at_once).output.part is None
    output = replay([*at_once, *(timed(n) for n in range(11, 14))]).output
    assert output.part == pytest.approx(12 / 30, rel=1e-4)


def test_the_part_is_measured_anew_after_outputs_that_no_driver_saw():
    seen = [timed(n, late=3 <= n < 9) for n in range(12)]
    assert replay(seen[:10]).output.part is None
    assert replay(seen).output.part == pytest.approx(4 / 10)


def test_the_part_is_measured_anew_when_the_clock_was_set_back():
    back = [timed(n, t=10 * n + 1e4 - 5e3 * (n > 4)) for n in range(9)]
    assert replay(back).output.part == pytest.approx(4 / 10)


def test_a_model_that_only_writes_has_a_part_though_its_lines_are_read_a_moment_late():
    late = [0.4 * (n % 3 == 0) for n in range(40)]
    parts = []
    for n in range(4, 40):
        events = [timed(m, 9.99, t=100.0 + 10 * m + late[m]) for m in range(n)]
        parts.append(replay(events).output.part)
    assert None not in parts
    assert min(parts) > 0.9
    assert max(parts) == 1.0


def test_storage_that_becomes_slow_is_not_hidden_by_what_was_before():
    before, after = (range(500), range(500, 500 + MEASURED))
    output = replay([*(timed(n, 1.0) for n in before), *(timed(n, 6.0) for n in after)]).output
    assert output.part == pytest.approx(0.6)
    assert output.streams["d01"].count == 500 + MEASURED


def test_a_clock_that_was_set_forward_is_forgotten():
    forward = [timed(n, t=10 * n + 1e6 * (n > 4)) for n in range(5 + MEASURED)]
    assert replay(forward[:9]).output.part < 0.001
    assert replay(forward).output.part == pytest.approx(4 / 10)


@pytest.mark.parametrize("events", [(timed(0), ready(0)), (ready(0), timed(0))])
def test_the_rate_needs_the_frame_and_its_line_in_any_order(events):
    [written] = replay(events).output.streams["d01"].latest
    assert written.rate == 2e6


def test_a_line_without_a_time_is_about_the_frame_of_its_file():
    history = replay([ready(0), ready(1), timed(1, time=None)])
    assert [one.bytes for one in history.output.streams["d01"].latest] == [8_000_000]
    assert [one.file for one in history.output.streams["d01"].unspoken] == ["out_0"]


@pytest.mark.parametrize("name", ["out_0", "/bb/run/1/out_0"])
@pytest.mark.parametrize("first", [True, False])
def test_what_the_library_reported_goes_with_the_output_of_that_file(name, first):
    report = ev.OutputReported(attempt=1, file=name, aggregators=4, data_send=0.78)
    events = [report, timed(0)] if first else [timed(0), report]
    [written] = replay(events).output.streams["d01"].latest
    assert (written.aggregators, written.data_send) == (4, 0.78)


def test_a_report_goes_with_the_output_whose_name_the_log_has_cut():
    name = "auxhist2_d01_2005-08-28_12:00:00"
    cut = timed(0, stream="auxhist2_d01", time="20050828T1200", file=name[:30])
    events = [cut, ev.OutputReported(attempt=1, file=f"/bb/{name}", aggregators=4)]
    assert replay(events).output.streams["auxhist2_d01"].latest[0].aggregators == 4
    short = [timed(0, file="out"), ev.OutputReported(attempt=1, file="/bb/out_2", aggregators=4)]
    assert replay(short).output.streams["d01"].latest[0].aggregators is None


def test_a_report_of_another_file_is_kept_for_its_own():
    history = replay([ev.OutputReported(attempt=1, file="restart", aggregators=4), timed(0)])
    assert history.output.streams["d01"].latest[0].aggregators is None
    assert [one.file for one in history.output.reports] == ["restart"]


def test_another_attempt_begins_anew_and_an_earlier_one_is_passed_over():
    history = replay([timed(0), timed(1), timed(2, attempt=2), timed(3)])
    assert (history.output.attempt, history.output.streams["d01"].count) == (2, 1)


def test_what_is_kept_is_bounded():
    history = History()
    for n in range(3 * LATEST):
        history.apply(timed(n, time=f"t{n:04d}", file=None))
        history.apply(ev.FrameReady(attempt=1, stream="d02", time=f"t{n:04d}", bytes=1))
        history.apply(ev.OutputReported(attempt=1, file=f"restart_{n}"))
    output = history.output
    assert len(output.streams["d01"].latest) == LATEST
    assert len(output.streams["d02"].unspoken) == len(output.reports) == WAITING
