"""How often checkpoints are proposed, and what is said where their cost is not known."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import pytest

from burstlens.cluster_configs.site import choose
from burstlens.core.quantity import parse_duration
from burstlens.workflows.models.continuation import Continuation
from burstlens.workflows.plan.checkpoint_interval import (
    NODE_MTBF_S,
    checkpoint_notes,
    interval_of,
    written,
)
from burstlens.workflows.recipe.findings import NOTE

NAMELIST = Path(__file__).parents[1] / "data" / "wrf" / "restart" / "A1" / "namelist.input"
RECIPE = """\
[simulation]
model = "wrf"
executable = "model.sh"
inputs = "inputs"
walltime = "{walltime}"
nodes = 4
{keys}
[[product]]
name = "t2"
kind = "map"
variable = "T2"
"""
HOUR = 3600.0


def test_it_is_youngs_square_root():
    found = interval_of(10.0, 20_000.0, 1e9)
    assert found.seconds == pytest.approx(math.sqrt(2 * 10 * 20_000))
    assert not found.is_bounded


def test_it_is_never_longer_than_a_third_of_the_walltime():
    found = interval_of(10.0, 1e9, 12 * HOUR)
    assert (found.seconds, found.is_bounded) == (4 * HOUR, True)


@pytest.fixture
def notes(recipe):
    """The notes on a WRF recipe on a cluster whose buffer takes that rate."""

    def make(keys="segments = 5", more="", walltime="12:00:00", rate=1000, mtbf=None, local=False,
             minutes=4):  # fmt: skip
        made = recipe(text=RECIPE.format(keys=keys, walltime=walltime) + more)
        text = NAMELIST.read_text().replace("run_minutes = 4", f"run_minutes = {minutes}")
        (made.inputs / "namelist.input").write_text(text)
        site = choose("local")
        site = replace(site, buffer=replace(site.buffer, node_rate=rate), node_mtbf=mtbf)
        if not local:
            viewing = replace(site.viewing, placement="separate")
            site = replace(site, scheduler="slurm", viewing=viewing)
        found = list(checkpoint_notes(made, site))
        assert {one.level for one in found} <= {NOTE}
        return made, [one.text for one in found]

    return make


def test_with_a_number_of_segments_it_is_in_model_time(notes):
    made, (text,) = notes(rate=10**6, mtbf=2000.0, walltime="00:10:00")
    facts = made.model.facts(made.inputs)
    seconds = math.sqrt(2 * facts.checkpoint_bytes / 1e6 * 2000.0 / 4)
    assert seconds < 200
    wanted = seconds * facts.total_s / (5 * 600)
    assert wanted < 30  # the frames' interval: a restart between two frames shifts them
    assert '"30 s" of the model is proposed' in text
    assert made.model.start(made.inputs, Continuation(every_s=parse_duration("30 s"))).changes
    assert "Young 1974 and Daly 2006" in text
    assert "walltime" not in text


@pytest.mark.parametrize("seconds", [1e-5, 0.0347, 0.5, 9.99, 20, 72, 1234, 4370, 4e4, 1e6])
@pytest.mark.parametrize("unit_s", [None, 30.0, 3000.0, 10800.0])
def test_a_proposal_can_be_given_in_a_recipe(seconds, unit_s):
    proposed = parse_duration(written(seconds, unit_s))
    if unit_s is None:
        assert 0.9 * seconds <= proposed <= seconds
    else:
        assert proposed % unit_s == 0
        assert proposed == unit_s or seconds - unit_s < proposed <= seconds


def test_a_proposal_for_wrf_is_one_that_it_takes(notes):
    made, (text,) = notes(rate=10**4, mtbf=1e7, minutes=60)
    every_s = parse_duration(re.search(r'"([^"]+)" of the model is proposed', text)[1])
    assert every_s > 60  # more than one interval of frames
    assert made.model.checkpoint_warnings(made.inputs, every_s) == []
    assert made.model.start(made.inputs, Continuation(every_s=every_s)).changes


def test_without_a_number_of_jobs_it_is_in_computing_time(notes):
    _, (text,) = notes(keys='segments = "until done"')
    assert "one every 4 h 00 min of computing is proposed; the key is in model time" in text
    assert "a third of the walltime of 12 h 00 min is less" in text


def test_an_assumed_mean_time_between_failures_is_said(notes):
    _, (text,) = notes()
    assert "(assumed: the site has no node_mtbf)" in text
    _, (text,) = notes(mtbf=NODE_MTBF_S)
    assert "assumed" not in text


def test_what_is_missing_is_named(notes):
    _, (text,) = notes(rate=None)
    assert text.endswith("not known are how fast one is written (buffer.node_rate of local)")


@pytest.mark.parametrize(
    "about",
    [
        {"keys": ""},
        {"more": '[checkpoint]\nevery = "1 h"\n'},
        {"local": True, "rate": None},
    ],
)
def test_nothing_is_proposed_where_nothing_is_to_be_chosen(notes, about):
    assert notes(**about)[1] == []


def test_a_run_that_is_tried_again_needs_checkpoints_too(notes):
    assert len(notes(keys="retries = 2")[1]) == 1
