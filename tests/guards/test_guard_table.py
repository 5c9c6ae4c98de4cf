"""``[[guard]]`` in a recipe: its keys, all faults at once, names, texts."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import burstlens
from burstlens.core.errors import OptionsError, RecipeError
from burstlens.workflows.guards.guard import VariableGuard
from burstlens.workflows.recipe.load import load
from burstlens.workflows.recipe.schema import recipe_schema

DATA = Path(__file__).parents[1] / "data"
BASE = """
title = "Any program"
[simulation]
model = "command"
command = ["./model.sh"]
frames = "out_*.nc"
inputs = "inputs"
"""


@pytest.fixture
def guards(recipe_file):
    """The guards of a recipe with these tables."""

    def make(tables: str, *settings: str):
        recipe, _ = load(str(recipe_file(BASE + tables)), settings)
        return recipe.guards

    return make


@pytest.fixture
def faults(guards):
    def find(tables: str) -> str:
        with pytest.raises(RecipeError) as raised:
            guards(tables)
        return str(raised.value)

    return find


def test_a_variable_on_its_own_is_checked_for_values_that_are_not_finite(guards):
    (one,) = guards('[[guard]]\nvariable = "W"\n')
    assert (one.called, one.finite, one.then, one.stops) == ("W", True, "alarm", False)
    assert one.text == "W: finite"


def test_guards_without_a_name_get_a_unique_name_from_what_they_watch(guards):
    found = guards(
        '[[guard]]\nvariable = "W"\n[[guard]]\nname = "W"\nvariable = "T2"\n'
        '[[guard]]\nvariable = "W"\nmax = 80.0\n[[guard]]\nlog = "cfl"\n'
        '[[guard]]\nexpression = "max(W) > 3"\n[[guard]]\nstall = 4\n'
    )
    names = [one.called for one in found]
    assert names == ["W-2", "W", "W-3", "log-cfl", "expression", "stall"]


def test_a_named_guard_is_set_by_its_dotted_path_and_merged_by_an_extending_recipe(
    guards, recipe_file, tmp_path
):
    table = '[[guard]]\nname = "updraft"\nvariable = "W"\nmax = 80.0\n'
    (one,) = guards(table, "guard.updraft.max=90")
    assert one.max == 90
    recipe_file(BASE + table, "below.toml")
    above = tmp_path / "above.toml"
    above.write_text('extends = "below.toml"\n[[guard]]\nname = "updraft"\nthen = "stop"\n')
    recipe, _ = load(str(above))
    assert [(g.called, g.max, g.then) for g in recipe.guards] == [("updraft", 80.0, "stop")]


@pytest.mark.parametrize(
    ("table", "path", "words"),
    [
        ("max = 3.0", "guard.0", "say one of variable, expression, log"),
        ('variable = "W"\nlog = "x"', "guard.0.variable", "not variable and log"),
        ('variable = "W"\nmin = 3\nmax = 2', "guard.0.min", "min 3 must be below max 2"),
        ('variable = "W"\nmax = nan', "guard.0.max", "finite number"),
        ('variable = "W"\nmax = inf', "guard.0.max", "finite number"),
        ('variable = "W"\nmax = "80"\nmaxx = 3', "guard.0.maxx", "did you mean max"),
        ('variable = "W"\nfinite = false', "guard.0.finite", "needs min, max"),
        ('variable = "W"\nmax_drift = "5 K"', "guard.0.max_drift", '"5 %"'),
        ('variable = "W"\nmax_drift = "1.2.3 %"', "guard.0.max_drift", '"5 %"'),
        ('variable = "W"\nmax_rate = -1', "guard.0.max_rate", "greater than 0"),
        ('variable = "W"\ncount = 3', "guard.0.count", "count needs log"),
        ('log = "x"\nlevel = 3', "guard.0.level", "level and crop need variable or expression"),
        (
            'variable = "W"\ncrop = { follow = "track:storm", half_width = 3 }',
            "guard.0.crop.follow",
            "a guard looks at a frame before any product, so it cannot follow a track",
        ),
        ('log = "x"\nmax = 3.0', "guard.0.max", "max needs variable"),
        ('log = "(a"', "guard.0.log", "is not a regular expression"),
        ('log = ""', "guard.0.log", "1 to 500 characters"),
        ("stall = 1.0", "guard.0.stall", "greater than 1"),
        ("buffer_full_in = 0", "guard.0.buffer_full_in", "greater than or equal to 1"),
        ('expression = "W > 3"', "guard.0.expression", "any(...) or all(...)"),
        ('variable = "W"\nthen = "halt"', "guard.0.then", "'alarm', 'stop' or 'stop-now'"),
        ('variable = "W"\nmail = "me@here -oQ/x"', "guard.0.mail", "is not an address"),
        ('variable = "W"\nwebhook = "file:///etc/passwd"', "guard.0.webhook", "is not an https://"),
        ('variable = "W"\nwebhook = "https://"', "guard.0.webhook", "is not an https://"),
        ('variable = "W"\nrun = [""]', "guard.0.run", "names a program"),
        ('name = "a b"\nvariable = "W"', "guard.a b.name", "1 to 64 letters"),
    ],
)
def test_a_fault_is_reported_with_its_path(faults, table, path, words):
    text = faults(f"[[guard]]\n{table}\n")
    assert f"  {path}  " in text
    assert words in text


def test_all_faults_of_all_guards_are_reported_at_once(faults):
    text = faults(
        '[[guard]]\nmax = 3.0\n[[guard]]\nvariable = "W"\nmin = 2\nmax = 1\ncount = 3\n'
        '[[guard]]\nexpression = "open(W)"\n'
    )
    assert "has 4 faults" in text
    assert "guard.1.count       count needs log" in text
    assert "guard.1.min         min 2 must be below max 1" in text
    assert "there is no function 'open'" in text


TABLES = [json.loads(line) for line in (DATA / "guard_tables.jsonl").read_text().splitlines()]


@pytest.mark.parametrize(("table", "expected"), TABLES, ids=range(len(TABLES)))
def test_random_tables_give_the_faults_or_the_guard_that_they_gave_in_0_2(guards, table, expected):
    """Recorded when a guard was one class. Of pydantic's own messages only the key is compared."""
    try:
        (one,) = guards(f"[[guard]]\n{table}")
        found = f"{one.called}: {one.text}"
    except RecipeError as error:
        lines = [" ".join(line.split()[1:]) for line in str(error).splitlines()[1:]]
        found = [re.sub(" (input should|expected).*", r" \1", line) for line in lines]
    assert found == expected


