"""Tiles of io_form 102: joined, opened only where they are needed; missing ones are named."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from burstlens.core.errors import FrameError
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.frames import tile
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.kinds.map.kind import MapKind
from burstlens.viz.kinds.map.options import MapOptions
from burstlens.viz.kinds.netcdf.kind import NetcdfKind
from burstlens.viz.kinds.netcdf.options import NetcdfOptions
from burstlens.viz.product import Context

pytestmark = pytest.mark.integration


def opened(folder: Path) -> set[int]:
    """The ranks whose files this process has open, according to the kernel."""
    ranks = set()
    for descriptor in os.listdir("/proc/self/fd"):
        try:
            path = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
        except OSError:
            continue
        if path.parent == folder and "wrfout" in path.name:
            ranks.add(int(path.name.rpartition("_")[2]))
    return ranks


@pytest.fixture
def cut_tiles(tmp_path: Path) -> Callable[..., list[Path]]:
    """Cuts a WRF file of one record into the files that ``columns`` x ``rows`` ranks write.

    Patches as in WRF (frame/task_for_point.c): the larger ones at the ends, counted in cell faces;
    the last rank has one face more than cells.
    """

    def owner(point: int, size: int, ranks: int) -> int:
        least, more = divmod(size, ranks)
        first = more // 2 * (least + 1)
        second = first + (ranks - more) * least
        if point < first:
            return point // (least + 1)
        if point < second:
            return more // 2 + (point - first) // least
        return more // 2 + ranks - more + (point - second) // (least + 1)

    def spans(faces: int, ranks: int) -> list[tuple[int, int]]:
        owners = np.array([owner(point, faces, ranks) for point in range(faces)])
        return [tuple(np.flatnonzero(owners == rank)[[0, -1]] + [0, 1]) for rank in range(ranks)]

    def cut(source: Path, columns: int, rows: int, names: tuple[str, ...]) -> list[Path]:
        folder = tmp_path / f"ranks_{columns}x{rows}"
        folder.mkdir()
        paths = []
        with netCDF4.Dataset(os.fspath(source)) as whole:
            sizes = {name: len(dimension) for name, dimension in whole.dimensions.items()}
            across = spans(sizes["west_east_stag"], columns)
            along = spans(sizes["south_north_stag"], rows)
            for rank in range(columns * rows):
                parts, patch = {}, {}
                for base, axis, (first, stop) in (
                    ("west_east", "WEST-EAST", across[rank % columns]),
                    ("south_north", "SOUTH-NORTH", along[rank // columns]),
                ):
                    ends = {"STAG": stop, "UNSTAG": min(stop, sizes[base])}
                    parts |= {base: (first, ends["UNSTAG"]), f"{base}_stag": (first, stop)}
                    for which, end in ends.items():
                        patch[f"{axis}_PATCH_START_{which}"] = np.int32(first + 1)
                        patch[f"{axis}_PATCH_END_{which}"] = np.int32(end)
                paths.append(folder / f"{source.name}_{rank:04d}")
                with netCDF4.Dataset(os.fspath(paths[-1]), "w") as data:
                    data.setncatts({key: whole.getncattr(key) for key in whole.ncattrs()} | patch)
                    for name, size in sizes.items():
                        low, high = parts.get(name, (0, size))
                        unlimited = whole.dimensions[name].isunlimited()
                        data.createDimension(name, None if unlimited else high - low)
                    for name in names:
                        old = whole[name]
                        new = data.createVariable(name, old.dtype, old.dimensions)
                        new.setncatts({key: old.getncattr(key) for key in old.ncattrs()})
                        window = [slice(*parts.get(d, (None, None))) for d in old.dimensions]
                        new[:] = old[tuple(window)]
        return paths

    return cut


@pytest.fixture
def mosaic(supercell: Path, cut_tiles: Callable[..., list[Path]]) -> list[Path]:
    """The supercell's frame of 41 x 41 cells as 5 x 4 ranks would write it."""
    return cut_tiles(supercell, 5, 4, ("Times", "W", "U", "V", "T2", "ZNU"))


WINDOWS = [
    {},
    {"west_east": slice(0, 1), "south_north": slice(0, 1)},
    {"west_east": slice(7, 35, 3), "south_north": slice(2, 41, 5)},
    {"west_east": slice(8, 17), "west_east_stag": slice(8, 18), "south_north": slice(9, 11)},
    {"south_north": slice(39, 41), "south_north_stag": slice(39, 42), "bottom_top": slice(3, 4)},
    {"west_east": slice(40, 41), "west_east_stag": slice(41, 42)},
]


def test_any_window_of_many_ranks_is_that_of_one_file(supercell: Path, mosaic: list[Path]):
    with open_frame([supercell]) as whole, open_frame(mosaic) as joined:
        assert joined.dimensions == whole.dimensions
        for window in WINDOWS:
            for name in ("U", "V", "W", "T2", "ZNU"):
                values = joined.read(name, window)
                assert np.array_equal(values, whole.read(name, window)), (name, window)


def test_only_the_tiles_that_a_crop_needs_are_opened(mosaic: list[Path]):
    # Rank 0 is always opened, for names and attributes; a rank has 8 or 9 by 10 or 11 cells.
    for window, needed in (
        ({"west_east": slice(0, 4), "south_north": slice(0, 4)}, {0}),
        ({"west_east": slice(18, 22), "south_north": slice(12, 18)}, {0, 7}),
        ({"west_east": slice(36, 41), "south_north": slice(35, 41)}, {0, 19}),
        ({"south_north": slice(12, 18)}, {0, 5, 6, 7, 8, 9}),
    ):
        with open_frame(mosaic) as frame:
            assert opened(mosaic[0].parent) == {0}
            frame.read("W", window)
            assert opened(mosaic[0].parent) == needed
        assert opened(mosaic[0].parent) == set()


