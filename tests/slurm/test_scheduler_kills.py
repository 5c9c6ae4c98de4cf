"""kill -9 of the driver just before and just after each of its calls of the scheduler."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest


@pytest.mark.parametrize(
    ("call", "number", "when"),
    [
        pytest.param("sbatch", 1, "after", id="buffer", marks=pytest.mark.fault),
        pytest.param("sbatch", 2, "after", id="simulation"),
        pytest.param("sbatch", 4, "after", id="destroy", marks=pytest.mark.fault),
        pytest.param("scontrol", 6, "after", id="destroyed"),
    ],
)
def test_a_driver_killed_at_a_call_of_the_scheduler_is_resumed(
    make_case: Any, call: str, number: int, when: str
) -> None:
    case = make_case()
    kill = {"role": "driver", "call": f"start {call}", "number": number, "when": when}
    life = case.wait(case.launch(kill=kill))
    assert life.code == -9, life.said
    case.finish()
    assert not case.faults(), case.said()


SCHEDULER = ("sbatch", "squeue", "scontrol", "scancel")


@pytest.mark.fault
@pytest.mark.timeout(0)
def test_every_call_of_the_scheduler_survives_a_kill(make_case: Any, capsys: Any) -> None:
    first = make_case()
    assert first.wait(first.launch(counted=True)).code == 0, first.said()
    counts: Counter[str] = Counter()
    for file in first.calls.glob("driver.*.calls"):
        counts |= Counter(file.read_text().splitlines())
    kills = [
        {"role": "driver", "call": call, "number": number, "when": when}
        for call, count in counts.items()
        if call.removeprefix("start ") in SCHEDULER
        for number in range(1, count + 1)
        for when in ("before", "after")
    ]
    assert len(kills) > 12
    wrong = []
    for kill in kills:
        case = make_case()
        life = case.wait(case.launch(kill=kill))
        if life.code != 0:
            case.finish()
        faults = case.faults()
        with capsys.disabled():
            word = "WRONG" if faults else "ok" if life.code == -9 else "not reached"
            print(f"{word}: {kill['when']} {kill['call']} #{kill['number']}", flush=True)
        if faults:
            wrong.append(f"{kill}: {faults}\n{case.said()}")
    assert not wrong, "\n\n".join(wrong)
