"""Recipes with values that nobody means: each is a fault at its key, none an error of Python."""

from __future__ import annotations

import json
import random

import pytest
from recipe_texts import RIGHT

from burstlens.core.errors import RecipeError
from burstlens.workflows.plan.report import check_report
from burstlens.workflows.recipe.load import load
from burstlens.workflows.recipe.survey import survey

pytestmark = pytest.mark.integration

HOSTILE = [
    "1e999", "-1e999", "inf", "-inf", "nan", "99999999999999999999", "9223372036854775807", "-1",
    "0", "1e308", "5e-324", "[]", "{}", "true", "[[]]", "[inf,nan]", "[nan,1.0]", "[1e308,-1e308]",
    "2000-01-01", "{i=99999999999999999999}", "[" * 3000 + "]" * 3000, '["x", 1]', '[""]',
    "{lon=[inf,nan],lat=[1e308,1e309]}",
    *(json.dumps(text) for text in (
        "", "\0", "1e999", "inf", "nan h", "9" * 400 + " GiB", "9" * 5000 + " GiB",
        "9" * 400 + ":00:00", "9" * 5000 + ":00", "9" * 400 + " h", "9" * 5000, "(" * 3000,
        "(" * 3000 + "W" + ")" * 3000, "[" * 3000, "{" * 3000, "(a+)+$", "(?P<file>(?P<file>x))",
        "(?P<elapsed>a{99999999999})", "(?P<file>((a{1000}){1000}){1000})", "x{1,4294967295}",
        "-" * 3000 + "W", "W" + "+W" * 3000, "W**99999999", "2**99999", "W*1e999", "W>" + "1" * 400,
        "not " * 2000 + "W", "min(" * 200 + "W" + ")" * 200, "/" * 5000, "a" * 100_000, "../../x",
    )),
]  # fmt: skip
MORE = """\
written = "wrote (?P<file>.*)"
trouble = "ERROR"
progress = "(?P<elapsed>.*)"
done = "done"
walltime = "01:00:00"
"""
TEXT = RIGHT.replace('nodes = "{nodes}"\n', f'nodes = "{{nodes}}"\n{MORE}')


@pytest.fixture
def check(tmp_path):
    def report(text):
        (tmp_path / "inputs").mkdir(exist_ok=True)
        (tmp_path / "it.toml").write_text(text)
        return check_report(str(tmp_path / "it.toml"), "local", (), survey)

    return report


def with_value(number, value):
    lines = TEXT.splitlines()
    lines[number] = f"{lines[number].partition('=')[0]}= {value}"
    return "\n".join(lines) + "\n"


KEYS = [n for n, line in enumerate(TEXT.splitlines()) if "=" in line and line[0] != "["]


@pytest.mark.parametrize("part", range(4))
def test_no_value_at_no_key_is_more_than_a_fault(check, part):
    pairs = [(key, value) for key in KEYS for value in HOSTILE]
    for key, value in random.Random(part).sample(pairs, 15):
        check(with_value(key, value))  # nothing but its report: no other error


@pytest.mark.slow
@pytest.mark.parametrize("key", KEYS)
def test_no_value_at_any_key_is_more_than_a_fault(check, key):
    for value in HOSTILE:
        check(with_value(key, value))


@pytest.mark.parametrize(("key", "value"), [
    ("simulation.done", json.dumps("(" * 3000)), ("simulation.trouble", "'x{2}{9999999999999}'"),
    ("simulation.written", '"(?P<file>((a{1000}){1000}){1000})"'),
    ("simulation.inputs", json.dumps("a" * 5000)), ("simulation.walltime", "1e999"),
    ("simulation.walltime", "nan"), ("simulation.walltime", "9" * 30),
    ("simulation.walltime", json.dumps("9" * 400 + ":00")),
    ("simulation.environment", "[" * 3000 + "]" * 3000),
])  # fmt: skip
def test_it_is_a_fault_at_its_key_with_file_and_line(tmp_path, key, value):
    path = tmp_path / "it.toml"
    name = key.removeprefix("simulation.")
    line = f"{name} = {value}"
    lines = [one for one in TEXT.splitlines() if one.split(" =")[0] != name]
    lines.insert(lines.index('model = "command"'), line)
    path.write_text("\n".join(lines))
    with pytest.raises(RecipeError) as caught:
        load(str(path))
    said = str(caught.value)
    assert f"{path}:{lines.index(line) + 1}:" in said
    assert f"  {key}  " in said or "nested more than" in said


def test_a_value_of_set_is_checked_as_well(tmp_path):
    (tmp_path / "it.toml").write_text(TEXT)
    for value in ("inf", "1e999", "nan", "9" * 30):
        with pytest.raises(RecipeError):
            load(str(tmp_path / "it.toml"), [f"simulation.walltime={value}"])
