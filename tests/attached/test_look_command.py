"""The command `look`: its options, what it writes, what it refuses."""

from __future__ import annotations

import tomllib

import pytest
from typer.testing import CliRunner

from burstlens.clients.cli import app

NAMELIST = "&time_control\n history_interval = 60, frames_per_outfile = 1,\n/\n"


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "storm"
    made.mkdir()
    (made / "namelist.input").write_text(NAMELIST)
    return made


def ran(*words):
    return CliRunner().invoke(app, ["look", *map(str, words)])


def test_the_recipe_that_would_launch_it_is_written_and_nothing_is_looked_at(
    folder, tmp_path, own_runs
):
    target = tmp_path / "my.toml"
    result = ran(folder, "--write", target)
    assert result.exit_code == 0, result.output
    table = tomllib.loads(target.read_text())
    assert table["simulation"]["model"] == "wrf"
    assert table["product"]
    assert f"burstlens check {target}" in result.output
    assert sorted(path.name for path in folder.iterdir()) == ["namelist.input"]


def test_a_file_is_not_written_over(folder, tmp_path, own_runs):
    target = tmp_path / "my.toml"
    target.write_text("mine")
    result = ran(folder, "--write", target)
    assert result.exit_code != 0
    assert target.read_text() == "mine"


@pytest.mark.parametrize(
    "words", [("--stream", "d01"), ("--stream", "=x"), ("--every", "0"), ("--port", "70000")]
)
def test_wrong_usage_is_exit_code_2(folder, words):
    assert ran(folder, *words).exit_code == 2


@pytest.mark.parametrize("words", [("--name", "a"), ("--job", "1"), ("--pid", "1")])
def test_what_names_one_run_goes_with_one_path(folder, words):
    result = ran(folder, folder, *words)
    assert result.exit_code == 2


def test_its_help_teaches(folder):
    text = ran("--help").output
    for word in ("PATH", "--product", "--last", "--job", "--allow-stop", "Ctrl-C", "Example"):
        assert word in text
