"""Grids whose files leave out the positions of points on land."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.geometry import grid
from burstlens.viz.geometry.coordinate_gaps import without_gaps
from burstlens.viz.geometry.position import distance_km

ROW, COLUMN = np.mgrid[0:12, 0:16].astype(float)
LON, LAT = 170 + COLUMN + 0.2 * ROW, 40 + ROW - 0.2 * COLUMN
"""A turned grid across 180 degrees."""


@pytest.mark.parametrize("unset", [np.nan, 0.0, -1.0])
def test_points_within_a_gap_lie_between_its_ends(unset: float):
    lon, lat = LON.copy(), LAT.copy()
    lon[3:6, 4:9] = lat[3:6, 4:9] = unset
    found = without_gaps(lon, lat)
    assert found is not None
    gap = (slice(3, 6), slice(4, 9))
    away = distance_km("degrees", found[0][gap], found[1][gap], 0, 0) - distance_km(
        "degrees", LON[gap], LAT[gap], 0, 0
    )
    assert np.abs(away).max() < 60  # half a cell
    outside = np.ones(LON.shape, bool)
    outside[gap] = False
    assert np.array_equal(found[0][outside], LON[outside])


def test_rows_and_corners_without_positions_continue_the_grid():
    lon, lat = LON.copy(), LAT.copy()
    lon[10:] = lat[10:] = np.nan
    lon[0, :5] = lat[0, :5] = np.nan
    found = without_gaps(lon, lat)
    assert found is not None
    for filled, whole in zip(found, (LON, LAT), strict=True):
        assert filled[10:] == pytest.approx(whole[10:], abs=0.05)
        assert filled[0, :5] == pytest.approx(whole[0, :5], abs=0.02)


def test_a_whole_grid_stays_and_one_with_hardly_any_positions_has_none():
    assert without_gaps(LON, LAT) == (pytest.approx(LON), pytest.approx(LAT))
    few = np.where(COLUMN + ROW == 0, LON, np.nan)
    assert without_gaps(few, few) is None
    assert without_gaps(np.array([1.0, np.nan]), np.array([1.0, 2.0])) is None


def test_sea_ice_of_cice_lies_on_the_earth_although_land_has_no_positions(tmp_path: Path):
    path = tmp_path / "iceh.nc"
    with netCDF4.Dataset(os.fspath(path), "w") as data:
        data.createDimension("nj", 12)
        data.createDimension("ni", 16)
        for name, values, units in (("TLON", LON, "degrees_east"), ("TLAT", LAT, "degrees_north")):
            made = data.createVariable(name, "f4", ("nj", "ni"), fill_value=1e30)
            made.units = units
            made[:] = np.ma.masked_where((COLUMN < 4) & (ROW < 3), values)
        made = data.createVariable("aice", "f4", ("nj", "ni"), fill_value=1e30)
        made.units, made.coordinates = "1", "TLON TLAT time"
        made[:] = np.ma.masked_where((COLUMN < 4) & (ROW < 3), COLUMN / 16)
    with open_frame([path]) as frame:
        plane = grid.map_plane(frame, "aice", {})
    assert plane.geographic
    assert np.isfinite(plane.x).all()
    assert plane.x[11, 15] == pytest.approx(LON[11, 15])
