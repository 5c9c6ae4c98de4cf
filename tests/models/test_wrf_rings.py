"""When WRF writes restart files, by its step: what is refused, and what is warned of.

Measured with v4.3.3 (time_step = 10, frames each 30 s, restart files each 60 s, if not said).
"""

from __future__ import annotations

import re

import pytest

from burstlens.core.errors import RecipeError
from burstlens.workflows.models.continuation import Continuation
from burstlens.workflows.models.wrf import Wrf

DAY = "start_year = 2005, start_month = 8, start_day = 28, start_hour = 0, run_hours = 24"
EVERY_HOUR = f"{DAY}, history_interval = 60, restart_interval = 60"
ADAPTIVE = "use_adaptive_time_step = .true."


def start(inputs, **wanted):
    return Wrf().configured(inputs).start(inputs, Continuation(**wanted))


@pytest.mark.parametrize(
    ("times", "step", "message"),
    [
        ("history_interval = 60, restart_interval = 120", ADAPTIVE, None),
        # 40 and 60 s gave a restart file of 66.87 s with the name of 66 s.
        ("history_interval = 40, restart_interval = 60", ADAPTIVE, "the times of history alone"),
        ("restart_interval = 60", ADAPTIVE, "the times of history alone"),
        ("history_interval = 60, restart_interval = 60",
         f"{ADAPTIVE} step_to_output_time = .false.", "set it to .true."),
        # 40/3 s gave one of 66.67 s with the name of 66 s.
        ("restart_interval = 1",
         "time_step = 13, time_step_fract_num = 1, time_step_fract_den = 3", "40/3 s"),
        ("restart_interval = 2",
         "time_step = 13, time_step_fract_num = 1, time_step_fract_den = 3", None),
        ("restart_interval = 1", "time_step = 18", None),
        ("run_days = 1", ADAPTIVE, None),
    ],
)  # fmt: skip
def test_restart_files_between_whole_seconds_are_refused(inputs, times, step, message):
    folder = inputs(f"{DAY}, {times}", domains=step)
    found = Wrf().checkpoint_faults(folder)
    assert [message in text for text in found] == ([] if message is None else [True])
    if message is not None:
        with pytest.raises(RecipeError, match=message):
            start(folder, until_s=7200)


def test_the_interval_of_the_recipe_counts_where_there_is_one(inputs):
    folder = inputs(f"{DAY}, history_interval = 60, restart_interval = 90", domains=ADAPTIVE)
    assert Wrf().checkpoint_faults(folder)
    assert Wrf().checkpoint_faults(folder, 7200.0) == []
    assert "restart_interval = 90 -> 120" in start(folder, every_s=7200.0).changes
    with pytest.raises(RecipeError, match="each 1800 s come between whole seconds"):
        start(folder, every_s=1800.0)


def test_a_checkpoint_of_a_whole_second_is_good_whatever_follows(inputs):
    folder = inputs(f"{DAY}, history_interval = 60, restart_interval = 90", domains=ADAPTIVE)
    wanted = {"time": "20050828T030000", "files": ("wrfrst_d01_2005-08-28_03:00:00",)}
    assert "start_hour = 0 -> 3" in start(folder, **wanted).changes


@pytest.mark.parametrize(
    "changed",
    [{"time_step": "5"}, {"use_adaptive_time_step": "T", "time_step": "5"}],
)
def test_a_step_that_wrf_chooses_cannot_be_set(inputs, changed):
    own = ".true." if len(changed) == 1 else ".false."
    folder = inputs(EVERY_HOUR, domains=f"time_step = 10, use_adaptive_time_step = {own}")
    with pytest.raises(RecipeError, match=r"starting_time_step and max_time_step bound it"):
        start(folder, settings={f"namelist.domains.{key}": changed[key] for key in changed})


def test_a_step_may_be_set_where_wrf_is_to_choose_it_no_longer(inputs):
    folder = inputs(EVERY_HOUR, domains=f"time_step = 10, {ADAPTIVE}")
    settings = {"namelist.domains.use_adaptive_time_step": "F", "namelist.domains.time_step": "5"}
    assert "time_step = 10 -> 5" in start(folder, settings=settings).changes


def test_a_set_step_with_restart_files_between_whole_seconds_is_refused(inputs):
    step = "time_step = 20, time_step_fract_num = 1, time_step_fract_den = 2"
    folder = inputs(EVERY_HOUR, domains=step)
    with pytest.raises(RecipeError, match="come between whole seconds"):
        start(folder, settings={"namelist.domains.time_step": "13"})


@pytest.mark.parametrize(
    ("times", "step", "warnings"),
    [
        ("history_interval = 60, restart_interval = 60", "time_step = 60", []),
        ("history_interval = 30, restart_interval = 60", "time_step = 60", []),
        ("history_interval = 50, restart_interval = 60", "time_step = 60",
         ["after a restart at 3600 s frames of d01 come every 2400 s"]),
        ("history_interval = 60, auxhist2_interval = 45, restart_interval = 60", "time_step = 60",
         ["frames of auxhist2_d01 come every 1800 s"]),
        ("history_interval = 60, restart_interval = 60", "time_step = 54",
         ["no multiple of the time step of 54 s: .*the first at 3618 s"]),
        ("history_interval = 60", "time_step = 54", []),
    ],
)  # fmt: skip
def test_what_continuing_changes_is_said_before_the_run(inputs, times, step, warnings):
    found = Wrf().checkpoint_warnings(inputs(f"{DAY}, {times}", domains=step))
    assert len(found) == len(warnings)
    for text, message in zip(found, warnings, strict=True):
        assert re.search(message, text)


@pytest.mark.parametrize(
    ("times", "step", "unit_s"),
    [
        ("history_interval = 60", "time_step = 60", 3600),
        ("history_interval = 60, auxhist2_interval = 50", "time_step = 60", 18000),
        ("history_interval = 60", "time_step = 54", 10800),
        ("history_interval = 1",
         "time_step = 13, time_step_fract_num = 1, time_step_fract_den = 3", 120),
        ("history_interval = 60", ADAPTIVE, 3600),
        ("run_days = 1", "time_step = 54", None),
    ],
)  # fmt: skip
def test_checkpoints_should_come_at_times_of_all_frames_and_at_steps(inputs, times, step, unit_s):
    assert Wrf().facts(inputs(f"{DAY}, {times}", domains=step)).checkpoint_unit_s == unit_s
