"""Speed and time left: only from lines that were read as they were written."""

from __future__ import annotations

import pytest

from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.watcher import Watcher
from burstlens.workflows.models.command import Command

MODEL = Command(
    argv=["./model"], frames="s_*.nc", progress=r"^t=(?P<elapsed>[\d.]+) of (?P<total>[\d.]+)$"
)
TRUE = 30.0
"""Speed of the model in these tests, as a multiple of real time."""


@pytest.fixture
def clock(tmp_path, prober):
    """A model that prints one line per 2 s from second 0, scanned at times that a test sets."""
    log = tmp_path / "model.log"
    log.write_text("")

    class Clock:
        def __init__(self):
            self.printed = 0.0
            self.resume()

        def resume(self):
            self.watcher = Watcher(tmp_path, ".", MODEL, "run", 1, Cursor(), prober=prober)

        def look(self, now, jump=0.0):
            with log.open("a") as file:
                while self.printed <= now:
                    file.write(f"t={TRUE * self.printed} of 90000\n")
                    self.printed += 2.0
            report = self.watcher.scan(elapsed_s=0.0, now=1e9 + now + jump, ended=False)
            return report.progress.speed

    return Clock()


def test_lines_that_were_read_all_at_once_give_no_speed(clock):
    assert clock.look(600.0) is None
    assert clock.look(600.5) is None
    assert clock.look(602.1) is None


@pytest.mark.parametrize("period", [0.1, 0.7, 3.0, 20.0])
def test_the_speed_after_a_resume_is_correct_as_soon_as_it_is_reported(clock, period):
    looks = int(400 / period)
    for start in (500.0, 2000.0):
        clock.resume()
        said = [clock.look(start + index * period) for index in range(looks)]
        known = [speed for speed in said if speed is not None]
        assert len(known) > looks / 4
        assert min(known) > TRUE / 2
        assert max(known) < TRUE * 2
        assert known[-1] == pytest.approx(TRUE, rel=0.2)


def test_a_clock_that_jumps_does_not_give_a_wrong_speed(clock):
    for second in range(60):
        clock.look(float(second))
    for jump in (3600.0, 0.0):
        said = [clock.look(60.0 + second + jump / 36, jump) for second in range(60)]
        assert all(TRUE / 2 < speed < TRUE * 2 for speed in said)
