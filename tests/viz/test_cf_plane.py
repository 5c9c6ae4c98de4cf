"""Grids on the plane of a CF grid mapping: units of x and y, turns of a rotated pole."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
import pytest

from burstlens.core.errors import FrameError
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.geometry import grid

POLAR = {
    "grid_mapping_name": "polar_stereographic", "latitude_of_projection_origin": 90.0,
    "straight_vertical_longitude_from_pole": -45.0, "standard_parallel": 70.0,
    "semi_major_axis": 6378273.0, "semi_minor_axis": 6356889.449,
}  # fmt: skip
SATELLITE = {
    "grid_mapping_name": "geostationary", "perspective_point_height": 35786023.0,
    "longitude_of_projection_origin": -75.0, "latitude_of_projection_origin": 0.0,
    "semi_major_axis": 6378137.0, "semi_minor_axis": 6356752.31414, "sweep_angle_axis": "x",
}  # fmt: skip
RADIUS = 6371229.0
ROTATED = {
    "grid_mapping_name": "rotated_latitude_longitude", "grid_north_pole_latitude": 37.5,
    "grid_north_pole_longitude": 177.5, "earth_radius": RADIUS,
}  # fmt: skip


@pytest.fixture
def on_mapping(tmp_path: Path) -> Callable[..., Path]:
    """Writes a field on x and y of a grid mapping, which may have 2-D degrees."""

    def write(
        mapping: dict[str, Any], x: Any, y: Any, units: str | None = "m", form: str = "crs",
        lonlat: tuple[Any, Any] | None = None,
    ) -> Path:  # fmt: skip
        path = tmp_path / "mapped.nc"
        with netCDF4.Dataset(os.fspath(path), "w") as data:
            data.createVariable("crs", "i4", ()).setncatts(mapping)
            data.createVariable("plain", "i4", ()).grid_mapping_name = "latitude_longitude"
            for name, values in (("y", y), ("x", x)):
                data.createDimension(name, len(values))
                variable = data.createVariable(name, "f8", (name,))
                variable.axis = name.upper()
                if units is not None:
                    variable.units = units
                variable[:] = values
            field = data.createVariable("tas", "f4", ("y", "x"))
            field.grid_mapping = form
            field[:] = 280 + np.arange(len(y))[:, None] + 0 * np.arange(len(x))
            if lonlat is not None:
                field.coordinates = "lon lat"
                for name, values in zip(("lon", "lat"), lonlat, strict=True):
                    variable = data.createVariable(name, "f8", ("y", "x"))
                    variable.units = {"lon": "degrees_east", "lat": "degrees_north"}[name]
                    variable[:] = values
        return path

    return write


def plane_of(path: Path, window: dict[str, slice] | None = None) -> grid.Plane:
    with open_frame([path]) as frame:
        return grid.map_plane(frame, "tas", window or {})


def degrees_of(plane: grid.Plane) -> tuple[np.ndarray, np.ndarray]:
    assert plane.projection is not None
    lon, lat = plane.projection.inverse(*np.meshgrid(plane.x, plane.y))
    return (lon + 180) % 360 - 180, lat


def unrotated(x: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Longitudes and latitudes by spherical trigonometry."""
    x, y = np.meshgrid(np.radians(x), np.radians(y))
    pole = np.radians(ROTATED["grid_north_pole_latitude"])
    lat = np.arcsin(np.sin(pole) * np.sin(y) + np.cos(pole) * np.cos(y) * np.cos(x))
    east = np.cos(y) * np.sin(x)
    north = np.sin(pole) * np.cos(y) * np.cos(x) - np.cos(pole) * np.sin(y)
    lon = ROTATED["grid_north_pole_longitude"] + 180 + np.degrees(np.arctan2(east, north))
    return (lon + 180) % 360 - 180, np.degrees(lat)


