"""Stops, kills and outages at random on the testbed: nothing is left, nothing foreign is touched,
and what a run says of its state and its buffer is what the testbed's own record says.

``FAULT_SEED`` replays a series of ``FAULT_EVENTS`` events; ``FAULT_RESULTS`` keeps what became of
them, for the table of docs/reliability.md.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from campaign import result
from disturbed_run import commit
from random_event import EventRun, Foreign, RandomEvent
from testbed import Testbed

SEED = int(os.environ.get("FAULT_SEED", "1"))
COUNT = int(os.environ.get("FAULT_EVENTS", "60"))


@pytest.fixture
def own_testbed(slurm: Testbed, new_testbed: Iterator[Testbed]) -> Testbed:
    """A cluster for these tests alone: after outages Slurm itself may keep a job in STAGE_OUT for
    ever, which other tests would wait for. ``slurm`` says whether there can be one."""
    testbed = next(new_testbed)
    testbed.start()
    return testbed


@pytest.mark.fault
@pytest.mark.flaky(reruns=0)
@pytest.mark.timeout(0)
def test_random_events_leave_nothing_and_what_is_said_is_true(
    own_testbed: Testbed, library: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    this, foreign = commit(), Foreign(own_testbed)
    wrong: list[Any] = []
    results = Path(os.environ.get("FAULT_RESULTS", tmp_path)) / "results.jsonl"
    reached, seed = 0, SEED
    with results.open("a") as kept:
        while reached < COUNT and seed < SEED + 3 * COUNT:
            verdict = EventRun(own_testbed, library, foreign, RandomEvent.draw(seed)).carry_out()
            seed += 1
            reached += verdict.reached
            row = result(verdict, this)
            kept.write(json.dumps(row) + "\n")
            kept.flush()
            with capsys.disabled():
                print(f"{verdict.outcome:<12} {verdict.seconds:5.1f} s  {row['scenario']}")
                print("".join(f"    {fault}\n" for fault in verdict.violations), end="", flush=True)
            wrong += [row] * bool(verdict.violations)
    assert not wrong, "\n\n".join(f"{row['seed']} {row['violations']}" for row in wrong)
