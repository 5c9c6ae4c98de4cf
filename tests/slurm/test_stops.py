"""A run that is stopped in any of its phases, by its driver or without one, then given back.

Whatever the phase: `free` leaves no buffer and no job, and what stop, status and free have said
of buffers and jobs agrees with what Slurm lists at that moment.
"""

from __future__ import annotations

import contextlib
import json
import signal
import time
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
from batch_case import BatchCase
from run_case import WAITS
from testbed import ACTIVE, Testbed

SLOW_COPY = "export DW_EMULATOR_BANDWIDTH=20000"
NEVER = 'options = ["--begin=now+1hour"]'
"""For a simulation's job that stays in the queue."""


def created(case: BatchCase) -> bool:
    return any(line["event"] == "buffer.created" for line in case.journal())


def submitted(case: BatchCase, part: str) -> None:
    case.await_that(lambda: case.jobs(part), f"job {part}")


class Phase:
    """How a run is brought into one phase, and held there."""

    how: ClassVar[dict[str, Any]] = {}

    def __init__(self, slurm: Testbed) -> None:
        self.slurm = slurm
        self.holding = contextlib.ExitStack()

    def reach(self, case: BatchCase) -> Any:
        """Start the run; return its driver when the phase is reached."""
        raise NotImplementedError


class CreatePending(Phase):
    def reach(self, case: BatchCase) -> Any:
        self.holding.enter_context(self.slurm.closed())
        driver = case.launch()
        submitted(case, "buffer-create")
        return driver


class CreateRunning(Phase):
    def reach(self, case: BatchCase) -> Any:
        self.holding.enter_context(self.slurm.knobs(create_delay_s=6))
        driver = case.launch()
        submitted(case, "buffer-create")
        time.sleep(2.0)  # Slurm lists the job as pending while it makes the buffer
        return driver


class StageIn(Phase):
    how: ClassVar[dict[str, Any]] = {"init": SLOW_COPY}

    def reach(self, case: BatchCase) -> Any:
        driver = case.launch()
        case.await_that((case.run / "attempts" / "1" / "stage-in.log").exists, "stage in")
        return driver


class ModelPending(Phase):
    how: ClassVar[dict[str, Any]] = {"options": NEVER}

    def reach(self, case: BatchCase) -> Any:
        driver = case.launch()
        submitted(case, "attempt-1")
        return driver


class ModelRunning(Phase):
    how: ClassVar[dict[str, Any]] = {"model": "--interval 100"}

    def reach(self, case: BatchCase) -> Any:
        driver = case.launch()
        case.await_event("frame.ready")
        return driver


class DestroyPending(Phase):
    how: ClassVar[dict[str, Any]] = {"model": WAITS}

    def reach(self, case: BatchCase) -> Any:
        driver = case.launch()
        case.await_event("product.published")
        self.holding.enter_context(self.slurm.closed())
        case.go_on()
        submitted(case, "buffer-destroy")
        return driver


class DestroyRunning(Phase):
    def reach(self, case: BatchCase) -> Any:
        self.holding.enter_context(self.slurm.knobs(destroy_delay_s=6))
        driver = case.launch()
        submitted(case, "buffer-destroy")
        time.sleep(2.0)
        return driver


PHASES = {
    "create pending": CreatePending,
    "create running": CreateRunning,
    "stage in": StageIn,
    "model pending": ModelPending,
    "model running": ModelRunning,
    "destroy pending": DestroyPending,
    "destroy running": DestroyRunning,
}


SAMPLE = [("create pending", "stop"), ("model running", "stop"), ("destroy pending", "stop")]
SLOW, FAULT = pytest.mark.slow, pytest.mark.fault


def left(case: BatchCase) -> dict[str, list[str]]:
    """What Slurm lists of the run now."""
    jobs = [job["JobName"] for job in case.jobs() if job["JobState"] in ACTIVE]
    return {"buffers": sorted(case.slurm.burst()), "jobs": jobs}


