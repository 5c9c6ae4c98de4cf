"""The help of each command, and the commands that the documents show."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from click.testing import CliRunner

from burstlens import __version__
from burstlens.clients.cli import app, program

pytestmark = pytest.mark.integration

REPOSITORY = Path(__file__).parents[2]
DOCUMENTS = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
ROOT = typer.main.get_command(app)
COMMANDS = sorted(name for name, command in ROOT.commands.items() if not command.hidden)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_each_command_teaches_by_an_example_that_is_right(burstlens, command):
    said = burstlens(command, "-h", env={"COLUMNS": "100"}).stdout
    example = re.search(r"Example: burstlens (.*)", said)
    assert example, said
    name, *words = shlex.split(example[1].partition(" > ")[0])
    assert name == command
    ROOT.commands[name].make_context(name, words).close()
    for argument in re.findall(r"Usage: .*?\b(RUN|RECIPE)\b", said):
        assert f"{argument} is a" in said


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_each_command_that_a_document_shows_can_be_typed(path):
    text = path.read_text().replace("\\\n", " ")
    shown = re.findall(r"^    burstlens (.*)$", text, re.MULTILINE)
    for line in shown:
        typed = line.replace("...", "").replace("$!", "4711")
        name, *words = shlex.split(typed, comments=True)
        ROOT.commands[name].make_context(name, words).close()


def test_the_recipe_of_the_readme_is_right(burstlens, tmp_path):
    (recipe,) = re.findall(r"```toml\n(.*?)```", DOCUMENTS[0].read_text(), re.DOTALL)
    (tmp_path / "my.toml").write_text(recipe)
    (tmp_path / "empty").mkdir()
    done = burstlens("check", "my.toml", "--set", "inputs=empty")
    assert "there is no executable wrf.exe" in done.stdout  # of the recipe itself nothing is wrong
    assert done.stderr == ""


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_and_version(command):
    for option, said in (("--version", f"burstlens {__version__}\n"), ("--help", "Usage: ")):
        done = CliRunner().invoke(program(), [command, option])
        assert done.exit_code == 0
        assert said in done.output


SOURCE = REPOSITORY / "src"
PROGRAMS = [
    path.relative_to(SOURCE).with_suffix("")
    for depth in ("*", "*/*", "*/*/*", "*/*/*/*")
    for path in sorted(SOURCE.glob(f"burstlens/{depth}.py"))
    if 'if __name__ == "__main__":' in path.read_text()
]


@pytest.mark.slow
@pytest.mark.parametrize("path", PROGRAMS, ids=str)
def test_every_module_that_is_a_program_has_help(path):
    module = ".".join(path.parts).removesuffix(".__main__")
    words = [sys.executable, "-m", module, "--help"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip()
