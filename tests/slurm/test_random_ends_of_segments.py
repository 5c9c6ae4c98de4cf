"""Runs that outlive their jobs, on the testbed, disturbed at random: what comes out is the run in
one piece, bit by bit, and no job and no buffer is left.

``FAULT_SEED`` and ``SEGMENTED_RUNS`` give where a series begins and how long it is,
``WALLTIME_RUNS`` how many are cut by the time of their jobs;
``FAULT_RESULTS`` keeps what became of them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from run_case import Case
from segmented_case import (
    ASKED,
    CUT,
    Disturbance,
    SegmentedCase,
    SegmentedVerdict,
    give_inputs,
)
from testbed import Testbed

SEED = int(os.environ.get("FAULT_SEED", "1"))
COUNT = int(os.environ.get("SEGMENTED_RUNS", "24"))
AT_ONCE = int(os.environ.get("SEGMENTED_AT_ONCE", "2"))
STEPS = int(os.environ.get("SEGMENTED_STEPS", "3000"))


WALLTIME_RUNS = int(os.environ.get("WALLTIME_RUNS", "3"))
WALLTIME_STEPS = int(os.environ.get("WALLTIME_STEPS", "12000"))


def whole(folder: Path, steps: int, recipe: tuple[str, str, str]) -> Path:
    """The run in one piece, on this machine."""
    case = Case(folder)
    give_inputs(case, steps, "1", recipe)
    ended = case.wait(case.launch(), 1800)
    assert ended.code == 0, ended.said
    return case.run


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return whole(tmp_path_factory.mktemp("asked"), STEPS, ASKED)


@pytest.fixture(scope="module")
def cut(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return whole(tmp_path_factory.mktemp("cut"), WALLTIME_STEPS, CUT)


@pytest.fixture
def carry_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Callable[[Iterable[Disturbance], Callable[[str], SegmentedCase]], None]:
    """Carries out a run for each disturbance, some at once, and fails with all that is wrong."""
    results = Path(os.environ.get("FAULT_RESULTS", tmp_path)) / "segments.jsonl"

    def carry_out(disturbances, case) -> None:
        def one(of: Disturbance) -> SegmentedVerdict:
            return case(f"segments-{of.seed}-{os.urandom(3).hex()}").carry_out(of)

        wrong = []
        with ThreadPoolExecutor(AT_ONCE) as pool, results.open("a") as kept:
            for verdict in pool.map(one, disturbances):
                kept.write(json.dumps(asdict(verdict)) + "\n")
                kept.flush()
                with capsys.disabled():
                    how = f"{verdict.attempts} attempts, drivers {verdict.lives}"
                    faults = "".join(f"    {fault}\n" for fault in verdict.violations)
                    print(f"{verdict.seconds:5.0f} s, {how}: {verdict.of}\n{faults}", end="")
                wrong += [verdict] * bool(verdict.violations)
        assert not wrong, "\n\n".join(f"{one.of} {one.violations}" for one in wrong)

    return carry_out


@pytest.mark.fault
@pytest.mark.flaky(reruns=0)
@pytest.mark.timeout(0)
def test_disturbed_runs_of_several_jobs_equal_the_run_in_one_piece(
    slurm: Testbed, library: Any, asked: Path, carry_out: Any
) -> None:
    carry_out(
        map(Disturbance.draw, range(SEED, SEED + COUNT)),
        lambda name: SegmentedCase(slurm, library, name, asked, steps=STEPS),
    )


@pytest.mark.fault
@pytest.mark.flaky(reruns=0)
@pytest.mark.timeout(0)
def test_runs_that_their_jobs_time_cuts_equal_the_run_in_one_piece(
    slurm: Testbed, library: Any, cut: Path, carry_out: Any
) -> None:
    carry_out(
        (Disturbance(number, "nothing", 0.0) for number in range(WALLTIME_RUNS)),
        lambda name: SegmentedCase(slurm, library, name, cut, steps=WALLTIME_STEPS, recipe=CUT),
    )
