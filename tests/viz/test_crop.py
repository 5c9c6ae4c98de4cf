"""Which slices of a frame a crop selects."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import pytest
from pydantic import TypeAdapter

from burstlens.core.errors import FrameError
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.geometry.crop import Crop, resolve
from burstlens.viz.geometry.locate import spacing_km


def slices(path: Path, variable: str, record: int = 0, **crop: Any) -> dict[str, tuple[int, ...]]:
    wanted = TypeAdapter(Crop).validate_python(crop)
    with open_frame([path], record) as frame:
        found = resolve(wanted, frame, variable)
    return {name: (s.start, s.stop, s.step) for name, s in found.items()}


def test_no_crop_keeps_everything(supercell: Path):
    kept = slices(supercell, "U")
    assert kept["west_east"] == (0, 41, 1)
    assert kept["west_east_stag"] == (0, 42, 1)
    assert kept["bottom_top"] == (0, 40, 1)


def test_an_index_range_ends_before_its_second_number(supercell: Path):
    kept = slices(supercell, "T", index={"west_east": [10, 20], "bottom_top": 5})
    assert kept["west_east"] == (10, 20, 1)
    assert kept["bottom_top"] == (5, 6, 1)


def test_cells_come_with_all_their_faces(supercell: Path):
    kept = slices(supercell, "U", index={"west_east": [10, 20]})
    assert kept["west_east_stag"] == (10, 21, 1)


@pytest.mark.parametrize(
    ("wanted", "kept"), [(-1, (40, 41, 1)), ([-5, 41], (36, 41, 1)), ([3, -3], (3, 38, 1))]
)
def test_negative_indices_count_from_the_end(supercell: Path, wanted: Any, kept: Any):
    assert slices(supercell, "T", index={"south_north": wanted})["south_north"] == kept


def test_a_stride_of_one_dimension_leaves_the_others(supercell: Path):
    kept = slices(supercell, "T", stride={"west_east": 4})
    assert kept["west_east"] == (0, 41, 4)
    assert kept["south_north"] == (0, 41, 1)
    assert slices(supercell, "T", stride=2)["bottom_top"] == (0, 40, 2)


def test_metres_keep_the_points_between_both_ends(supercell: Path):
    kept = slices(supercell, "T", range={"x": [21e3, 40e3], "y": [0, 5000]})
    assert kept["west_east"] == (10, 20, 1)
    assert kept["south_north"] == (0, 3, 1)


def test_degrees_keep_the_smallest_box_with_every_point_inside(katrina: Path):
    kept = slices(katrina, "T2", 1, range={"lon": [-91, -90], "lat": [24, 25]})
    with open_frame([katrina], 1) as frame:
        lon, lat = frame.read("XLONG"), frame.read("XLAT")
    inside = (lon >= -91) & (lon <= -90) & (lat >= 24) & (lat <= 25)
    rows, columns = np.nonzero(inside)
    assert kept["south_north"] == (rows.min(), rows.max() + 1, 1)
    assert kept["west_east"] == (columns.min(), columns.max() + 1, 1)


def test_longitudes_may_be_given_east_of_greenwich_all_around(katrina: Path):
    west = slices(katrina, "T2", range={"lon": [-91, -90]})
    assert west == slices(katrina, "T2", range={"lon": [269, 270]})


def test_heights_keep_the_levels_that_reach_into_the_range(supercell: Path):
    kept = slices(supercell, "T", range={"z": [1000, 3000]})["bottom_top"]
    with open_frame([supercell]) as frame:
        faces = (frame.read("PH") + frame.read("PHB")) / 9.81
    z = (faces[1:] + faces[:-1]) / 2
    levels = [k for k in range(40) if z[k].max() >= 1000 and z[k].min() <= 3000]
    assert kept == (levels[0], levels[-1] + 1, 1)
    assert 0 < kept[0] < kept[1] < 40


def test_levels_are_numbers(supercell: Path):
    assert slices(supercell, "T", range={"level": [3, 7]})["bottom_top"] == (3, 8, 1)


def test_coordinates_of_other_models_go_by_their_own_name(cf_volume: Callable[..., Path]):
    path = cf_volume(depth=True)
    kept = slices(path, "vx", range={"x": [100, 200], "z": [25, 60]})
    assert kept == {"z": (1, 3, 1), "y": (0, 6, 1), "x": (2, 5, 1)}


def test_following_a_maximum_centres_on_it(supercell: Path):
    kept = slices(supercell, "T", follow="max:W", half_width=6)
    with open_frame([supercell]) as frame:
        w = frame.read("W")
    _, y, x = np.unravel_index(w.argmax(), w.shape)
    assert kept["west_east"] == (x - 6, x + 7, 1)
    assert kept["south_north"] == (y - 6, y + 7, 1)


def test_a_half_width_in_km_is_turned_into_points(supercell: Path):
    kept = slices(supercell, "T", follow="max:W", half_width_km=12)["west_east"]
    assert kept[1] - kept[0] == 13


@pytest.mark.parametrize(
    "longitudes",
    [
        (np.arange(170, 191) + 180) % 360 - 180.0,
        np.arange(350, 371) % 360.0,
        np.r_[np.arange(0.5, 20), np.arange(340.5, 360)],
        np.r_[np.arange(0.0, 11), np.arange(100.0, 111)],
        np.r_[np.arange(170.0, 180), np.arange(-60.0, -50)],
    ],
    ids=["across 180", "across 0", "glued", "two pieces", "two pieces across 180"],
)
def test_neighbours_are_as_far_apart_across_a_seam_or_a_hole(longitudes: Any, tmp_path: Path):
    path = tmp_path / "a.nc"
    with netCDF4.Dataset(path, "w") as data:
        for name, points in (("lat", np.arange(-10.0, 11)), ("lon", longitudes)):
            data.createDimension(name, points.size)
            data.createVariable(name, "f8", (name,))[:] = points
            data[name].units = f"degrees_{'north' if name == 'lat' else 'east'}"
        data.createVariable("tas", "f8", ("lat", "lon"))[:] = 1.0
    with open_frame([path]) as frame:
        assert spacing_km(frame, "tas", "x") == pytest.approx(111.18, abs=0.01)
        assert spacing_km(frame, "tas", "y") == pytest.approx(111.18, abs=0.01)


def test_a_followed_window_is_moved_into_the_domain_and_keeps_its_size(katrina: Path):
    kept = slices(katrina, "T2", 3, follow="min:PSFC", half_width_km=100)
    with open_frame([katrina], 3) as frame:
        y, x = np.unravel_index(frame.read("PSFC").argmin(), (48, 48))
    assert (y, x) == (47, 46)
    assert kept["south_north"] == (27, 48, 1)
    assert kept["west_east"] == (27, 48, 1)


def test_following_a_field_of_nan_is_an_error(
    supercell: Path, tmp_path: Path, copy_with: Callable[..., None]
):
    path = tmp_path / "nan.nc"
    copy_with(supercell, path, ["Times", "W", "T2"], T2=np.full((1, 41, 41), np.nan, "f4"))
    with pytest.raises(FrameError, match="follow: all values of T2 are NaN"):
        slices(path, "W", follow="min:T2", half_width=3)


@pytest.mark.parametrize(
    ("crop", "message"),
    [
        ({"index": {"west_eats": 3}}, "no dimension 'west_eats'; did you mean west_east"),
        ({"index": {"bottom_top": 40}}, "index bottom_top = 40 is outside of 0 to 39"),
        ({"range": {"heihgt": [0, 1]}}, "T has no axis 'heihgt'"),
        ({"range": {"lon": [0, 1]}}, "no longitudes and latitudes; use x and y"),
        ({"range": {"z": [50e3, 60e3]}}, r"z 50000 to 60000 is outside of the domain, which has z"),
        ({"range": {"level": [40, 50]}}, "level 0 to 39"),
        ({"follow": "max:WW", "half_width": 3}, "no variable 'WW'"),
    ],
)
def test_an_impossible_crop_is_an_error(supercell: Path, crop: dict[str, Any], message: str):
    with pytest.raises(FrameError, match=message):
        slices(supercell, "T", **crop)


@pytest.mark.parametrize(
    ("crop", "message"),
    [
        ({"stride": 0}, "stride must be 1 or more"),
        ({"range": {"x": [5, 3]}}, "range of x: 5 is not below 3"),
        ({"half_width": 5}, "half_width needs follow"),
        ({"follow": "PSFC", "half_width": 5}, "follow is 'min:NAME', 'max:NAME' or"),
        ({"follow": "min:PSFC"}, "either half_width_km or half_width"),
        ({"follow": "min:PSFC", "half_width": 5, "half_width_km": 5}, "either half_width_km"),
    ],
)
def test_options_that_do_not_go_together_are_refused(crop: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=message):
        TypeAdapter(Crop).validate_python(crop)
