"""Viewing blocks as batch jobs: they end, come late, and are replaced."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from batch_case import BatchCase
from run_case import WAITS
from testbed import Testbed


@pytest.mark.fault
@pytest.mark.slow
def test_a_viewing_block_is_replaced_three_times_and_no_frame_is_lost(
    slurm: Testbed, make_case: Any
) -> None:
    case = make_case(model=WAITS, interval=2.0)
    driver = case.launch()
    seen: set[str] = set()
    for _ in range(3):
        case.await_that(
            lambda: any(
                job["JobState"] == "RUNNING" and job["JobId"] not in seen
                for job in case.jobs("parsl")
            ),
            "another viewing block",
            60,
        )
        job = case.await_job("parsl")["JobId"]
        seen.add(job)
        slurm.run(["scancel", job])
    case.go_on()
    assert case.wait(driver).code == 0, case.said()
    assert not case.faults(), case.said()


@pytest.mark.slow
def test_a_viewing_block_that_begins_after_the_model_has_ended_sees_every_frame(
    make_case: Any,
) -> None:
    case = make_case(viewing='options = ["--begin=now+30"]')
    driver = case.launch()
    case.await_that((case.run / "attempts" / "1" / "ended.json").exists, "end of the model")
    assert not case.journal()[-1]["event"].startswith("product")
    assert case.wait(driver).code == 0, case.said()
    assert not case.faults(), case.said()


@pytest.mark.slow
def test_a_viewing_block_may_have_two_nodes(make_case: Any) -> None:
    case = make_case(viewing="nodes = 2")
    assert case.wait(case.launch()).code == 0, case.said()
    assert not case.faults(), case.said()


@pytest.mark.fault
def test_a_viewing_block_with_a_third_of_the_models_time_is_replaced_ahead_of_its_end(
    make_case: Any,
) -> None:
    case = make_case(model="--interval 55", viewing='walltime = "00:01"')
    driver = case.launch()
    assert case.wait(driver, 400).code == 0, case.said()
    assert len(case.jobs("parsl")) >= 3
    assert not case.faults(), case.said()
    slow = [line for line in case.journal() if line["event"] == "viewing.ended"]
    assert any("about to end" in line["reason"] for line in slow), slow


@pytest.mark.fault
def test_a_viewing_block_whose_buffer_slurm_has_lost_is_replaced_with_slurms_reason(
    slurm: Testbed, new_testbed: Iterator[Testbed], library: Path
) -> None:
    """As a slurmctld does that is restarted while the DataWarp service is silent: on a testbed of
    its own, which may keep jobs in STAGE_OUT for ever after that."""
    own = next(new_testbed)
    own.start()
    case = BatchCase(
        own, library, "lost", model=WAITS, interval=2.0,
        options='options = ["--nodelist=dwn1"]', viewing='options = ["--nodelist=dwn2"]',
    )  # fmt: skip
    other = own.submit("#!/bin/sh\n#SBATCH --nodelist=dwn2 --exclusive\nsleep 100000\n")
    own.wait(other, "RUNNING")
    driver = case.launch()
    case.await_that(
        lambda: any(job.get("BurstBufferState") == "staged-in" for job in case.jobs("parsl")),
        "a viewing block that is staged in",
        120,
    )
    (first,) = case.jobs("parsl")
    with own.knobs(away=True):
        own.restart_controller()
        own.daemons.ask("scancel", other)
    case.await_event("viewing.ended", limit_s=200)
    case.go_on()
    assert case.wait(driver, 300).code == 0, case.said()
    (ended,) = [line for line in case.journal() if line["event"] == "viewing.ended"]
    said = f"its block cannot begin (job {first['JobId']}: PENDING (Error_managing_persistent"
    assert ended["reason"].startswith(said)
    alarms = json.loads((case.run / "status.json").read_text())["alarms"]
    assert any(ended["reason"] in alarm["text"] for alarm in alarms)
    assert not case.faults(), case.said()
    case.end()
