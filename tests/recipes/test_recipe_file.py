from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from burstlens.core.errors import RecipeError
from burstlens.core.toml.text import parse
from burstlens.workflows.recipe.file import BUILT_IN, find, known, read
from burstlens.workflows.recipe.layers import merge
from burstlens.workflows.recipe.load import load
from burstlens.workflows.recipe.preflight import preflight

pytestmark = pytest.mark.integration


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """A folder of recipes that can be named; writes one."""
    monkeypatch.setenv("BURSTLENS_RECIPES", str(tmp_path / "shelf"))

    def write(name: str, text: str):
        path = tmp_path / "shelf" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return write


def test_recipes_are_found_by_name_in_files_and_folders(shelf, tmp_path):
    one = shelf("storm.toml", "")
    two = shelf("quake/recipe.toml", "")
    assert find("storm") == one
    assert find("quake") == two
    assert find(str(one)) == one
    assert find(str(two.parent)) == two
    assert {"storm", "quake"} <= set(known())
    assert (tmp_path / "shelf") != BUILT_IN


@pytest.mark.parametrize("name", ["strom", "storm.toml", "./storm", "~no-such-user/x.toml", ""])
def test_an_unknown_recipe_is_reported(shelf, tmp_path, monkeypatch, name):
    shelf("storm.toml", "")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RecipeError, match="there is no recipe"):
        find(name)


@pytest.mark.parametrize("name", ["inputs", "./inputs", "inputs.toml"])
def test_a_folder_that_is_not_a_recipe_is_called_a_folder(shelf, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    Path(name).mkdir()
    with pytest.raises(RecipeError, match=r"inputs.* is a folder without recipe\.toml"):
        find(name)


def test_near_names_are_suggested(shelf):
    shelf("storm.toml", "")
    with pytest.raises(RecipeError, match="did you mean storm"):
        find("strom")


def test_a_recipe_is_laid_over_the_one_that_it_extends(shelf):
    shelf(
        "base.toml",
        'title = "Base"\n[simulation]\nmodel = "wrf"\ninputs = "in"\nnodes = 1\n'
        '[[product]]\nname = "t2"\nkind = "map"\nvariable = "T2"\n',
    )
    shelf(
        "mine.toml",
        'extends = "base"\ntitle = "Mine"\n[simulation]\nnodes = 4\n'
        '[[product]]\nname = "w"\nkind = "map"\n[[product]]\nname = "t2"\nvariable = "PSFC"\n',
    )
    source = read("mine")
    assert source.name == "mine"
    assert source.table["title"] == "Mine"
    assert source.table["simulation"]["nodes"] == 4
    assert source.table["product"] == [
        {"name": "t2", "kind": "map", "variable": "PSFC"},
        {"name": "w", "kind": "map"},
    ]


def test_inputs_of_an_extended_recipe_lie_beside_that_recipe(shelf, tmp_path):
    shelf("deep/base.toml", '[simulation]\ninputs = "in"\n')
    shelf("deep/absolute.toml", '[simulation]\ninputs = "/data/in"\n')
    (tmp_path / "one.toml").write_text('extends = "shelf/deep/base.toml"\n')
    (tmp_path / "two.toml").write_text('extends = "shelf/deep/absolute.toml"\n')
    one = read(str(tmp_path / "one.toml")).table["simulation"]["inputs"]
    assert one == str(tmp_path / "shelf" / "deep" / "in")
    assert read(str(tmp_path / "two.toml")).table["simulation"]["inputs"] == "/data/in"


def test_a_default_path_of_an_extended_recipe_starts_at_that_recipe(shelf, tmp_path):
    shelf(
        "deep/base.toml",
        'title = "Base"\n[simulation]\nmodel = "command"\ncommand = ["./a"]\ninputs = "{inputs}"\n'
        '[parameters]\ninputs = { type = "path", default = "in" }\n',
    )
    (tmp_path / "one.toml").write_text('extends = "shelf/deep/base.toml"\n')
    own = 'extends = "shelf/deep/base.toml"\n[parameters]\ninputs = { default = "mine" }\n'
    (tmp_path / "two.toml").write_text(own)
    assert load(str(tmp_path / "one.toml"))[0].inputs == tmp_path / "shelf" / "deep" / "in"
    assert load(str(tmp_path / "two.toml"))[0].inputs == tmp_path / "mine"


@pytest.mark.parametrize("name", ["{}", "{}.toml", "../shelf/{}.toml"])
def test_a_circle_is_reported_and_does_not_hang(shelf, name):
    shelf("a.toml", f'extends = "{name.format("b")}"\n')
    shelf("b.toml", f'extends = "{name.format("a")}"\n')
    with pytest.raises(RecipeError, match=r"b\.toml:1:1 +extends +extends goes in a circle"):
        load("a")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ('"nowhere"', 'there is no recipe "nowhere"'),
        ("3", "expected the name or the path of a recipe, got 3"),
        ('["a"]', "expected the name or the path of a recipe"),
        ('"a\\u0000b"', "there is no recipe"),
    ],
)
def test_a_missing_base_is_the_only_fault_reported(shelf, value, message):
    shelf("a.toml", f"title = 'A'\nextends = {value}\n")
    with pytest.raises(RecipeError, match="has 1 fault") as raised:
        load("a")
    [fault] = raised.value.faults
    assert (fault.key, fault.place.line) == ("extends", 2)
    assert message in fault.message


