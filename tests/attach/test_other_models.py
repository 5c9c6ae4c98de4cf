"""First looks at what other models leave: vertical planes, members, layers, grids with gaps."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import pytest
from attach_case import LONLAT, SUPERCELL, TIME, Write, known, write_netcdf

from burstlens.core.errors import AttachError
from burstlens.workflows.look.folder.recognition import Found, recognise
from burstlens.workflows.look.folder.wanted import Shown, recipe_table, shown
from burstlens.workflows.recipe.layers import Source
from burstlens.workflows.recipe.load import check

FIELD = ("time", "lat", "lon")


def seen(folder: Path) -> tuple[Found, Shown]:
    found = recognise(folder)
    assert found is not None
    made = shown(folder, found)
    check(Source("look", folder / "look.toml", recipe_table(folder, found, made)))
    return found, made


def names(made: Shown) -> list[str]:
    return [table["name"] for table in made.products]


@pytest.fixture
def strip(tmp_path: Path) -> Callable[[str, int], Path]:
    """A frame of WRF's supercell of which so many rows along a dimension are kept."""

    def write(dimension: str, count: int) -> Path:
        path = tmp_path / "wrfout_d01_0001-01-01_00:08:00"
        kept = {dimension: slice(0, count), f"{dimension}_stag": slice(0, count + 1)}
        with netCDF4.Dataset(SUPERCELL) as whole, netCDF4.Dataset(path, "w") as part:
            part.setncatts({key: whole.getncattr(key) for key in whole.ncattrs()})
            size = {"south_north": "SOUTH-NORTH", "west_east": "WEST-EAST"}[dimension]
            part.setncattr(f"{size}_GRID_DIMENSION", np.int32(count + 1))
            for name, one in whole.dimensions.items():
                length = len(range(*kept[name].indices(len(one)))) if name in kept else len(one)
                part.createDimension(name, None if one.isunlimited() else length)
            for name, one in whole.variables.items():
                made = part.createVariable(name, one.dtype, one.dimensions)
                made.setncatts({k: one.getncattr(k) for k in one.ncattrs() if k != "_FillValue"})
                made[:] = one[tuple(kept.get(d, slice(None)) for d in one.dimensions)]
        return path

    return write


@pytest.mark.integration
@pytest.mark.parametrize(
    ("dimension", "rows", "wind", "ends"),
    [
        ("south_north", 1, "U", [{"i": 0, "j": 0.0}, {"i": 40, "j": 0.0}]),
        ("south_north", 2, "U", [{"i": 0, "j": 0.5}, {"i": 40, "j": 0.5}]),
        ("west_east", 3, "V", [{"i": 1.0, "j": 0}, {"i": 1.0, "j": 40}]),
    ],
)
def test_of_wrf_on_a_vertical_plane_sections_are_shown(
    tmp_path: Path, strip: Callable[[str, int], Path], dimension: str, rows: int, wind: str,
    ends: list[Any],
):  # fmt: skip
    strip(dimension, rows)
    _, made = seen(tmp_path)
    assert names(made) == ["updraft", "wind", "theta", "clouds"]
    assert {table["kind"] for table in made.products} == {"section"}
    assert made.products[1]["variable"] == wind
    assert [made.products[0]["start"], made.products[0]["end"]] == ends


def test_of_wrf_files_without_anything_of_the_overview_other_fields_are_shown(tmp_path: Path):
    mass = ("Time", "south_north", "west_east")
    write_netcdf(
        tmp_path / "wrfout_d01_2005-08-28_12:00:00",
        {"Time": None, "DateStrLen": 19, "south_north": 6, "west_east": 7},
        {"Times": (("Time", "DateStrLen"), {"kind": "S1"}), "T2": (mass, {"units": "K"})},
        values={"Times": "2005-08-28_12:00:00"},
    )
    _, made = seen(tmp_path)
    assert names(made) == ["T2"]
    assert any(text.startswith("rain: ") for text in made.left_out)