def test_a_guard_in_python_takes_the_keys_of_a_table_and_is_of_the_kind_that_they_select():
    one = burstlens.Guard(variable="W", max=80.0, count=1, log=None)
    assert isinstance(one, VariableGuard)
    assert isinstance(one, burstlens.Guard)
    assert replace(one, name="updraft").called == "updraft"
    with pytest.raises(OptionsError) as raised:
        burstlens.Guard(stall=3.0, count=2, max=80.0, run=("",))
    faults = "max needs variable", "count needs log", "run: the first word names a program"
    assert raised.value.faults == faults
    with pytest.raises(TypeError, match="unexpected keyword argument 'maxx'"):
        burstlens.Guard(variable="W", maxx=80.0)


def test_a_key_of_another_kind_of_guard_can_be_read_until_0_4_with_a_warning():
    one = burstlens.Guard(stall=3.0)
    with pytest.warns(DeprecationWarning, match="a guard of stall has no max"):
        assert one.max is None
    with pytest.raises(AttributeError, match="has no attribute 'maxx'"):
        one.maxx  # noqa: B018


def test_drift_is_in_units_or_a_part(guards):
    one, two = guards(
        '[[guard]]\nvariable = "T"\nmax_drift = 0.5\n[[guard]]\nvariable = "T"\nmax_drift = "5 %"\n'
    )
    assert one.drift == (0.5, False)
    assert two.drift == (0.05, True)


def test_the_schema_describes_every_key_of_a_guard():
    items = recipe_schema()["properties"]["guard"]["items"]
    assert {"variable", "expression", "log", "stall", "buffer_full_in", "then", "webhook"} <= set(
        items["properties"]
    )
    assert all(entry.get("description") for entry in items["properties"].values())
    json.dumps(items)


def test_check_and_the_plan_say_what_a_recipe_would_run_or_contact(recipe_file, burstlens):
    path = recipe_file(
        BASE + '[[guard]]\nvariable = "W"\nthen = "stop"\nrun = ["page", "me"]\n'
        'webhook = "https://example.org/hook"\nmail = "me@example.org"\n'
    )
    report = burstlens("check", str(path)).stdout
    for what in ("run page me", "post to https://example.org/hook", "write to me@example.org"):
        assert f"guard.W: when it trips it would {what}; allow that in" in report
    plan = burstlens("run", str(path), "--dry-run").stdout
    assert "W: finite; else asks for stop, runs page me" in plan


def test_check_says_that_allowed_actions_will_be_done(recipe_file, burstlens, tmp_path):
    config = tmp_path / "config" / "burstlens" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[guards]\nallow = ["run"]\n')
    path = recipe_file(BASE + '[[guard]]\nvariable = "W"\nrun = ["page", "me"]\n')
    env = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    assert "when it trips it will run page me" in burstlens("check", str(path), env=env).stdout
    config.write_text('[guards]\nallow = ["everything"]\n')
    refused = burstlens("check", str(path), env=env)
    assert refused.returncode == 1
    assert "guards.allow is a list of run, mail, webhook" in refused.stderr


@pytest.mark.integration
def test_guards_import_neither_numpy_nor_netcdf_on_the_login_node():
    code = (
        "import sys, burstlens.workflows.ordering.guarding, burstlens.workflows.deciding.launched; "
        "print([m for m in ('numpy', 'netCDF4', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
