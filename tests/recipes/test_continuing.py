"""What `check` says of attempts that resume from each other's checkpoints."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from segments_case import AFTER, PARAMETERS, RECIPE

from burstlens.cluster_configs.site import choose
from burstlens.workflows.awm.adapter import Awm
from burstlens.workflows.recipe.continuing import continuing
from burstlens.workflows.recipe.findings import ERROR, NOTE, WARNING

DATA = Path(__file__).parents[1] / "data"
COMMAND = """\
[simulation]
model = "command"
command = ["./model.sh"]
frames = "out_*.nc"
inputs = "inputs"
"""
RESTARTED = """\
[simulation]
model = "command"
command = ["./model.sh"{until}]
restart_command = ["./model.sh", "{{checkpoint}}"{until}]
frames = "out_*.nc"
inputs = "inputs"
segments = {segments}
[checkpoint]
files = "state_{{time}}.nc"
"""
EVERY = '[checkpoint]\nevery = "1 s"\n'


class NeverAsked(Awm):
    """awm, if nothing could ask it for a checkpoint."""

    __slots__ = ()
    stop_by = None


@pytest.fixture
def findings(recipe):
    """The levels and texts for a recipe of awm, or that text, on this machine or a cluster."""

    def make(
        segments=4, more="", keys="", text="", batch=False, placement="separate", given="",
        model=None,
    ):  # fmt: skip
        text = text or RECIPE.format(segments=segments, keys=keys) + more
        made = recipe(text=text)
        made = replace(made, model=model or made.model)
        (made.inputs / "awm.toml").write_text(PARAMETERS + given)
        site = choose("local")
        if batch:
            viewing = replace(site.viewing, placement=placement)
            site = replace(site, scheduler="slurm", viewing=viewing)
        return [(one.level, one.text) for one in continuing(made, site)]

    return make


def test_a_run_in_one_piece_has_none(findings):
    assert findings(segments=1) == []


def test_a_run_that_can_be_cut_has_none(findings):
    assert findings(segments=4) == []
    assert findings(segments=4, more=EVERY, batch=True) == []


def test_more_parts_than_there_are_steps_are_refused(findings):
    text = "simulation.segments: a run of 400 steps cannot be cut into 401 parts"
    assert findings(segments=401) == [(ERROR, text)]


@pytest.mark.parametrize(("segments", "batch"), [(3, True), ('"until done"', False)])
def test_jobs_that_leave_no_checkpoint_are_refused_unless_something_asks_for_some(
    findings, segments, batch
):
    about = {"segments": segments, "batch": batch, "model": NeverAsked()}
    ((level, text),) = findings(**about)
    assert level == ERROR
    assert "awm would write no checkpoint" in text
    assert "[checkpoint] every asks for some" in text
    assert findings(**about, more=EVERY) == []
    assert findings(**about, given="[checkpoint]\nevery = 50\n") == []
    assert findings(segments=segments, batch=batch) == []  # awm is asked for one


@pytest.mark.parametrize("stop_by", ['"SIGUSR1"', '{ file = "STOP" }'])
def test_a_model_that_is_asked_in_its_own_way_takes_no_other(findings, stop_by):
    ((level, text),) = findings(more=f"[checkpoint]\nstop_by = {stop_by}\n")
    assert (level, text) == (
        ERROR, "checkpoint.stop_by: awm is asked in its own way: leave it out"
    )  # fmt: skip


def test_of_a_program_whose_end_is_not_in_its_log_a_stop_is_not_told_from_an_end(findings):
    asked = '[checkpoint]\nstop_by = "SIGUSR1"\n'
    ((level, text),) = findings(text=COMMAND + asked)
    assert level == WARNING
    assert "without simulation.done" in text
    assert findings(text=COMMAND + 'done = "SUCCESS"\n' + asked) == []


def test_a_lead_that_leaves_no_time_is_refused(findings):
    lead = '[checkpoint]\nlead = "10 min"\n'
    ((level, text),) = findings(more=lead, keys='walltime = "00:10:00"')
    assert level == ERROR
    assert text.startswith("checkpoint.lead is 600 s, and the job has 600 s")
    assert findings(more=lead, keys='walltime = "00:11:00"') == []


def test_a_program_whose_recipe_does_not_say_how_it_continues_is_refused(findings):
    ((level, text),) = findings(text=COMMAND + "segments = 2\n")
    assert level == ERROR
    assert text.startswith("simulation.segments: the recipe does not say how the program continues")
    ((_, text),) = findings(text=COMMAND + EVERY)
    assert text.startswith("checkpoint.every: the recipe does not say how")


def test_a_program_is_cut_by_walltime_but_by_model_time_only_if_it_takes_that(findings):
    assert findings(text=RESTARTED.format(until="", segments='"until done"'), batch=True) == []
    assert findings(text=RESTARTED.format(until="", segments=3), batch=True) == []
    ((level, text),) = findings(text=RESTARTED.format(until="", segments=3))
    assert level == ERROR
    assert "cut by the walltime of its jobs alone" in text
    stops = RESTARTED.format(until=', "{until}"', segments='3\nlength = "9 s"')
    assert findings(text=stops) == []


def test_settings_of_a_program_on_failure_are_refused(findings):
    keys = '1\nretries = 1\non_failure = { set = { "dt" = 20 } }'
    ((level, text),) = findings(text=RESTARTED.format(until="", segments=keys))
    assert level == ERROR
    assert text.startswith("simulation.on_failure: ")
    assert "dt: no setting of a command can be changed" in text


def test_a_buffer_that_ends_with_its_job_is_as_good_as_another_one(findings):
    assert findings(segments=3, more=EVERY, batch=True, placement="same-job") == []


def test_a_step_after_the_simulation_is_warned_of(findings):
    ((level, text),) = findings(segments=4, more=AFTER)
    assert level == WARNING
    assert "step.peak: it runs in the folder of one attempt" in text


def test_settings_on_failure_that_the_model_does_not_take_are_refused(findings):
    keys = 'retries = 1\non_failure = { set = { "namelist.domains.time_step" = 20 } }'
    ((level, text),) = findings(segments=1, keys=keys)
    assert level == ERROR
    assert "awm takes its parameters from awm.toml alone: start another run with" in text


def test_settings_on_failure_without_retries_have_no_effect(findings):
    keys = "1\non_failure = { set = {} }"
    ((level, text),) = findings(text=RESTARTED.format(until="", segments=keys))
    assert level == WARNING
    assert text.startswith("simulation.on_failure: without simulation.retries")
    assert findings(text=RESTARTED.format(until="", segments=f"{keys}\nretries = 1")) == []


def test_a_program_without_checkpoints_takes_no_settings_on_failure(findings):
    keys = 'retries = 1\non_failure = { set = { "dt" = 20 } }\n'
    ((level, text),) = findings(text=COMMAND + keys)
    assert level == ERROR
    assert text.startswith("simulation.on_failure: the recipe does not say how the program")


WRF = """\
[simulation]
model = "wrf"
executable = "model.sh"
inputs = "inputs"
ranks_per_node = {ranks}
"""


@pytest.mark.parametrize("ranks", [1, 2])
def test_inputs_in_tiles_of_other_ranks_are_refused(recipe, ranks):
    """``F2``: written by 2 ranks; with 1 the real WRF hung in its first step."""
    made = recipe(text=WRF.format(ranks=ranks))
    shutil.copy(DATA / "wrf" / "restart" / "F2" / "namelist.input", made.inputs)
    for rank in ("0000", "0001"):
        (made.inputs / f"wrfrst_d01_0001-01-01_00:02:00_{rank}").touch()
    found = [(one.level, one.path) for one in continuing(made, choose("local"))]
    assert found == ([] if ranks == 2 else [(ERROR, "simulation.ranks_per_node")])


NAMELIST = """\
&time_control
 start_year = 2005, start_month = 8, start_day = 28, start_hour = 0, run_hours = 24,
 history_interval = 50, restart_interval = 60
