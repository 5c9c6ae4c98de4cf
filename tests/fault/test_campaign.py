"""Whole runs under faults that a seed draws, judged by ``run_checker``.

``make fault`` carries out 1,000 kills and every effect on every kind of outside call, and writes
what became of them to ``FAULT_RESULTS`` (campaign_table.py makes the table of docs/reliability.md
of it). ``FAULT_SEED`` replays a series, ``FAULT_KILLS``, ``FAULT_CALLS``, ``FAULT_ROOM`` and
``FAULT_CLOCK`` say how many scenarios of a kind, ``FAULT_PARALLEL`` how many at a time and
``FAULT_LIFE_S`` how long one life of a driver may take (150 s).
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from campaign import carry_out, series
from campaign_table import table
from disturbed_run import Equipment
from scenario import KINDS, draw, every_effect

SEED = int(os.environ.get("FAULT_SEED", "1"))
PARALLEL = int(os.environ.get("FAULT_PARALLEL", "2"))
COUNTS = {"kill": 1000, "call": len(every_effect()), "room": 100, "clock": 100}
VARIABLES = {"kill": "FAULT_KILLS", "call": "FAULT_CALLS"}

SAMPLE = (("kill", 12), ("call", 3), ("room", 1), ("clock", 2))
"""A kind and a seed each; together within two minutes on two cores."""

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")


def test_a_seed_gives_the_same_scenario_each_time() -> None:
    for kind in KINDS:
        drawn = [draw(seed, kind) for seed in range(300)]
        assert drawn == [draw(seed, kind) for seed in range(300)]
        assert len(set(map(str, drawn))) > 150


def test_so_many_seeds_in_a_row_draw_each_effect_on_each_outside_call() -> None:
    count = len(every_effect())
    drawn = [draw(seed, "call") for seed in range(17, 17 + count)]
    assert len({(it.call, it.effect) for it in drawn}) == count


def test_the_table_counts_the_last_result_of_each_seed() -> None:
    def result(seed: int, outcome: str, commit: str = "abc") -> dict[str, Any]:
        return {"kind": "kill", "seed": seed, "outcome": outcome, "commit": commit}

    results = [
        result(1, "violation"), result(1, "went on"), result(2, "resumed"), result(9, "violation"),
        result(4, "not reached"), result(1, "resumed", "def"),
    ]  # fmt: skip
    assert list(table(results))[2:] == [
        "| a signal to a process | abc | 1 to 9 | 3 | 1 | 1 | 1 |",
        "| a signal to a process | def | 1 to 1 | 1 | 0 | 1 | 0 |",
    ]


@pytest.fixture(scope="module")
def equipment(tmp_path_factory: pytest.TempPathFactory) -> Equipment:
    """What scenarios share."""
    return Equipment(tmp_path_factory.mktemp("equipment"))


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize(("kind", "seed"), SAMPLE)
def test_a_sample_of_the_campaign_loses_nothing(kind: str, seed: int, equipment: Equipment) -> None:
    # TMPDIR lies in it, and a socket there has at most 107 characters.
    with tempfile.TemporaryDirectory(prefix="fault-") as folder:
        verdict = carry_out(Path(folder), kind, seed, equipment)
    assert not verdict.violations, "\n".join([str(verdict.scenario), *verdict.violations])


@pytest.mark.fault
@needs_compiler
@pytest.mark.timeout(0)
@pytest.mark.parametrize("kind", KINDS)
def test_the_campaign_loses_nothing(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    count = int(os.environ.get(VARIABLES.get(kind, f"FAULT_{kind.upper()}"), COUNTS[kind]))
    folder = Path(os.environ.get("FAULT_RESULTS", tmp_path))
    wrong: list[Any] = []
    with capsys.disabled():
        print(f"\n{count} scenarios of kind {kind} from seed {SEED}, results in {folder}")
        for verdict in series(folder, kind, SEED, count, PARALLEL):
            wrong += [verdict] * bool(verdict.violations)
    assert not wrong, "\n\n".join(f"{it.scenario}: {it.violations}" for it in wrong)