@pytest.mark.parametrize(
    "units", ["degree_C", "degrees_celsius", "degree_Celsius", "degreeC", "degree_K", "degrees_F"]
)
def test_a_temperature_in_degrees_is_a_field(tmp_path: Path, units: str):
    write_netcdf(
        tmp_path / "grid_T.nc", {"time": None, "y": 6, "x": 8},
        {"time": TIME, "sfx": (("time", "y", "x"), {"units": "W/m2"}),
         "tos": (("time", "y", "x"), {"units": units, "coordinates": "nav_lat nav_lon"}),
         "nav_lat": (("y", "x"), {"units": "degrees_north"}),
         "nav_lon": (("y", "x"), {"units": "degree_E"})},
    )  # fmt: skip
    _, made = seen(tmp_path)
    assert names(made) == ["tos", "sfx"]


@pytest.mark.parametrize(
    ("about", "units"),
    [({"long_name": "SST Anomaly"}, None), ({"cell_methods": "time: standard_deviation"}, None),
     ({"long_name": "SST"}, "degC")],
)  # fmt: skip
def test_anomalies_stay_in_their_units(tmp_path: Path, about: dict[str, str], units: str | None):
    write_netcdf(
        tmp_path / "sst_1.nc", {"time": None, "lat": 6, "lon": 8},
        {"time": TIME, **LONLAT, "SST": (FIELD, {
            "units": "K", "standard_name": "sea_surface_temperature", **about})},
    )  # fmt: skip
    _, made = seen(tmp_path)
    assert made.products[0].get("units") == units


@pytest.mark.parametrize("units", ["degrees_north", "degree_N", "degreesE", "degree_true"])
def test_coordinates_in_degrees_are_no_fields(tmp_path: Path, units: str):
    write_netcdf(
        tmp_path / "grid_T.nc", {"time": None, "lat": 6, "lon": 8},
        {"time": TIME, **LONLAT, "where": (("lat", "lon"), {"units": units}),
         "tas": (FIELD, {"units": "degC"})},
    )  # fmt: skip
    _, made = seen(tmp_path)
    assert names(made) == ["tas"]


@pytest.mark.parametrize("dimension", ["member", "ncat", "number"])
def test_members_and_classes_are_no_levels_and_one_of_them_is_shown(tmp_path: Path, dimension: str):
    write_netcdf(
        tmp_path / "ens.nc", {"time": None, dimension: 3, "lat": 6, "lon": 8},
        {"time": TIME, **LONLAT, "pr": (("time", dimension, "lat", "lon"), {"units": "mm"}),
         "tas": (FIELD, {"units": "K"})},
    )  # fmt: skip
    _, made = seen(tmp_path)
    assert names(made) == ["tas", "pr"]
    assert "level" not in made.products[1]
    assert made.left_out == (
        f"pr: the first of 3 along {dimension} that has values; "
        f'--product "pr[{dimension}=2]" shows another',
    )


def test_of_volumes_of_several_months_one_level_of_one_month_is_shown(tmp_path: Path):
    deep = ("month", "level", "latitude", "longitude")
    wind = {name: (deep, {"units": "m s-1"}) for name in "uv"}
    write_netcdf(
        tmp_path / "uvz.nc", {"month": 2, "level": 3, "latitude": 6, "longitude": 8},
        {"latitude": (("latitude",), LONLAT["lat"][1]),
         "longitude": (("longitude",), LONLAT["lon"][1]),
         "level": (("level",), {"units": "millibars"}), "month": (("month",), {}), **wind},
        values={"level": [200, 500, 850], "month": [1, 7]},
    )  # fmt: skip
    _, made = seen(tmp_path)
    assert [table["level"] for table in made.products] == [-1, -1]
    assert len(made.left_out) == 1
    assert made.left_out[0].startswith("u, v: the first of 2 along month")
    asked = shown(tmp_path, known(tmp_path), ["u[month=7]", "u@500hPa", "v[month=7]@1"])
    assert [table["variable"] for table in asked.products] == [
        "u[month=7]", "u@500hPa", "v[month=7]",
    ]  # fmt: skip
    assert [table.get("level") for table in asked.products] == [-1, None, 1]
    assert names(asked)[0] == "u-month-7"
    with pytest.raises(AttachError, match="month has 1, 7, not 4"):
        shown(tmp_path, known(tmp_path), ["u[month=4]"])


