"""CF files with a grid mapping are drawn on their own plane."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
import pytest

from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.geometry import grid
from burstlens.viz.geometry.place import End
from burstlens.viz.geometry.projection import cf_projection
from burstlens.viz.geometry.transect import transect
from burstlens.viz.kinds.map.kind import MapKind
from burstlens.viz.kinds.map.options import MapOptions
from burstlens.viz.kinds.netcdf.kind import NetcdfKind
from burstlens.viz.kinds.netcdf.options import NetcdfOptions
from burstlens.viz.product import Context

pytestmark = pytest.mark.slow

LAMBERT = {
    "grid_mapping_name": "lambert_conformal_conic", "standard_parallel": [33.0, 45.0],
    "longitude_of_central_meridian": -97.0, "latitude_of_projection_origin": 39.0,
    "earth_radius": 6371200.0,
}  # fmt: skip
POLAR = {
    "grid_mapping_name": "polar_stereographic", "latitude_of_projection_origin": -90.0,
    "straight_vertical_longitude_from_pole": 20.0, "standard_parallel": -71.0,
    "semi_major_axis": 6378137.0, "inverse_flattening": 298.257223563,
}  # fmt: skip
MERCATOR = {
    "grid_mapping_name": "mercator", "standard_parallel": 10.0, "earth_radius": 6371000.0,
    "longitude_of_projection_origin": 179.0, "false_easting": 0.0, "false_northing": 0.0,
}  # fmt: skip
UTM_33 = {
    "grid_mapping_name": "transverse_mercator", "scale_factor_at_central_meridian": 0.9996,
    "longitude_of_central_meridian": 15.0, "latitude_of_projection_origin": 0.0,
    "false_easting": 500000.0, "false_northing": 0.0, "semi_major_axis": 6378137.0,
    "inverse_flattening": 298.257223563,
}  # fmt: skip
ROTATED = {
    "grid_mapping_name": "rotated_latitude_longitude", "grid_north_pole_latitude": 39.25,
    "grid_north_pole_longitude": -162.0, "earth_radius": 6371229.0,
}  # fmt: skip


@pytest.fixture
def mapped(tmp_path: Path) -> Callable[..., Path]:
    """Writes a CF file of one field on the plane of a grid mapping, with or without degrees."""

    def write(
        mapping: dict[str, Any], x: Any, y: Any, *, units: str = "m", form: str = "crs",
        lonlat: tuple[Any, Any] | None = None,
    ) -> Path:  # fmt: skip
        path = tmp_path / "mapped.nc"
        rotated = units == "degrees"
        with netCDF4.Dataset(os.fspath(path), "w") as data:
            data.createVariable("crs", "i4", ()).setncatts(mapping)
            for name, values in (("rlat" if rotated else "y", y), ("rlon" if rotated else "x", x)):
                data.createDimension(name, len(values))
                variable = data.createVariable(name, "f8", (name,))
                axis = {"rlat": "grid_latitude", "rlon": "grid_longitude"}
                standard = axis.get(name, f"projection_{name}_coordinate")
                variable.setncatts({"units": units, "standard_name": standard})
                variable[:] = values
            dimensions = ("rlat", "rlon") if rotated else ("y", "x")
            field = data.createVariable("tas", "f4", dimensions)
            field.setncatts({"units": "K", "grid_mapping": form})
            field[:] = 280 + np.arange(len(y))[:, None] + 0 * np.arange(len(x))
            if lonlat is not None:
                field.coordinates = "lon lat"
                for name, values in zip(("lon", "lat"), lonlat, strict=True):
                    variable = data.createVariable(name, "f8", dimensions)
                    variable.units = {"lon": "degrees_east", "lat": "degrees_north"}[name]
                    variable[:] = values
        return path

    return write


# Published or hand-worked places: x, y in metres (degrees for the rotated pole), then lon, lat.
PLACES = {
    # The origin of a cone is at (0, 0); 45 N on its meridian by Snyder 1987, eq. 15-1 to 15-3.
    "lambert": (LAMBERT, (0.0, 0.0), (-97.0, 39.0)),
    # As NARCCAP spells it.
    "capitals": (
        LAMBERT | {"grid_mapping_name": "lambert_Conformal_conic"}, (0.0, 0.0), (-97.0, 39.0),
    ),
    # The pole, and a point along the straight meridian by Snyder 1987, eq. 21-33 and 21-34.
    "polar": (POLAR, (0.0, 0.0), (0.0, -90.0)),
    # 2 degrees east of the meridian across 180: R cos 10 rad(2).
    "mercator": (MERCATOR, (6371000 * np.cos(np.radians(10)) * np.radians(2), 0.0), (-179.0, 0.0)),
    # 15 E on the equator, and the ellipsoid's scale along the meridian.
    "utm": (UTM_33, (500000.0, 0.0), (15.0, 0.0)),
}  # fmt: skip


@pytest.mark.parametrize("name", PLACES)
def test_a_known_place_lies_where_it_should(mapped: Any, name: str):
    mapping, (x, y), (lon, lat) = PLACES[name]
    steps = np.arange(-3, 4) * 10000.0
    with open_frame([mapped(mapping, x + steps, y + steps)]) as frame:
        plane = grid.map_plane(frame, "tas", {})
    assert plane.projection is not None
    assert plane.units == "m"
    found_x, found_y = plane.projection.forward(lon, lat)
    assert (found_x, found_y) == pytest.approx((x, y), abs=0.5)
    assert plane.x[3] == pytest.approx(x)


def test_a_rotated_pole_turns_as_its_formulas_say(mapped: Any):
    """The usual spherical rotation, written out (COSMO documentation, part I, 3.3)."""
    rlon, rlat = np.linspace(-20, 15, 15), np.linspace(-22, 20, 13)
    pole_lat, pole_lon = np.radians(39.25), np.radians(-162.0)
    lam, phi = np.meshgrid(np.radians(rlon), np.radians(rlat))
    lat = np.arcsin(np.cos(phi) * np.cos(lam) * np.cos(pole_lat) + np.sin(phi) * np.sin(pole_lat))
    a = np.sin(pole_lon) * (-np.sin(pole_lat) * np.cos(lam) * np.cos(phi)
                            + np.cos(pole_lat) * np.sin(phi))  # fmt: skip
    a = a - np.cos(pole_lon) * np.sin(lam) * np.cos(phi)
    b = np.cos(pole_lon) * (-np.sin(pole_lat) * np.cos(lam) * np.cos(phi)
                            + np.cos(pole_lat) * np.sin(phi))  # fmt: skip
    b = b + np.sin(pole_lon) * np.sin(lam) * np.cos(phi)
    lon = np.degrees(np.arctan2(a, b))
    path = mapped(ROTATED, rlon, rlat, units="degrees", lonlat=(lon, np.degrees(lat)))
    with open_frame([path]) as frame:
        plane = grid.map_plane(frame, "tas", {})
    assert plane.projection is not None
    found_lon, found_lat = plane.projection.inverse(*np.meshgrid(plane.x, plane.y))
    assert np.abs((found_lon - lon + 180) % 360 - 180).max() < 1e-6
    assert np.abs(found_lat - np.degrees(lat)).max() < 1e-6


def test_kilometres_and_the_long_form_are_understood(mapped: Any):
    path = mapped(LAMBERT, np.arange(5.0), np.arange(4.0), units="km", form="crs: x y")
    with open_frame([path]) as frame:
        plane = grid.map_plane(frame, "tas", {"x": slice(1, 3)})
    assert plane.x.tolist() == [1000, 2000]
    assert plane.projection is not None


def test_degrees_that_contradict_the_mapping_win(mapped: Any):
    lon, lat = np.meshgrid(np.linspace(5, 6, 6), np.linspace(50, 51, 5))
    path = mapped(LAMBERT, np.arange(6.0), np.arange(5.0), lonlat=(lon, lat))
    with open_frame([path]) as frame:
        plane = grid.map_plane(frame, "tas", {})
    assert plane.geographic
    assert plane.x.max() == 6


@pytest.mark.parametrize(
    "broken",
    [
        {}, {"grid_mapping_name": "lambert"}, {"grid_mapping_name": "latitude_longitude"},
        {"grid_mapping_name": "rotated_latitude_longitude"},
        {"grid_mapping_name": "rotated_latitude_longitude", "grid_north_pole_latitude": np.nan,
         "grid_north_pole_longitude": 0.0},
        {"grid_mapping_name": "lambert_conformal_conic", "standard_parallel": "north"},
    ],
)  # fmt: skip
def test_an_unusable_mapping_leaves_the_plane_as_it_is(mapped: Any, broken: dict[str, Any]):
    assert cf_projection(broken) is None
    with open_frame([mapped(broken, np.arange(6.0), np.arange(5.0))]) as frame:
        plane = grid.map_plane(frame, "tas", {})
    assert plane.projection is None
    assert plane.units == "m"


def test_pyproj_reads_the_mapping_of_a_series_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    read = pyproj.CRS.from_cf
    monkeypatch.setattr(pyproj.CRS, "from_cf", lambda found: asked.append(found) or read(found))
    for _ in range(3):  # each frame's file gives arrays of its own
        parallels = np.array([31.5, 44.25])
        found = cf_projection({**LAMBERT, "standard_parallel": parallels, "_FillValue": np.nan})
        assert found is not None
        assert "+lat_1=31.5 +lat_2=44.25" in found.definition
    assert len(asked) == 1


@pytest.mark.parametrize("mapping", [LAMBERT, POLAR, MERCATOR, UTM_33])
def test_maps_sections_and_crops_know_the_plane(
    mapped: Any, context: Context, mapping: dict[str, Any], tmp_path: Path
):
    steps = np.arange(-20, 21) * 25000.0
    origin = 500000.0 if mapping is UTM_33 else 0.0
    path = mapped(mapping, origin + steps, steps + (5e6 if mapping is UTM_33 else 0.0))
    out = tmp_path / "out"
    with open_frame([path]) as frame:
        made = MapKind().make(MapOptions("tas", width_px=400), frame, out, context)
        assert made.facts["projection"].startswith("+proj=")
        plane = grid.map_plane(frame, "tas", {})
        assert plane.projection is not None
        lon, lat = (float(v) for v in plane.projection.inverse(plane.x[5], plane.y[7]))
        line = transect(frame, "tas", End(lat=lat, lon=lon), End(i=30, j=30))
        assert (line.rows[0] + line.window["y"].start, line.columns[0]) == pytest.approx((7, 0))
        NetcdfKind().make(NetcdfOptions(("tas",)), frame, out, context)
    with netCDF4.Dataset(os.fspath(out)) as data:
        assert data["tas"].grid_mapping == "crs"
        assert data["crs"].grid_mapping_name == mapping["grid_mapping_name"]
