"""Runs that outlive their jobs, on the testbed, disturbed at random: what comes out is the run in
one piece, bit by bit, and no job and no buffer is left.

``FAULT_SEED`` and ``SEGMENTED_RUNS`` give where a series begins and how long it is;
``FAULT_RESULTS`` keeps what became of them.
"""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from run_case import Case
from segmented_case import Disturbance, SegmentedCase, SegmentedVerdict, give_inputs
from testbed import Testbed

SEED = int(os.environ.get("FAULT_SEED", "1"))
COUNT = int(os.environ.get("SEGMENTED_RUNS", "24"))
AT_ONCE = int(os.environ.get("SEGMENTED_AT_ONCE", "2"))
STEPS = int(os.environ.get("SEGMENTED_STEPS", "3000"))
CHECKPOINT = "lead = 50\n"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run in one piece, on this machine."""
    case = Case(tmp_path_factory.mktemp("whole"))
    give_inputs(case, STEPS, "1")
    ended = case.wait(case.launch(), 900)
    assert ended.code == 0, ended.said
    return case.run


@pytest.mark.fault
@pytest.mark.flaky(reruns=0)
@pytest.mark.timeout(0)
def test_disturbed_runs_of_several_jobs_equal_the_run_in_one_piece(
    slurm: Testbed, library: Any, whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = Path(os.environ.get("FAULT_RESULTS", tmp_path)) / "segments.jsonl"

    def carry_out(seed: int) -> SegmentedVerdict:
        name = f"segments-{seed}-{os.urandom(3).hex()}"
        case = SegmentedCase(slurm, library, name, whole, steps=STEPS, checkpoint=CHECKPOINT)
        return case.carry_out(Disturbance.draw(seed))

    wrong = []
    with ThreadPoolExecutor(AT_ONCE) as pool, results.open("a") as kept:
        for verdict in pool.map(carry_out, range(SEED, SEED + COUNT)):
            kept.write(json.dumps(asdict(verdict)) + "\n")
            kept.flush()
            with capsys.disabled():
                how = f"{verdict.attempts} attempts, drivers {verdict.lives}"
                print(f"{verdict.seconds:5.0f} s, {how}: {verdict.of}")
                print("".join(f"    {fault}\n" for fault in verdict.violations), end="", flush=True)
            wrong += [verdict] * bool(verdict.violations)
    assert not wrong, "\n\n".join(f"{one.of} {one.violations}" for one in wrong)
