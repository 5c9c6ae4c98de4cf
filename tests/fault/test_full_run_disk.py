"""A run directory that takes nothing more, or is away, when something has to be asked for."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path
from typing import Any

import pytest
from replay import Trace
from run_case import ENDS_S, TRACE, WAITS
from storm_case import Storm

GUARD = """
[[guard]]
name = "whole"
variable = "W"
then = "stop"
"""


@pytest.fixture
def storm(tmp_path: Path, small_disk: Any) -> Any:
    """A run on a disk of its own whose model writes a NaN in its second frame, when it is let."""
    disk = small_disk("24m,nr_inodes=2000", "target")
    folder = tmp_path / "storm"
    plant = f"--plant 1 W nan 12 20 25 --wait-at 1 {folder / 'go-on'}"
    case = Storm(folder, model=f"--frames 40 --begin 0 --period 4 {plant}", guards=GUARD)
    case.runs.symlink_to(disk)
    yield case, disk
    case.end()


def _model_ended(case: Any) -> bool:
    return not any("storm_model.py" in command for command in case.processes().values())


@pytest.mark.slow
def test_a_guard_stops_the_model_although_the_run_directory_is_full(storm: Any, fill: Any) -> None:
    case, disk = storm
    driver = case.launch()
    case.await_event("product.published")
    ballast = fill(disk)
    inodes = _use_inodes(disk)
    case.go_on()
    case.await_that(lambda: _model_ended(case), "end of the model", 110)
    assert not (case.run / "control" / "stop").exists()
    ballast.unlink()
    for path in inodes:
        path.unlink()
    life = case.wait(driver)
    assert life.code == 3, life.said
    assert 'burstlens: stopped by guard "whole": W is NaN at 1 of' in life.said
    assert "Traceback" not in life.said
    assert {trip["guard"] for trip in case.events("guard.tripped")} == {"whole"}


@pytest.mark.fault
def test_a_guard_stops_the_model_on_a_full_disk_without_a_driver(storm: Any, fill: Any) -> None:
    case, disk = storm
    driver = case.launch()
    case.await_event("product.published")
    driver.kill()
    driver.wait()
    ballast = fill(disk)
    inodes = _use_inodes(disk)
    case.go_on()
    case.await_that(lambda: _model_ended(case), "end of the model", 110)
    ballast.unlink()
    for path in inodes:
        path.unlink()
    ended = case.run / "attempts" / "1" / "ended.json"
    case.await_that(ended.exists, "word of the end")
    assert json.loads(ended.read_text())["why"]["guard"] == "whole"
    life = case.burstlens("resume", "r")
    assert life.code == 3, life.said
    assert 'burstlens: stopped by guard "whole": W is NaN at 1 of' in life.said
    assert {trip["guard"] for trip in case.events("guard.tripped")} == {"whole"}


@pytest.mark.fault
@pytest.mark.parametrize("count", [1, 2])
def test_ctrl_c_while_the_run_directory_is_away_ends_the_model_and_writes_each_line_once(
    make_case: Any, count: int
) -> None:
    case = make_case(model=WAITS)
    driver = case.launch()
    case.await_event("product.published", 2)
    away = case.folder / "away"
    case.run.rename(away)
    for _ in range(count):
        driver.send_signal(signal.SIGINT)
    case.await_that(
        lambda: not any("replay.py" in command for command in case.processes().values()),
        "end of the model",
        90,
    )
    away.rename(case.run)
    life = case.wait(driver)
    assert life.code == 4, life.said
    assert "Traceback" not in life.said
    asked = [line["control"] for line in case.journal() if line["event"] == "control.received"]
    assert asked == sorted(set(asked))
    case.await_that(lambda: not case.processes(), "end of all processes", ENDS_S)


def _use_inodes(disk: Path) -> list[Path]:
    """Leave no room for another file's name either."""
    made = []
    try:
        for number in range(2000):
            path = disk / f"ballast-{number}"
            path.touch()
            made.append(path)
    except OSError:
        return made
    raise AssertionError("the disk takes names without end")


@pytest.mark.fault
def test_a_run_disk_that_stays_full_ends_the_run_for_want_of_space(
    make_case: Any, small_disk: Any, fill: Any
) -> None:
    disk = small_disk("24m", "target")
    case = make_case(model=WAITS)
    case.runs.symlink_to(disk)
    driver = case.launch()
    case.await_event("product.published", 4)  # no file is being written that could make room
    ballast = fill(disk)
    case.go_on()
    life = case.wait(driver, 270)
    assert life.code == 6, life.said
    assert life.said.count("no room for the run directory") == 1
    assert re.search(
        r"no room for the run directory .*No space left on device, .* free\)", life.said
    )
    assert "Traceback" not in life.said
    ballast.unlink()
    case.finish()
    assert not case.faults(), case.said()


@pytest.mark.fault
def test_a_model_that_dies_without_a_word_on_a_full_run_disk_ends_the_run(
    make_case: Any, small_disk: Any, fill: Any
) -> None:
    disk = small_disk("24m", "target")
    last = Trace.load(TRACE).frame_starts()[-1]
    case = make_case(model=f"{WAITS} --cut-at {last}")
    case.runs.symlink_to(disk)
    driver = case.launch()
    case.await_event("product.published", 4)
    ballast = fill(disk)
    case.go_on()
    life = case.wait(driver, 270)
    assert life.code == 6, life.said
    assert life.said.count("no room for the run directory") == 1
    assert "Traceback" not in life.said
    ballast.unlink()
    life = case.burstlens("resume", "r")
    assert life.code == 1, life.said
    assert "SIGKILL" in life.said


@pytest.mark.fault
def test_inputs_that_do_not_fit_the_buffer_end_the_run_for_want_of_space(
    make_case: Any, small_disk: Any
) -> None:
    disk = small_disk("2m", "buffer")
    case = make_case(capacity="1 MiB", buffer_folder=disk)
    (case.inputs / "LANDUSE.TBL").write_bytes(bytes(4 << 20))
    life = case.burstlens("run", "r.toml", "--name", "r")
    assert life.code == 6, life.said
    assert "No space left on device" in life.said
    said = life.said.partition("burstlens: stage in failed")[2].partition("(No space")[0]
    assert str(disk) in said.split()[-1]