@pytest.mark.integration
def test_one_point_of_a_dimension_with_names_is_shown(tmp_path: Path):
    path = write_netcdf(
        tmp_path / "land.nc", {"time": None, "surface": 3, "lat": 6, "lon": 8},
        {"time": TIME, **LONLAT, "frac": (("time", "surface", "lat", "lon"), {"units": "1"}),
         "tas": (FIELD, {"units": "K"})}, format="NETCDF4",
    )  # fmt: skip
    with netCDF4.Dataset(path, "a") as data:
        data.createVariable("surface", str, ("surface",))[:] = np.array(["a", "b", "c"], object)
    _, made = seen(tmp_path)
    assert names(made) == ["tas", "frac"]
    assert "level" not in made.products[1]
    assert made.left_out[0].endswith('--product "frac[surface=...]" shows another')


def test_a_dimension_that_is_not_known_to_be_of_levels_is_named(tmp_path: Path):
    deep = {name: (("time", name, "lat", "lon"), {"units": "1"}) for name in ("foo", "lev", "alt")}
    write_netcdf(
        tmp_path / "odd.nc", {"time": None, "foo": 3, "lev": 3, "alt": 3, "lat": 6, "lon": 8},
        {"time": TIME, **LONLAT, "alt": (("alt",), {"units": "m"}),
         **{f"of_{name}": one for name, one in deep.items()}},
    )  # fmt: skip
    _, made = seen(tmp_path)
    assert names(made) == ["of_alt", "of_foo", "of_lev"]
    assert made.left_out == (
        'of_foo: level 0 of 3 along foo, which may be no height; --product "of_foo[foo=2]" shows '
        "another",
    )
    asked = shown(tmp_path, known(tmp_path), ["of_foo[foo=2]"])
    assert "level" not in asked.products[0]


@pytest.mark.parametrize(
    ("attributes", "fields"),
    [
        ({"featureType": "trajectory"}, {"lat": ("traj", "obs"), "temp": ("traj", "obs")}),
        ({"featureType": "timeSeriesProfile"}, {"temp": ("time", "station", "z")}),
        ({}, {"lat": ("traj", "obs"), "temp": ("traj", "obs")}),
        ({}, {"palette": ("rgb", "eightbitcolor")}),
    ],
)
def test_what_lies_along_paths_or_is_a_table_of_colours_is_no_map(
    tmp_path: Path, attributes: dict[str, str], fields: dict[str, tuple[str, ...]]
):
    sizes = {"traj": 3, "obs": 5, "station": 3, "z": 4, "rgb": 3, "eightbitcolor": 9}
    path = write_netcdf(
        tmp_path / "out_1.nc", {"time": None, **sizes},
        {"time": TIME, **{name: (along, {}) for name, along in fields.items()}},
    )  # fmt: skip
    with netCDF4.Dataset(path, "a") as data:
        data.setncatts(attributes)
    _, made = seen(tmp_path)
    assert made.products == ()
    assert attributes.get("featureType", "") in made.left_out[0]


def test_a_grid_that_calls_itself_a_series_of_stations_is_drawn(tmp_path: Path):
    path = write_netcdf(
        tmp_path / "out_1.nc", {"time": None, "lat": 6, "lon": 8},
        {"time": TIME, **LONLAT, "tas": (FIELD, {"units": "K"})},
    )  # fmt: skip
    with netCDF4.Dataset(path, "a") as data:
        data.featureType = "timeSeries"
    assert names(seen(tmp_path)[1]) == ["tas"]


