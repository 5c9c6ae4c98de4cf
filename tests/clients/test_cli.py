"""The command line: exit codes, one clear message per error, JSON, help."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from burstlens.workflows.plan.commands import new_run

pytestmark = pytest.mark.integration

REPOSITORY = Path(__file__).parents[2]
JOURNAL = REPOSITORY / "docs" / "journal.md"
PARAMETERS = """
title = "Storm"
[parameters]
inputs = { type = "path", help = "a WRF run directory" }
[simulation]
model = "wrf"
inputs = "{inputs}"
"""


def test_a_folder_that_cannot_be_written_is_refused_with_the_variable_that_helps(
    burstlens, recipe_file, tmp_path
):
    recipe_file()
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o555)
    runs = {"BURSTLENS_RUNS": str(locked / "runs")}
    done = burstlens("run", "any.toml", ordinary=True, env=runs)
    assert done.returncode == 1
    assert done.stderr.startswith(f"burstlens: cannot make the run directory {locked}/runs/any-")
    assert done.stderr.endswith(": Permission denied; BURSTLENS_RUNS names another place\n")
    assert list(locked.iterdir()) == []


@pytest.mark.parametrize(
    "words",
    [
        ["frobnicate"],
        ["status", "--jso"],
        ["stop"],
        ["run"],
        ["run", "any.toml", "--batch", "--detach"],
        ["resume", "storm", "--batch", "--detach"],
    ],
    ids=" ".join,
)
def test_wrong_usage_ends_with_2_and_points_to_the_help(burstlens, words):
    done = burstlens(*words)
    assert done.returncode == 2
    assert "-h' for help" in done.stderr


@pytest.mark.parametrize("command", ["status", "watch", "stop", "resume", "free"])
def test_an_unknown_run_is_reported_with_near_names(standing, command):
    standing.done()
    said = standing.call(command, "dome")
    assert said.returncode == 1
    assert said.stderr == (
        f'burstlens: there is no run "dome" in {standing.runs}; did you mean done?\n'
    )


@pytest.mark.slow
@pytest.mark.parametrize("command", ["resume", "free"])
def test_a_run_that_may_not_be_read_is_named_and_left_alone(
    command, burstlens, recipe_file, tmp_path, monkeypatch
):
    monkeypatch.setenv("BURSTLENS_RUNS", str(tmp_path / "runs"))
    run, _ = new_run(str(recipe_file()), None, name="storm")
    files = [path for path in run.path.rglob("*") if path.is_file()]
    assert not [path for path in files if b".making-" in path.read_bytes()]  # where it was made
    run.journal.touch(mode=0)
    before = sorted(run.path.rglob("*"))
    said = burstlens(command, "storm", ordinary=True)
    assert said.returncode == 1
    assert said.stderr == f"burstlens: cannot use {run.journal}: Permission denied\n"
    assert sorted(run.path.rglob("*")) == before


def test_where_there_are_no_runs_that_is_said(burstlens, tmp_path):
    assert burstlens("list").stdout == "no runs yet; `burstlens demo` makes one\n"
    done = burstlens("status")
    assert done.returncode == 1
    assert done.stderr.startswith(
        f"burstlens: there are no runs in {tmp_path}/runs; BURSTLENS_RUNS"
    )


def test_a_run_that_is_done_ends_with_0_and_a_summary_in_plain_lines(standing):
    ended = standing.done()
    assert ended.returncode == 0
    lines = ended.said.splitlines()
    assert lines[:2] == ["run done", f"pictures arrive in {standing.runs}/done/products"]
    begin = next(n for n, line in enumerate(lines) if line.split() == ["run", "done"] and n > 1)
    rows = dict(re.split(r"  +", line.strip(), maxsplit=1) for line in lines[begin:])
    assert (rows["ended"], rows["frames"], rows["w"]) == ("done", "3 ready", "3 published")
    assert rows["pictures"] == f"{standing.runs}/done/products"
    assert "buffer" not in rows


def test_a_run_that_failed_ends_with_1_the_line_that_says_why_and_what_to_do(standing):
    ended = standing.failed()
    assert ended.returncode == 1
    assert ended.said.count("burstlens: ") == 1
    message, line, *steps = ended.said[ended.said.index("burstlens: ") :].splitlines()
    assert message == "burstlens: the model was ended by SIGABRT"
    assert re.search(r"23758  ?points exceeded v_cfl = 2 in domain d01", line)
    assert steps == [
        "go on with: burstlens resume failed",
        "give its buffer back: burstlens free failed",
    ]


def test_a_run_that_a_person_stopped_ends_with_4(standing):
    ended = standing.stopped()
    assert ended.returncode == 4
    assert "burstlens: stopped, as asked\n" in ended.said


@pytest.mark.parametrize("name", ["done", "failed", "stopped"])
def test_what_goes_to_a_file_has_no_escape_sequence_and_no_padding(standing, name):
    said = getattr(standing, name)().said
    shown = standing.call("status", name).stdout + standing.call("list").stdout
    assert "\x1b" not in said + shown
    assert [line for line in (said + shown).splitlines() if line != line.rstrip()] == []


def test_a_second_driver_is_refused_whichever_way_it_comes(standing):
    standing.live()
    epochs = sorted(path.name for path in (standing.runs / "live").glob("driver-*"))
    for words in (
        ["resume", "live"],
        ["resume", "live", "--detach"],
        ["resume", "live", "--batch"],
    ):
        done = standing.call(*words)
        assert done.returncode == 1
        assert re.fullmatch(
            r"burstlens: run live has a driver already \(pid \d+ on \S+\); "
            r"burstlens watch live shows it, burstlens stop live stops it\n",
            done.stderr,
        )
    again = standing.call(
        "run", "r.toml", "--name", "live", "--set", "simulation.inputs=inputs-live"
    )
    assert again.returncode == 1
    assert (
        "exists already; --name takes another name, and `burstlens resume live` continues that run"
        in again.stderr
    )
    assert sorted(path.name for path in (standing.runs / "live").glob("driver-*")) == epochs


@pytest.mark.parametrize("content", ["", "{", '{"host": "elsewhere"}'])
def test_a_file_that_only_looks_like_a_claim_lets_no_second_driver_in(standing, content):
    standing.live()
    stray = standing.runs / "live" / "driver-7"
    stray.write_text(content)
    try:
        done = standing.call("resume", "live")
    finally:
        stray.unlink()
    assert done.returncode == 1
    assert "run live has a driver already (pid " in done.stderr


def test_commands_about_a_run_that_is_over_say_so_and_succeed(standing):
    standing.done()
    for command, said in (
        ("stop", "done is over already: done\n"),
        ("resume", "run done is done; there is nothing to resume\n"),
        ("free", "run done holds no space on a buffer\n"),
    ):
        done = standing.call(command, "done")
        assert (done.returncode, done.stdout, done.stderr) == (0, said, "")


def test_ctrl_c_in_watch_leaves_the_run_alone(standing):
    standing.live()
    with subprocess.Popen(
        [sys.executable, "-m", "burstlens", "watch", "live"],
        env=os.environ | standing.environment,
        cwd=standing.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as watch:
        first = watch.stdout.readline()
        watch.send_signal(signal.SIGINT)
        rest = watch.stdout.read()
    assert "1 frame ready" in first
    assert (watch.returncode, "Traceback" in rest) == (0, False)
    assert standing.call("status", "live").stdout.startswith("live: running\n")


def test_watch_of_a_run_that_is_over_shows_its_end(standing):
    standing.failed()
    assert standing.call("watch", "failed").stdout == standing.call("status", "failed").stdout


DOCUMENTED = {
    words: set(keys.partition(";")[0].rpartition(": ")[2].split(", "))
    for words, keys in re.findall(r"^\| `([^|]+)` \| (.*) \|$", JOURNAL.read_text(), re.MULTILINE)
}


def keys_of(value):
    return set(value) if isinstance(value, dict) else set().union(*map(set, value))


@pytest.mark.parametrize(
    "words",
    ["status done", "list", "run r.toml --dry-run", "recipes", "sites",
     "sites --explain local", "buffers"],
)  # fmt: skip
def test_json_has_the_keys_that_the_document_names(standing, words):
    standing.done()
    command = words.replace(" r.toml", "").replace(" done", "").replace(" local", "")
    settings = ["--set", "simulation.inputs=inputs-done"] if "r.toml" in words else []
    found = json.loads(standing.call(*words.split(), *settings, "--json").stdout)
    assert keys_of(found) == DOCUMENTED[command]


CHECKED = {
    "right": (["any.toml"], 0, []),
    "wrong": (["any.toml", "--set", "simulation.nodes=0"], 1, ["simulation.nodes"]),
    "inputs": (["parameters.toml", "--set", "inputs=inputs"], 1, ["simulation.inputs"]),
    "syntax": (["syntax.toml"], 1, ["simulation", "title"]),
    "not there": (["nowhere.toml"], 1, [None]),
    "a folder": (["folder.toml"], 1, [None]),
    "a fifo": (["fifo.toml"], 1, [None]),
    "not UTF-8": (["bytes.toml"], 1, [None]),
    "an unknown site": (["any.toml", "--site", "lokal"], 1, [None]),
    "no recipe": ([], 2, [None]),
    "an unknown option": (["any.toml", "--sit", "local"], 2, [None]),
    "a second recipe": (["any.toml", "any.toml"], 2, [None]),
}


@pytest.mark.parametrize("what", CHECKED)
def test_check_prints_one_json_document_whatever_is_wrong(burstlens, recipe_file, tmp_path, what):
    recipe_file()
    recipe_file(PARAMETERS, "parameters.toml")
    recipe_file("title = Storm\n", "syntax.toml")
    (tmp_path / "bytes.toml").write_bytes(b"title = '\xff'\n")
    (tmp_path / "folder.toml").mkdir()
    os.mkfifo(tmp_path / "fifo.toml")
    words, code, keys = CHECKED[what]
    done = burstlens("check", *words, "--json")
    found = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (code, "")
    assert set(found) == DOCUMENTED["check"]
    assert found["right"] is (code == 0)
    assert list(dict.fromkeys(fault["key"] for fault in found["faults"])) == keys
    for fault in found["faults"]:
        assert set(fault) == {"file", "line", "column", "setting", "key", "value", "message"}


@pytest.mark.parametrize("name", ["done", "failed", "stopped"])
def test_status_in_json_has_the_state_and_every_number(standing, name):
    ended = getattr(standing, name)()
    found = json.loads(standing.call("status", name, "--json").stdout)
    assert (found["run"], found["state"], found["driver_alive"]) == (name, name, False)
    assert found["outcome"]["exit_code"] == ended.returncode
    assert found["products"]["w"]["published"] >= 1
    assert found["ledger"]["raw_bytes"] > found["ledger"]["product_bytes"] > 0
    assert set(found["latency_s"]) == {"last", "p50", "p95"}
    assert found["block"] == "gone"
    assert found["buffer"]["released"] == (name == "done")


def test_a_dry_run_prints_the_plan_as_text_and_as_json_and_makes_nothing(
    burstlens, recipe_file, tmp_path
):
    recipe_file()
    text = burstlens("run", "any.toml", "--dry-run").stdout
    plan = json.loads(burstlens("run", "any.toml", "--dry-run", "--json").stdout)
    keys = "title", "recipe", "site", "nodes", "frame_nodes", "notes", "scripts"
    assert set(plan) == {*keys, "raw_files", "right"}
    assert plan["right"]
    assert plan["raw_files"] == (
        "all raw files are deleted at the latest when the run is done, with the buffer: "
        "[stage_out] keep names none"
    )
    assert f"\n{plan['raw_files']}\n" in text
    assert f"{plan['raw_files']}\n" in burstlens("check", "any.toml").stdout
    names = [node["name"] for node in plan["nodes"]]
    assert names == ["buffer", "stage in", "simulation", "watch", "bring home", "free"]
    assert all(f"  {node['name']:<16} {node['where']:<10} {node['what']}" in text
               for node in (*plan["nodes"], *plan["frame_nodes"]))  # fmt: skip
    assert not (tmp_path / "runs").exists()


def test_what_a_dry_run_finds_wrong_is_reported_with_its_level(burstlens, recipe_file):
    recipe_file(PARAMETERS, "parameters.toml")
    done = burstlens("run", "parameters.toml", "--dry-run", "--set", "inputs=inputs")
    assert re.search(r"^error: there is no executable wrf\.exe", done.stdout, re.MULTILINE)
    assert done.returncode == 1


def test_the_schema_is_json_of_the_named_draft(burstlens):
    schema = json.loads(burstlens("schema").stdout)
    assert schema["$schema"].endswith("2020-12/schema")


def test_a_reader_that_closes_the_pipe_gets_no_message():
    done = subprocess.run(
        f"{shlex.quote(sys.executable)} -m burstlens schema | head -c 10",
        shell=True, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert len(done.stdout) == 10
    assert done.stderr == ""


def test_titles_of_others_do_not_reach_the_terminal_raw(burstlens, tmp_path):
    folder = tmp_path / "recipes"
    folder.mkdir()
    (folder / "odd.toml").write_text('title = "Storm\\u001b[2J"\n')
    said = burstlens("recipes", env={"BURSTLENS_RECIPES": str(folder)}).stdout
    assert re.search(r"^odd +Storm\[2J$", said, re.MULTILINE)


def test_the_version_is_printed(burstlens):
    assert re.fullmatch(r"burstlens \d+\.\d+\.\d+\n", burstlens("--version").stdout)


@pytest.mark.slow
def test_a_stop_is_heard_with_the_frame_that_is_there(own_runs):
    driver = own_runs.start("storm")
    other = shutil.copytree(own_runs.runs / "storm", own_runs.runs / "other", symlinks=True)
    refused = own_runs.call("stop", "last")
    assert refused.returncode == 1
    assert re.search(r"2 runs go on: (storm, other|other, storm); name the one", refused.stderr)
    shutil.rmtree(other)
    assert not (own_runs.runs / "storm" / "control" / "stop").exists()
    first = own_runs.call("stop", "last")
    assert first.stdout == "storm is asked to stop; watch it: burstlens watch storm\n"
    assert driver.wait(60) == 4
    assert own_runs.events("storm").count("control.received") == 1
    for _ in range(2):
        over = own_runs.call("stop", "storm", "--now")
        assert (over.returncode, over.stdout) == (0, "storm is over already: stopped\n")
