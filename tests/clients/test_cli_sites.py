"""``burstlens sites`` and ``burstlens buffers`` as people and scripts call them."""

from __future__ import annotations

import json
import os
import pty
import shutil
import socket
import subprocess
import sys
import time

import pytest

from burstlens.cluster_configs.site import SITES, read
from burstlens.core.run import events as ev
from burstlens.core.run.directory import RunDir
from burstlens.core.run.journal import Journal

MINE = """\
# The cluster of our group.
# Source: its handbook.

description = "our cluster"
hosts = ["{host}"]
scheduler = "slurm"

[buffer]
kind = "datawarp"
# From dwstat.
granule = "368 GiB" # column gran

[viewing]
placement = "separate"
"""


@pytest.fixture
def mine(tmp_path):
    """A folder of sites with one that fits this host; the variable that makes it known."""
    folder = tmp_path / "sites"
    folder.mkdir()
    (folder / "mine.toml").write_text(MINE.format(host=socket.gethostname()))
    return {"BURSTLENS_SITES": str(folder)}


@pytest.fixture
def left(tmp_path):
    """A run that failed and left its folder on the buffer; the variables of its place."""
    run = RunDir(tmp_path / "runs" / "storm-1")
    run.create()
    facts = {"id": "storm-1", "title": "Storm", "created": 0.0, "buffer_folder": "storm-1-0a1b"}
    run.facts.write_text(json.dumps(facts))
    root = tmp_path / "fast" / f"burstlens-{os.getuid()}"
    folder = root / "storm-1-0a1b"
    folder.mkdir(parents=True)
    (folder / "frame").write_bytes(b"x" * 3000)
    journal = Journal(run.journal, 1)
    place = {"kind": "posix", "path": str(root), "folder": folder.name}
    journal.append(ev.BufferCreated(**place, name="", owned=True))
    journal.close()
    status = {
        "run": "storm-1", "title": "Storm", "state": "failed", "frames": {"ready": 0, "damaged": 0},
        "driver": {"host": socket.gethostname(), "pid": 0, "heartbeat": time.time() - 60},
    }  # fmt: skip
    run.status.write_text(json.dumps(status))
    return folder, {"BURSTLENS_BUFFER": str(tmp_path / "fast"), "TMPDIR": str(tmp_path / "none")}


def test_sites_are_listed_and_the_one_taken_here_is_marked(burstlens):
    done = burstlens("sites")
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["site", "what", "it", "is", "from"]
    marked = [line for line in lines if line.startswith("*")]
    assert marked[0].split()[1] == "local"
    assert (
        marked[1] == f"* local is taken here: no site's hosts fit this one, {socket.gethostname()}"
    )
    assert {path.stem for path in SITES.glob("*.toml")} <= set(done.stdout.split())


def test_a_site_is_taken_by_the_host_name(burstlens, mine):
    found = json.loads(burstlens("sites", "--json", env=mine).stdout)
    (chosen,) = [site for site in found["sites"] if site["chosen"]]
    assert (chosen["name"], chosen["description"]) == ("mine", "our cluster")
    assert chosen["origin"].endswith("sites/mine.toml")
    assert f'its hosts "{socket.gethostname()}" fit this one' in found["why"]


def test_a_broken_site_is_listed_with_its_fault(burstlens, mine, tmp_path):
    (tmp_path / "sites" / "odd.toml").write_text("schedular = 'slurm'\n")
    found = json.loads(burstlens("sites", "--json", env=mine).stdout)
    (odd,) = [site for site in found["sites"] if site["name"] == "odd"]
    assert odd["description"].startswith("broken: ")
    assert "schedular" in odd["description"]


def test_a_value_is_explained_with_its_line_and_remark_and_a_default_as_one(burstlens, mine):
    said = burstlens("sites", "--explain", "mine", env=mine).stdout
    assert "The cluster of our group.\nSource: its handbook.\n" in said
    assert (
        'granule = "368 GiB"\n'
        "    The pool's allocation unit; a request is rounded up to a multiple of it.\n"
        "    mine.toml, line 11: From dwstat. column gran\n"
    ) in said
    assert "# limit is not set\n    The most that one run may take there.\n    default\n" in said


