"""Ctrl-C before a run has begun: packages that are interrupted while they are loaded."""

from __future__ import annotations

import pytest

AT_GET_COMMAND = """\
import sys

def stop(frame, event, _):
    if event == "call" and frame.f_code.co_name == "get_command":
        raise KeyboardInterrupt

sys.setprofile(stop)
"""
"""Interrupts Typer's function that makes the commands."""


@pytest.fixture
def interrupted(tmp_path):
    """An environment in which importing that package is interrupted as by Ctrl-C."""

    def make(package: str, text: str = "raise KeyboardInterrupt\n") -> dict[str, str]:
        folder = tmp_path / "first"
        folder.mkdir()
        (folder / f"{package}.py").write_text(text)
        return {"PYTHONPATH": str(folder)}

    return make


def test_while_the_program_is_loaded_it_ends_quietly(burstlens, interrupted):
    done = burstlens("list", env=interrupted("typer"))
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_while_the_commands_are_put_together_it_ends_quietly(burstlens, interrupted):
    done = burstlens("list", env=interrupted("sitecustomize", AT_GET_COMMAND))
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_while_the_driver_is_loaded_the_message_names_the_run_that_is_there(
    burstlens, recipe_file, interrupted, tmp_path
):
    recipe_file()
    site = tmp_path / "lines.toml"  # where Parsl is loaded before the run begins
    site.write_text(
        f'[buffer]\nfolders = ["{tmp_path}"]\n[viewing]\nworker_init = "export LINES=1"\n'
    )
    words = "run", "any.toml", "--name", "storm", "--site", str(site)
    done = burstlens(*words, env=interrupted("parsl"))
    said = "interrupted; go on with: burstlens resume storm\n"
    assert (done.returncode, done.stdout, done.stderr) == (130, "", said)
    assert (tmp_path / "runs" / "storm" / "run.json").exists()
