"""Runs of several jobs on a real Slurm: the next one is submitted ahead, a requeued one adopted."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from segments_case import PARAMETERS
from testbed import Testbed

pytestmark = pytest.mark.slow
RECIPE = """\
[simulation]
model = "awm"
inputs = "inputs"
leave = ["trace/*", "replay.py", "namelist.input", "wrf.exe"]
segments = "until done"
walltime = "{walltime}"
[checkpoint]
every = 0.1
[buffer]
capacity = "{{capacity}}"
[[product]]
name = "motion"
kind = "map"
stream = "surface"
variable = "vz"
"""
OURS_S = 5.0
"""Of ours between the end of an attempt and the start of the next one whose job waits."""
LIMIT_S = 400.0
SHORT, LONG = "00:00:16", "00:10:00"


def parameters(steps: int) -> str:
    """Those of awm, for so many steps."""
    text = PARAMETERS.replace("x = 40", "x = 64").replace("ny = 40", "ny = 64")
    text = text.replace("nz = 20", "nz = 32").replace("steps = 400", f"steps = {steps}")
    return text.replace("every = 50", "every = 200")


@pytest.fixture(scope="session")
def steps_per_s(tmp_path_factory: pytest.TempPathFactory) -> float:
    """How fast awm is on this machine now."""
    folder = tmp_path_factory.mktemp("awm")
    (folder / "awm.toml").write_text(parameters(100))
    command = [sys.executable, "-m", "burstlens.workflows.awm", "awm.toml"]
    said = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    found = re.search(r"100 steps in ([\d.]+) s", said.stdout + said.stderr)
    assert found, said
    return 100 / float(found[1])


@pytest.fixture
def awm_case(make_case: Callable[..., Any], steps_per_s: float) -> Callable[..., Any]:
    """A run of awm in jobs of that walltime, which computes for about so many seconds."""

    def make(walltime: str, seconds: float = 30.0, **how: Any) -> Any:
        how |= {"interval": 2.0, "viewing": 'walltime = "00:30:00"'}  # not as short as the jobs
        case = make_case(recipe=RECIPE.format(walltime=walltime), **how)
        steps = 10 * round(seconds * steps_per_s / 10)
        (case.inputs / "awm.toml").write_text(parameters(steps))
        return case

    return make


def events(case: Any, kind: str) -> list[dict[str, Any]]:
    return [line for line in case.journal() if line["event"] == kind]


def attempts(case: Any) -> list[Path]:
    return sorted((case.run / "attempts").iterdir(), key=lambda path: int(path.name))


def read(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text()))


def pauses(case: Any) -> Iterator[float]:
    """From the end of an attempt, or the begin of the next one's job, to the start of its model."""
    folders = attempts(case)
    for before, after in pairwise(folders):
        started = read(after / "started.json")
        begun = started["started"] - started["idle_s"]
        model = (after / "started.json").stat().st_mtime
        yield round(model - max(begun, read(before / "ended.json")["ended"]), 2)


def require_one_job_each(case: Any) -> None:
    """Each attempt after the first was run by the job that had been submitted ahead for it."""
    ahead = [line["job_id"] for line in events(case, "ahead.submitted")]
    submitted = {line["attempt"]: line["job_id"] for line in events(case, "simulation.submitted")}
    used = [submitted[number] for number in sorted(submitted)[1:]]
    assert used == ahead[: len(used)]
    assert len(events(case, "frame.ready")) == len(
        {(line["time"], line["attempt"]) for line in events(case, "frame.ready")}
    )
    assert not list(case.scheduler_faults())


@pytest.mark.timeout(600)
def test_each_job_is_followed_by_one_that_was_submitted_ahead(awm_case: Any, capsys: Any) -> None:
    case = awm_case(SHORT, 60.0)
    life = case.wait(case.launch(), LIMIT_S)
    assert life.code == 0, life.said
    assert len(attempts(case)) >= 3
    require_one_job_each(case)
    with capsys.disabled():
        print(f"\n{len(attempts(case))} attempts, pauses of ours {[*pauses(case)]}")
    for line in events(case, "simulation.ended")[1:]:
        assert line.get("lost_core_hours", 0.0) < 0.01  # none where it was given its attempt before
    assert events(case, "ahead.ended")[0]["outcome"] == "cancelled"
    assert max(pauses(case)) < OURS_S


