"""The command `look`: its options, what it writes, what it refuses."""

from __future__ import annotations

import contextlib
import os
import pty
import subprocess
import sys
import tomllib

import pytest
from typer.testing import CliRunner

from burstlens.clients.cli import app
from burstlens.core.run.places import folder_for

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


@pytest.fixture
def parent(tmp_path):
    """Three runs side by side that have not written yet."""
    made = tmp_path / "storms"
    for name in ("a", "b", "c"):
        (made / name).mkdir(parents=True)
        (made / name / "namelist.input").write_text(NAMELIST)
    return made


def test_several_runs_are_listed_and_nothing_is_looked_at_without_a_terminal(parent, own_runs):
    result = ran(parent, "--detach")
    assert result.exit_code == 2
    assert result.stdout == ""
    for name in ("a", "b", "c"):
        assert f"burstlens look {parent / name}\n" in result.stderr
    assert not list(folder_for(parent).glob("look-storms-*"))


@pytest.mark.slow
@pytest.mark.integration
def test_in_a_terminal_one_of_several_runs_is_chosen(parent, tmp_path, own_runs):
    target = tmp_path / "my.toml"
    command = [sys.executable, "-m", "burstlens", "look", parent, "--write", target]
    terminal, other = pty.openpty()
    look = subprocess.Popen(command, stdin=other, stdout=subprocess.DEVNULL, stderr=other)
    os.close(other)
    shown = b""
    with contextlib.suppress(OSError):  # it has ended
        while data := os.read(terminal, 4096):
            shown += data
            if shown.endswith(b": "):
                os.write(terminal, b"4\n" if b"4\r\n" not in shown else b"2\n")
    assert look.wait() == 0, shown
    os.close(terminal)
    assert tomllib.loads(target.read_text())["simulation"]["inputs"] == str(parent / "b")


@pytest.mark.slow
@pytest.mark.integration
def test_ctrl_c_ends_the_question_as_it_ends_a_look(parent, own_runs):
    command = [sys.executable, "-m", "burstlens", "look", parent]
    pid, terminal = pty.fork()  # of which the terminal is its own, so that Ctrl-C reaches it
    if pid == 0:
        os.execv(sys.executable, command)
    shown = b""
    with contextlib.suppress(OSError):  # it has ended
        while data := os.read(terminal, 4096):
            shown += data
            if shown.endswith(b": "):
                os.write(terminal, b"\x03")
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 0, shown
    assert b"looking has ended" in shown
    assert b"Aborted" not in shown
