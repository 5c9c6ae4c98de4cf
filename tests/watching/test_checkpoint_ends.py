"""Checkpoints at a model's end and at its beginning: what was killed, and what was there before."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from checkpoint_case import (
    CLASSIC,
    NAMED,
    NETCDF4,
    RestartingWrf,
    Scans,
    begin,
    finish,
    key,
    write,
)
from watcher_case import attached_watcher

from burstlens.workflows.frames import ready
from burstlens.workflows.frames.arrival import Selection
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.report import Report, WholeCheckpoint
from burstlens.workflows.models.continuation import Proof

NESTED = RestartingWrf(domains=("d01", "d02"))
SUCCESS = "d01 0001-01-01_00:04:00 wrf: SUCCESS COMPLETE WRF\n"


@pytest.fixture
def scans(tmp_path, prober):
    return lambda model=RestartingWrf(), **about: Scans(tmp_path, model, prober, **about)  # noqa: B008


def lacks(report):
    return [text.partition(" is not whole: ")[2] for text in report.unproven_checkpoints]


# The end of the model.


def killed(path: Path, form: str) -> None:
    """A child process writes a restart file and is killed in the middle of it."""
    code = f"""
import sys
sys.path[:0] = {sys.path!r}
from pathlib import Path
from checkpoint_case import begin
file = begin(Path({str(path)!r}), 2, {form!r}, values=200_000)
file["V"][0, :100_000] = 1.0
print("half", flush=True)
sys.stdin.read()
"""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", code], **pipes) as child:
        assert child.stdout.readline() == b"half\n"
        child.send_signal(signal.SIGKILL)


@pytest.mark.integration
@pytest.mark.parametrize("form", [CLASSIC, NETCDF4])
def test_a_file_that_a_killed_model_left_half_written_is_never_whole(scans, form):
    run = scans()
    write(run.path(1), 1, form)
    run.step(1, "d01")
    killed(run.path(2), form)
    for _ in range(3):
        run.scan(60.0)
    report = run.settle()
    assert run.whole == [key(1)]
    [text] = report.unproven_checkpoints
    assert text.startswith(
        "the checkpoint of 0001-01-01 00:02:00 UTC is not whole: wrfrst_d01_0001-01-01_00:02:00: "
    )


def test_a_kill_leaves_the_mark_of_an_open_file_even_if_all_its_bytes_are_there(scans):
    run = scans()
    file = begin(run.path(2), 2)
    file["V"][0] = 1.0
    file.sync()
    raw = run.path(2).read_bytes()
    file.close()
    run.path(2).write_bytes(raw)
    run.step(2, "d01")
    run.log(SUCCESS)
    [lack] = lacks(run.settle())
    assert lack == f"{run.path(2).name}: it is marked as open for writing"
    assert run.whole == []


@pytest.mark.parametrize("form", [CLASSIC, NETCDF4])
def test_a_whole_file_is_whole_at_the_end_although_the_end_of_the_log_is_lost(scans, form):
    run = scans()
    write(run.path(2), 2, form)
    [whole] = run.scan(ended=True).checkpoints
    assert whole.signal == "ended"


def test_a_file_that_only_the_log_proves_is_not_whole_if_the_end_of_the_log_is_lost(scans):
    run = scans(RestartingWrf(proof=Proof.LOG))
    write(run.path(2), 2, CLASSIC)
    run.step(2)
    run.log("Timing for Writing restart for dom")
    report = run.settle()
    assert lacks(report) == [f"{run.path(2).name}: the model's log does not call it written"]
    assert run.whole == []


def test_a_line_without_its_line_end_counts_at_the_end(scans):
    run = scans(RestartingWrf(proof=Proof.LOG))
    write(run.path(2), 2, CLASSIC)
    run.step(2)
    run.log("Timing for Writing restart for domain        1:    0.84060 elapsed seconds")
    run.scan()
    assert run.whole == []
    assert run.settle().unproven_checkpoints == ()
    assert run.whole == [key(2)]


def test_lines_that_come_before_the_data_count_after_a_good_end(scans):
    run = scans(RestartingWrf(proof=Proof.LOG))
    run.log("Quilting with   1 groups of   2 I/O tasks.\n")
    write(run.path(2), 2, CLASSIC)
    run.step(2, "d01")
    run.log(SUCCESS)
    run.scan(60.0)
    assert run.whole == []
    run.scan(ended=True)
    assert run.whole == [key(2)]


def test_what_each_checkpoint_lacks_is_reported_once_when_the_model_has_ended(scans):
    run = scans(NESTED)
    write(run.path(1, "d02"), 1)
    write(run.path(2), 2)
    write(run.path(2, "d02"), 2)
    write(run.path(3), 3)
    run.path(3, "d02").touch()
    run.scan()
    assert run.scan(20.0).unproven_checkpoints == ()
    assert run.whole == [key(2)]
    assert lacks(run.settle()) == [
        "there is no file of d01",
        f"{run.path(3, 'd02').name}: it has 0 bytes",
    ]
    again = run.scan(60.0, ended=True)
    assert again.ended
    assert again.unproven_checkpoints == ()
    assert run.whole == [key(2)]


def test_the_end_of_the_watch_waits_for_a_checkpoint_no_longer_than_for_a_lost_frame(scans):
    run = scans()
    run.path(2).write_bytes(b"\x89HDF\r\n\x1a\n")
    waited = 0.0
    run.scan(ended=True)
    while not run.scan(0.25, ended=True).ended:
        waited += 0.25
        run.path(2).write_bytes(run.path(2).read_bytes() + b"more")  # whoever writes it
    assert waited < ready.LOST_QUIET_S


def test_one_that_was_quiet_for_long_does_not_delay_the_end(scans):
    run = scans(NESTED)
    write(run.path(2), 2)
    run.scan()
    run.scan(60.0)
    report = run.scan(ended=True)
    assert report.ended
    assert lacks(report) == ["there is no file of d02"]


def test_a_file_that_is_closed_soon_after_the_end_is_whole(scans):
    run = scans()
    file = begin(run.path(2), 2)
    assert not run.scan(ended=True).ended
    finish(file)
    report = run.scan(0.5, ended=True)
    assert report.ended
    assert run.whole == [key(2)]


def test_a_file_that_cannot_be_read_is_no_whole_one_and_no_alarm(scans):
    run = scans()
    run.path(2).symlink_to(run.path(2).name)
    report = run.scan()
    assert report.notices == ()
    [lack] = lacks(run.settle())
    assert "cannot be read" in lack


# The beginning.


def baseline(folder):
    stats = {path.name: path.stat() for path in folder.iterdir()}
    return {name: (stat.st_size, stat.st_mtime_ns) for name, stat in stats.items()}


def test_what_was_there_before_the_model_began_is_no_new_checkpoint(scans, tmp_path):
    run = scans()
    write(run.path(2), 2)
    run.path(1).write_bytes(b"foreign")
    run = scans(baseline=baseline(tmp_path))
    run.scan()
    run.scan(60.0)
    write(run.path(3), 3)
    assert run.settle().unproven_checkpoints == ()
    assert run.whole == [key(3)]


def test_the_checkpoint_that_an_attempt_starts_from_is_no_new_one(scans, tmp_path):
    (tmp_path / "earlier").mkdir()
    (tmp_path / "now").mkdir()
    source = Scans(tmp_path / "earlier", None, None).path(2)
    write(source, 2)
    (tmp_path / "now" / source.name).hardlink_to(source)
    run = scans(baseline=baseline(tmp_path / "now"))
    run.folder = tmp_path / "now"
    run.log(f" RESTART run: opening {source.name} for reading\n")
    run.scan(60.0)
    assert run.settle().unproven_checkpoints == ()
    assert run.whole == []


def test_a_checkpoint_that_is_written_over_an_old_one_counts_part_by_part(scans, tmp_path):
    run = scans()
    old = [write(run.path(2, part), 2) for part in NESTED.domains]
    run = scans(NESTED, baseline=baseline(tmp_path))
    run.scan()
    run.path(2).write_bytes(old[0])
    run.scan()
    run.scan(60.0)
    assert run.whole == []  # the nest's file is the old one
    run.path(2, "d02").write_bytes(old[1])
    run.scan()
    run.scan(0.5)
    assert run.whole == [key(2)]


def test_in_a_run_that_others_started_no_checkpoints_are_looked_for(tmp_path, prober):
    write(Scans(tmp_path, None, None).path(2), 2)
    watcher = attached_watcher(
        tmp_path, ".", RestartingWrf(), "run", 1, Cursor(), prober=prober,
        selection=Selection(), stamp=tmp_path / "clock",
    )  # fmt: skip
    for _ in range(4):
        report = watcher.scan(elapsed_s=60.0, now=1.0, ended=True)
        assert (report.checkpoints, report.unproven_checkpoints) == ((), ())


# The report.


def test_a_report_that_was_not_returned_loses_no_checkpoint():
    late, early = (WholeCheckpoint(key(minute), ("a",), 1, 1.0, "name") for minute in (2, 1))
    before = Report((), (), Cursor(), checkpoints=(late,), unproven_checkpoints=("one",))
    after = Report((), (), Cursor(), checkpoints=(early,), unproven_checkpoints=("two",))
    found = after.following(before)
    assert found.checkpoints == (early, late)
    assert found.unproven_checkpoints == ("one", "two")
    silent = Report((), (), Cursor()).following(before)
    assert (silent.checkpoints, silent.unproven_checkpoints) == ((late,), ("one",))


def test_a_report_with_news_of_checkpoints_is_urgent():
    whole = WholeCheckpoint(key(2), ("a",), 1, 1.0, "name")
    assert Report((), (), Cursor(), checkpoints=(whole,)).urgent
    assert Report((), (), Cursor(), unproven_checkpoints=("it is not whole",)).urgent
    assert not Report((), (), Cursor()).urgent


def test_states_of_a_program_that_keeps_the_latest_ones_are_reported_each(scans, tmp_path):
    run = scans(NAMED)
    for second in range(1, 8):
        (tmp_path / f"state_{second:04d}.bin").write_bytes(b"state")
        (tmp_path / f"state_{second - 2:04d}.bin").unlink(missing_ok=True)
        run.scan()
    assert run.settle().unproven_checkpoints == ()
    assert run.whole == [f"t{second:08d}.000" for second in range(1, 8)]