@pytest.mark.timeout(600)
def test_a_driver_that_is_killed_at_the_change_is_followed_by_one_that_gives_the_job_its_attempt(
    awm_case: Any,
) -> None:
    case = awm_case(SHORT)
    driver = case.launch()
    case.await_event("ahead.submitted")
    case.await_that((case.run / "attempts" / "1" / "ended.json").exists, "end of attempt 1")
    os.kill(driver.pid, signal.SIGKILL)
    driver.wait()
    assert case.await_job("ahead-2", 30)["JobState"] == "RUNNING"
    life = case.wait(case.start("resume", "r"), LIMIT_S)
    assert life.code == 0, life.said
    require_one_job_each(case)


@pytest.mark.timeout(600)
def test_a_job_whose_driver_was_killed_before_it_noted_its_id_is_found_again(awm_case: Any) -> None:
    case = awm_case(SHORT, 15.0)
    # The buffer's job, the simulation's, the viewing block's, then the one ahead.
    kill = {"role": "driver", "call": "start sbatch", "number": 4, "when": "after"}
    life = case.wait(case.launch(kill=kill), LIMIT_S)
    assert life.code == -9, life.said
    assert not events(case, "ahead.submitted")
    life = case.wait(case.start("resume", "r"), LIMIT_S)
    assert life.code == 0, life.said
    names = [job["JobName"].rpartition("ahead-")[2] for job in case.jobs("ahead-")]
    assert len(names) == len(set(names)), names
    require_one_job_each(case)


@pytest.mark.timeout(300)
def test_a_stop_cancels_the_job_that_was_submitted_ahead(awm_case: Any, slurm: Testbed) -> None:
    case = awm_case(LONG, 300.0)
    driver = case.launch()
    case.await_event("ahead.submitted")
    (ahead,) = case.jobs("ahead-2")
    assert ahead["JobState"] == "PENDING"
    assert case.burstlens("stop", "r").code == 0
    assert case.wait(driver, 120).code != 0
    assert events(case, "ahead.ended")[0]["outcome"] == "cancelled"
    assert slurm.job(ahead["JobId"])["JobState"] == "CANCELLED"
    case.await_that(lambda: not case.has_live(""), "end of the jobs", 30)
    assert case.burstlens("free", "r", "--discard").code == 0


@pytest.mark.timeout(600)
def test_a_job_that_slurm_starts_again_runs_the_next_attempt_itself(
    awm_case: Any, slurm: Testbed
) -> None:
    case = awm_case(LONG, options='options = ["--requeue"]')
    driver = case.launch()
    case.await_event("ahead.submitted")
    case.await_event("checkpoint.whole", 2)
    job = case.await_job("attempt-1")["JobId"]
    slurm.daemons.ask("scontrol", "requeue", job)
    life = case.wait(driver, LIMIT_S)
    assert life.code == 0, life.said
    first, second = events(case, "simulation.submitted")
    assert first["job_id"] == second["job_id"] == f"slurm:{job}"
    assert events(case, "simulation.ended")[0]["outcome"] == "requeued"
    assert events(case, "simulation.submitting")[1]["checkpoint"]
    assert len(case.jobs("attempt-")) == len(case.jobs("ahead-")) == 1
    assert not list(case.scheduler_faults())


@pytest.mark.timeout(600)
def test_a_job_that_is_started_again_while_nobody_drives_waits_for_a_driver(
    awm_case: Any, slurm: Testbed
) -> None:
    case = awm_case(LONG, options='options = ["--requeue"]')
    driver = case.launch()
    case.await_event("checkpoint.whole", 2)
    job = case.await_job("attempt-1")["JobId"]
    os.kill(driver.pid, signal.SIGKILL)
    driver.wait()
    slurm.daemons.ask("scontrol", "requeue", job)
    case.await_that((case.run / "attempts" / "1" / "restarted").exists, "second start", 240)
    time.sleep(1.0)
    life = case.wait(case.start("resume", "r"), LIMIT_S)
    assert life.code == 0, life.said
    assert {line["job_id"] for line in events(case, "simulation.submitted")} == {f"slurm:{job}"}
    assert not list(case.scheduler_faults())