@pytest.mark.parametrize(
    ("units", "metres"),
    [
        ("m", 1), ("km", 1e3), ("kilometers", 1e3), ("Kilometre", 1e3), ("hm", 100), ("Mm", 1e6),
        ("100 km", 1e5), ("1e3 m", 1e3), ("feet", 0.3048), ("US_survey_foot", 1200 / 3937),
        ("nautical_mile", 1852), ("miles", 1609.344), (None, 1),
    ],
)  # fmt: skip
def test_a_length_in_any_unit_gives_the_same_plane(
    on_mapping: Any, units: str | None, metres: float
):
    x, y = np.linspace(-3e6, 2e6, 5), np.linspace(2.5e6, -3e6, 4)
    plane = plane_of(on_mapping(POLAR, x / metres, y / metres, units))
    assert plane.units == "m"
    assert plane.x == pytest.approx(x)
    assert plane.y == pytest.approx(y)


@pytest.mark.parametrize(
    ("units", "metres", "origin"), [("km", 1e3, 500), ("km", 1e3, 500_000), ("m", 1, 500_000),
                                    ("hm", 100, 5000), ("Mm", 1e6, 0.5)]
)  # fmt: skip
def test_a_false_origin_is_in_the_coordinates_units_or_in_metres(
    on_mapping: Any, units: str, metres: float, origin: float
):
    utm = {
        "grid_mapping_name": "transverse_mercator", "scale_factor_at_central_meridian": 0.9996,
        "longitude_of_central_meridian": 15.0, "latitude_of_projection_origin": 0.0,
        "false_easting": origin, "false_northing": 0.0, "semi_major_axis": 6378137.0,
        "inverse_flattening": 298.257223563,
    }  # fmt: skip
    x, y = (np.array(at) / metres for at in ([500_000.0, 510_000.0], [0.0, 10_000.0]))
    lon, lat = degrees_of(plane_of(on_mapping(utm, x, y, units)))
    assert (lon[0, 0], lat[0, 0]) == pytest.approx((15.0, 0.0), abs=1e-9)


@pytest.mark.parametrize("units", ["pixel", "furlong", "1", "degrees", "rad"])
def test_unknown_units_are_refused_by_name(on_mapping: Any, units: str):
    with pytest.raises(FrameError, match=f"x is in '{units}'.*polar_stereographic"):
        plane_of(on_mapping(POLAR, np.arange(5.0), np.arange(4.0), units))


def test_unknown_units_do_not_matter_beside_degrees(on_mapping: Any):
    lonlat = np.meshgrid(np.linspace(5, 6, 5), np.linspace(50, 51, 4))
    plane = plane_of(on_mapping(POLAR, np.arange(5.0), np.arange(4.0), "1", lonlat=lonlat))
    assert plane.geographic


@pytest.mark.parametrize(
    ("units", "one"), [("rad", 1.0), ("radian", 1.0), ("microradian", 1e-6), ("mrad", 1e-3),
                       ("degrees", np.pi / 180)]
)  # fmt: skip
def test_a_satellite_s_angles_are_of_its_height(on_mapping: Any, units: str, one: float):
    """The example of GOES-R's user guide (PUG vol. 3, 5.1.2.8): 33.846162 N, 84.690932 W."""
    x, y = np.linspace(-0.024052, 0.024052, 3) / one, np.linspace(0.095340, 0.09, 3) / one
    lon, lat = degrees_of(plane_of(on_mapping(SATELLITE, x, y, units)))
    assert (lon[0, 0], lat[0, 0]) == pytest.approx((-84.690932, 33.846162), abs=1e-4)


@pytest.mark.parametrize(
    "x", [np.linspace(355, 363, 9), np.linspace(-5, 3, 9), np.linspace(175, 186, 12),
          np.r_[np.arange(355.0, 360), np.arange(0.0, 4)], np.linspace(3, -5, 9)]
)  # fmt: skip
@pytest.mark.parametrize("units", ["degrees", "rad", None])
def test_rotated_longitudes_may_lie_on_any_turn(on_mapping: Any, x: Any, units: str | None):
    y = np.linspace(-4, 4, 5)
    turned = np.radians if units == "rad" else np.array
    plane = plane_of(on_mapping(ROTATED, turned(x), turned(y), units))
    assert np.abs(np.diff(plane.x)).max() < 1.1 * RADIUS * np.pi / 180
    lon, lat = unrotated(x, y)
    for found, true in zip(degrees_of(plane), (lon, lat), strict=True):
        assert np.abs(found - true).max() < 1e-6
    assert plane.projection is not None
    there_x, there_y = plane.projection.forward(lon, lat)
    assert np.abs(there_x - plane.x).max() < 0.1
    assert np.abs(there_y - plane.y[:, None]).max() < 0.1


