"""What the logs of continued WRF runs say, line by line: recorded ones of the real model."""

from __future__ import annotations

from pathlib import Path

import pytest

from burstlens.workflows.models.base import LogLine
from burstlens.workflows.models.wrf import Wrf

RUNS = Path(__file__).parents[1] / "data" / "wrf" / "restart"
DAY = "00010101T00"


def lines(run: str) -> list[LogLine]:
    model = Wrf().configured(RUNS / run)
    text = (RUNS / run / "rsl.error.0000").read_text()
    return [said for said in map(model.read_line, text.splitlines()) if said is not None]


def frames(run: str, stream: str = "d01") -> list[str]:
    found = [one for one in lines(run) if one.kind == "written" and one.stream == stream]
    return [(one.time or "").removeprefix(DAY) for one in found]


def checkpoints(run: str) -> list[tuple[str, str]]:
    """Part and time of each, with the time of the step before it."""
    found, now = [], ""
    for one in lines(run):
        if one.kind == "progress":
            now = (one.time or "").removeprefix(DAY)
        elif one.kind == "checkpoint":
            found.append((one.stream or "", now))
    return found


def test_a_checkpoint_is_that_of_the_step_before_its_line():
    assert checkpoints("A1") == [("d01", "0100"), ("d01", "0200")]
    assert checkpoints("A2") == [("d01", "0300"), ("d01", "0400")]  # also at the model's end
    first = next(one for one in lines("A2") if one.kind == "checkpoint")
    assert (first.took_s, first.time, first.file) == (4.38606, None, None)


def test_each_domain_writes_its_own_before_the_frame_of_the_nest():
    assert checkpoints("Q3") == [(part, at) for at in ("0300", "0400") for part in ("d01", "d02")]
    at_3 = [one for one in lines("Q3") if one.kind in ("written", "checkpoint")][2:6]
    assert [(one.kind, one.stream) for one in at_3] == [
        ("written", "d01"), ("checkpoint", "d01"), ("checkpoint", "d02"), ("written", "d02"),
    ]  # fmt: skip


@pytest.mark.parametrize(("run", "domains"), [("A2", 1), ("B2", 1), ("Q3", 2), ("F2", 1)])
def test_until_its_files_are_read_the_model_is_restarting(run: str, domains: int):
    phases = [one.text for one in lines(run) if one.kind == "phase"]
    assert phases == ["restarting", "running"] * domains
    assert lines(run)[0].kind == "phase"


@pytest.mark.parametrize(
    ("run", "times"),
    [
        ("A2", ["0230", "0300", "0330", "0400"]),
        ("B2", ["0200", "0230", "0300", "0330", "0400"]),  # write_hist_at_0h_rst
        ("I2", ["0220", "0240", "0300", "0320", "0340", "0400"]),  # override_restart_timers
        ("J2", ["0230", "0300", "0330", "0400"]),  # history_interval_s = 50
    ],
)
def test_frames_come_when_the_real_model_wrote_them(run: str, times: list[str]):
    assert frames(run) == times


def test_a_run_that_hangs_says_nothing_after_it_has_read_its_files():
    assert {one.kind for one in lines("F2")} == {"phase"}


@pytest.mark.parametrize("size", [1, 100, 4096, 4141, 4150])
def test_a_log_that_is_cut_is_read_up_to_the_cut(size: int):
    text = (RUNS / "A1" / "rsl.error.0000").read_text()
    whole = [Wrf().read_line(line) for line in text.splitlines()]
    cut = [Wrf().read_line(line) for line in text[:size].splitlines()]
    assert cut[:-1] == whole[: len(cut) - 1]
