"""Log guards: patterns over every rank's log, on the logs of real blow-ups."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from burstlens.workflows.awm.adapter import Awm
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.log_search import LogPattern, Search, faults
from burstlens.workflows.frames.model_log import Follower, logs_of
from burstlens.workflows.frames.speech import Speech
from burstlens.workflows.frames.watch import watch
from burstlens.workflows.guards.reports import patterns_of
from burstlens.workflows.models.wrf import Wrf

LOGS = Path(__file__).parents[1] / "data" / "logs"


@pytest.fixture
def cfl(guard):
    return patterns_of([guard(log="cfl")], Wrf())


def search(patterns, *lines):
    found = Search(patterns)
    for line in lines:
        found.take("rsl.error.0000", line)
    return found


@pytest.mark.parametrize(
    ("line", "points"),
    [
        ("d01 0001-01-01_00:00:00         1653  points exceeded v_cfl = 2 in domain d01", 1653),
        ("d01 2005-08-28_12:00:00    3 points exceeded cfl=2 in domain d01 at time", 3),
    ],
)
def test_cfl_matches_the_lines_of_old_and_new_versions_of_wrf(cfl, line, points):
    hit = search(cfl, "Timing for main", line).hits["log-cfl"]
    assert (hit.lines, hit.points, hit.log) == (1, points, "rsl.error.0000")
    assert hit.line == line.strip()


@pytest.mark.parametrize("names", [("rsl.error.0000", "rsl.error.0001"),
                                   ("rsl.error.00000000", "rsl.error.00000417")])  # fmt: skip
def test_every_ranks_log_is_searched_whatever_the_length_of_its_number(cfl, tmp_path, names):
    for source, name in zip(sorted(LOGS.glob("blowup.rsl.error.*")), names, strict=True):
        shutil.copy(source, tmp_path / name)
    model = Wrf()
    follower = Follower(tmp_path, model, model.facts(tmp_path), {}, cfl)
    heard = follower.hear(logs_of(model, names), Speech(), 0.0)
    (hit,) = heard.search.hits.values()
    lines = [
        line
        for name in names
        for line in (tmp_path / name).read_text().splitlines()
        if "exceeded v_cfl" in line
    ]
    assert hit.lines == len(lines) > 1
    worst = max(lines, key=lambda line: int(line.split("points")[0].split()[-1]))
    assert hit.points == int(worst.split("points")[0].split()[-1])
    assert hit.line == worst.strip()


def test_the_pattern_matches_no_line_of_a_good_run(cfl):
    lines = (LOGS / "supercell.rsl.error.0000").read_text().splitlines()
    assert search(cfl, *lines).hits == {}


def test_the_watcher_reports_hits_once_and_all_since_its_previous_report(cfl, tmp_path):
    log = tmp_path / "rsl.error.0001"
    (tmp_path / "rsl.error.0000").write_text("starting\n")
    log.write_text("1 points exceeded v_cfl = 2\n2 points exceeded v_cfl = 2\n")

    def look(cursor):
        return watch(
            tmp_path, ".", Wrf(), "it", 1, cursor, baseline={}, ended=lambda: False,
            timeout_s=0.1, interval_s=0.02, patterns=cfl,
        )  # fmt: skip

    first = look(Cursor())
    assert [(hit.lines, hit.points) for hit in first.hits] == [(2, 2)]
    assert look(first.cursor).hits == ()
    with log.open("a") as file:
        file.write("7 points exceeded v_cfl = 2\n")
    assert [(hit.lines, hit.points) for hit in look(first.cursor).hits] == [(1, 7)]


def test_a_hit_has_the_models_time_at_its_line_and_not_that_of_the_look(tmp_path):
    step = "Timing for main: time 2005-08-28_12:{:02d}:00 on domain   1:    0.3 elapsed seconds\n"
    cfl = (
        "d01 2005-08-28_12:0{0}:00  {0} points exceeded v_cfl = 2 in domain d01 at time {1} hours\n"
    )
    text = step.format(1) + cfl.format(2, "2005-08-28_12:02:00") + step.format(3)
    text += "oh NaN\n" + "".join(step.format(minute) for minute in range(4, 60))
    (tmp_path / "rsl.error.0000").write_text(text)
    (tmp_path / "rsl.error.0001").write_text(cfl.format(7, "2005-08-28_12:07:00") + "NaN, NaN\n")
    patterns = (LogPattern("cfl", r"(?P<points>\d+) points exceeded"), LogPattern("nan", "oh NaN"))
    report = watch(
        tmp_path, ".", Wrf(), "it", 1, Cursor(), baseline={}, ended=lambda: False,
        timeout_s=0.1, interval_s=0.02, patterns=(*patterns, LogPattern("two", "NaN, NaN")),
    )  # fmt: skip
    assert report.progress.time == "20050828T125900"
    assert {hit.guard: (hit.log[-1], hit.time) for hit in report.hits} == {
        "cfl": ("1", "20050828T120700"),  # the line with most points
        "nan": ("0", "20050828T120300"),  # from the step before it
        "two": ("1", ""),  # this log has no times of its own
    }


def test_control_characters_and_text_direction_marks_are_removed_from_a_line(cfl):
    line = " \x1b[2J\x1b]0;owned\x07 3\tpoints exceeded v_cfl = 2 \u202ein d01\x9b1A\r"
    (hit,) = search(cfl, line).hits.values()
    assert hit.points == 3
    assert hit.line == "[2J]0;owned 3 points exceeded v_cfl = 2 in d011A"


def test_a_word_that_is_not_a_name_of_the_model_is_an_expression(guard):
    guards = [guard(log="unstable"), guard(log="step (?P<points>\\d+) .*NaN")]
    named, own = patterns_of(guards, Awm())
    assert named.expression == "the velocities are not finite"
    assert own == LogPattern("log", "step (?P<points>\\d+) .*NaN")
    assert search((own,), "step 12 has NaN").hits["log"].points == 12


def test_a_pattern_that_takes_too_long_is_dropped_while_the_others_continue(guard):
    patterns = (LogPattern("bad", "(a|aa)+$"), LogPattern("good", "a"))
    lines = ["a" * 200 + "b"] * 50
    found = search(patterns, *lines)  # without a limit this would never end
    assert "took longer than" in found.failed["bad"]
    assert found.hits["good"].lines == 50


def test_of_a_line_without_an_end_only_the_start_is_searched(guard):
    found = search((LogPattern("it", "end$"),), "x" * 10_000_000 + "end")
    assert found.hits == {}


@pytest.mark.parametrize("text", ["(a", "a" * 501, "", "(?P<x>a)(?P=y)", "*"])
def test_a_faulty_expression_is_refused(text):
    assert len(faults(text)) == 1
