"""WRF-Fire's grid: what WRF pads its arrays with is no data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.frames.fire import without_padding
from burstlens.viz.frames.reader import netCDF4

NX, NY, CELLS = 7, 5, {"west_east": 3, "south_north": 2}
AIR = {"west_east": NX, "west_east_stag": NX + 1, "south_north": NY, "south_north_stag": NY + 1}
PADDED = {"west_east_subgrid": (NX + 1) * 3, "south_north_subgrid": (NY + 1) * 2}
CUT = {"west_east_subgrid": NX * 3, "south_north_subgrid": NY * 2}
DOMAIN = {"WEST-EAST_GRID_DIMENSION": NX + 1, "SOUTH-NORTH_GRID_DIMENSION": NY + 1}


@pytest.mark.parametrize(
    ("sizes", "attributes", "left"),
    [
        pytest.param(AIR | PADDED, DOMAIN, AIR | CUT, id="as WRF writes it"),
        pytest.param(AIR | PADDED, {}, AIR | CUT, id="without attributes"),
        pytest.param(PADDED, DOMAIN, CUT, id="fire alone"),
        pytest.param(AIR | CUT, DOMAIN, AIR | CUT, id="already without it"),
        pytest.param(PADDED, {}, PADDED, id="nothing known of the atmosphere"),
        pytest.param(
            AIR | {"west_east_subgrid": 24, "south_north_subgrid": 5}, DOMAIN,
            AIR | {"west_east_subgrid": 24, "south_north_subgrid": 5}, id="a part of the domain",
        ),
        pytest.param(AIR, DOMAIN, AIR, id="no fire"),
    ],
)  # fmt: skip
def test_padding_is_cut_where_both_dimensions_have_it(
    sizes: dict[str, int], attributes: dict[str, int], left: dict[str, int]
):
    assert without_padding(sizes, attributes) == left


@pytest.fixture
def heat() -> np.ndarray:
    """A field on fire cells, with zeros where WRF pads it."""
    padded = np.zeros((PADDED["south_north_subgrid"], PADDED["west_east_subgrid"]), np.float32)
    shape = CUT["south_north_subgrid"], CUT["west_east_subgrid"]
    padded[: shape[0], : shape[1]] = 100 + np.arange(shape[0] * shape[1]).reshape(shape)
    return padded


@pytest.fixture
def write_patch(tmp_path: Path, heat: np.ndarray) -> Callable[..., Path]:
    """Writes the file of one rank, whose patch begins and ends at these faces, from 1."""

    def write(rank: int, **patch: tuple[int, int]) -> Path:
        path = tmp_path / f"wrfout_d01_2021-12-30_18:00:00_{rank:04d}"
        with netCDF4.Dataset(path, "w") as data:
            data.setncatts(DOMAIN)
            window = []
            data.createDimension("Time", None)
            for base, axis in (("south_north", "SOUTH-NORTH"), ("west_east", "WEST-EAST")):
                first, last = patch[base]
                end = min(last, AIR[base])
                for which, stop in (("STAG", last), ("UNSTAG", end)):
                    data.setncattr(f"{axis}_PATCH_START_{which}", first)
                    data.setncattr(f"{axis}_PATCH_END_{which}", stop)
                part = slice((first - 1) * CELLS[base], last * CELLS[base])
                data.createDimension(base, end - first + 1)
                data.createDimension(f"{base}_stag", last - first + 1)
                data.createDimension(f"{base}_subgrid", part.stop - part.start)
                window.append(part)
            dimensions = ("Time", "south_north_subgrid", "west_east_subgrid")
            data.createVariable("FGRNHFX", "f4", dimensions)[0] = heat[tuple(window)]
        return path

    return write


def test_tiles_of_fire_are_joined_without_padding(write_patch: Callable[..., Path], heat: Any):
    tiles = [
        write_patch(2 * row + column, west_east=across, south_north=along)
        for row, along in enumerate([(1, 3), (4, NY + 1)])
        for column, across in enumerate([(1, 4), (5, NX + 1)])
    ]
    with open_frame(tiles) as frame:
        values, part = (
            frame.read("FGRNHFX"),
            frame.read("FGRNHFX", {"west_east_subgrid": slice(9, 21, 2)}),
        )
    assert np.array_equal(values, heat[: NY * 2, : NX * 3])
    assert np.array_equal(part, heat[: NY * 2, 9:21:2])


def test_a_frame_of_one_file_has_no_padding(write_patch: Callable[..., Path], heat: np.ndarray):
    path = write_patch(0, west_east=(1, NX + 1), south_north=(1, NY + 1))
    with open_frame([path]) as frame:
        assert frame.dimensions["west_east_subgrid"] == NX * 3
        assert frame.variable("FGRNHFX").shape == (NY * 2, NX * 3)
        assert np.array_equal(frame.read("FGRNHFX"), heat[: NY * 2, : NX * 3])
        assert frame.stored("FGRNHFX").values.min() == 100