/
&domains
 time_step = 60 {more}
/
"""


@pytest.fixture
def of_wrf(recipe):
    """The levels, keys and texts for a recipe of WRF with these keys, on a cluster or here."""

    def make(keys, more="", batch=True):
        made = recipe(text=WRF.format(ranks=1) + keys)
        (made.inputs / "namelist.input").write_text(NAMELIST.format(more=more))
        site = choose("local")
        if batch:
            viewing = replace(site.viewing, placement="separate")
            site = replace(site, scheduler="slurm", viewing=viewing)
        return [(one.level, one.path, one.text) for one in continuing(made, site)]

    return make


def test_frames_that_a_restart_shifts_are_warned_of(of_wrf):
    ((level, path, text),) = of_wrf('segments = "until done"\n')
    assert (level, path) == (WARNING, "simulation.segments")
    assert "after a restart at 3600 s frames of d01 come every 2400 s" in text
    found = of_wrf('segments = "until done"\n[checkpoint]\nevery = "100 min"\n')
    assert [level for level, *_ in found] == [NOTE]


@pytest.mark.parametrize(("step", "levels"), [(7, [ERROR]), (50, [])])
def test_a_step_on_failure_that_does_not_meet_the_cuts_is_refused(of_wrf, step, levels):
    keys = f'segments = 3\nretries = 1\non_failure.set."namelist.domains.time_step" = {step}\n'
    found = of_wrf(f'{keys}[checkpoint]\nevery = "100 min"\n', batch=False)
    assert [level for level, path, _ in found if path == "simulation.on_failure"] == levels


def test_what_is_wrong_without_settings_on_failure_is_no_finding_on_them(of_wrf):
    keys = 'retries = 1\non_failure.set."namelist.domains.time_step" = 50\n'
    found = of_wrf(f'{keys}[checkpoint]\nevery = "0.5 s"\n')
    assert [(level, path) for level, path, _ in found] == [(ERROR, "checkpoint.every")]


def test_restart_files_without_a_time_are_refused(of_wrf):
    adaptive = ", use_adaptive_time_step = .true."
    ((level, path, text),) = of_wrf('segments = "until done"\n', adaptive)
    assert (level, path) == (ERROR, "simulation.segments")
    assert "the times of history alone" in text


def test_findings_on_an_interval_without_segments_are_about_its_key(of_wrf):
    ((level, path, text),) = of_wrf('[checkpoint]\nevery = "0.5 s"\n')
    assert (level, path) == (ERROR, "checkpoint.every")
    assert text.startswith("checkpoint.every: ")
    ((level, path, _),) = of_wrf('[checkpoint]\nevery = "100 min"\n')
    assert (level, path) == (NOTE, "checkpoint.every")