@pytest.fixture
def phase(slurm: Testbed, request: Any) -> Iterator[Phase]:
    made = PHASES[request.param](slurm)
    yield made
    made.holding.close()


@pytest.mark.timeout(400)
@pytest.mark.parametrize(
    ("phase", "how"),
    [
        pytest.param(phase, how, marks=SLOW if (phase, how) in SAMPLE else FAULT)
        for phase in PHASES
        for how in ("stop", "stop --now", "kill -9, stop")
    ],
    indirect=["phase"],
)
def test_a_stop_in_any_phase_and_free_leave_nothing_and_say_what_is_true(
    slurm: Testbed, make_case: Any, phase: Phase, how: str, capsys: Any, request: Any
) -> None:
    case: BatchCase = make_case(**phase.how)
    driver = phase.reach(case)
    if "kill" in how:
        driver.kill()
        driver.wait()
    before = len(case.said())
    assert case.burstlens("stop", "r", *(["--now"] if "now" in how else [])).code == 0
    if "kill" not in how:
        code = case.wait(driver).code
        outcome = json.loads((case.run / "status.json").read_text())["outcome"]
        ends_well = "destroy" in request.node.callspec.params["phase"]
        done = 8 if outcome["left"] else 0
        assert code == outcome["exit_code"] == (done if ends_well else 4)
    said = case.said()[before:]
    shown = outcome["left"] or outcome["message"] if "kill" not in how else said
    status = case.burstlens("status", "r").said[before + len(said) :]
    stopped = left(case)
    phase.holding.close()

    before = len(case.said())
    freed = case.burstlens("free", "r")
    said_by_free = case.said()[before:]
    if "kill" in how and "are not home" in said_by_free:  # frames that were not brought home
        assert freed.code == 1
        assert left(case)["buffers"]
        before = len(case.said())
        freed = case.burstlens("free", "r", "--discard")
        said_by_free = case.said()[before:]
    finally_left = left(case)
    with capsys.disabled():
        name = request.node.callspec.params["phase"]
        steps = " / ".join(line.strip() for line in status.splitlines() if "burstlens " in line)
        cells = (name, how, shown.strip(), steps, stopped, said_by_free.strip(), finally_left)
        print("\n|", " | ".join(map(str, cells)), "|")
    assert freed.code == 0, said_by_free
    case.await_that(lambda: left(case) == {"buffers": [], "jobs": []}, "end of all", 20)
    assert finally_left["buffers"] == []
    # What was said.
    name = case.buffer_name()
    if stopped["buffers"]:
        assert "free r" in said + status, "a buffer is left and no message says so"
        # A destroy job that a killed driver has left may have done it meanwhile.
        gone = f"buffer {name} is gone already" if "kill" in how else "never"
        assert f"freed buffer {name}" in said_by_free or gone in said_by_free
    if "kill" not in how and ends_well:
        assert bool(outcome["left"]) >= bool(stopped["buffers"]), "left, and the code says 0"
    if "kill" not in how:
        assert not stopped["jobs"], "a job is left by a driver that has ended"
        if not stopped["buffers"]:
            assert "give its buffer back" not in status
    again = len(case.said())
    assert case.burstlens("free", "r").code == 0
    assert case.said()[again:] == "run r holds no space on a buffer\n"
    again = len(case.said())
    assert case.burstlens("status", "r").code == 0
    assert "burstlens free" not in case.said()[again:], "nothing is left"
    if "destroy" not in request.node.callspec.params["phase"]:
        assert "r is asked to stop" in said or "ended" in said


@pytest.mark.fault
@pytest.mark.slow
def test_a_run_that_was_stopped_before_its_buffer_came_is_resumed_to_its_end(
    slurm: Testbed, make_case: Any
) -> None:
    case = make_case()
    with slurm.closed():
        driver = case.launch()
        submitted(case, "buffer-create")
        assert case.burstlens("stop", "r").code == 0
        assert case.wait(driver).code == 4
        assert left(case) == {"buffers": [], "jobs": []}
    case.finish()
    assert not case.faults(), case.said()