@pytest.mark.parametrize(
    ("standard_name", "level"),
    [("northward_sea_water_velocity", 0), ("upward_air_velocity", -1)],
)
def test_layers_counted_downwards_begin_at_the_surface_of_the_sea_and_at_the_top_of_the_air(
    tmp_path: Path, standard_name: str, level: int
):
    write_netcdf(
        tmp_path / "archv.nc", {"time": None, "Layer": 4, "lat": 6, "lon": 8},
        {"time": TIME, **LONLAT,
         "Layer": (("Layer",), {"units": "layer", "positive": "down", "axis": "Z"}),
         "speed": (("time", "Layer", "lat", "lon"), {"units": "m/s",
                                                     "standard_name": standard_name})},
        values={"Layer": [1, 2, 3, 4]},
    )  # fmt: skip
    _, made = seen(tmp_path)
    assert made.products[0]["level"] == level


def test_wind_at_one_height_and_currents_are_shown_as_speed(tmp_path: Path):
    high = ("time", "height", "lat", "lon")
    write_netcdf(
        tmp_path / "srf.nc", {"time": None, "height": 1, "lat": 6, "lon": 8},
        {"time": TIME, **LONLAT,
         "uas": (high, {"units": "m s-1", "standard_name": "eastward_wind"}),
         "vas": (high, {"units": "m s-1", "standard_name": "northward_wind"}),
         "xcur": (FIELD, {"units": "m s-1", "standard_name": "eastward_sea_water_velocity"}),
         "ycur": (FIELD, {"units": "m s-1", "standard_name": "northward_sea_water_velocity"})},
    )  # fmt: skip
    _, made = seen(tmp_path)
    assert names(made) == ["uas-vas", "xcur-ycur"]
    assert made.products[1]["vectors"] == {"u": "xcur", "v": "ycur", "relative_to": "earth"}


def test_restart_files_of_cm1_are_no_frames(tmp_path: Path, regular: Write):
    regular("cm1out_000001.nc", {"rain": (FIELD, {"units": "cm"})})
    regular("cm1rst_000001.nc", {"rain": (FIELD, {"units": "cm"})})
    found, made = seen(tmp_path)
    assert [one.name for one in found.streams] == ["cm1out"]
    assert "restart file: cm1rst_000001.nc" in found.passed_over
    assert made.products[0]["units"] == "mm"


@pytest.mark.integration
def test_variables_in_groups_are_named_with_what_moves_them(tmp_path: Path):
    with netCDF4.Dataset(tmp_path / "orbit.nc", "w") as data:
        group = data.createGroup("forecast")
        group.createDimension("x", 3)
        group.createVariable("t2m", "f4", ("x",))
    with pytest.raises(AttachError, match=r"groups \(forecast\).*ncks -G"):
        recognise(tmp_path)


def test_names_of_ecmwf_count_where_its_standard_names_are_unknown(tmp_path: Path):
    unknown = {"standard_name": "unknown", "units": "m s**-1"}
    write_netcdf(
        tmp_path / "era5.nc", {"time": None, "lat": 6, "lon": 8},
        {"time": TIME, **LONLAT, "u10": (FIELD, unknown), "v10": (FIELD, unknown),
         "tp": (FIELD, {"units": "m", "standard_name": "unknown"}),
         "t2m": (FIELD, {"units": "K", "standard_name": "unknown"})},
    )  # fmt: skip
    _, made = seen(tmp_path)
    assert [(table["name"], table.get("units")) for table in made.products] == [
        ("t2m", "degC"), ("tp", "mm"), ("u10-v10", None),
    ]  # fmt: skip


def test_a_packed_field_with_flags_among_its_values_is_mapped(tmp_path: Path):
    about = {"units": "1", "standard_name": "sea_ice_area_fraction", "scale_factor": 0.01,
             "flag_values": np.array([251, 254], "i2"), "kind": "i2"}  # fmt: skip
    write_netcdf(
        tmp_path / "ice.nc", {"time": None, "lat": 6, "lon": 8},
        {"time": TIME, **LONLAT, "conc": (FIELD, about)},
    )  # fmt: skip
    assert names(seen(tmp_path)[1]) == ["conc"]


