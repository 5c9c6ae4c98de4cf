"""Logs that grow faster than the watcher reads, are truncated or rotated, or have few line ends."""

from __future__ import annotations

import os
import pickle
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from watcher_case import launched_watcher

from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.log_file import (
    LONGEST_LINE_BYTES,
    PIECE_BYTES,
    Position,
    read_piece,
)
from burstlens.workflows.frames.log_search import LogPattern
from burstlens.workflows.frames.watch import watch
from burstlens.workflows.models.command import Command
from burstlens.workflows.models.wrf import Wrf

NOISE = "computing some values that are not read, column by column\n"
MODEL = Command(
    argv=["./model"],
    frames="s_*.nc",
    progress=r"^t=(?P<elapsed>[\d.]+) of (?P<total>[\d.]+)$",
    trouble="^BAD",
    done="^bye$",
)


@pytest.fixture
def follow(tmp_path):
    """Follows the logs in ``tmp_path`` over many calls; returns the final report and all hits."""

    def followed(model=MODEL, *, pattern="ZZZ", calls=200, ended=True, cursor=None):
        cursor, lines = cursor or Cursor(), 0
        for _ in range(calls):
            report = watch(
                tmp_path, ".", model, "run", 1, pickle.loads(pickle.dumps(cursor)), baseline={},
                ended=lambda: ended, timeout_s=0.0, interval_s=0.0,
                patterns=(LogPattern("g", pattern),),
            )  # fmt: skip
            cursor = report.cursor
            lines += sum(hit.lines for hit in report.hits)
            if report.ended or not (ended or report.behind):
                return report, lines
        raise AssertionError(f"no end after {calls} calls")

    return followed


def test_the_log_of_a_model_that_has_ended_is_read_to_its_end(tmp_path, follow):
    with (tmp_path / "model.log").open("w") as log:
        for index in range(100):
            log.write(NOISE * 1100)
            log.write(f"t={index + 1} of 100\nZZZ\n")
        log.write("bye\n")
    assert (tmp_path / "model.log").stat().st_size > 6 * PIECE_BYTES
    report, hits = follow()
    assert report.cursor.speech.ended_well
    assert report.progress.fraction == 1.0
    assert hits == 100


def test_a_call_of_several_scans_reports_what_each_of_them_has_read(tmp_path):
    line = "Timing for Writing {} for domain        1:    0.17281 elapsed seconds\n"
    text = line.format("restart") + NOISE * 40_000 + line.format("wrfout_d01_2000-01-01_00:00:00")
    (tmp_path / "rsl.error.0000").write_text(text)
    report = watch(
        tmp_path, ".", Wrf(), "run", 1, Cursor(), baseline={}, ended=lambda: True,
        timeout_s=600.0, interval_s=0.0,
    )  # fmt: skip
    assert report.cursor.scans > 1
    assert report.missed + len(report.tail) == text.count("\n")
    assert [one.took_s for one in report.timed] == [0.17281, 0.17281]


def test_lines_are_never_split_whatever_their_length(tmp_path, follow, dice):
    with (tmp_path / "model.log").open("w") as log:
        for _ in range(3000):
            log.write("ü" * dice.randrange(800) + "ZZZ\n")
        log.write("bye")  # without a line end
    report, hits = follow(pattern="^ü*ZZZ$")
    assert hits == 3000
    assert report.cursor.speech.ended_well
    assert not follow(ended=False)[0].cursor.speech.ended_well  # more of this line may come


def test_a_frame_is_not_settled_before_the_log_is_read(tmp_path, prober):
    (tmp_path / "s_1.nc").write_bytes(b"CDF\1 half a header")
    (tmp_path / "model.log").write_text(NOISE * 50_000 + "bye\n")
    watcher = launched_watcher(tmp_path, ".", MODEL, "run", 1, Cursor(), prober=prober)
    reports = []
    while not (reports and reports[-1].ended):
        reports.append(watcher.scan(elapsed_s=60.0, now=0.0, ended=True))
    assert [report.behind for report in reports] == [True, True, False]
    assert [len(report.damaged) for report in reports] == [0, 0, 1]


