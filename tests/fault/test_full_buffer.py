"""A model that ignores a full disk, as WRF does: what it loses is reported, by valid time."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from recipe_texts import wrf_recipe

TIMES = ["00010101T000000", "00010101T000100", "00010101T000200", "00010101T000300"]
TITLE = "A growing file on a small buffer"


def _times(case: Any, event: str) -> list[str]:
    return [line["time"] for line in case.journal() if line["event"] == event]


def _status(case: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((case.run / "status.json").read_text())
    return found


def _outcome(case: Any) -> tuple[str, int]:
    outcome = _status(case)["outcome"]
    return outcome["state"], outcome["exit_code"]


def _raw(case: Any) -> list[Path]:
    return sorted(path for path in case.buffer.rglob("wrfout_*") if path.is_file())


@pytest.mark.fault
@pytest.mark.parametrize(
    ("trace", "size"),
    [("classic_growing", "2500k"), ("netcdf4_growing", "1950k"), ("pnetcdf_growing", "2500k")],
)
def test_frames_that_a_full_disk_swallows_are_damaged_by_their_times(
    make_case: Any, small_disk: Any, trace: str, size: str
) -> None:
    disk = small_disk(size, "buffer")
    case = make_case(
        capacity="1 MiB",
        buffer_folder=disk,
        trace=trace,
        model="--speed 1 --careless",
        recipe=wrf_recipe(TITLE, limit=None, buffer="reserve = 0.0"),
    )
    ballast = disk / "ballast"
    ballast.write_bytes(bytes(300 << 10))
    driver = case.launch()
    case.await_that((case.run / "attempts" / "1" / "ended.json").exists, "end of the model")
    ballast.unlink()  # room for the products of the frames that are there
    life = case.wait(driver)
    ready, damaged = _times(case, "frame.ready"), _times(case, "frame.damaged")
    assert damaged
    assert sorted(ready + damaged) == TIMES
    assert life.code == 5, life.said
    count = "1 frame is" if len(damaged) == 1 else f"{len(damaged)} frames are"
    assert f"burstlens: the model ended well, but {count} lost or damaged (d01 0001" in life.said
    assert "burstlens resume" not in life.said.partition("burstlens: the model")[2]
    assert _outcome(case) == ("failed", 5)
    (raw,) = _raw(case)  # with the frames that are whole
    assert raw.stat().st_size > 0
    again = case.burstlens("resume", "r")
    assert again.code == 5
    assert "to resume would not bring them back" in again.said
    assert case.burstlens("free", "r").code == 0
    assert not _raw(case)


@pytest.fixture
def pressed(make_case: Any, small_disk: Any) -> Any:
    """A case whose growing file reaches the reserve after its second frame."""
    disk = small_disk("3M", "buffer")
    case = make_case(
        capacity="2 MiB",
        buffer_folder=disk,
        trace="classic_growing",
        model="--interval 12 --careless",
        recipe=wrf_recipe(TITLE, limit=None, buffer="reserve = 0.6"),
    )
    namelist = case.inputs / "namelist.input"
    settings = namelist.read_text()
    assert "= 120," in settings
    namelist.write_text(settings.replace("= 120,", "= 180,").replace("= 02,", "= 03,"))
    return case


@pytest.mark.fault
def test_a_growing_file_on_a_nearly_full_buffer_stops_the_model_before_a_frame_is_lost(
    pressed: Any,
) -> None:
    case = pressed
    life = case.burstlens("run", "r.toml", "--name", "r")
    assert life.code == 6, life.said
    assert "stopped for want of space: the buffer is nearly full (" in life.said
    assert "no raw frame can go: their file is still being written" in life.said
    assert "published frames are released" not in life.said
    assert not _times(case, "frame.damaged")
    assert _outcome(case) == ("stopped", 6)
    assert len(_raw(case)) == 1
    subprocess.run(["mount", "-o", "remount,size=30M", str(case.buffer)], check=True)
    assert case.burstlens("resume", "r").code == 0
    assert sorted(set(_times(case, "frame.ready"))) == TIMES


@pytest.mark.fault
def test_a_stop_for_want_of_space_keeps_its_reason_when_the_driver_dies(pressed: Any) -> None:
    case = pressed
    driver = case.launch()
    case.await_that((case.run / "control" / "stop").exists, "stop")
    driver.kill()
    driver.wait()
    ended = case.run / "attempts" / "1" / "ended.json"
    case.await_that(ended.exists, "end of the model")
    life = case.burstlens("resume", "r")
    assert life.code == 6, life.said
    assert "stopped for want of space" in _status(case)["outcome"]["message"]