@pytest.mark.slow
def test_the_ranks_that_a_crop_needs_are_found_among_many(
    supercell: Path, cut_tiles: Callable[..., list[Path]]
):
    for columns, rows in ((10, 10), (12, 3), (3, 11)):
        paths = cut_tiles(supercell, columns, rows, ("Times", "T2"))
        for first in range(0, 38, 9):
            window = {"west_east": slice(first, first + 2), "south_north": slice(first, first + 2)}
            with open_frame(paths) as frame, open_frame([supercell]) as whole:
                assert np.array_equal(frame.read("T2", window), whole.read("T2", window))
                # Two by two cells lie in at most four tiles; the first tile is always opened.
                assert len(opened(paths[0].parent)) <= 1 + 4


def test_ranks_that_are_laid_out_in_another_way_are_found_as_well(
    supercell: Path, mosaic: list[Path]
):
    aside = mosaic[0].with_name("aside")
    for one, other in ((1, 14), (6, 9), (18, 3)):
        mosaic[one].rename(aside)
        mosaic[other].rename(mosaic[one])
        aside.rename(mosaic[other])
    with open_frame([supercell]) as whole, open_frame(mosaic) as frame:
        for window in WINDOWS:
            assert np.array_equal(frame.read("W", window), whole.read("W", window))


def test_more_ranks_than_may_be_open_at_once_are_joined(
    supercell: Path, cut_tiles: Callable[..., list[Path]], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(tile, "MOST_OPEN", 3)
    paths = cut_tiles(supercell, 4, 3, ("Times", "T2", "W"))
    with open_frame([supercell]) as whole, open_frame(paths) as frame:
        for name in ("W", "T2", "W"):
            assert np.array_equal(frame.read(name), whole.read(name))
            assert len(opened(paths[0].parent)) <= 3


def test_a_missing_tile_is_named_and_matters_only_where_it_is_wanted(
    supercell: Path, mosaic: list[Path], context: Context
):
    inside = {"west_east": slice(9, 12), "south_north": slice(22, 29)}
    crop = Crop(index={"west_east": (9, 12), "south_north": (22, 29)})
    for lost in (0, 7, 19):
        left = [path for rank, path in enumerate(mosaic) if rank != lost]
        with open_frame(left) as frame, open_frame([supercell]) as whole:
            assert frame.dimensions == whole.dimensions
            assert np.array_equal(frame.read("W", inside), whole.read("W", inside))
            absent = f"rank {lost} missing" if lost < 19 else "ranks after 18 missing"
            with pytest.raises(FrameError, match=f"the tiles do not cover W: {absent}"):
                frame.read("W")
            made = NetcdfKind().make(
                NetcdfOptions(("W",), crop=crop), frame, context.files / "w.nc", context
            )
            assert made.extension == "nc"
            with pytest.raises(FrameError, match="the tiles do not cover T2"):
                MapKind().make(MapOptions("T2"), frame, context.files / "t2.png", context)
            assert not (context.files / "t2.png").exists()


def test_a_damaged_tile_is_named_with_what_is_wrong(supercell: Path, mosaic: list[Path]):
    mosaic[3].write_bytes(b"")
    os.truncate(mosaic[8], mosaic[8].stat().st_size // 2)
    mosaic[12].unlink()
    with open_frame(mosaic) as frame, pytest.raises(FrameError) as wrong:
        frame.read("T2")
    text = str(wrong.value)
    assert f"rank 3 is damaged ({mosaic[3].name} is empty)" in text
    assert f"rank 8 is damaged ({mosaic[8].name} cannot be read" in text
    assert f"rank 12 is damaged ({mosaic[12].name} cannot be opened" in text
    window = {"south_north": slice(35, 41)}
    with open_frame(mosaic) as frame, open_frame([supercell]) as whole:
        assert np.array_equal(frame.read("T2", window), whole.read("T2", window))


def test_a_tile_of_another_time_is_damaged(mosaic: list[Path]):
    with netCDF4.Dataset(os.fspath(mosaic[6]), "a") as data:
        data["Times"][0] = netCDF4.stringtochar(np.array("0001-01-01_00:07:00", "S19"))
    with (
        open_frame(mosaic, time="00010101T000800") as frame,
        pytest.raises(FrameError, match=r"rank 6 is damaged \(.* where 0001-01-01 00:08:00 UTC"),
    ):
        frame.read("T2")


def test_a_tile_that_lacks_the_variable_is_named(mosaic: list[Path]):
    with netCDF4.Dataset(os.fspath(mosaic[4]), "a") as data:
        data.renameVariable("T2", "T3")
    with open_frame(mosaic) as frame, pytest.raises(FrameError, match=f"{mosaic[4].name}: .*T2"):
        frame.read("T2")


def test_files_that_are_not_tiles_are_an_error(cf_volume: Callable[..., Path]):
    with (
        pytest.raises(FrameError, match=r"a\.nc does not say which part of the domain it holds"),
        open_frame([cf_volume("a.nc"), cf_volume("b.nc")]),
    ):
        pass
