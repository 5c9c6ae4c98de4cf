"""kill -9 of any process of a look, and the next look: nothing twice, nothing lost."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time

import pytest
from look_case import TESTS, LookCase

pytestmark = pytest.mark.integration
FRAMES = 8
ROLES = ("driver", "worker", "manager", "interchange", "early", "prober")
WORDS = {
    "interchange": "interchange", "manager": "cluster_configs.worker_pool",
    "worker": "multiprocessing.forkserver", "early": "multiprocessing.spawn",
    "prober": "frames.hdf5",
}  # fmt: skip
QUIET = ("--recipe", "content.toml", "--quiet-after", "20s")


def _write(case: LookCase, *words: str) -> subprocess.Popen[bytes]:
    return case.writer(sys.executable, TESTS / "cf_writer.py", case.model, *words)


def _kill(case: LookCase, role: str, look: subprocess.Popen[str], dice: random.Random) -> bool:
    """Kill a process of that role a while after there is one; whether there was one."""
    while look.poll() is None:
        commands = case.processes()
        found = sorted(pid for pid in commands if WORDS.get(role, "-") in commands[pid])
        found = [look.pid] if role == "driver" and case.events("run.started") else found
        if found:
            time.sleep(dice.uniform(0.0, 5.0 if role != "early" else 2.0))
            with contextlib.suppress(ProcessLookupError):
                os.kill(dice.choice(found), signal.SIGKILL)
                return True
        time.sleep(0.1)
    return False


@pytest.mark.fault
@pytest.mark.parametrize("role", ROLES)
def test_a_kill_at_a_random_moment_loses_nothing_and_does_nothing_twice(
    case: LookCase, role: str, dice: random.Random
) -> None:
    _write(case, "--frames", "3").wait()
    model = _write(case, "--first", "3", "--frames", str(FRAMES - 3), "--interval", "2")
    killed = 0
    for _ in range(3):
        look = case.start(*QUIET)
        killed += _kill(case, role, look, dice)
        if role != "driver":
            case.end(look)
        look.wait()
    assert model.wait() == 0
    assert killed
    assert case.look(*QUIET) == 0
    assert case.faults() == []
    times = {line["time"] for line in case.events("frame.ready")}
    assert len(times) == len(case.newest()) == FRAMES
    assert len(case.events("product.published")) == FRAMES
    assert len(case.events("attempt.observed")) == 1


@pytest.mark.fault
def test_processes_of_a_killed_look_end_by_themselves(case: LookCase) -> None:
    _write(case, "--frames", "3").wait()
    look = case.start("--recipe", "content.toml", "--quiet-after", "1 h")
    case.await_that(lambda: any(WORDS["early"] in it for it in case.processes().values()), "early")
    time.sleep(1.0)
    look.kill()
    look.wait()
    case.await_that(lambda: not case.processes(), "end of its processes", 60.0)


@pytest.mark.fault
def test_a_killed_command_leaves_its_driver_and_the_next_look_joins_it(case: LookCase) -> None:
    _write(case, "--frames", "2").wait()
    first = case.burstlens("look", case.model, "--recipe", "content.toml")
    case.await_event("product.published", 2)
    first.kill()
    first.wait()
    second = case.burstlens("look", case.model, "--recipe", "content.toml")
    case.await_that(lambda: "looks at it already" in case.said(), "sign of the other look")
    assert case.leave(second) == 0
    assert len(list(case.runs.iterdir())) == 1
    assert len(case.events("run.started")) == 1
    case.stop()
    assert case.faults() == []


@pytest.mark.fault
def test_two_looks_at_once_share_one_run_and_one_driver(case: LookCase) -> None:
    _write(case, "--frames", "2").wait()
    words = "look", case.model, "--recipe", "content.toml", "--detach"
    looks = [case.burstlens(*words) for _ in range(3)]
    assert [case.end(look) for look in looks] == [0, 0, 0]
    case.await_event("product.published", 2)
    assert len(list(case.runs.iterdir())) == 1
    assert len(case.events("run.started")) == 1
    assert case.events("run.resumed") == []
    case.stop()
    assert case.faults() == []


@pytest.mark.fault
def test_a_look_without_a_page_joins_one_that_lives_and_ends_with_it(case: LookCase) -> None:
    _write(case, "--frames", "2").wait()
    first = case.start("--recipe", "content.toml", "--quiet-after", "1 h")
    case.await_event("product.published", 2)
    left, joined = case.start(), case.start()
    case.await_that(lambda: case.said().count("looks at it already") == 2, "sign of the others")
    assert case.leave(left) == 0
    assert joined.poll() is None
    assert case.leave(first) == 0
    assert case.end(joined) == 0
    assert len(case.events("run.started")) == 1
    assert case.faults() == []
