"""What surrounds a run goes wrong: its disk, its terminal, its driver's place."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from run_case import ENDS_S, WAITS

AWAY_S = 4.0
LONG = "--interval 60"
"""A model that is still in its first pause when it is disturbed."""


def _without_traceback(case: Any) -> str:
    said: str = case.said()
    assert "Traceback" not in said, said
    return said


def _done(case: Any, driver: Any) -> None:
    assert case.wait(driver).code == 0, case.said()
    _without_traceback(case)
    assert not case.faults(), case.said()


def _status(case: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((case.run / "status.json").read_text())
    return found


@pytest.mark.slow
def test_a_run_whose_directory_is_away_for_a_while_ends_by_itself(case: Any) -> None:
    driver = case.launch()
    case.await_event("frame.ready")
    away = case.folder / "away"
    case.run.rename(away)
    time.sleep(AWAY_S)
    assert not case.run.exists(), f"made again while it was away: {list(case.run.rglob('*'))}"
    away.rename(case.run)
    _done(case, driver)


@pytest.mark.fault
@pytest.mark.parametrize(
    ("event", "model"),
    [
        ("run.started", "--interval 0.5"),
        ("buffer.created", "--interval 0.5"),
        ("simulation.submitting", "--interval 0.5"),
        ("simulation.submitted", "--interval 0.5"),
        ("frame.ready", "--interval 1.2"),  # the model ends meanwhile
        ("simulation.ended", "--interval 0"),
        ("stageout.done", "--interval 0"),
    ],
)
def test_a_run_whose_directory_is_away_in_any_phase_is_never_judged_by_what_is_missing(
    make_case: Any, event: str, model: str
) -> None:
    case = make_case(model=model)
    driver = case.launch()
    case.await_event(event, limit_s=240.0)
    away = case.folder / "away"
    case.run.rename(away)
    time.sleep(AWAY_S)
    assert not case.run.exists(), f"made again while it was away: {list(case.run.rglob('*'))}"
    away.rename(case.run)
    if case.wait(driver).code:  # it may say that it cannot go on, and must judge nothing
        assert "did not run" not in _without_traceback(case)
        assert not [line for line in case.journal() if line.get("outcome") == "failed"]
        assert case.wait(case.start("resume", "r")).code == 0, case.said()
    assert not case.faults(), case.said()


@pytest.mark.fault
def test_an_end_that_is_written_just_before_the_directory_goes_away_is_found(
    make_case: Any,
) -> None:
    for pause_s in (0.0, 0.05, 0.1, 0.3):
        case = make_case(f"case-{pause_s}", model="--interval 0")
        driver = case.launch()
        ended = case.run / "attempts" / "1" / "ended.json"
        end = time.monotonic() + 100
        while not ended.exists() and time.monotonic() < end:
            time.sleep(0.001)
        time.sleep(pause_s)
        away = case.folder / "away"
        case.run.rename(away)
        time.sleep(AWAY_S)
        away.rename(case.run)
        _done(case, driver)


@pytest.mark.fault
def test_a_driver_whose_directory_was_deleted_ends_and_touches_no_new_run(make_case: Any) -> None:
    case = make_case(model=LONG)
    driver = case.launch()
    case.await_event("frame.ready")
    run = json.loads((case.run / "run.json").read_text())
    shutil.rmtree(case.run)
    for folder in ("products/live", "products/.incoming", "control", "attempts/1", "logs"):
        (case.run / folder).mkdir(parents=True)
    (case.run / "run.json").write_text(json.dumps(run | {"buffer_folder": "another"}))
    (case.run / "attempts" / "1" / "job.json").write_text("{}")
    life = case.wait(driver)
    assert life.code == 1
    said = _without_traceback(case)
    assert "this driver ends. Its model is left running: kill " in said
    supervisor = int(said.rpartition("left running: kill ")[2].split()[0])
    os.kill(supervisor, signal.SIGTERM)
    case.await_that(lambda: not case.processes(), "end of all processes", 60)
    files = sorted(str(it.relative_to(case.run)) for it in case.run.rglob("*") if it.is_file())
    assert files == ["attempts/1/job.json", "run.json"]


@pytest.mark.fault
def test_a_full_target_delays_products_and_loses_none(
    make_case: Any, small_disk: Any, fill: Any
) -> None:
    disk = small_disk("24m", "target")
    case = make_case()
    case.runs.symlink_to(disk)
    driver = case.launch()
    case.await_event("frame.ready")
    ballast = fill(disk)
    time.sleep(AWAY_S)
    ballast.unlink()
    _done(case, driver)


@pytest.mark.fault
def test_a_buffer_full_of_foreign_files_delays_products_and_loses_none(
    make_case: Any, small_disk: Any, fill: Any
) -> None:
    disk = small_disk("24m", "buffer")
    case = make_case(capacity="12 MiB", buffer_folder=disk)
    driver = case.launch()
    case.await_that((case.run / "attempts" / "1" / "ended.json").exists, "end of the model")
    ballast = fill(disk)
    time.sleep(AWAY_S)
    ballast.unlink()
    _done(case, driver)


@pytest.mark.fault
def test_a_model_that_fills_the_buffer_fails_clearly_and_is_resumed(
    make_case: Any, small_disk: Any, fill: Any
) -> None:
    disk = small_disk("24m", "buffer")
    case = make_case(capacity="12 MiB", buffer_folder=disk, model="--interval 3")
    driver = case.launch()
    case.await_event("frame.ready")
    ballast = fill(disk)
    assert case.wait(driver).code == 6
    assert "burstlens: the model ended with exit code 1" in _without_traceback(case)
    ballast.unlink()
    case.finish()
    assert not case.faults(), case.said()


def test_a_place_that_cannot_be_written_is_refused_in_one_line(case: Any, small_disk: Any) -> None:
    disk = small_disk("1m")
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    case.runs.symlink_to(disk)
    life = case.wait(case.launch())
    assert life.code == 1
    assert life.said.startswith("burstlens: cannot make the run directory"), life.said
    assert len(life.said.splitlines()) == 1
    assert "Read-only file system" in life.said


@pytest.mark.slow
def test_a_detached_run_outlives_a_hangup_and_lets_no_second_driver_in(make_case: Any) -> None:
    case = make_case(model=WAITS)
    made = case.burstlens("run", "r.toml", "--name", "r", "--detach")
    assert made.code == 0, made.said
    driver = _status(case)["driver"]["pid"]
    os.kill(driver, signal.SIGHUP)
    second = case.burstlens("resume", "r")
    assert second.code == 1
    assert f"run r has a driver already (pid {driver}" in second.said
    case.await_event("product.published")
    case.go_on()
    case.await_event("run.ended")
    case.await_that(lambda: driver not in case.processes(), "end of the driver")
    assert [line["driver"] for line in case.journal()] == [1] * len(case.journal())
    _without_traceback(case)
    assert not case.faults(), (case.run / "logs" / "driver.log").read_text()


@pytest.mark.fault  # tests/viewing/test_viewing_block.py replaces blocks whose workers are killed
@pytest.mark.parametrize("place", [0, 1], ids=["starts-the-workers", "holds-the-queues"])
def test_a_worker_pool_whose_first_or_second_child_is_gone_is_replaced_and_nothing_is_lost(
    make_case: Any, place: int
) -> None:
    case = make_case(model=WAITS)
    driver = case.launch()
    case.await_event("product.published")
    case.await_event("viewing.started")  # an early worker makes the first products
    forked = [pid for pid, words in case.processes().items() if "forkserver" in words]
    os.kill(sorted(forked, key=_born)[place], signal.SIGKILL)
    case.await_event("viewing.ended")
    case.go_on()
    _done(case, driver)


@pytest.mark.fault
def test_a_driver_that_another_one_replaced_ends_and_leaves_the_model(make_case: Any) -> None:
    case = make_case(model=WAITS)
    driver = case.launch()
    case.await_event("frame.ready")
    (case.run / "driver-2").write_text(json.dumps({"host": "elsewhere", "pid": 1, "ticks": 1}))
    life = case.wait(driver)
    assert life.code == 1
    assert "another driver has taken over r" in _without_traceback(case)
    assert not (case.run / "attempts" / "1" / "ended.json").exists()
    (case.run / "driver-2").unlink()
    case.go_on()
    _done(case, case.start("resume", "r"))
    assert {line.get("attempt", 1) for line in case.journal()} == {1}


@pytest.mark.parametrize(
    "signals",
    [
        pytest.param([signal.SIGINT], marks=pytest.mark.slow),
        pytest.param([signal.SIGINT, signal.SIGINT], marks=pytest.mark.fault),
        pytest.param([signal.SIGTERM], marks=pytest.mark.fault),
    ],
    ids=["ctrl-c", "ctrl-c-twice", "sigterm"],
)
def test_a_signal_stops_the_model_and_the_run_says_so(make_case: Any, signals: list[int]) -> None:
    case = make_case(model=WAITS)
    driver = case.launch()
    case.await_event("product.published", 2)
    for number in signals:
        driver.send_signal(number)
        time.sleep(0.2)
    life = case.wait(driver)
    assert life.code == 4, life.said
    assert "stopped, as asked" in _without_traceback(case)
    assert _status(case)["state"] == "stopped"
    ended = [line for line in case.journal() if line["event"].endswith(".ended")]
    assert [line["outcome"] for line in ended] == ["stopped", "stopped"], ended
    case.await_that(lambda: not case.processes(), "end of all processes", ENDS_S)
    case.go_on()
    case.finish()
    assert not case.faults(), case.said()


@pytest.mark.fault
def test_a_stop_that_comes_as_a_run_gives_its_buffer_back_leaves_no_request(case: Any) -> None:
    driver = case.launch()
    case.await_event("stageout.done")
    case.burstlens("stop", "r", "--now")
    _done(case, driver)


@pytest.mark.slow
def test_stop_now_needs_no_driver(make_case: Any) -> None:
    case = make_case(model=LONG)
    _orphan(case)
    assert case.burstlens("stop", "r", "--now").code == 0
    ended = case.run / "attempts" / "1" / "ended.json"
    case.await_that(ended.exists, "end of the model")
    assert json.loads(ended.read_text())["reason"] == "stop-now"
    case.await_that(lambda: not case.processes(), "end of all processes", ENDS_S)
    assert (case.run / "logs" / "attempt-1" / "rsl.error.0000").exists()


@pytest.mark.fault
def test_stop_without_a_driver_leaves_the_frame_in_progress_a_minute(make_case: Any) -> None:
    case = make_case(model="--interval 200")
    _orphan(case)
    begin = time.monotonic()
    assert case.burstlens("stop", "r").code == 0
    ended = case.run / "attempts" / "1" / "ended.json"
    case.await_that(ended.exists, "end of the model", 90)
    assert time.monotonic() - begin > 50
    assert json.loads(ended.read_text())["reason"] == "stop"


def _born(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])


def _orphan(case: Any) -> None:
    """Kill the driver while the model runs; it must live on."""
    driver = case.launch()
    case.await_event("frame.ready")
    driver.kill()
    driver.wait()
    time.sleep(1.5)
    assert any("replay.py" in command for command in case.processes().values())