@pytest.mark.parametrize("path", sorted(SITES.glob("*.toml")), ids=lambda path: path.stem)
def test_every_value_of_every_site_has_a_meaning(burstlens, path):
    values = json.loads(burstlens("sites", "--explain", path.stem, "--json").stdout)
    assert [value["key"] for value in values if not value["meaning"]] == []
    # Each key of the file is found at its line.
    lines = path.read_text().splitlines()
    written = [value for value in values if value["line"]]
    for value in written:
        assert lines[value["line"] - 1].split("=")[0].strip() == value["key"].rpartition(".")[2]
    assert len(written) > 3


def test_a_truth_value_is_explained_as_toml_writes_it(burstlens):
    assert "\nnode_local = true\n" in burstlens("sites", "--explain", "frontier").stdout


def test_an_unknown_site_is_refused_with_near_names(burstlens):
    done = burstlens("sites", "--explain", "shaheen")
    assert done.returncode == 1
    assert 'no site "shaheen"' in done.stderr
    assert "shaheen2" in done.stderr


def test_published_machines_are_never_taken_by_host_name():
    for path in SITES.glob("*.toml"):
        assert read(path).hosts == (), path


def test_folders_of_runs_that_are_over_are_shown_and_given_back(burstlens, left):
    folder, env = left
    done = burstlens("buffers", env=env)
    row = next(line for line in done.stdout.splitlines() if line.startswith(str(folder)))
    assert "2.93 KiB" in row
    assert done.stdout.endswith(
        f"{folder}: made for storm-1 (failed); given back, with all it holds, by\n"
        "  burstlens free storm-1\n"
    )
    found = json.loads(burstlens("buffers", "--json", env=env).stdout)
    (buffer,) = [row for row in found["buffers"] if row["name"] == str(folder)]
    assert (buffer["used"], buffer["free_with"]) == (3000, "burstlens free storm-1")
    assert str(folder.parents[1]) in [pool["name"] for pool in found["pools"]]


def test_a_folder_of_a_run_that_is_not_here_is_left_alone(burstlens, left, tmp_path):
    folder, env = left
    shutil.rmtree(tmp_path / "runs")
    found = json.loads(burstlens("buffers", "--json", env=env).stdout)
    (buffer,) = [row for row in found["buffers"] if row["name"] == str(folder)]
    assert (buffer["run"], buffer["free_with"]) == ("", "")


def test_buffers_of_a_machine_without_slurm_are_refused_in_one_line(burstlens, tmp_path):
    (tmp_path / "empty").mkdir()
    done = burstlens("buffers", "--site", "shaheen2", env={"PATH": str(tmp_path / "empty")})
    assert done.returncode == 1
    assert done.stderr == ("burstlens: scontrol is not on PATH: is this a login node of Slurm?\n")


@pytest.mark.integration
def test_on_a_terminal_a_table_has_colours_and_nothing_of_others_that_moves_the_cursor(
    mine, tmp_path
):
    text = MINE.format(host=socket.gethostname()).replace("our cluster", "our\\u001b[2Jcluster")
    (tmp_path / "sites" / "mine.toml").write_text(text)
    upper, lower = pty.openpty()
    env = {**os.environ, **mine, "TERM": "xterm-256color", "COLUMNS": "120"}
    with subprocess.Popen(
        [sys.executable, "-m", "burstlens", "sites"], stdout=lower, stderr=lower, env=env
    ) as program:
        os.close(lower)
        said = b""
        try:
            while part := os.read(upper, 65536):
                said += part
        except OSError:  # the other end is closed
            pass
    os.close(upper)
    assert program.returncode == 0
    assert b"\x1b[1;32mmine" in said
    assert b"our[2Jcluster" in said
