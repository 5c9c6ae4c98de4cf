"""kill -9 of any process of a run, just before and just after any of its outside calls."""

from __future__ import annotations

import os
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from typing import Any

import pytest
from run_case import BLOCK

ROLES = ("driver", "supervisor", "model", "early", "worker", "manager", "interchange")
PARALLEL = int(os.environ.get("FAULT_PARALLEL", "2"))
MOST = 6
"""Of a call that a process repeats more often (a message, a heartbeat of status.json, the model's
writes), so many are taken, evenly spread; the journal's are all taken."""
SEEN_AT_ONCE = ("rename", "start", "kill", "send", "write journal.jsonl", "unlink", "open driver-")
"""Just after one call is just before the next one, but for what other processes do in between:
so ``after`` is taken where they can see that the call was made."""

SAMPLE = {
    "driver-before-submit": ("driver", "start supervisor.py", 1, "before"),
    "driver-after-submit": ("driver", "start supervisor.py", 1, "after"),
    "driver-after-rename": (
        "driver", "rename products/w/w_d01_00010101T000100.png", 1, "after",
    ),
    "worker-in-staging": (
        "worker", "fsync products/.incoming/.core.d01.00010101T000000.*.*.part", 1, "before",
    ),
    "early-in-stage-in": ("early", "fsync burstlens-0/r-*/inputs/.wrf.exe.*.part", 1, "before"),
    "supervisor-before-started": ("supervisor", "rename attempts/1/started.json", 1, "before"),
    "model-in-mid-write": (
        "model", "write burstlens-0/r-*/1/wrfout_d01_0001-01-01_00:01:00", 900, "before",
    ),
    "interchange": ("interchange", "send", 40, "after"),
    "manager": ("manager", "send", 12, "after"),
}  # fmt: skip


LONG = ("driver-after-submit", "early-in-stage-in", "worker-in-staging", "interchange")
"""Those of the sample that are left to `make test-slow`."""

LONGEST = (
    "driver-before-submit", "driver-after-rename", "model-in-mid-write",
    "supervisor-before-started", "manager",
)  # fmt: skip
"""Those that are left to `make fault`: the others kill the same roles, but for the supervisor (its
kills are in tests/supervision) and the manager (its workers are killed in tests/driving)."""


def _tier(name: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.fault] * (name in LONGEST) + [pytest.mark.slow] * (name in LONG)


def _kill(role: str, call: str, number: int, when: str) -> dict[str, Any]:
    return {"role": role, "call": call, "number": number, "when": when}


@pytest.fixture(scope="module")
def sample(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, disturbed: Any
) -> Iterator[dict[str, Future[Any]]]:
    """Each selected kill of the sample in a run of its own, two runs at a time."""
    selected = {item.name for item in request.session.items}
    homes = tmp_path_factory.mktemp("homes")
    xdg = {f"XDG_{name}_HOME": str(homes / name.lower()) for name in ("CONFIG", "STATE")}
    inherited = {**os.environ, **xdg}
    with ThreadPoolExecutor(PARALLEL) as pool:
        yield {
            name: pool.submit(disturbed, tmp_path_factory.mktemp(name), _kill(*kill), inherited)
            for name, kill in SAMPLE.items()
            if any(item.endswith(f"[{name}]") for item in selected)
        }


@pytest.mark.integration
@pytest.mark.parametrize("name", [pytest.param(name, marks=_tier(name)) for name in SAMPLE])
def test_a_killed_process_loses_nothing_and_does_nothing_twice(
    sample: dict[str, Future[Any]], name: str
) -> None:
    end = sample[name].result()
    assert end.killed, f"no such call was made; it said:\n{end.said}"
    assert not end.faults, "\n".join(end.faults) + "\n" + end.said


@pytest.mark.fault
@pytest.mark.timeout(0)
@pytest.mark.parametrize("role", ROLES)
def test_every_outside_call_survives_a_kill(
    make_case: Any, disturbed: Any, capsys: pytest.CaptureFixture[str], role: str
) -> None:
    first = make_case("recorded", block_only=role in BLOCK)
    assert first.burstlens("run", "r.toml", "--name", "r", counted=True).code == 0
    assert not first.faults()
    kills = list(_kills(role, _calls(first, role)))
    assert kills, f"no outside call of a {role} was seen"
    missed, wrong, begin = 0, [], time.monotonic()
    with ThreadPoolExecutor(PARALLEL) as pool, capsys.disabled():
        print(f"\n{role}: {len(kills)} kills", flush=True)
        folder = first.folder.parent
        waiting = {
            pool.submit(disturbed, folder / f"{place:04d}", kill): (place, kill)
            for place, kill in enumerate(kills)
        }
        for count, done in enumerate(as_completed(waiting), 1):
            place, kill = waiting[done]
            end = done.result()
            missed += not end.killed
            word = "WRONG" if end.faults else "ok" if end.killed else "not reached"
            spent = time.monotonic() - begin
            print(f"{spent:6.0f} s  {count}/{len(kills)}  {word}: {_text(kill)}", flush=True)
            if end.faults:
                wrong.append("\n".join([f"{place:04d} {_text(kill)}", *end.faults, end.said]))
                print("\n".join(end.faults), flush=True)
            else:
                shutil.rmtree(folder / f"{place:04d}")
    assert not wrong, "\n\n".join(wrong)
    # Heartbeats and polls differ in number from run to run; the calls that matter do not.
    assert missed <= len(kills) // 4, f"{missed} of {len(kills)} calls were not reached"


def _calls(case: Any, role: str) -> Counter[str]:
    """How often the process of that role that makes a call most makes it."""
    calls: Counter[str] = Counter()
    for file in case.calls.glob(f"{role}.*.calls"):
        calls |= Counter(file.read_text().splitlines())
    return calls


def _kills(role: str, calls: Counter[str]) -> Iterator[dict[str, Any]]:
    for call, count in calls.items():
        most = count if "journal" in call else min(count, MOST)
        for number in sorted({1 + n * (count - 1) // max(1, most - 1) for n in range(most)}):
            yield _kill(role, call, number, "before")
            if call.startswith(SEEN_AT_ONCE):
                yield _kill(role, call, number, "after")


def _text(kill: dict[str, Any]) -> str:
    return f"{kill['when']} {kill['role']}'s {kill['call']} #{kill['number']}"
