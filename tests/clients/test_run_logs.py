"""The logs that runs and commands keep, and what of them is printed."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest


@pytest.mark.integration
def test_without_a_log_nothing_reaches_the_terminal():
    code = (
        "import logging; from burstlens.core.run import logs\n"
        "logging.getLogger('burstlens.x').error('hidden')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.integration
def test_listing_runs_imports_no_logging(burstlens):
    code = (
        "import sys; from burstlens.clients.cli import main\n"
        "sys.argv = ['burstlens', 'list']\n"
        "try: main()\n"
        "except SystemExit: print('logging' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "False"


@pytest.mark.integration
def test_a_level_that_does_not_exist_is_wrong_usage(burstlens):
    done = burstlens("list", env={"BURSTLENS_LOG": "loud"})
    assert done.returncode == 2
    assert "is not a level" in done.stderr
    assert done.stdout == ""


@pytest.fixture
def refused(recipe_file, burstlens, tmp_path):
    """A run whose driver begins and ends at once, since it finds no setsid; the command's end and
    the driver's log."""
    recipe_file()

    def drive(*words, **environment):
        done = burstlens(
            *words, "any.toml", "--site", "local", "--name", "r",
            env={"PATH": str(tmp_path / "empty"), **environment},
        )  # fmt: skip
        path = tmp_path / "runs" / "r" / "logs" / "burstlens" / "driver.log"
        assert done.returncode == 1
        return done, path.read_text() if path.exists() else ""

    return drive


@pytest.mark.integration
def test_a_driver_logs_how_it_begins_and_ends_and_prints_nothing_of_it(refused):
    done, text = refused("run")
    assert re.search(r"INFO driver \S+ \d+ burstlens\.\S+: driver 1 of r begins in .*/runs/r: "
                     r"Burstlens \S+, Python \S+, .*, site local", text)  # fmt: skip
    assert re.search(r"ERROR driver .*: driver 1 ends: setsid is not on PATH", text)
    assert "driver 1 of r begins" not in done.stderr + done.stdout


@pytest.mark.integration
@pytest.mark.parametrize("words", [("-v", "run"), ("run", "-v")], ids=" ".join)
def test_v_prints_the_log_as_well(refused, words):
    done, text = refused(*words)
    assert "driver 1 of r begins" in done.stderr
    assert "driver 1 of r begins" in text


@pytest.mark.integration
def test_vv_logs_and_prints_debug(refused):
    done, text = refused("run", "-vv")
    assert "DEBUG" in text
    assert "DEBUG" in done.stderr


@pytest.mark.integration
def test_off_keeps_no_log(refused):
    assert refused("run", BURSTLENS_LOG="off")[1] == ""


def test_each_process_of_a_run_keeps_its_own_log(standing):
    said = standing.done().said
    folder = standing.runs / "done" / "logs" / "burstlens"
    kinds = {path.name.partition("-")[0].removesuffix(".log") for path in folder.iterdir()}
    assert kinds == {"driver", "supervisor", "worker"}
    driver = (folder / "driver.log").read_text()
    for text in ("driver 1 of done begins", "viewing.queued", "simulation.submitted",
                 "frame.ready", "run.ended outcome=done exit_code=0", "driver 1 ends"):  # fmt: skip
        assert text in driver
        assert text not in said
    job = json.loads((standing.runs / "done" / "attempts" / "1" / "job.json").read_text())
    assert job["log_level"] == "info"
    supervisor = (folder / "supervisor-attempt-1.log").read_text()
    assert "the program has ended with status 0: exited" in supervisor
    workers = "".join(path.read_text() for path in folder.glob("worker-*"))
    assert workers.count("is whole: ") == 3


def test_a_failed_run_logs_what_was_damaged_and_why(standing):
    standing.failed()
    folder = standing.runs / "failed" / "logs" / "burstlens"
    driver = (folder / "driver.log").read_text()
    assert re.search(r"WARNING driver .*: frame\.damaged .*time=00010101T000100 .*reason=", driver)
    assert re.search(r"WARNING driver .*: product\.failed product=w ", driver)
    assert re.search(r"simulation\.ended .*outcome=failed message=attempt-1 was ended by", driver)
