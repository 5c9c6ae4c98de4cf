"""Whole runs on Slurm while a part of it, or the driver, is away."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from cluster.daemons import CONTROLLER
from run_case import TIMES, WAITS
from testbed import Testbed


@contextmanager
def without_controller(slurm: Testbed, how: str) -> Iterator[None]:
    """For a while slurmctld is ``suspended``, and what asks it waits, or ``killed``."""
    pid = slurm.daemons.pid(CONTROLLER)
    assert pid is not None
    if how == "killed":
        slurm.daemons.stop(CONTROLLER, kill=True)
    else:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        if how == "killed":
            slurm.daemons.start(CONTROLLER)
        else:
            os.kill(pid, signal.SIGCONT)


@pytest.mark.fault
@pytest.mark.slow
@pytest.mark.parametrize("how", ["suspended", "killed"])
def test_frames_are_published_while_the_controller_does_not_answer(
    slurm: Testbed, make_case: Any, how: str
) -> None:
    case = make_case(model=WAITS, interval=2.0)
    driver = case.launch()
    case.await_event("product.published")

    def silent_s() -> float:
        status = json.loads((case.run / "status.json").read_text())
        return float((status.get("scheduler") or {"silent_s": 0.0})["silent_s"])

    with without_controller(slurm, how):
        case.await_that(lambda: silent_s() > 0.0, "silence of Slurm in the status")
        before, begin = silent_s(), time.time()
        case.go_on()  # the last frame is written now
        case.await_event("product.published", 2 * len(TIMES))
        case.await_that(lambda: silent_s() > before, "longer silence")
        assert case.burstlens("status", "r").code == 0
        assert "Slurm has not answered for " in case.said()
        late = [
            line for line in case.journal()
            if line["event"] == "product.published" and (line["clock"]["written"] or 0) > begin
        ]  # fmt: skip
        assert late, "no product of a frame that was written meanwhile"
    assert case.wait(driver).code == 0, case.said()
    assert not case.faults(), case.said()
    status = json.loads((case.run / "status.json").read_text())
    assert "scheduler" not in status


@pytest.mark.fault
@pytest.mark.slow
def test_the_controller_may_restart_while_a_run_goes_on(slurm: Testbed, make_case: Any) -> None:
    case = make_case(model=WAITS)
    driver = case.launch()
    case.await_event("frame.ready")
    slurm.restart_controller()
    case.go_on()
    assert case.wait(driver).code == 0, case.said()
    assert not case.faults(), case.said()


@pytest.mark.slow
def test_a_driver_in_a_batch_job_needs_no_login_node(make_case: Any) -> None:
    case = make_case()
    life = case.wait(case.launch_with("--batch"))
    assert life.code == 0, life.said
    assert case.await_job("driver")["Comment"] == "r"
    case.await_event("run.ended")
    case.await_that(lambda: case.jobs("driver-1")[0]["JobState"] != "RUNNING", "its end")
    assert not case.faults(), (case.run / "logs" / "driver.log").read_text()


@pytest.mark.fault
def test_stop_without_a_driver_ends_the_model(make_case: Any) -> None:
    case = make_case(model="--interval 60")
    driver = case.launch()
    case.await_event("frame.ready")
    driver.kill()
    driver.wait()
    begin = time.monotonic()
    assert case.burstlens("stop", "r", "--now").code == 0
    ended = case.run / "attempts" / "1" / "ended.json"
    case.await_that(ended.exists, "end of the model", 15)
    assert time.monotonic() - begin < 15
    case.await_that(lambda: not case.has_live("attempt-1"), "end of the job")
    # Workers without a driver leave by themselves: nothing holds the buffer any more.
    case.await_that(lambda: not case.has_live("parsl"), "end of the viewing block", 60)
    case.finish()
    assert not case.faults(), case.said()


@pytest.mark.fault
@pytest.mark.slow
def test_a_job_that_slurm_has_forgotten_is_judged_by_its_supervisors_word(
    slurm: Testbed, make_case: Any
) -> None:
    with slurm.configured(MinJobAge=2):
        case = make_case(model=WAITS)
        driver = case.launch()
        case.await_event("frame.ready")
        driver.kill()
        driver.wait()
        case.go_on()
        case.await_that((case.run / "attempts" / "1" / "ended.json").exists, "end of the model")
        case.await_that(lambda: not case.jobs("attempt-1"), "Slurm's forgetting", 90)
        case.finish()
    assert not case.faults(), case.said()


@pytest.mark.fault
@pytest.mark.slow
def test_a_node_that_fails_ends_the_attempt_and_leaves_no_model(
    slurm: Testbed, make_case: Any
) -> None:
    with slurm.configured(SlurmdTimeout=10):
        case = make_case(model="--interval 60", interval=2.0)
        driver = case.launch()
        case.await_event("frame.ready")
        node = case.await_job("attempt-1")["NodeList"]
        slurm.daemons.stop(node)
        try:
            life = case.wait(driver, 120)
        finally:
            slurm.daemons.start(node)
        assert life.code == 1, life.said
        assert "NODE_FAIL" in life.said
        case.await_that(
            lambda: not any("replay.py" in command for command in case.processes().values()),
            "end of the model",
            30,
        )


@pytest.mark.fault
@pytest.mark.slow
def test_a_model_whose_job_slurm_puts_back_into_its_queue_is_started_again_in_that_job(
    slurm: Testbed, make_case: Any
) -> None:
    case = make_case(model=WAITS, interval=2.0, options='options = ["--requeue"]')
    driver = case.launch()
    case.await_event("frame.ready")
    job = case.await_job("attempt-1")["JobId"]
    slurm.daemons.ask("scontrol", "requeue", job)
    case.await_event("simulation.submitting", 2)
    case.go_on()
    life = case.wait(driver, 300)
    assert life.code == 0, life.said
    assert "REQUEUE" in life.said
    begun = [line for line in case.journal() if line["event"] == "simulation.submitted"]
    assert [line["job_id"] for line in begun] == [f"slurm:{job}"] * 2
    assert len(list((case.run / "attempts").iterdir())) == 2
    assert not list(case.scheduler_faults())


@pytest.mark.fault
def test_a_node_that_fails_under_the_viewing_block_is_named_with_slurms_word(
    slurm: Testbed, make_case: Any
) -> None:
    with slurm.configured(SlurmdTimeout=10):
        case = make_case(
            model="--interval 50",
            interval=2.0,
            options='options = ["--nodelist=dwn1"]',
            viewing='options = ["--nodelist=dwn2"]',
        )
        driver = case.launch()
        case.await_event("product.published")
        slurm.daemons.stop("dwn2")
        try:
            case.await_event("viewing.ended")
        finally:
            slurm.daemons.start("dwn2")
        life = case.wait(driver, 240)
    assert life.code == 0, life.said
    (ended,) = [line for line in case.journal() if line["event"] == "viewing.ended"]
    assert "NODE_FAIL" in ended["reason"]
    assert [line["event"] for line in case.journal()].count("viewing.started") == 2


@pytest.mark.slow
def test_the_end_of_the_models_time_is_reported_and_its_products_stay(make_case: Any) -> None:
    case = make_case(model="--interval 200")
    recipe = case.folder / "r.toml"
    text = recipe.read_text().replace("[simulation]\n", '[simulation]\nwalltime = "00:01"\n')
    recipe.write_text(text)
    life = case.wait(case.launch())
    assert life.code == 1
    assert "(walltime)" in life.said
    assert len(list((case.run / "products" / "w").glob("*.png"))) >= 1
    assert (case.run / "logs" / "attempt-1" / "rsl.error.0000").exists()
    assert case.burstlens("free", "r", "--discard").code == 0
    assert not list(case.scheduler_faults())


@pytest.mark.fault
@pytest.mark.slow
@pytest.mark.parametrize("word", ["CANCELLED", "NODE_FAIL"])
def test_how_the_job_with_the_buffer_ended_is_reported_in_slurms_words(
    slurm: Testbed, make_case: Any, word: str
) -> None:
    buffer = 'kind = "datawarp"\nlifetime = "job"'
    with slurm.configured(SlurmdTimeout=10):
        case = make_case(model=WAITS, interval=2.0, buffer=buffer, placement="same-job")
        driver = case.launch()
        case.await_event("product.published")
        job = case.await_job("host-1")
        if word == "CANCELLED":
            slurm.run(["scancel", job["JobId"]])
            life = case.wait(driver)
        else:
            slurm.daemons.stop(job["NodeList"])
            try:
                life = case.wait(driver)
            finally:
                slurm.daemons.start(job["NodeList"])
    assert life.code == 1, life.said
    said = json.loads((case.run / "status.json").read_text())["outcome"]["message"]
    assert said.count(f"job {job['JobId']}: {word}") == 1, said
    assert "the job with the buffer has ended" in said
