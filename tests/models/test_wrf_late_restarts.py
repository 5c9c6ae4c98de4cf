"""Restart files of WRF that come late, as no time step ends at their time: recorded runs, of a nest
as well. In ``G1`` the time step is adaptive; in ``L1`` the interval is 35 s and the step 10 s."""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest

from burstlens.core.errors import RecipeError
from burstlens.workflows.models.continuation import Continuation, Start
from burstlens.workflows.models.wrf import Wrf

RUNS = Path(__file__).parents[1] / "data" / "wrf" / "restart"
HOURS = "start_year = 2005, start_month = 8, start_day = 28, start_hour = 0, restart_interval = 60"


def start(folder: Path, **wanted: object) -> Start:
    return Wrf().configured(folder).start(folder, Continuation(**wanted))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("run", "times"), [("G1", ["0106", "0200"]), ("L1", ["0040", "0110", "0150"])]
)
def test_the_step_before_a_line_is_the_time_in_the_names_of_the_files(run: str, times: list[str]):
    model, logged, now = Wrf().configured(RUNS / run), [], ""
    for line in (RUNS / run / "rsl.error.0000").read_text().splitlines():
        said = model.read_line(line)
        if said is not None and said.kind == "progress":
            now = said.time or ""
        elif said is not None and said.kind == "checkpoint":
            logged.append((said.stream, now))
    names = [line.split()[1] for line in (RUNS / run / "files.txt").read_text().splitlines()]
    files = {(one.part, one.time) for one in map(model.checkpoint_of, names) if one}
    assert logged == [(part, f"20050828T12{at}") for at in times for part in ("d01", "d02")]
    assert files == set(logged)


def test_the_copy_keeps_tabs_capitals_and_comments():
    files = tuple(f"wrfrst_{part}_2005-08-28_12_01_06" for part in ("d01", "d02"))
    found = start(RUNS / "G1", time="20050828T120106", files=files)
    texts = (RUNS / "G1" / "namelist.input").read_text(), found.files["namelist.input"]
    lines = difflib.ndiff(*(text.splitlines() for text in texts))
    assert [line[2:] for line in lines if line.startswith("+")] == [
        "\tRUN_MINUTES\t=\t2,\t! a comment, with = and /",
        " run_seconds = 54,",
        " start_minute = 1,   1,   1,",
        " start_second = 6,   6,   6,",
        "\tRESTART\t=\t.true.,\t! a comment, with = and /",
    ]


@pytest.mark.parametrize("step", ["use_adaptive_time_step = T", "time_step = 7"])
@pytest.mark.parametrize(("count", "cuts"), [(2, [4]), (3, [4, 6]), (5, [2, 4, 6, 8])])
def test_where_restart_files_come_late_a_stretch_has_two_intervals(inputs, step, count, cuts):
    """As measured: restart files each 60 s came at 66, 128 and 199 s with an adaptive time step,
    the last two of a run that restarted from the first; those each 35 s of a run with steps of 10 s
    at 40, 70 and 110 s."""
    folder = inputs("run_hours = 10, restart_interval = 60", domains=step)
    assert Wrf().cuts(folder, count) == [hours * 3600 for hours in cuts]
    with pytest.raises(RecipeError, match="6 stretches; the most is 5"):
        Wrf().cuts(folder, 6)


@pytest.mark.parametrize(
    "step", ["time_step = 10", "time_step = 3, time_step_fract_num = 3, time_step_fract_den = 4"]
)
def test_where_a_step_ends_at_each_restart_file_a_stretch_may_have_one_interval(inputs, step):
    folder = inputs("run_hours = 10, restart_interval = 60", domains=step)
    assert len(Wrf().cuts(folder, 10)) == 9


@pytest.mark.parametrize("every_s", [None, 3600])
def test_a_stretch_may_begin_and_end_between_restart_files_that_come_late(inputs, every_s):
    """WRF wrote the restart file of 06:00 at the first step after it."""
    folder = inputs(f"{HOURS}, run_hours = 24", domains="time_step = 7")
    about = {"time": "20050828T060007", "files": ("wrfrst_d01_2005-08-28_06:00:07",)}
    *changes, last = start(folder, **about, until_s=8 * 3600, every_s=every_s).changes
    assert changes[2:] == [
        "start_second = not set -> 7", "run_hours = 24 -> 1", "run_minutes = not set -> 59",
        "run_seconds = not set -> 53",
    ]  # fmt: skip
    assert last == "restart files every 3600 s come at a step after their time"
