"""What `check` says of attempts that resume from each other's checkpoints."""

from __future__ import annotations

from dataclasses import replace

import pytest
from segments_case import AFTER, PARAMETERS, RECIPE

from burstlens.cluster_configs.site import choose
from burstlens.workflows.recipe.continuing import continuing
from burstlens.workflows.recipe.findings import ERROR, WARNING

COMMAND = """\
[simulation]
model = "command"
command = ["./model.sh"]
frames = "out_*.nc"
inputs = "inputs"
"""
EVERY = '[checkpoint]\nevery = "1 s"\n'


@pytest.fixture
def findings(recipe):
    """The levels and texts for a recipe of awm, or that text, on this machine or a cluster."""

    def make(segments=4, more="", keys="", text="", batch=False, placement="separate", given=""):
        text = text or RECIPE.format(segments=segments, keys=keys) + more
        made = recipe(text=text)
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
    ((level, text),) = findings(segments=segments, batch=batch)
    assert level == ERROR
    assert "awm would write no checkpoint" in text
    assert "[checkpoint] every asks for some" in text
    assert findings(segments=segments, batch=batch, more=EVERY) == []
    assert findings(segments=segments, batch=batch, given="[checkpoint]\nevery = 50\n") == []


def test_a_model_without_checkpoints_is_refused(findings):
    text = "simulation.segments: command cannot go on from a checkpoint"
    assert findings(text=COMMAND + "segments = 2\n") == [(ERROR, text)]
    text = "checkpoint.every: command cannot go on from a checkpoint"
    assert findings(text=COMMAND + EVERY) == [(ERROR, text)]


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
    assert "awm takes its parameters from awm.toml alone" in text
