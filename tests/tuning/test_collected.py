"""The time in output, by a model's log."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from burstlens.workflows.models.command import Command
from burstlens.workflows.models.wrf import Wrf
from burstlens.workflows.tuning.driving.collected import NoTimesError, output_time

LOGS = Path(__file__).parents[1] / "data" / "logs"
WRITTEN = r"written (?P<file>\S+) (?P<seconds>[\d.]+) s"
PROGRAM = Command(argv=("./a",), frames={"fine": "fine_*", "coarse": "coarse_*"}, written=WRITTEN)


def folder(path: Path, text: str) -> Path:
    (path / "model.log").write_text(text)
    return path


def test_wrf_says_it_after_timing_for_writing(tmp_path):
    shutil.copy(LOGS / "supercell.rsl.error.0000", tmp_path / "rsl.error.0000")
    lines = (tmp_path / "rsl.error.0000").read_text().splitlines()
    said = [float(line.split()[-3]) for line in lines if "Timing for Writing wrfout" in line]
    found = output_time(Wrf(), tmp_path)
    assert len(said) > 3
    assert found.total == pytest.approx(sum(said[1:]))
    assert found.frames == {"d01": len(said) - 1}


def test_ranks_that_repeat_the_lines_are_not_added_up(tmp_path):
    for rank in range(3):
        shutil.copy(LOGS / "supercell.rsl.error.0000", tmp_path / f"rsl.error.{rank:04d}")
    alone = output_time(Wrf(), tmp_path)
    assert alone.frames["d01"] > 1
    assert sum(alone.frames.values()) == alone.frames["d01"]


def test_asterisks_in_wrfs_log_are_no_time(tmp_path):
    line = (
        "Timing for Writing wrfout_d01_0001-01-01_00:0{}:00 for domain        1: {} elapsed seconds"
    )
    text = "\n".join(line.format(n, "***" if n == 2 else "0.5") for n in range(5))
    (tmp_path / "rsl.error.0000").write_text(text)
    assert output_time(Wrf(), tmp_path).total == pytest.approx(1.5)


def test_the_first_frame_of_each_stream_is_left_out(tmp_path):
    frames = (("fine", 1, 9), ("coarse", 1, 7), ("fine", 2, 1), ("fine", 3, 2), ("coarse", 2, 4))
    text = "".join(f"written {stream}_{n} {took} s\n" for stream, n, took in frames)
    found = output_time(PROGRAM, folder(tmp_path, text))
    assert found.seconds == {"fine": 3.0, "coarse": 4.0}
    assert found.frames == {"fine": 2, "coarse": 1}
    assert output_time(PROGRAM, tmp_path, skip=0).total == 23.0


def test_files_that_are_no_frames_do_not_count(tmp_path):
    frames = "".join(f"written fine_{n} 1 s\nwritten alien_{n} 0.1 s\n" for n in range(3))
    assert output_time(PROGRAM, folder(tmp_path, frames)).seconds == {"fine": 2.0}
    aliens = "".join(f"written alien_{n} 0.1 s\n" for n in range(3))
    with pytest.raises(NoTimesError, match="must name the files of `frames`"):
        output_time(PROGRAM, folder(tmp_path, aliens))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "does not say how long"),
        ("written fine_1 in no time\n", "does not say how long"),
        ("written fine_1 3 s\n", "a longer run is needed"),
        ("\x00\xff" * 5000, "does not say how long"),
    ],
)
def test_a_log_without_times_is_refused_with_the_reason(tmp_path, text, said):
    with pytest.raises(NoTimesError, match=said):
        output_time(PROGRAM, folder(tmp_path, text))


def test_without_a_log_it_says_so(tmp_path):
    with pytest.raises(NoTimesError, match="there is no log"):
        output_time(PROGRAM, tmp_path)