def test_rotated_longitudes_beyond_180_agree_with_their_degrees(on_mapping: Any):
    x, y = np.linspace(355, 363, 9), np.linspace(-4, 4, 5)
    plane = plane_of(on_mapping(ROTATED, x, y, "degrees", lonlat=unrotated(x, y)))
    assert not plane.geographic
    assert plane.x.ndim == 1


def test_a_part_lies_on_the_plane_of_the_whole(on_mapping: Any):
    path = on_mapping(ROTATED, np.linspace(355, 363, 9), np.linspace(-4, 4, 5), "degrees")
    whole, part = plane_of(path), plane_of(path, {"x": slice(6, 9)})
    assert part.projection == whole.projection
    assert part.x.tolist() == whole.x[6:9].tolist()


@pytest.mark.parametrize("form", ["crs", "crs: x y", "plain: lat lon crs: x y"])
def test_the_mapping_is_found_in_any_form(on_mapping: Any, form: str):
    plane = plane_of(on_mapping(POLAR, np.arange(5) * 1e5, np.arange(4) * 1e5, form=form))
    assert plane.projection is not None


def test_degrees_on_the_axes_win_over_a_mapping(on_mapping: Any):
    path = on_mapping(POLAR, np.arange(5.0), np.arange(50.0, 54))
    with netCDF4.Dataset(os.fspath(path), "a") as data:
        data["x"].units, data["y"].units = "degrees_east", "degrees_north"
    assert plane_of(path).geographic


@pytest.mark.parametrize("name", ["crs_wkt", "spatial_ref"])
def test_a_mapping_of_well_known_text_alone_is_one(name: str, on_mapping: Callable[..., Path]):
    text = pyproj.CRS.from_cf(POLAR).to_wkt()
    x, y = np.linspace(-3e6, 3e6, 7), np.linspace(-2e6, 2e6, 5)
    told, named = (plane_of(on_mapping(by, x, y)) for by in ({name: text}, POLAR))
    assert told.projection is not None
    assert named.projection is not None
    for one, other in zip(
        told.projection.inverse(x, x), named.projection.inverse(x, x), strict=True
    ):
        assert one == pytest.approx(other)
    assert plane_of(on_mapping({name: pyproj.CRS("EPSG:4326").to_wkt()}, x, y)).projection is None
    assert plane_of(on_mapping({name: "no such text"}, x, y)).projection is None


@pytest.mark.parametrize("kind", [POLAR, SATELLITE, ROTATED, dict(POLAR, earth_radius=RADIUS)])
def test_lengths_of_the_earth_may_be_in_kilometres(on_mapping: Any, kind: dict[str, Any]):
    lengths = ("earth_radius", "semi_major_axis", "semi_minor_axis", "perspective_point_height")
    in_km = {key: at / 1000 if key in lengths else at for key, at in kind.items()}
    x, y = np.linspace(-0.05, 0.04, 5), np.linspace(0.1, 0.05, 4)
    units = "m"
    if kind is SATELLITE:
        units = "rad"
    elif kind is ROTATED:
        units, x, y = "degrees", x * 100, y * 100
    else:
        x, y = x * 1e7, y * 1e7
    expected = degrees_of(plane_of(on_mapping(kind, x, y, units)))
    found = degrees_of(plane_of(on_mapping(in_km, x, y, units)))
    assert found[0] == pytest.approx(expected[0])
    assert found[1] == pytest.approx(expected[1])