@pytest.mark.parametrize("name", ["lev", "plev"])
def test_levels_with_names_are_mapped(tmp_path: Path, name: str):
    write_netcdf(
        tmp_path / "a.nc", {"time": None, name: 2, "n": 8, "lat": 6, "lon": 8},
        {"time": TIME, **LONLAT, name: ((name, "n"), {"kind": "S1"}),
         "T": (("time", name, "lat", "lon"), {"units": "K"})},
        values={name: "1000 mb"},
    )  # fmt: skip
    assert names(seen(tmp_path)[1]) == ["T"]


def test_numbered_files_of_the_same_times_at_other_places_are_pieces(tmp_path: Path):
    for rank in (0, 1):
        write_netcdf(
            tmp_path / f"fielddump.000.{rank:03d}.001.nc", {"time": None, "yt": 6, "xt": 8},
            {"time": (("time",), {"units": "s"}), "yt": (("yt",), {"units": "m"}),
             "xt": (("xt",), {"units": "m"}), "thl": (("time", "yt", "xt"), {"units": "K"})},
            values={"yt": np.arange(6) + 6 * rank},
        )  # fmt: skip
    with pytest.raises(AttachError, match=r"different places along yt.*cdo collgrid"):
        recognise(tmp_path)


def test_numbered_files_of_later_times_or_other_levels_are_frames(tmp_path: Path, regular: Write):
    for number in (1, 2):
        regular(f"out_{number:04d}.nc", {"tas": (FIELD, {"units": "K"})})
        with netCDF4.Dataset(tmp_path / f"out_{number:04d}.nc", "a") as data:
            data["time"][:] = number
            data["lon"][:] += number  # a nest that moves
    found, _ = seen(tmp_path)
    assert [(one.name, one.files) for one in found.streams] == [("out", 2)]


def test_pieces_of_croco_name_the_program_that_joins_them(tmp_path: Path):
    write_netcdf(
        tmp_path / "croco_his.0.nc", {"time": None, "eta_rho": 6, "xi_rho": 8},
        {"time": (("time",), {"units": "second", "standard_name": "time"}),
         "zeta": (("time", "eta_rho", "xi_rho"), {"units": "meter"})},
        attributes={"partition": np.array([0, 4, 1, 1], "i4")},
    )  # fmt: skip
    with pytest.raises(AttachError, match="ncjoin"):
        recognise(tmp_path)


@pytest.mark.parametrize("units", ["centimeters", "meters"])
def test_of_pop_the_level_at_the_surface_is_shown(tmp_path: Path, units: str):
    write_netcdf(
        tmp_path / "pop.h.nc", {"time": None, "z_t": 3, "lat": 6, "lon": 8},
        {"time": TIME, **LONLAT,
         "z_t": (("z_t",), {"units": units, "positive": "down",
                            "long_name": "depth from surface to midpoint of layer"}),
         "TEMP": (("time", "z_t", "lat", "lon"), {"units": "degC"})},
        values={"z_t": [500, 1500, 2500]},
    )  # fmt: skip
    assert seen(tmp_path)[1].products[0]["level"] == 0


def test_a_stream_whose_only_file_has_no_record_is_not_the_main_one(tmp_path: Path, regular: Write):
    begun = regular("a_his.nc", {"tas": (FIELD, {"units": "K"})}, records=0)
    regular("b_his.nc", {"tas": (FIELD, {"units": "K"})})
    os.utime(begun, (1e9, 1e9))
    assert [one.name for one in seen(tmp_path)[0].streams] == ["b_his", "a_his"]


def test_a_height_below_the_ground_is_passed_over(tmp_path: Path):
    write_netcdf(
        tmp_path / "DATA_3D_NETCDF", {"time": None, "zu_3d": 4, "lat": 6, "lon": 8},
        {"time": TIME, **LONLAT, "zu_3d": (("zu_3d",), {"units": "m", "axis": "Z"}),
         "theta": (("time", "zu_3d", "lat", "lon"), {"units": "K"})},
        values={"zu_3d": [-5, 5, 15, 25]},
    )  # fmt: skip
    assert seen(tmp_path)[1].products[0]["level"] == 1
