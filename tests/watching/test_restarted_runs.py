"""Recorded runs of the real WRF that were killed, and those that continued from their restart files
of 00:02: which frames each attempt has, and which attempt counts at each time.

Files have the names, the times and the logs of the recorded runs, and little else.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import netCDF4
import numpy as np
import pytest
from checkpoint_case import Scans

from burstlens.core.model import Damage, Frame
from burstlens.core.run import events as ev
from burstlens.core.run.history import History, replay
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.promised import Promised
from burstlens.workflows.frames.report import Report
from burstlens.workflows.frames.watch import watch
from burstlens.workflows.models.wrf import Wrf
from burstlens.workflows.models.wrf_names import read_settings
from burstlens.workflows.models.wrf_times import interval_s

RUNS = Path(__file__).parents[1] / "data" / "wrf" / "restart"
DAY = "0001-01-01_"
FIRST = [0, 30, 60, 90, 120, 150]
"""Seconds at which a run with frames each 30 s had written some when it was killed."""


def clock(second: int) -> str:
    return f"00:{second // 60:02d}:{second % 60:02d}"


def keys(seconds: Iterable[int]) -> list[str]:
    return [f"00010101T{clock(second).replace(':', '')}" for second in seconds]


def write(folder: Path, *seconds: int, is_open: bool = False) -> None:
    """A file of these times under the name of the first one; with ``is_open`` as a kill leaves it
    whose writer has it open between two frames."""
    path = folder / f"wrfout_d01_{DAY}{clock(seconds[0])}"
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("Time", None)
        file.createDimension("DateStrLen", 19)
        file.createVariable("Times", "S1", ("Time", "DateStrLen"))
        file.createVariable("T", "f4", ("Time",))
        for record, second in enumerate(seconds):
            text = np.array([DAY + clock(second)], "S19")
            file["Times"][record] = netCDF4.stringtochar(text)[0]
            file["T"][record] = second
        file.sync()
        raw = path.read_bytes()
    if is_open:
        path.write_bytes(raw)


@dataclass
class Attempts:
    """What is found of one attempt after the other, and what the journal has of it."""

    root: Path
    prober: object
    found: dict[int, list[Frame]] = field(default_factory=dict)
    damaged: list[Damage] = field(default_factory=list)
    reports: list[Report] = field(default_factory=list)

    def end(self, run: str, *files: tuple[int, ...], is_open: bool = False) -> None:
        """The next attempt has left these files, and the log of a recorded run; it has ended."""
        number = len(self.found) + 1
        folder = self.root / str(number)
        folder.mkdir()
        for name in ("namelist.input", "rsl.error.0000"):
            (folder / name).write_text((RUNS / run / name).read_text())
        for seconds in files:
            write(folder, *seconds, is_open=is_open and seconds is files[-1])
        scans = Scans(folder, Wrf().configured(folder), self.prober)
        reports = [scans.scan(1.0), scans.scan(1.0), scans.settle()]
        self.found[number] = [frame for report in reports for frame in report.frames]
        self.damaged += [one for report in reports for one in report.damaged]
        self.reports += reports

    def history(self, begin_s: int) -> History:
        """With a second attempt from the checkpoint of that time."""
        events: list[ev.Event] = []
        for number, frames in self.found.items():
            begin = keys([begin_s])[0] if number > 1 else None
            events.append(
                ev.SimulationSubmitting(
                    job=f"attempt-{number}", attempt=number, checkpoint=begin,
                    written_by=number - 1 or None,
                )
            )  # fmt: skip
            for frame in frames:
                about = {"file": frame.paths[0], "record": frame.record}
                events.append(ev.FrameReady(attempt=number, stream="d01", time=frame.time, **about))
        return replay(events)

    def owners(self, begin_s: int) -> dict[str, list[int]]:
        """The attempts whose frame of each time counts."""
        history = self.history(begin_s)
        owners: dict[str, list[int]] = {}
        for number, frames in self.found.items():
            for frame in frames:
                of = owners.setdefault(frame.time, [])
                if history.owns("d01", frame.time, number):
                    of.append(number)
        return owners


@pytest.fixture
def attempts(tmp_path, prober) -> Attempts:
    return Attempts(tmp_path, prober)


def times(frames: Iterable[Frame]) -> list[str]:
    return sorted(frame.time for frame in frames)


def expected(first: Iterable[int], second: Iterable[int]) -> dict[str, list[int]]:
    owners = ((1, first), (2, second))
    return {time: [attempt] for attempt, seconds in owners for time in keys(seconds)}


def test_a_growing_file_begins_anew_and_the_same_time_is_in_two_files(attempts):
    """``C``: 00:02:30 is the sixth record of the first file, which the kill has left open, and the
    first one of the second file."""
    attempts.end("A1", tuple(FIRST), is_open=True)
    attempts.end("C2", (150, 180, 210, 240))
    assert times(attempts.found[1]) == keys(FIRST)
    assert times(attempts.found[2]) == keys((150, 180, 210, 240))
    assert attempts.damaged == []
    assert attempts.owners(120) == expected((0, 30, 60, 90, 120), (150, 180, 210, 240))


def test_files_of_several_frames_are_cut_anew_from_the_first_one_after_the_restart(attempts):
    """``D``: three frames a file."""
    attempts.end("A1", (0, 30, 60), (90, 120, 150))
    attempts.end("D2", (150, 180, 210), (240,))
    assert attempts.damaged == []
    assert attempts.owners(120) == expected((0, 30, 60, 90, 120), (150, 180, 210, 240))


def test_a_file_takes_the_name_of_one_whose_frames_were_whole(attempts):
    """``R``: three frames a file, and a restart from 00:01. WRF makes the file of 00:01:30 anew;
    each attempt has a folder of its own, so that nothing is lost before it is computed again."""
    attempts.end("A1", (0, 30, 60), (90, 120, 150))
    attempts.end("R2", (90, 120, 150), (180, 210, 240))
    assert attempts.damaged == []
    assert attempts.owners(60) == expected((0, 30, 60), (90, 120, 150, 180, 210, 240))
    name = f"wrfout_d01_{DAY}00:01:30"
    assert [frame.paths[0] for frame in attempts.found[1]][3:] == [name] * 3
    history = attempts.history(60)
    assert [history.is_stale("d01", time, 1) for time in keys((60, 90, 120, 150))] == [
        False, True, True, True,
    ]  # fmt: skip


def test_a_frame_written_again_at_the_restart_s_time_is_not_the_one_that_counts(attempts):
    """``B``: write_hist_at_0h_rst. Its reflectivity is 0 everywhere."""
    attempts.end("A1", *((second,) for second in FIRST))
    attempts.end("B2", (120,), (150,), (180,), (210,), (240,))
    assert attempts.owners(120) == expected((0, 30, 60, 90, 120), (150, 180, 210, 240))
    assert attempts.history(120).is_stale("d01", keys([120])[0], 2)


def test_no_frames_are_expected_at_the_times_of_the_namelist(attempts):
    """``J``: an interval of 50 s and a restart at 00:02; frames then came each 30 s."""
    attempts.end("J1", (0,), (50,), (100,), (150,))
    attempts.end("J2", (150,), (180,), (210,), (240,))
    assert interval_s(read_settings(RUNS / "J2"), "history") == 50
    assert attempts.owners(120) == expected((0, 50, 100), (150, 180, 210, 240))
    assert attempts.damaged == []
    assert [text for report in attempts.reports for text in report.alarms] == []


@pytest.mark.parametrize(
    ("run", "files"),
    [("J2", [(150,), (180,), (210,), (240,)]), ("C2", [(150, 180, 210, 240)]),
     ("D2", [(150, 180, 210), (240,)]), ("R2", [(90, 120, 150), (180, 210, 240)])],
)  # fmt: skip
def test_each_frame_that_the_log_calls_written_is_found(attempts, run, files):
    """In a growing file the log names one file per frame, and these files do not exist."""
    attempts.end("A1", tuple(FIRST))
    attempts.end(run, *files)
    model = Wrf().configured(RUNS / run)
    promised = Promised("run", "run-0", model, attempts.history(60), ("d01",))
    for report in attempts.reports[3:]:
        promised.hear(report.written)
    assert promised.lost(attempts.reports[-1], 2) == []


def test_frames_of_a_given_up_branch_that_are_never_written_again_stay_stale(attempts):
    """``I``: each 30 s, then each 20 s by override_restart_timers: no 00:02:30 in the second."""
    attempts.end("A1", *((second,) for second in FIRST))
    attempts.end("I2", *((second,) for second in (140, 160, 180, 200, 220, 240)))
    history = attempts.history(120)
    assert [history.is_stale("d01", time, 1) for time in keys((120, 150))] == [False, True]
    assert attempts.owners(120)[keys([150])[0]] == []


def test_progress_is_that_of_the_whole_run(tmp_path):
    """``A``: the namelist of the second attempt has the two minutes of the rest."""
    for folder, run in (("inputs", "A1"), ("2", "A2")):
        (tmp_path / folder).mkdir()
        text = (RUNS / run / "namelist.input").read_text()
        (tmp_path / folder / "namelist.input").write_text(text)
    log = (RUNS / "A2" / "rsl.error.0000").read_text()
    reached = log.index("\n", log.index("Timing for main: time 0001-01-01_00:03:00")) + 1
    (tmp_path / "2" / "rsl.error.0000").write_text(log[:reached])
    report = watch(
        tmp_path, "2", Wrf(), "run", 2, Cursor(), baseline={}, ended=lambda: False,
        timeout_s=0.5, interval_s=0.05, settings="inputs",
    )  # fmt: skip
    progress = report.progress
    assert (progress.time, progress.elapsed_s, progress.total_s) == (keys([180])[0], 180.0, 240.0)