@pytest.mark.slow
def test_a_line_of_100_mb_needs_little_memory_and_later_lines_are_read(tmp_path):
    with (tmp_path / "model.log").open("wb") as log:
        log.write(b"ZZZ\nt=1 of 4\n")
        for _ in range(100):
            log.write(b"x" * 1_000_000)
        log.write(b"\nZZZ\nt=2 of 4\nbye\n")
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    script = (
        "import sys; from pathlib import Path; sys.path[:0] = sys.argv[2:]\n"
        "from burstlens.workflows.frames.cursor import Cursor\n"
        "from burstlens.workflows.frames.log_search import LogPattern\n"
        "from burstlens.workflows.frames.watch import watch\n"
        "import pickle, resource, test_long_logs as t\n"
        "cursor, lines, scans, sizes = Cursor(), 0, 0, 0\n"
        "begin = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "while True:\n"
        "    r = watch(Path(sys.argv[1]), '.', t.MODEL, 'r', 1, cursor, baseline={},\n"
        "        ended=lambda: True, timeout_s=0.0, interval_s=0.0,\n"
        "        patterns=(LogPattern('g', 'ZZZ'),))\n"
        "    cursor = r.cursor; lines += sum(h.lines for h in r.hits)\n"
        "    sizes = max(sizes, len(pickle.dumps(r)))\n"
        "    if r.ended: break\n"
        "grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - begin\n"
        "print(lines, r.progress.elapsed_s, cursor.speech.ended_well, cursor.scans,"
        " grown < 30_000, sizes < 100_000)\n"
    )
    here = Path(__file__).parent
    words = [sys.executable, "-c", script, str(tmp_path), str(here), str(here.parent)]
    done = subprocess.run(words, capture_output=True, text=True)
    lines, elapsed, ended_well, scans, small, light = done.stdout.split()
    assert (lines, elapsed, ended_well, small, light) == ("2", "2.0", "True", "True", "True"), (
        done.stdout,
        done.stderr,
        before,
    )
    assert int(scans) < 120  # each byte is read once


def test_a_line_that_grows_without_end_is_read_once_as_it_grows(tmp_path):
    log, position, lines = tmp_path / "model.log", Position(), []
    with log.open("ab", buffering=0) as file:
        for _ in range(40):
            file.write(b"." * 10_000)
            piece = read_piece(log, position, PIECE_BYTES)
            assert piece.position.offset >= position.offset
            position = piece.position
            lines += piece.lines
        file.write(b"\nnext\n")
    piece = read_piece(log, position, PIECE_BYTES)
    assert [len(line) for line in lines] == [LONGEST_LINE_BYTES]
    assert piece.lines == ["next"]


@pytest.mark.parametrize("sign", ["\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028"])
def test_only_line_ends_end_a_line(tmp_path, follow, sign):
    (tmp_path / "model.log").write_text(f"note:{sign}BAD{sign}bye{sign}t=9 of 9\nbye\r\n")
    report, _ = follow()
    assert report.trouble == ()
    assert report.progress.elapsed_s is None
    assert report.cursor.speech.ended_well


def test_each_carriage_return_of_a_progress_bar_ends_a_line(tmp_path, follow):
    (tmp_path / "model.log").write_bytes(b"t=1 of 4\rt=2 of 4\rt=3 of 4\r")
    report, _ = follow(ended=False)
    assert report.progress.elapsed_s == 3.0


@pytest.mark.parametrize("size", [10, 40_000, 90_000])
def test_a_log_that_was_truncated_or_replaced_is_read_from_its_beginning(tmp_path, follow, size):
    log = tmp_path / "model.log"
    log.write_text("t=1 of 9\n" * 5000)
    first, _ = follow(ended=False)
    assert first.progress.elapsed_s == 1.0
    for text, seen in (("t=2 of 9", 2.0), ("t=3 of 9", 3.0)):
        lines = f"{text}\n" * (size // 9 + 1)
        if seen == 3.0:
            os.rename(log, tmp_path / "model.log.1")
        log.write_text("new\n" + lines)  # the same file truncated, or another file
        first, _ = follow(ended=False, cursor=first.cursor)
        assert first.progress.elapsed_s == seen
    log.write_text("bye\n")
    assert follow(cursor=first.cursor)[0].cursor.speech.ended_well


def test_each_ranks_log_is_read_to_its_end(tmp_path, follow):
    for rank in range(8):
        end = "d01 0001-01-01_00:00:10 wrf: SUCCESS COMPLETE WRF\n" if rank == 0 else ""
        text = (NOISE * 3000 + "ZZZ\n") * 2
        (tmp_path / f"rsl.error.{rank:04d}").write_text(text + end)
    report, hits = follow(Wrf())
    assert hits == 16
    assert report.cursor.speech.ended_well


def test_a_log_that_is_not_a_regular_file_is_reported_and_the_others_are_read(tmp_path, follow):
    os.mkfifo(tmp_path / "rsl.error.0007")
    (tmp_path / "rsl.error.0003").mkdir()
    (tmp_path / "rsl.error.0000").write_text("d01 0001-01-01_00:00:10 wrf: SUCCESS COMPLETE WRF\n")
    report, _ = follow(Wrf(), calls=3)
    assert report.cursor.speech.ended_well
    assert [text.partition(" cannot")[0] for text in report.notices] == [
        "rsl.error.0003",
        "rsl.error.0007",
    ]
