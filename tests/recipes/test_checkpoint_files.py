"""The keys of a program's checkpoints: what a recipe may say, and what is refused where."""

from __future__ import annotations

import tomllib

import pytest

from burstlens.core.errors import RecipeError
from burstlens.workflows.models.continuation import Proof
from burstlens.workflows.plan.report import check_report
from burstlens.workflows.recipe.survey import survey

RECIPE = """\
[parameters]
dt = {{ type = "str", default = "1 s" }}

[simulation]
model = "{model}"
{command}
inputs = "inputs"
{keys}

[checkpoint]
{checkpoint}
"""
RESTART = 'restart_command = ["./model.sh", "{checkpoint}", "{step}"]'
STEPS = 'files = "state_{step}.nc"\nstep = "{dt}"'


def text(checkpoint: str = STEPS, keys: str = RESTART, model: str = "command") -> str:
    command = 'command = ["./model.sh"]' if model == "command" else ""
    return RECIPE.format(model=model, command=command, keys=keys, checkpoint=checkpoint)


def faults(recipe, *given: str) -> list[tuple[str, str]]:
    """The keys and messages of the faults of a recipe with that text."""
    with pytest.raises(RecipeError) as error:
        recipe(text=text(*given))
    return [(".".join(map(str, fault.path)), fault.message) for fault in error.value.faults]


def test_places_in_names_and_commands_are_not_taken_for_parameters(recipe):
    model = recipe(text=text()).model
    assert model.checkpoints.files == ("state_{step}.nc",)
    assert model.checkpoints.step_s == 1.0
    assert model.checkpoint_proof("state_1.nc") is Proof.FILE
    assert list(model.restart_command)[1:] == ["{checkpoint}", "{step}"]


def test_there_is_a_file_of_each_rank_unless_the_recipe_says_how_many(recipe):
    ranks = f"{RESTART}\nnodes = 2\nranks_per_node = 8"
    files = 'files = "state_{time}_{rank}.nc"'
    assert recipe(text=text(files, ranks)).model.checkpoint_tiles == 16
    assert recipe(text=text(f"{files}\ntiles = 4", ranks)).model.checkpoint_tiles == 4


@pytest.mark.parametrize(
    ("witness", "proof"),
    [
        ('"name"', Proof.NAME),
        ('"bytes"', Proof.FILE),
        ('{ flag = "{time}.ok" }', Proof.FLAG),
        ("{ log = 'saved (?P<time>.*)' }", Proof.LOG),
    ],
)
def test_files_of_any_kind_have_a_witness(recipe, witness, proof):
    checkpoint = f'files = ["sea_{{time}}", "ice_{{time}}"]\nwitness = {witness}'
    assert recipe(text=text(checkpoint)).model.checkpoint_proof("sea_1") is proof


@pytest.mark.parametrize(
    ("checkpoint", "keys", "place", "message"),
    [
        ('files = "state_{time}.bin"', RESTART, "checkpoint.witness", "is needed: 'state_{time}"),
        ('files = "state.nc"', RESTART, "checkpoint.files", "needs {time} or {step}"),
        ('files = "../state_{time}.nc"', RESTART, "checkpoint.files", "inside the model's folder"),
        ('files = "state_{dt}.nc"', RESTART, "checkpoint.files", "needs {time} or {step}"),
        ('files = "state_{step}.nc"', RESTART, "checkpoint.step", "the model time of one {step}"),
        ('step = "1 s"', "", "checkpoint.step", "goes with checkpoint.files"),
        ('witness = "name"', "", "checkpoint.witness", "goes with checkpoint.files"),
        ("", RESTART, "simulation.restart_command", "[checkpoint] files is needed as well"),
        (STEPS, "", "checkpoint.files", "simulation.restart_command is needed as well"),
        (f'{STEPS}\nevery = "1 s"', RESTART, "checkpoint.every", "put {every} into"),
        (f"{STEPS}\nwitness = {{}}", RESTART, "checkpoint.witness", "say one of flag and log"),
        (f'{STEPS}\nwitness = "log"', RESTART, "checkpoint.witness", "'bytes' or 'name'"),
        (STEPS, f'{RESTART}\nbegin = "1"', "simulation.begin", "expected a date"),
        ('stop_by = { file = "../../STOP" }', "", "checkpoint.stop_by.file", "inside the model's"),
        ('stop_by = "SIGKILL"', "", "checkpoint.stop_by", "'SIGHUP'"),
    ],
)
def test_what_does_not_go_together_is_refused_in_one_message(
    recipe, checkpoint, keys, place, message
):
    ((path, said),) = faults(recipe, checkpoint, keys)
    assert path == place
    assert message in said


@pytest.mark.parametrize("model", ["awm", "wrf"])
def test_models_with_names_of_their_own_take_none(recipe, model):
    ((path, said),) = faults(recipe, STEPS, "", model)
    assert path == "checkpoint.files"
    assert said == f"{model} has names of its own for them"


def test_a_misspelt_key_is_not_missed_as_well(recipe):
    found = dict(faults(recipe, STEPS, RESTART.replace("restart", "restat")))
    assert "restart_command" in found["simulation.restat_command"]
    assert "checkpoint.files" not in found


@pytest.mark.parametrize("checkpoint", ['files = "state.nc"', f"{STEPS}\nkeep = 0"])
def test_a_fault_of_the_names_is_not_followed_by_one_of_what_lacks_them(recipe_file, checkpoint):
    keys = f'{RESTART}\nsegments = "until done"\nretries = 1\non_failure = {{ set = {{}} }}'
    report = check_report(str(recipe_file(text(checkpoint, keys))), None, (), survey)
    (fault,) = report.faults
    assert fault.key.startswith("checkpoint.")
    assert report.errors == ()


@pytest.mark.parametrize("about", ['lead = "2 h"', 'every = "1 h"'])
def test_the_key_of_a_finding_is_said_once(recipe_file, about):
    file = recipe_file(text(about, ""))
    (finding,) = check_report(str(file), None, (), survey).errors
    assert finding.key.startswith("checkpoint.")
    assert "checkpoint." not in finding.message.partition(":")[0].partition(" ")[0]


def test_an_editor_knows_the_keys(validator):
    right = tomllib.loads(text('files = "{time}.nc"\nwitness = { flag = "{time}.ok" }'))
    assert not list(validator.iter_errors(right))
    wrong = tomllib.loads(text('files = 3\nwitness = { file = "{time}.ok" }'))
    paths = {tuple(error.path) for error in validator.iter_errors(wrong)}
    assert paths == {("checkpoint", "files"), ("checkpoint", "witness")}