@pytest.mark.fault
@pytest.mark.slow
def test_a_stop_without_a_driver_is_obeyed_by_the_next_one_and_not_by_the_one_after(
    make_case: Any,
) -> None:
    case = make_case(options=NEVER)
    driver = case.launch()
    submitted(case, "attempt-1")
    driver.kill()
    driver.wait()
    assert case.burstlens("stop", "r").code == 0
    life = case.burstlens("resume", "r")
    assert life.code == 4
    assert "before the simulation started" not in life.said
    assert left(case)["jobs"] == []
    site = case.folder / "sites" / "bed.toml"
    site.write_text(site.read_text().replace(NEVER, ""))
    case.finish()
    assert not case.faults(), case.said()


@pytest.mark.slow
def test_an_interrupted_free_says_what_is_left_and_the_next_one_gives_it_back(
    slurm: Testbed, make_case: Any
) -> None:
    case = make_case(options=NEVER)
    driver = case.launch()
    submitted(case, "attempt-1")
    assert case.burstlens("stop", "r").code == 0
    assert case.wait(driver).code == 4
    name = case.buffer_name()
    with slurm.closed():
        free = case.start("free", "r")
        submitted(case, "buffer-destroy")
        free.send_signal(signal.SIGINT)
        life = case.wait(free)
        assert life.code == 1
        assert f"buffer {name} is left, the job that was to destroy it is cancelled" in life.said
        assert left(case) == {"buffers": [name], "jobs": []}
    assert case.burstlens("free", "r").code == 0
    assert left(case) == {"buffers": [], "jobs": []}


@pytest.mark.fault
@pytest.mark.slow
@pytest.mark.parametrize("kill", [False, True])
def test_a_job_with_the_buffer_that_waits_is_cancelled(
    slurm: Testbed, make_case: Any, kill: bool
) -> None:
    case = make_case(buffer='kind = "datawarp"\nlifetime = "job"', placement="same-job")
    with slurm.closed():
        driver = case.launch()
        submitted(case, "host-1")
        if kill:
            driver.kill()
            driver.wait()
        assert case.burstlens("stop", "r").code == 0
        if not kill:
            life = case.wait(driver)
            assert life.code == 4
            assert "which was to have the buffer, is cancelled" in life.said
            assert left(case) == {"buffers": [], "jobs": []}
        assert case.burstlens("free", "r").code == 0
        assert left(case) == {"buffers": [], "jobs": []}
    case.finish()
    assert not case.faults(), case.said()


@pytest.mark.parametrize(
    # Signals take the way of a stop: the tests above have them in other phases.
    "how",
    [pytest.param("stop", marks=SLOW), pytest.param("SIGTERM", marks=FAULT)],
)
def test_a_stop_during_stage_in_ends_the_job_with_its_buffer(
    slurm: Testbed, make_case: Any, how: str
) -> None:
    case = make_case(buffer='kind = "datawarp"\nlifetime = "job"', placement="same-job")
    site = case.folder / "sites" / "bed.toml"
    text = site.read_text()
    site.write_text(text.replace('worker_init = "', f'worker_init = "{SLOW_COPY}; '))
    driver = case.launch()
    case.await_that(lambda: _state(case) == "staging in", "stage in")
    if how == "stop":
        assert case.burstlens("stop", "r").code == 0
    else:
        driver.send_signal(signal.SIGTERM)
    life = case.wait(driver)
    assert life.code == 4, life.said
    assert "stopped before the simulation started" in life.said
    assert left(case) == {"buffers": [], "jobs": []}
    assert "buffer.released" in [line["event"] for line in case.journal()]
    site.write_text(text)
    case.finish()
    assert not case.faults(), case.said()


def _state(case: BatchCase) -> str:
    path = case.run / "status.json"
    return str(json.loads(path.read_text())["state"]) if path.exists() else ""