@pytest.mark.parametrize(
    "mapping",
    [
        {"proj4": "+proj=stere +lat_0=90 +lat_ts=70 +lon_0=-45 +datum=WGS84"},
        {"proj4_params": "+proj=stere +lat_0=90 +lat_ts=70 +lon_0=-45 +datum=WGS84"},
        {"epsg_code": "EPSG:3413"},
        {"grid_mapping_name": "universal_transverse_mercator", "utm_zone_number": 33},
        {key: str(value) for key, value in POLAR.items()},
        {key: f"{value}" if key == "grid_mapping_name" else f"{value}d0"
         for key, value in POLAR.items()},
    ],
)  # fmt: skip
def test_other_ways_to_give_a_projection_are_read(on_mapping: Any, mapping: dict[str, Any]):
    plane = plane_of(on_mapping(mapping, np.arange(5) * 1e4, np.arange(4) * 1e4))
    assert plane.projection is not None
    assert ("+proj=utm" if "utm_zone_number" in mapping else "+proj=stere") in (
        plane.projection.definition
    )


CONE = "+proj=lcc +lat_1=30 +lat_2=60 +lon_0=10 +lat_0=45 +R=6371229 "


@pytest.mark.parametrize(
    ("mapping", "x", "y", "place"),
    [
        ({"proj4": CONE + "+units=km"}, 1e5, 1e5, (11.339, 45.923)),
        ({"proj4": CONE + "+units=us-ft"}, 1e5, 1e5, (11.339, 45.923)),
        ({"proj4": CONE + "+to_meter=1000 +x_0=500000"}, 6e5, 1e5, (11.339, 45.923)),
        ({"spatial_ref": pyproj.CRS(CONE + "+units=km").to_wkt()}, 1e5, 1e5, (11.339, 45.923)),
        ({"spatial_ref": pyproj.CRS("EPSG:2263").to_wkt()}, 3e5, 0, (-74, 40.1667)),
        ({"epsg_code": "EPSG:2263"}, 3e5, 0, (-74, 40.1667)),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    ("units", "metres"), [("m", 1.0), ("km", 1e3), ("US_survey_foot", 1200 / 3937)]
)
def test_a_projection_in_units_of_its_own_places_coordinates_by_theirs(
    on_mapping: Any, mapping: dict[str, str], x: float, y: float, place: tuple[float, float],
    units: str, metres: float,
):  # fmt: skip
    at_x, at_y = ((np.arange(3) * 1e3 + at) / metres for at in (x, y))
    lon, lat = degrees_of(plane_of(on_mapping(mapping, at_x, at_y, units)))
    assert (lon[0, 0], lat[0, 0]) == pytest.approx(place, abs=0.001)


def test_a_small_earth_keeps_its_size(on_mapping: Any):
    mapping = {
        "grid_mapping_name": "lambert_conformal_conic", "standard_parallel": [30.0, 60.0],
        "longitude_of_central_meridian": 10.0, "latitude_of_projection_origin": 45.0,
        "earth_radius": 63712.29,
    }  # fmt: skip
    at = np.arange(3) * 1e3 + 1e3
    lon, lat = degrees_of(plane_of(on_mapping(mapping, at, at)))
    assert (lon[0, 0], lat[0, 0]) == pytest.approx((11.339, 45.923), abs=0.001)


@pytest.mark.parametrize(("form", "own"), [("crs", False), ("", True)])
def test_coordinates_of_a_projection_show_its_only_mapping_and_may_have_other_names(
    on_mapping: Any, form: str, own: bool
):
    path = on_mapping(POLAR, np.arange(5) * 1e4, np.arange(4) * 1e4, form=form)
    with netCDF4.Dataset(os.fspath(path), "a") as data:
        for name in "xy":
            data[name].standard_name = f"projection_{name}_coordinate"
            if not own:
                data.renameVariable(name, f"{name}grid")
    plane = plane_of(path)
    assert plane.projection is not None
    assert plane.x.tolist() == (np.arange(5) * 1e4).tolist()
