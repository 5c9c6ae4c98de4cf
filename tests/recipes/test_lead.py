"""How long before its job ends the model is asked to stop, and by what."""

from __future__ import annotations

import pytest

from burstlens.core.errors import RecipeError
from burstlens.workflows.models.continuation import StopBy
from burstlens.workflows.recipe.lead import lead_s

COMMAND = """\
[simulation]
model = "command"
command = ["./model.sh"]
frames = "out_*.nc"
inputs = "inputs"
[checkpoint]
{keys}
"""


@pytest.mark.parametrize(
    ("walltime_s", "given_s", "cost_s", "wanted_s"),
    [
        (60.0, None, None, 15.0),
        (3600.0, None, None, 60.0),
        (3600.0, 300.0, None, 300.0),
        (60.0, 50.0, 0.1, 50.0),
        (3600.0, None, 0.1, 40.2),
        (3600.0, None, 120.0, 280.0),
        (60.0, None, 0.1, 15.2),
        (60.0, None, 300.0, 30.0),
    ],
)
def test_the_lead_is_the_given_one_or_follows_from_what_checkpoints_took(
    walltime_s, given_s, cost_s, wanted_s
):
    assert lead_s(walltime_s, given_s, cost_s) == pytest.approx(wanted_s)


def test_a_given_lead_that_leaves_no_time_is_refused():
    with pytest.raises(RecipeError, match=r"longer simulation\.walltime"):
        lead_s(60.0, 60.0, None)


@pytest.mark.parametrize(
    ("keys", "wanted"),
    [
        ('stop_by = "SIGUSR1"', StopBy(signal="SIGUSR1")),
        ('stop_by = { file = "run/STOP" }', StopBy(file="run/STOP")),
        ("keep = 3", None),
    ],
)
def test_a_recipe_says_how_its_program_is_asked_to_stop(recipe, keys, wanted):
    assert recipe(text=COMMAND.format(keys=keys)).stop_by == wanted


@pytest.mark.parametrize(
    "value",
    ['{ file = "../STOP" }', '{ file = "/STOP" }', '{ file = "*" }', '{ file = "" }',
     '{ file = "." }', "{}", '"SIGKILL"', '"STOP"', "12"],
)  # fmt: skip
def test_other_ways_to_ask_are_refused(recipe, value):
    with pytest.raises(RecipeError, match="stop_by"):
        recipe(text=COMMAND.format(keys=f"stop_by = {value}"))
