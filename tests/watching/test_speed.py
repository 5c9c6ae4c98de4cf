"""Speed and time left: only from lines that were read as they were written, in seconds of the
calendar of the frames."""

from __future__ import annotations

import netCDF4
import numpy as np
import pytest
from watcher_case import launched_watcher

from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.models.command import Command
from burstlens.workflows.models.wrf import Wrf

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
            self.watcher = launched_watcher(tmp_path, ".", MODEL, "run", 1, Cursor(), prober=prober)

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


DAY_S = 86400.0
SETTINGS = """&time_control
 start_year = 2004, start_month = 2, start_day = 27, start_hour = 0,
 end_year = 2004, end_month = 3, end_day = 4, end_hour = 0,
 io_form_history = 2, {run} /
"""


@pytest.fixture
def wrf(tmp_path, prober):
    """WRF at 1 March 2004, looked at before and after its first frame; the progress of both."""

    def looked(calendar, *, beside="Times", run=""):
        (tmp_path / "namelist.input").write_text(SETTINGS.format(run=run))
        watcher = launched_watcher(tmp_path, ".", Wrf(), "run", 1, Cursor(), prober=prober)
        found = []
        for day, hour in ((1, 0), (1, 12)):
            with (tmp_path / "rsl.error.0000").open("a") as log:
                time = f"2004-03-{day:02d}_{hour:02d}:00:00"
                log.write(f"Timing for main: time {time} on domain   1: 0.1 elapsed seconds\n")
            report = watcher.scan(elapsed_s=10.0, now=1e9 + 10 * len(found), ended=False)
            found.append(report.progress)
            if len(found) == 1:
                frame(tmp_path / "wrfout_d01_2004-03-01_00:00:00", calendar, beside)
                report = watcher.scan(elapsed_s=10.0, now=1e9 + 5, ended=False)
                report = watcher.scan(elapsed_s=10.0, now=1e9 + 6, ended=False)
                found.append(report.progress)
        return found

    return looked


def frame(path, calendar, beside):
    """A frame of WRF that names its calendar at the variable ``beside``."""
    with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_OFFSET") as data:
        data.createDimension("Time", None)
        data.createDimension("DateStrLen", 19)
        times = data.createVariable("Times", "S1", ("Time", "DateStrLen"))
        times[0] = netCDF4.stringtochar(np.array(["2004-03-01_00:00:00"], "S19"))[0]
        data.createVariable("XTIME", "f4", ("Time",))[:] = [0.0]
        if calendar:
            data[beside].calendar = calendar


@pytest.mark.parametrize("beside", ["Times", "XTIME"])
@pytest.mark.parametrize(
    ("calendar", "days", "total"),
    [(None, 3, 6), ("gregorian", 3, 6), ("noleap", 2, 5), ("365_DAY", 2, 5), ("360_day", 4, 7),
     ("all_leap", 3, 6), ("julian", 3, 6)],
)  # fmt: skip
def test_progress_counts_days_of_the_calendar_that_the_frames_name(
    wrf, calendar, days, total, beside
):
    before, named, later = wrf(calendar, beside=beside)
    assert (before.elapsed_s, before.total_s) == (3 * DAY_S, 6 * DAY_S)
    assert (named.elapsed_s, named.total_s) == (days * DAY_S, total * DAY_S)
    assert (later.elapsed_s, later.total_s) == ((days + 0.5) * DAY_S, total * DAY_S)


def test_a_length_that_is_given_is_the_same_in_all_calendars(wrf):
    *_, later = wrf("noleap", run="run_days = 10")
    assert (later.elapsed_s, later.total_s) == (2.5 * DAY_S, 10 * DAY_S)