@pytest.mark.parametrize("content", [b"title = ", b"\xff\xfe", b"a = 1\na = 2\n"])
def test_invalid_toml_is_reported_with_its_file(tmp_path, content):
    (tmp_path / "bad.toml").write_bytes(content)
    with pytest.raises(RecipeError, match=r"bad\.toml"):
        load(str(tmp_path / "bad.toml"))
    with pytest.raises(RecipeError, match=r"bad\.toml.* is not TOML"):
        parse(tmp_path / "bad.toml")


def test_tables_merge_and_lists_without_names_replace():
    below = {"a": {"x": 1}, "keep": ["*.nc"], "product": [{"name": "t2", "z": 1}]}
    above = {"a": {"y": 2}, "keep": [], "product": []}
    assert merge(below, above) == {"a": {"x": 1, "y": 2}, "keep": [], "product": []}


def shipped() -> list[str]:
    return [name for name, path in known().items() if path.is_relative_to(BUILT_IN)]


@pytest.mark.parametrize("name", shipped())
def test_each_recipe_that_ships_is_whole(name, tmp_path):
    shutil.copy(Path(__file__).parents[1] / "data" / "traces" / "namelist.input", tmp_path)
    (tmp_path / "wrf.exe").write_text("#!/bin/sh\n")
    (tmp_path / "wrf.exe").chmod(0o755)
    given = () if name.startswith("seismic") else (f"inputs={tmp_path}",)
    if name == "command-generic":
        given += ("program=wrf.exe", "frames=*.nc", "variable=t")
    recipe, _ = load(name, given)
    assert recipe.title
    assert recipe.products or name.startswith("io-")  # the I/O study shows nothing
    assert [found for found in preflight(recipe) if found.level == "error"] == []


def test_the_memory_of_a_worker_is_a_size_and_no_less_than_it_takes_itself(tmp_path):
    path = tmp_path / "it.toml"
    text = '[simulation]\nmodel = "command"\ninputs = "x"\ncommand = ["./m"]\n[viewing]\n'
    path.write_text(text + 'memory = "2 GB"\n')
    recipe, _ = load(str(path))
    assert recipe.viewing.memory == 2_000_000_000
    path.write_text(text + 'memory = "20 MB"\n')
    with pytest.raises(RecipeError, match=r"viewing\.memory  19\.1 MiB are less than a worker"):
        load(str(path))
