"""The program on real MPI: who writes what, what it prints, and how it fails."""

from __future__ import annotations

import os
import re
import subprocess
from itertools import product
from pathlib import Path

import netCDF4
import numpy as np
import pytest

from burstlens.workflows.iostudy.profile import Profile
from burstlens.workflows.models.command import Command

pytestmark = pytest.mark.slow

ROWS = Profile(
    title="rows", pattern="cells", shape=(12, 12, 12), words=10, calls="runs", collective=False,
    frames=2,
)  # fmt: skip
SEGMENTS = Profile(
    title="segments", pattern="segments", block=4096, transfer=1024, segments=3, collective=False,
    frames=2,
)  # fmt: skip


def writes(folder: Path) -> set[tuple[int, int, int]]:
    """Rank, offset in the data and bytes of each write, the header's left out."""
    found = [
        tuple(map(int, line.split()))
        for path in folder.glob("writes.*")
        for line in path.read_text().splitlines()
    ]
    return {(rank, at - 4096, size) for rank, at, size in found if at}


def test_ranks_of_bt_write_the_rows_of_their_diagonal_of_cells(study, tmp_path):
    done = study(ROWS, 9, fault="")
    assert done.returncode == 0, done.stdout + done.stderr
    expected = set()
    for rank, cell in product(range(9), range(3)):  # NPB 3.3, BT, make_set.f
        x, y, z = (rank % 3 + cell) % 3, (rank // 3 - cell) % 3, cell
        for k, j in product(range(4 * z, 4 * z + 4), range(4 * y, 4 * y + 4)):
            expected.add((rank, 40 * (144 * k + 12 * j + 4 * x), 160))
    assert writes(tmp_path) == expected


def test_segments_interleave_the_blocks_of_the_ranks(study, tmp_path):
    assert study(SEGMENTS, 2, fault="").returncode == 0
    assert writes(tmp_path) == {
        (rank, segment * 8192 + rank * 4096 + 1024 * piece, 1024)
        for rank, segment, piece in product(range(2), range(3), range(4))
    }


def test_a_file_per_rank_holds_its_blocks_alone(study, tmp_path):
    own = Profile(
        title="own", pattern="segments", block=4096, segments=3, files="rank", read="own", frames=1
    )
    assert study(own, 2).returncode == 0
    names = sorted(path.name for path in tmp_path.glob("*.nc"))
    assert names == ["frame_0001_00000.nc", "frame_0001_00001.nc"]
    assert {(tmp_path / name).stat().st_size for name in names} == {4096 + 3 * 4096}


@pytest.mark.parametrize("ranks", [1, 3, 4])
def test_each_pattern_fills_its_files_whole_also_where_ranks_do_not_divide(study, tmp_path, ranks):
    patches = Profile(
        title="patches", pattern="blocks", shape=(3, 7, 11), variables=3, split=(1, 0, 0), frames=2,
        read="own",
    )  # fmt: skip
    done = study(patches, ranks)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all as written" in done.stdout
    frames = []
    for number in (1, 2):
        path = tmp_path / f"frame_{number:04d}.nc"
        assert path.stat().st_size == 4096 + 3 * 3 * 7 * 11 * 4
        with netCDF4.Dataset(path) as data:
            assert data["v02"].dimensions == ("z", "y", "x")
            frames.append(np.stack([data[f"v{n:02d}"][:] for n in range(3)]))
    assert len(np.unique(frames)) == 2 * 3 * 3 * 7 * 11  # no word twice


def test_ranks_without_a_part_take_part_in_the_calls(study, tmp_path):
    small = Profile(title="small", pattern="blocks", shape=(1, 3), frames=1, read="own")
    done = study(small, 5)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "frame_0001.nc").stat().st_size == 4096 + 12


