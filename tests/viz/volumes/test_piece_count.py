"""How many pieces and slabs a volume has, and the memory that they take."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pieces_case import KIND, WRF

from burstlens.core.errors import FrameError, RecipeError
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.kinds.vtk import pieces
from burstlens.viz.kinds.vtk.draw import draw_slabs
from burstlens.viz.kinds.vtk.options import VtkOptions, WindVector
from burstlens.viz.kinds.vtk.pieces import split_of
from burstlens.viz.kinds.vtk.read import Box
from burstlens.viz.kinds.vtk.split import Part
from burstlens.viz.kinds.vtk.volume import Volume
from burstlens.viz.product import Context


def test_what_fits_the_memory_is_one_file(supercell: Path):
    with open_frame([supercell]) as frame:
        assert KIND.pieces(VtkOptions(("T", "W"), wind=WindVector()), frame, 1 << 30) == 1


@pytest.mark.parametrize("layout", [{}, {"format": "vtkhdf"}])
def test_less_memory_makes_more_pieces(supercell: Path, layout: Any):
    options = VtkOptions(("T", "W"), compress=True, **layout)
    with open_frame([supercell]) as frame:
        counts = [KIND.pieces(options, frame, n) for n in (3_500_000, 2_500_000, 1_700_000)]
    assert 1 < counts[0] < counts[1] < counts[2] < 41


@pytest.mark.parametrize(("layout", "counts"), [("xml", (1, 1, 2, 4)), ("vtkhdf", (1, 2, 4, 8))])
def test_no_more_pieces_than_spare_inflating_chunks_again(
    layout: Any, counts: Any, chunked: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(pieces, "PIECE", 1 << 14)
    options = VtkOptions(("v",), format=layout, grid="curvilinear")
    for rows, count in zip((40, 20, 10, 5), counts, strict=True):
        with open_frame([chunked((12, rows, 30))]) as frame:
            assert KIND.pieces(options, frame, 1 << 16) == count


def test_memory_for_no_piece_at_all_is_refused_with_what_to_do(supercell: Path):
    with (
        open_frame([supercell]) as frame,
        pytest.raises(RecipeError, match=r"smallest piece .* needs \d+ MiB .* crop or stride"),
    ):
        KIND.pieces(VtkOptions(("T",), compress=True), frame, 10_000)


def test_pieces_that_are_written_in_slabs_are_large_enough_to_be_worth_a_task(
    supercell: Path, monkeypatch: pytest.MonkeyPatch
):
    with open_frame([supercell]) as frame:
        assert KIND.pieces(VtkOptions(("T",)), frame, 1 << 20) == 1
        monkeypatch.setattr(pieces, "PIECE", 1 << 18)
        # 40 x 41 x 41 points of 16 bytes, in two layers of chunks.
        options = VtkOptions(("T",), format="vtkhdf")
        assert KIND.pieces(options, frame, 1 << 10) == 2
        assert KIND.pieces(options, frame, 1 << 23) == 1


def test_a_product_that_goes_from_frame_to_frame_is_not_split(katrina: Path):
    with open_frame([katrina]) as frame:
        assert KIND.pieces(VtkOptions(("rain_rate",)), frame, 1) == 1


@pytest.mark.parametrize("layout", ["xml", "vtkhdf"])
@pytest.mark.parametrize("name", WRF)
def test_a_file_written_in_slabs_has_the_same_bytes(
    name: str, layout: Any, supercell: Path, context: Context, tmp_path: Path
):
    options = dataclasses.replace(WRF[name], format=layout)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    with open_frame([supercell], stream=context.stream) as frame:
        made = KIND.make(options, frame, whole, context)
        box = KIND.box(options, frame)
        split = split_of(box, shared=False)
        whole_box = split.whole()
        slabs = split.slabs(whole_box, 4, 4)
        assert draw_slabs(box, whole_box, slabs, options, parts, context, frame.start)[0] == made
    assert parts.read_bytes() == whole.read_bytes()


def test_a_large_volume_is_written_in_slabs(
    supercell: Path, context: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    read: list[object] = []
    of_box = Box.read

    def counted(box: Box, part: Part | None = None) -> Volume:
        read.append(part)
        return of_box(box, part)

    monkeypatch.setattr(Box, "read", counted)
    monkeypatch.setattr(pieces, "SLAB", 1 << 20)
    with open_frame([supercell], stream=context.stream) as frame:
        KIND.make(VtkOptions(("T",)), frame, tmp_path / "parts", context)
    assert len(read) > 3
    assert None not in read


def test_a_variable_without_any_value_leaves_no_file_of_parts(
    cf_volume: Callable[..., Path], context: Context, tmp_path: Path
):
    path = cf_volume()
    with netCDF4.Dataset(os.fspath(path), "a") as data:
        data["vx"][:] = np.nan
    with open_frame([path]) as frame:
        box = KIND.box(VtkOptions(("vx",)), frame)
        whole = box.whole()
        slabs = split_of(box, shared=False).slabs(whole, 2, 2)
        with pytest.raises(FrameError, match="vx: all values are NaN"):
            draw_slabs(box, whole, slabs, VtkOptions(("vx",)), tmp_path / "out", context, None)
    assert not (tmp_path / "out").exists()


_PEAK = """
import sys
from pathlib import Path
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.kinds.vtk import draw, hdf_file, kind, options, pieces, read, table, zlib_file
from burstlens.viz.product import Context

def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

frame, out, layout, memory = sys.argv[1], Path(sys.argv[2]), eval(sys.argv[3]), int(sys.argv[4])
of, wanted = kind.VtkKind(), options.VtkOptions(("vx", "vy"), **layout)
context = Context("r", "r", "w", "d01", "t00000001.500", out)
before = peak()
with open_frame([frame]) as reader:
    count = of.pieces(wanted, reader, memory)
    of.make_piece(wanted, reader, out, context, count - 1, count)
print(count, peak() - before)
"""


@pytest.mark.integration
@pytest.mark.parametrize(
    "layout",
    [{"grid": "curvilinear"}]
    + [
        pytest.param(layout, marks=pytest.mark.slow)
        for layout in ({"compress": True}, {"format": "vtkhdf"},
                       {"format": "vtkhdf", "compress": True})
    ],
)  # fmt: skip
def test_a_piece_takes_no_more_memory_than_it_may(
    layout: dict[str, Any], cf_volume: Callable[..., Path], tmp_path: Path
):
    frame = cf_volume(x=np.arange(250.0), y=np.arange(250.0), z=np.arange(120.0))
    memory = 256 << 20
    argv = [sys.executable, "-c", _PEAK, frame, tmp_path / "piece", repr(layout), str(memory)]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    count, peak = map(int, done.stdout.split())
    assert count > 1
    # Memory that one array has given back is not always used by the next one.
    assert peak < 1.1 * memory
