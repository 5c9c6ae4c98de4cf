"""What the demo prints at its beginning and end: real paths, and commands that can be pasted."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from burstlens.clients.cli import app
from burstlens.clients.cli.tour import Tour, program
from burstlens.core.run.directory import RunDir

ROOT = typer.main.get_command(app)


@pytest.fixture
def script(tmp_path, monkeypatch):
    """An executable file `burstlens` that this process was started as."""
    path = tmp_path / "a venv" / "bin" / "burstlens"
    path.parent.mkdir(parents=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(path), "demo"])
    return path


def commands(text: str, called: str) -> list[list[str]]:
    """The words of each command in ``text``, without those that call the program."""
    found = [line[line.index(f"{called} ") :] for line in text.splitlines() if f"{called} " in line]
    return [shlex.split(line)[len(shlex.split(called)) :] for line in found]


def test_a_program_that_the_path_does_not_find_is_called_by_its_own_path(script):
    assert shlex.split(program()) == [str(script)]


def test_a_program_that_the_path_finds_is_called_by_its_name(script, monkeypatch):
    monkeypatch.setenv("PATH", str(script.parent))
    assert program() == "burstlens"


def test_another_burstlens_that_the_path_finds_first_is_not_meant(script, monkeypatch, tmp_path):
    other = tmp_path / "burstlens"
    other.write_text("#!/bin/sh\n")
    other.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{script.parent}")
    assert shlex.split(program()) == [str(script)]


def test_a_module_is_called_by_this_python(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["/some/burstlens/__main__.py", "demo"])
    assert shlex.split(program()) == [sys.executable, "-m", "burstlens"]


def test_each_command_can_be_typed_and_names_the_run_by_its_directory():
    run = RunDir(Path("/my runs/quake"))
    tour = Tour(run, "burstlens")
    shown = commands(f"{tour.beginning()}\n{tour.end()}", "burstlens")
    assert {"serve", "watch", "movie"} <= {name for name, *_ in shown}
    for name, *words in shown:
        ROOT.commands[name].make_context(name, list(words)).close()
    named = [name for name, *words in shown if str(run.path) in words]
    assert named == ["serve", "serve", "movie", "report"]


@pytest.mark.slow
def test_the_demo_ends_with_products_that_exist_and_commands_that_work(tmp_path):
    environment = os.environ | {"BURSTLENS_BUFFER": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "burstlens", "demo", "--name", "quake",
         "--set", "simulation.parameters=quick.toml"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=280,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    _, _, end = done.stdout.partition("\nproducts\n")
    files, _, steps = end.partition("\nnext\n")
    for line in files.splitlines():
        assert Path(line.split()[-1]).exists(), line
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name, *words in commands(steps, shlex.join([sys.executable, "-m", "burstlens"])):
        if name in {"movie", "report", "recipes"}:
            again = subprocess.run(
                [sys.executable, "-m", "burstlens", name, *words],
                cwd=elsewhere, env=environment, capture_output=True, text=True, timeout=120,
            )  # fmt: skip
            assert again.returncode == 0, again.stderr
    assert {path.name for path in elsewhere.iterdir()} >= {"quake-ground.mp4", "quake.html"}