def test_its_lines_are_written_lines_of_the_command_model(study):
    lines = study(SEGMENTS, 2).stdout.splitlines()
    model = Command(
        argv=["./iostudy"], frames="frame_*.nc", time_variable="",
        written=r": wrote (?P<file>\S+), \d+ bytes in (?P<seconds>[\d.]+) s",
        done="^iostudy: done",
    )  # fmt: skip
    found = [said for line in lines if (said := model.read_line(line))]
    assert [(said.kind, said.file, said.stream) for said in found] == [
        ("written", "frame_0001.nc", "output"),
        ("written", "frame_0002.nc", "output"),
        ("end", None, None),
    ]
    size, seconds, rate = re.search(
        r"(\d+) bytes in ([\d.]+) s, ([\d.]+) MB/s", found[0].text
    ).groups()
    assert int(size) == 2 * 3 * 4096
    assert float(rate) == pytest.approx(int(size) / float(seconds) / 1e6, rel=0.001, abs=0.051)


def test_whole_files_are_read_by_every_rank(study):
    reads = Profile(
        title="reads", pattern="segments", block=10_004, segments=2, read="whole", collective=False,
        frames=3,
    )  # fmt: skip
    done = study(reads, 3)
    lines = re.findall(r": (wrote|read) (\S+), (\d+) bytes", done.stdout)
    size = 10_004 * 2 * 3
    assert lines == [
        ("wrote", "frame_0001.nc", str(size)), *[("read", "frame_0001.nc", str(3 * size))] * 3,
    ]  # fmt: skip


def test_hints_of_the_profile_and_of_romio_hints_arrive(study, tmp_path):
    asked = Profile(
        title="hints", pattern="segments", frames=1,
        hints={"romio_cb_write": "disable", "cb_nodes": 2},
    )  # fmt: skip
    done = study(asked, 2)
    assert "hints in force: romio_cb_write=disable" in done.stdout
    assert "the hint cb_nodes=2 has no effect, in force: 1" in done.stdout
    (tmp_path / "hints").write_text("romio_ds_write disable\ncb_buffer_size 1048576\n")
    done = study(SEGMENTS, 2, env={"ROMIO_HINTS": str(tmp_path / "hints")})
    assert "romio_ds_write=disable" in done.stdout
    assert "cb_buffer_size=1048576" in done.stdout


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("byte", r"frame_0001.nc: byte \d+ of the data is not what was written"),
        ("space", r"cannot write frame_0001.nc: .+"),
        ("short", r"cannot write frame_0001.nc: .+"),
    ],
)
def test_a_write_that_goes_wrong_ends_it_with_one_message(study, fault, message):
    done = study(SEGMENTS, 2, fault=fault)
    assert done.returncode == 1
    said = [line for line in done.stderr.splitlines() if line.startswith("iostudy: ")]
    assert len(said) == 1, done.stderr
    assert re.fullmatch(f"iostudy: error: {message}", said[0])
    assert "done" not in done.stdout


def test_without_the_check_a_wrong_byte_stays(study):
    unchecked = Profile(
        title="segments", pattern="segments", block=4096, collective=False, frames=1, check=False
    )
    done = study(unchecked, 2, fault="byte")
    assert done.returncode == 0
    assert "as written" not in done.stdout


def test_other_numbers_of_ranks_than_prepared_are_refused(study):
    done = study(SEGMENTS, 2, started=3)
    assert done.returncode == 1
    assert "study.txt is for 2 ranks, and MPI started 3" in done.stderr


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda here: os.unlink(here / "study.txt"), "cannot open study.txt"),
        (lambda here: os.truncate(here / "study.txt", 40), "study.txt is not complete"),
        (lambda here: os.truncate(here / "study.head", 100), "cannot read study.head: 100 bytes"),
    ],
)
def test_files_that_are_missing_or_cut_are_named(study, mpi, program, tmp_path, damage, message):
    study(SEGMENTS, 2)
    damage(tmp_path)
    done = subprocess.run(
        [str(mpi / "mpiexec"), "-n", "2", str(program)], cwd=tmp_path, capture_output=True,
        text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 1
    assert f"iostudy: error: {message}" in done.stderr
