"""Whose a persistent buffer is, on a real Slurm: what others made or use is never destroyed."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from batch_case import BatchCase
from run_case import WAITS
from testbed import ACTIVE, Testbed

pytestmark = pytest.mark.slow
CREATE = (
    "#!/bin/sh\n#BB create_persistent name=storms capacity=1GiB access=striped type=scratch\n:\n"
)


def named(case: BatchCase) -> BatchCase:
    recipe = case.folder / "r.toml"
    recipe.write_text(recipe.read_text().replace("[buffer]\n", '[buffer]\nname = "storms"\n'))
    return case


def event(case: BatchCase, name: str) -> dict[str, Any]:
    return next(line for line in case.journal() if line["event"] == name)


def test_a_named_buffer_that_the_run_made_is_given_back(slurm: Testbed, make_case: Any) -> None:
    case = named(make_case())
    assert case.wait(case.launch()).code == 0, case.said()
    assert not slurm.burst()
    seen = event(case, "buffer.observed")
    assert (seen["owned"], seen["absent"], seen["others"]) == (True, True, [])
    assert seen["created"] >= seen["submitted"]


@pytest.mark.fault  # tests/placement/test_persistent_buffer.py has whose a buffer is
def test_a_buffer_that_others_made_while_the_run_waited_for_its_own_is_adopted_and_stays(
    slurm: Testbed, make_case: Any
) -> None:
    with slurm.closed():
        case = named(make_case())
        driver = case.launch()
        case.await_that(lambda: case.jobs("buffer-create"), "the create job")
        (job,) = case.jobs("buffer-create")
        slurm.daemons.ask("scontrol", "update", f"JobId={job['JobId']}", "StartTime=now+1hour")
    other = slurm.submit(CREATE)
    slurm.wait(other)
    assert case.wait(driver).code == 0, case.said()
    assert set(slurm.burst()) == {"storms"}
    seen = event(case, "buffer.observed")
    assert (seen["owned"], seen["absent"], seen["others"]) == (False, True, [other])
    assert not [job for job in case.jobs("buffer-create") if job["JobState"] in ACTIVE]
    assert case.burstlens("free", "r").code == 0
    assert set(slurm.burst()) == {"storms"}


@pytest.mark.fault  # an outage; three times the whole of SILENT_S passes
@pytest.mark.timeout(900)
def test_while_the_service_is_silent_nobody_says_that_the_buffer_is_gone(
    slurm: Testbed, make_case: Any
) -> None:
    case = make_case(model=WAITS)
    driver = case.launch()
    case.await_event("product.published")
    with contextlib.ExitStack() as silence:
        with slurm.closed():
            case.go_on()
            # Slurm itself keeps the sessions of jobs that end while the service is silent.
            case.await_that(lambda: case.jobs("buffer-destroy"), "the destroy job")
            silence.enter_context(slurm.silent_service())
            slurm.restart_controller()
        life = case.wait(driver, 240)
        assert life.code == 8, life.said
        assert "names no pool with its size" in life.said
        freed = case.burstlens("free", "r")
        assert freed.code == 1
        assert "which buffers exist is not known" in freed.said
        shown = case.burstlens("buffers", "--site", "bed")
        assert shown.code == 1
    status = json.loads((case.run / "status.json").read_text())
    assert (status["state"], status["outcome"]["exit_code"]) == ("done", 8)
    assert case.buffer_name() in status["outcome"]["left"]
    assert case.buffer_name() in slurm.burst_soon()
    assert case.burstlens("resume", "r").code == 0, case.said()
    case.await_that(lambda: not slurm.burst(), "the end of the buffer")
    assert not case.faults(), case.said()


def test_a_destroy_job_that_is_cancelled_leaves_exit_code_8_and_free_finishes_it(
    slurm: Testbed, make_case: Any
) -> None:
    case = make_case(model=WAITS, interval=1.0)
    driver = case.launch()
    case.await_event("product.published")
    with slurm.closed():
        case.go_on()
        case.await_that(lambda: case.jobs("buffer-destroy"), "the destroy job")
        slurm.run(["scancel", case.jobs("buffer-destroy")[0]["JobId"]])
        life = case.wait(driver)
    assert life.code == 8, life.said
    assert f"buffer {case.buffer_name()} is not given back" in life.said
    assert "burstlens free r" in life.said
    assert set(slurm.burst()) == {case.buffer_name()}
    assert case.burstlens("free", "r").code == 0
    assert not slurm.burst()
    outcome = json.loads((case.run / "status.json").read_text())["outcome"]
    assert (outcome["exit_code"], outcome["left"]) == (0, None)
