"""Volumes in pieces: read back by VTK's own readers, they are the same as in one file."""

from __future__ import annotations

import dataclasses
import errno
import os
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pieces_case import KIND, WRF, both, make_pieces, same

from burstlens.core.errors import FrameError, StagingError
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.kinds.vtk.options import VtkOptions, WindVector
from burstlens.viz.product import Context


@pytest.mark.parametrize("layout", ["raw", pytest.param("zlib", marks=pytest.mark.slow), "vtkhdf"])
@pytest.mark.parametrize("name", WRF)
def test_pieces_are_the_whole_bit_for_bit(
    name: str, layout: str, supercell: Path, context: Context, tmp_path: Path
):
    options = WRF[name]
    if layout == "zlib":
        options = dataclasses.replace(options, compress=True)
    elif layout == "vtkhdf":
        options = dataclasses.replace(options, format="vtkhdf")
    same(*both(options, supercell, context, tmp_path, 3))


@pytest.mark.parametrize("coordinates", ["projection", "lonlat", "sphere"])
def test_pieces_lie_where_the_whole_lies(
    coordinates: Any, cyclone: Path, context: Context, tmp_path: Path
):
    options = VtkOptions(("temperature",), coordinates=coordinates, wind=WindVector())
    same(*both(options, cyclone, context, tmp_path, 4))


def test_a_surface_is_split_as_well(cyclone: Path, context: Context, tmp_path: Path):
    same(*both(VtkOptions(("slp", "T2"), surface="HGT"), cyclone, context, tmp_path, 2))


def test_pieces_of_tiles_are_the_whole(tiles: list[Path], context: Context, tmp_path: Path):
    same(*both(VtkOptions(("V", "T", "V + T [m s-1]")), tiles, context, tmp_path, 3))


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("axes", [
    {}, {"depth": True}, {"y": np.arange(6)[::-1] * 50.0}, {"z": [0, 10, 30, 70, 150]},
    {"z": [0, 10, 30, 70, 150], "y": np.arange(6)[::-1] * 50.0},
])  # fmt: skip
@pytest.mark.parametrize("count", [2, 5])
def test_straight_grids_are_split_whichever_way_they_run(
    count: int, axes: Any, compress: bool, cf_volume: Callable[..., Path], context: Context,
    tmp_path: Path,
):  # fmt: skip
    same(*both(VtkOptions(("vx", "vy"), compress=compress), cf_volume(**axes), context, tmp_path,
               count))  # fmt: skip


@pytest.mark.parametrize("options", [VtkOptions(("vx",)), VtkOptions(("vx",), format="vtkhdf")])
def test_values_that_are_missing_are_counted_once(
    options: VtkOptions, cf_volume: Callable[..., Path], context: Context, tmp_path: Path
):
    path = cf_volume()
    with netCDF4.Dataset(os.fspath(path), "a") as data:
        data["vx"][0, :, 2:4] = np.nan  # the whole of a piece, and the points that it shares
        data["vx"][0, 1, 0, 0] = np.inf
    one, table = both(options, path, context, tmp_path, 3)
    same(one, table)
    assert table[1].facts["variables"]["vx"]["nan"] == 5 * 2 * 7 + 1


def test_a_variable_without_any_value_fails_as_a_whole(
    cf_volume: Callable[..., Path], context: Context, tmp_path: Path
):
    path = cf_volume()
    with netCDF4.Dataset(os.fspath(path), "a") as data:
        data["vx"][:] = np.nan
    options = VtkOptions(("vx",))
    made, names = make_pieces(options, [path], context, tmp_path, 2)
    with pytest.raises(FrameError, match="vx: all values are NaN"):
        KIND.join(options, made, tmp_path / "table", context, names)
    assert not (tmp_path / "table").exists()


@pytest.mark.parametrize(("chunks", "firsts"), [
    ((12, 10, 30), [(0, 0, 0), (0, 20, 0)]),
    ((12, 16, 30), [(0, 0, 0), (0, 16, 0)]),
    ((1, 40, 30), [(0, 0, 0), (6, 0, 0)]),
    ((12, 40, 10), [(0, 0, 0), (0, 0, 10)]),
    ((12, 40, 30), [(0, 0, 0), (0, 20, 0)]),
])  # fmt: skip
def test_pieces_begin_where_compressed_chunks_do(
    chunks: Any, firsts: Any, chunked: Callable[..., Path], context: Context, tmp_path: Path
):
    options, path = VtkOptions(("v",), format="vtkhdf"), chunked(chunks)
    made, _ = make_pieces(options, [path], context, tmp_path, 2)
    assert [tuple(one.facts["piece"]["first"]) for one in made] == firsts
    same(*both(options, path, context, tmp_path, 2))


def test_a_stride_keeps_pieces_at_the_chunks_of_the_file(
    chunked: Callable[..., Path], context: Context, tmp_path: Path
):
    options = VtkOptions(("v",), Crop(index={"y": (3, 40)}, stride=4), format="vtkhdf")
    made, _ = make_pieces(options, [chunked((12, 10, 30))], context, tmp_path, 4)
    # Rows 3, 7 | 11, 15, 19 | 23, 27 | 31, 35, 39.
    assert [one.facts["piece"]["first"][1] for one in made] == [0, 2, 5, 7]


@pytest.mark.parametrize(
    "layout",
    [{}, {"compress": True}, {"format": "vtkhdf"}, {"format": "vtkhdf", "compress": True}],
)
def test_a_full_disk_leaves_no_part_of_a_piece(
    layout: Any, supercell: Path, context: Context, tmp_path: Path
):
    out, soft_hard = tmp_path / "piece", resource.getrlimit(resource.RLIMIT_FSIZE)
    with open_frame([supercell]) as frame:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, soft_hard[1]))
        try:
            with pytest.raises(StagingError) as raised:
                KIND.make_piece(VtkOptions(("T",), **layout), frame, out, context, 1, 3)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, soft_hard)
    assert raised.value.errno in (errno.EFBIG, errno.ENOSPC)
    assert not out.exists()
