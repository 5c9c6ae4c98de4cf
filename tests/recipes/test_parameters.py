from __future__ import annotations

from pathlib import Path

import pytest

from burstlens.cluster_configs.site import known
from burstlens.core.errors import RecipeError
from burstlens.core.toml.faults import Faults
from burstlens.core.user_config import config_path
from burstlens.workflows.recipe.parameters import settle


@pytest.fixture
def settled():
    """The table with these settings made; its faults as text."""

    def call(table, *settings):
        faults = Faults()
        result = settle(table, settings, faults)
        return result.table, [f"{fault.key}: {fault.message}" for fault in faults.found]

    return call


def test_places_are_filled_with_values_of_the_declared_type(settled):
    table = {
        "parameters": {
            "nodes": {"type": "int"},
            "fast": {"type": "bool", "default": False},
            "dt": {"type": "float", "default": 0.5},
            "who": {"default": "you"},
        },
        "simulation": {"nodes": "{nodes}", "argv": ["--dt={dt}", "{fast}", "for {who}, {frame}"]},
    }
    result, faults = settled(table, "nodes=4", "fast=true")
    assert faults == []
    assert result == {"simulation": {"nodes": 4, "argv": ["--dt=0.5", True, "for you, {frame}"]}}
    assert "parameters" in table  # the source is left as it is


def test_a_path_that_is_given_starts_where_the_command_was_given(settled, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = {"parameters": {"inputs": {"type": "path"}}, "simulation": {"inputs": "{inputs}"}}
    result, _ = settled(table, "inputs=storm")
    assert result["simulation"]["inputs"] == str(tmp_path / "storm")
    result, _ = settled(table, "inputs=~/storm")
    assert result["simulation"]["inputs"] == str(Path.home() / "storm")


def test_the_value_is_the_commands_then_the_users_then_the_recipes(settled):
    config_path().parent.mkdir(parents=True, exist_ok=True)
    config_path().write_text('[parameters]\naccount = "m1234"\nother = 1\n')
    table = {"parameters": {"account": {"default": "none"}}, "title": "{account}"}
    try:
        assert settled(table)[0]["title"] == "m1234"
        assert settled(table, "account=m9")[0]["title"] == "m9"
        config_path().write_text("parameters = 3\n")
        assert "expected a table" in settled(table)[1][0]
        config_path().write_text("no toml")
        with pytest.raises(RecipeError, match=r"config\.toml is not TOML"):
            settled(table)
    finally:
        config_path().unlink()
    assert settled(table)[0]["title"] == "none"


def test_the_users_settings_lie_where_xdg_says_and_else_in_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "xdg/burstlens/sites").mkdir(parents=True)
    (tmp_path / "xdg/burstlens/sites/ours.toml").touch()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    assert config_path() == tmp_path / "xdg/burstlens/config.toml"
    assert known()["ours"].is_relative_to(tmp_path / "xdg")
    for unset in ("", None):
        if unset is None:
            monkeypatch.delenv("XDG_CONFIG_HOME")
        else:
            monkeypatch.setenv("XDG_CONFIG_HOME", unset)
        assert config_path() == tmp_path / ".config/burstlens/config.toml"
        assert "ours" not in known()
    assert not (tmp_path / ".config").exists()  # looking makes no folder


def test_missing_and_wrong_values_are_reported_together_with_how_to_give_them(settled):
    table = {
        "parameters": {
            "inputs": {"type": "path", "help": "a WRF run directory"},
            "nodes": {"type": "int"},
            "fast": {"type": "bool"},
            "kind": {"type": "integer"},
        }
    }
    _, faults = settled(table, "nodes=many", "fast=maybe", "node=3", "lonely")
    assert faults == [
        "parameters.kind.type: input should be 'str', 'path', 'int', 'float' or 'bool', "
        "got 'integer'",
        "node: is not a parameter of this recipe; did you mean nodes?",
        'lonely: expected --set key=value, such as "simulation.nodes=4"',
        "parameters.inputs: is required (a WRF run directory): --set inputs=...",
        "parameters.nodes: expected a number (int), got 'many'",
        "parameters.fast: expected true or false, got 'maybe'",
    ]


def test_a_key_that_is_given_without_its_table_is_named_with_it(settled):
    table = {"simulation": {"parameters": "awm.toml"}, "parameters": {"nodes": {"type": "int"}}}
    _, faults = settled(table, "paramters=quick.toml", "nodes=1", "zzz=1")
    assert faults == [
        "paramters: is not a parameter of this recipe; did you mean simulation.parameters?",
        "zzz: is not a parameter of this recipe; there are nodes",
    ]


def test_a_dotted_path_reaches_every_key_and_leaves_the_source_alone(settled):
    table = {
        "simulation": {"nodes": 1},
        "product": [{"name": "t2", "variable": "T2"}, {"name": "w", "variable": "W"}],
    }
    result, faults = settled(
        table,
        "simulation.nodes=4",
        "simulation.environment.OMP_NUM_THREADS='8'",
        "product.w.crop={ z = [0, 4] }",
        "product.t2.variable=PSFC",
        "buffer.raw=release",
        "buffer.capacity=2 GiB",
    )
    assert faults == []
    assert result["simulation"] == {"nodes": 4, "environment": {"OMP_NUM_THREADS": "8"}}
    assert result["product"] == [
        {"name": "t2", "variable": "PSFC"},
        {"name": "w", "variable": "W", "crop": {"z": [0, 4]}},
    ]
    assert result["buffer"] == {"raw": "release", "capacity": "2 GiB"}
    assert table["simulation"] == {"nodes": 1}
    assert table["product"][0]["variable"] == "T2"


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("product.t3.variable=X", 'there is no "t3"; there are t2'),
        ("product.t2=X", "name the entry first"),
        ("title.x.y=1", '"x" is inside a value that has no parts'),
        ("title.x=1", "name the entry first"),
        ("stage_out.keep.0.x=1", 'there is no "0"'),
        ("mixed.a.b=1", 'there is no "a"'),
    ],
)
def test_a_path_that_does_not_exist_is_reported(settled, setting, message):
    table = {
        "title": "Storm",
        "product": [{"name": "t2"}],
        "stage_out": {"keep": ["*.nc"]},
        "mixed": [1, {"name": "b"}],
    }
    _, [fault] = settled(table, setting)
    assert message in fault
