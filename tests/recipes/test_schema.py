"""The schema accepts what ``check`` accepts, and refuses wrong shapes."""

from __future__ import annotations

import json
import tomllib
from functools import cache

import pytest

from burstlens.workflows.recipe.file import BUILT_IN
from burstlens.workflows.recipe.schema import recipe_schema

pytestmark = pytest.mark.integration

schema = cache(recipe_schema)
SHIPPED = sorted([*BUILT_IN.glob("*.toml"), *BUILT_IN.glob("*/recipe.toml")])
BASE = '[simulation]\nmodel = "command"\ncommand = ["./model.sh"]\ninputs = "inputs"\n'
PRODUCT = '[[product]]\nname = "t2"\nkind = "map"\nvariable = "T2"\n'
GUARD = '[[guard]]\nvariable = "W"\n'
STEP = '[[step]]\nname = "real"\ncommand = ["./real"]\nbefore = "simulation"\n'

RIGHT = {
    "the least": BASE,
    "tables of all sorts": BASE + PRODUCT + GUARD + STEP,
    "placeholders": BASE + 'nodes = "{nodes}"\nmpiio_report = "{report}"\nwalltime = "{w}"\n'
    '[buffer]\nraw = "{raw}"\nreserve = "{part}"\n'
    + PRODUCT
    + 'every = "{n}"\nlimits = ["{n}", 2]\nwidth_px = "{w}"\nsmooth = "{s}"\n'
    'contours = [{ variable = "{v}", level = "{l}", levels = ["{a}", 2] }]\n'
    "crop = { index = { west_east = ['{a}', '{b}'] }, stride = '{s}' }\n"
    + GUARD
    + 'max = "{most}"\nthen = "{then}"\n',
    "extends alone": 'extends = "base"\n',
    "parts of what is extended": 'extends = "base"\n[simulation]\nnodes = 4\n[[product]]\n'
    'name = "t2"\ncontours = { interval = 2 }\n[[guard]]\nname = "a"\nthen = "stop"\n'
    '[[step]]\nname = "b"\nwalltime = 3\n',
    "the former name of command": BASE.replace("command =", "argv ="),
    "a union": BASE + PRODUCT + 'contours = { variable = "P" }\nnests = ["d02"]\nlimits = [1, 2]\n',
    "sizes": BASE + "walltime = 60\n[buffer]\ncapacity = 1000\n",
    "drift": BASE + GUARD + 'max_drift = "5 %"\n',
}
WRONG = {
    "nothing": "",
    "no model": '[simulation]\ninputs = "x"\n',
    "an unknown model": BASE.replace('"command"', '"comand"'),
    "no inputs": BASE.replace("inputs", "input"),
    "another model's key": BASE + 'executable = "wrf.exe"\n',
    "an unknown table": BASE + "[bufer]\n",
    "an unknown key": BASE + "[buffer]\ncapcity = 3\n",
    "a number out of range": BASE + "nodes = 0\n",
    "a text for a number": BASE + 'nodes = "many"\n',
    "a text for a truth value": BASE + 'mpiio_report = "yes"\n',
    "another word": BASE + '[buffer]\nraw = "forget"\n',
    "an empty command": BASE.replace('["./model.sh"]', "[]"),
    "a name with a space": BASE + PRODUCT.replace('"t2"', '"t 2"'),
    "a pattern that leads out": BASE + '[stage_out]\nkeep = ["../x"]\n',
    "an absolute pattern": BASE + 'leave = ["/x"]\n',
    "an unknown kind": BASE + PRODUCT.replace('"map"', '"mapp"'),
    "another kind's key": BASE + PRODUCT + "compression = 3\n",
    "no variable": BASE + PRODUCT.replace('variable = "T2"\n', ""),
    "no name": BASE + PRODUCT.replace('name = "t2"\n', ""),
    "no kind": BASE + PRODUCT.replace('kind = "map"\n', ""),
    "a key of a table in a table": BASE + PRODUCT + "crop = { strid = 2 }\n",
    "a table in a table that lacks a key": BASE + PRODUCT + "contours = { interval = 2 }\n",
    "a guard of two things": BASE + GUARD + 'log = "x"\n',
    "a guard of nothing": BASE + '[[guard]]\nthen = "stop"\n',
    "a guard's key of another": BASE + '[[guard]]\nlog = "x"\nmax = 3\n',
    "a step without a phase": BASE + STEP.replace('before = "simulation"\n', ""),
    "a step of two phases": BASE + STEP + 'after = "simulation"\n',
    "one bracket": BASE + PRODUCT.replace("[[product]]", "[product]"),
    "a parameter of an unknown type": BASE + "[parameters]\nn = { type = 'number' }\n",
    "extends and an unknown key": 'extends = "base"\n[[product]]\nname = "a"\nvariabel = "x"\n',
    "extends and a wrong kind": 'extends = "base"\n[[product]]\nname = "a"\nkind = "mapp"\n',
}


@pytest.fixture
def faults(validator):
    return lambda text: [error.message for error in validator.iter_errors(tomllib.loads(text))]


def test_it_is_a_schema_of_its_draft_with_an_id(validator):
    validator.check_schema(schema())
    assert schema()["$id"]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: str(path.relative_to(BUILT_IN)))
def test_each_recipe_that_ships_passes_and_names_the_schema(faults, path):
    text = path.read_text()
    assert faults(text) == []
    first = text.splitlines()[0]
    assert first.startswith("#:schema ")
    assert (path.parent / first.split()[1]).resolve() == (BUILT_IN / "recipe.schema.json").resolve()


@pytest.mark.parametrize("what", RIGHT)
def test_what_is_right_passes(faults, what):
    assert faults(RIGHT[what]) == []


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_by_shape_is_refused(validator, what):
    assert not validator.is_valid(tomllib.loads(WRONG[what]))


def properties(node, path=""):
    if isinstance(node, dict):
        if isinstance(node.get("properties"), dict) and node.get("type") == "object":
            for name, one in node["properties"].items():
                yield f"{path}.{name}", one
        for key, value in node.items():
            yield from properties(value, f"{path}.{key}")
    elif isinstance(node, list):
        for number, value in enumerate(node):
            yield from properties(value, f"{path}.{number}")


def test_every_key_has_a_description():
    assert [path for path, one in properties(schema()) if not one.get("description")] == []


def test_defaults_are_those_of_the_tables():
    simulation = schema()["properties"]["simulation"]["properties"]
    assert simulation["nodes"]["default"] == 1
    assert schema()["$defs"]["kind-map.part"]["properties"]["smooth"]["default"] is False


def test_the_file_that_ships_has_the_same_keys():
    shipped = json.loads((BUILT_IN / "recipe.schema.json").read_text())
    assert {path for path, _ in properties(shipped)} == {path for path, _ in properties(schema())}
