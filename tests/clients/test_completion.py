"""Shell completion: runs, recipes, sites."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from stopped_runs import stopped_run

from burstlens.core.run.directory import RunDir
from burstlens.core.valid_time import parse_key

DATES = ("20050828T120000", "20050828T123000")
SECONDS = ("t00000001.200", "t00000002.000")
PROGRAM = Path(sys.executable).with_name("burstlens")


@pytest.fixture
def offered(standing):
    """The words that bash would offer for the last word of a line."""
    standing.done()
    standing.failed()
    recipes = standing.folder / "recipes"
    recipes.mkdir(exist_ok=True)
    (recipes / "storm-live.toml").write_text('title = "Storm"\n')

    def ask(*words):
        done = subprocess.run(
            [PROGRAM],
            cwd=standing.folder,
            env=os.environ | standing.environment | {
                "BURSTLENS_RECIPES": str(recipes),
                "_BURSTLENS_COMPLETE": "complete_bash",
                "COMP_WORDS": " ".join(["burstlens", *words]),
                "COMP_CWORD": str(len(words)),
            },
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert done.stderr == ""
        return done.stdout.split()

    return ask


@pytest.fixture
def times(tmp_path, monkeypatch):
    """The words that bash would offer for the last word of a line, with two runs that have
    checkpoints."""
    monkeypatch.setenv("BURSTLENS_RUNS", str(tmp_path))
    for name, keys in (("storm", DATES), ("waves", SECONDS)):  # waves is the last one
        run = RunDir(tmp_path / name)
        run.create()
        stopped_run(run, tmp_path / "inputs", keys)

    def ask(*words):
        environment = {
            "_BURSTLENS_COMPLETE": "complete_bash",
            "COMP_WORDS": " ".join(["burstlens", *words]),
            "COMP_CWORD": str(len(words)),
        }
        done = subprocess.run(
            [PROGRAM], env=os.environ | environment, capture_output=True, text=True, timeout=60
        )
        assert done.stderr == ""
        return done.stdout.split()

    return ask


@pytest.mark.integration
def test_times_of_the_runs_checkpoints_are_offered_as_they_can_be_given(times):
    offered = times("resume", "waves", "--from", "")
    assert offered == ["latest", "1.2", "2"]
    assert [parse_key(time) for time in offered[1:]] == list(SECONDS)
    offered = times("resume", "storm", "--detach", "--from", "2005")
    assert [parse_key(time) for time in offered] == list(DATES)
    assert not any(":" in time for time in offered)


@pytest.mark.integration
def test_times_of_the_last_run_are_offered_where_none_is_named(times):
    assert times("resume", "--from", "l") == ["latest"]
    assert times("resume", "nobody", "--from", "") == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    ["status", "watch", "series", "serve", "stop", "resume", "free",
     "pause", "resume-watching", "add", "movie", "report", "cinema", "crate", "support"],
)  # fmt: skip
def test_runs_are_offered_by_their_start(offered, command):
    assert offered(command, "d") == ["done"]
    assert {"done", "failed"} <= set(offered(command, ""))


@pytest.mark.parametrize("command", ["run", "check"])
def test_recipes_are_offered_those_of_the_user_too(offered, command):
    assert offered(command, "storm") == ["storm-live"]
    assert offered(command, "seismic-b") == ["seismic-basin"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", [["run", "r.toml", "--site"], ["check", "r.toml", "--site"], ["buffers", "--site"],
              ["sites", "--explain"]], ids=" ".join,
)  # fmt: skip
def test_sites_are_offered(offered, words):
    assert offered(*words, "loc") == ["local"]
    assert {"slurm", "slurm-datawarp"} <= set(offered(*words, "slurm"))


@pytest.mark.parametrize(
    "words", [["io"], ["io", "a.darshan"], ["io", "x", "--html"]], ids=" ".join
)
def test_paths_of_logs_are_offered(offered, standing, words):
    (standing.folder / "logs").mkdir(exist_ok=True)
    (standing.folder / "logs" / "run.darshan").touch()
    assert offered(*words, "log") == ["logs/"]
    assert offered(*words, "logs/r") == ["logs/run.darshan"]


def test_commands_are_offered_but_not_the_inner_one(offered):
    assert {"recipes", "resume"} <= set(offered("re"))
    assert "drive" not in offered("")


@pytest.mark.integration
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_for_each_shell_calls_the_program(shell):
    done = subprocess.run(
        [PROGRAM, "--show-completion", shell], capture_output=True, text=True, timeout=60,
        env=os.environ | {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},
    )  # fmt: skip
    assert done.returncode == 0
    assert f"_BURSTLENS_COMPLETE=complete_{shell}" in done.stdout


def test_the_products_of_a_run_are_offered(offered):
    assert set(offered("movie", "done", "")) == {"core", "w"}
    assert offered("watch", "done", "--product", "c") == ["core"]
    assert set(offered("series", "done", "")) == {"core", "w"}
