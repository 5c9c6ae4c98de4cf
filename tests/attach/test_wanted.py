"""Which products and guards are shown of a folder, and what is left out and why."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attach_case import CYCLONE, LONLAT, SINCE, TIME, Write, touch, write_netcdf

from burstlens.core.errors import AttachError, RecipeError
from burstlens.workflows.look.folder.recognition import Found, recognise
from burstlens.workflows.look.folder.wanted import Shown, recipe_table, shown, write_recipe
from burstlens.workflows.recipe.layers import Source
from burstlens.workflows.recipe.load import check
from burstlens.workflows.recipe.preflight import preflight

NAMELIST = "&time_control history_interval = 60, /\n&domains max_dom = 1, e_we = 42, /\n"
FIELD = ("time", "lat", "lon")
DEEP = ("time", "lev", "lat", "lon")


def seen(folder: Path, *asked: str, recipe: str | None = None) -> tuple[Found, Shown]:
    found = recognise(folder)
    assert found is not None
    made = shown(folder, found, asked, recipe)
    check(Source("look", folder / "look.toml", recipe_table(folder, found, made)))
    return found, made


def names(made: Shown) -> list[str]:
    return [table["name"] for table in made.products]


def product(made: Shown, name: str) -> dict[str, Any]:
    return next(table for table in made.products if table["name"] == name)


@pytest.fixture
def wrf(tmp_path: Path, wrf_frame: Callable[..., Path]) -> Path:
    """A folder with one frame of the supercell."""
    wrf_frame("wrfout_d01_0001-01-01_00:08:00")
    return tmp_path


@pytest.mark.integration
def test_of_wrf_the_overview_is_shown_without_the_nest_that_is_not_there(wrf: Path):
    _, made = seen(wrf)
    assert names(made) == ["wind", "rain", "clouds"]
    assert "nests" not in product(made, "wind")
    assert made.left_out == ()
    assert [guard["name"] for guard in made.guards] == ["finite", "cfl"]


@pytest.mark.integration
def test_of_a_recipe_that_somebody_names_the_stream_that_is_not_there_is_named(wrf: Path):
    _, made = seen(wrf, recipe="wrf-overview")
    assert made.left_out == ("wind-nest: there are no files of the stream d02 (there are: d01)",)


@pytest.mark.integration
def test_of_a_nested_run_the_nest_is_shown(wrf: Path, wrf_frame: Callable[..., Path]):
    wrf_frame("wrfout_d02_0001-01-01_00:08:00")
    _, made = seen(wrf)
    assert names(made) == ["wind", "wind-nest", "rain", "clouds"]
    assert product(made, "wind")["nests"] == ["d02"]


def test_what_a_wrf_file_lacks_is_left_out_and_named(tmp_path: Path):
    mass: tuple[str, ...] = ("Time", "south_north", "west_east")
    write_netcdf(
        tmp_path / "wrfout_d01_2005-08-28_12:00:00",
        {"Time": None, "DateStrLen": 19, "south_north": 6, "west_east": 7},
        {"Times": (("Time", "DateStrLen"), {"kind": "S1"}), "U10": (mass, {"units": "m s-1"}),
         "V10": (mass, {"units": "m s-1"}), "RAINNC": (mass, {"units": "mm"}),
         "RAINC": (mass, {"units": "mm"})},
        values={"Times": "2005-08-28_12:00:00"},
    )  # fmt: skip
    _, made = seen(tmp_path)
    assert names(made) == ["wind", "rain"]
    assert "contours" not in product(made, "wind")
    said = "; ".join(made.left_out)
    assert "wind: without contours: slp needs" in said
    assert "clouds: cloud_top_temperature needs" in said
    assert "guard finite: the stream d01 has no variable 'W'" in said
    assert [guard["name"] for guard in made.guards] == ["cfl"]


@pytest.mark.integration
def test_of_wrf_before_its_first_frame_what_its_settings_promise_is_kept(tmp_path: Path):
    (tmp_path / "namelist.input").write_text(NAMELIST)
    _, made = seen(tmp_path)
    assert names(made) == ["wind", "rain", "clouds"]
    assert made.left_out == ()


@pytest.mark.integration
def test_wrf_by_another_name_is_shown_as_wrf(wrf: Path, wrf_frame: Callable[..., Path]):
    (wrf / "wrfout_d01_0001-01-01_00:08:00").rename(wrf / "supercell_d01.nc")
    found, made = seen(wrf)
    assert found.model == "command"
    assert names(made) == ["wind", "rain", "clouds"]
    assert "guard cfl: the model's log is not known" in made.left_out


def awm_file(folder: Path, name: str, *fields: str) -> None:
    axes = {
        key: ((key,), {"units": "m", "standard_name": f"projection_{key}_coordinate"})
        for key in "xy"
    }
    velocity = {name: (("time", "y", "x"), {"units": "m s-1"}) for name in fields}
    write_netcdf(
        folder / name, {"time": None, "y": 6, "x": 7},
        {"time": (("time",), {"units": "s", "axis": "T"}), **axes, **velocity},
        attributes={"source": "awm, 3-D", "source_x_m": 3.0, "source_y_m": 3.0,
                    "source_depth_m": 100.0},
    )  # fmt: skip


def test_of_awm_ground_motion_is_shown(tmp_path: Path):
    awm_file(tmp_path, "surface_000001.nc", "vx", "vy", "vz")
    found, made = seen(tmp_path)
    assert found.model == "awm"
    assert names(made) == ["ground", "north", "pgv"]
    assert "components" not in product(made, "pgv")
    assert made.left_out == ()
    assert [guard["name"] for guard in made.guards] == ["stable"]


def test_of_awm_its_own_peaks_are_taken(tmp_path: Path):
    awm_file(tmp_path, "surface_000001.nc", "vx", "vy", "vz", "pgv")
    _, made = seen(tmp_path)
    assert product(made, "pgv")["components"] == ["pgv"]


def test_of_roms_the_sea_surface_is_shown_first(tmp_path: Path, roms: Write):
    for name in ("ocean_his_0001.nc", "ocean_avg_0001.nc", "ocean_grd.nc"):
        roms(name)
    _, made = seen(tmp_path)
    assert names(made) == ["temp", "zeta", "salt", "u"]
    assert product(made, "temp")["level"] == -1  # s_rho begins at the bottom
    assert "level" not in product(made, "zeta")
    assert not any("stream" in table for table in made.products)  # of the history


def test_first_looks_follow_standard_names_and_show_usual_units(tmp_path: Path, regular: Write):
    regular(
        "out_1.nc",
        {
            "PSL": (FIELD, {"units": "Pa", "standard_name": "air_pressure_at_mean_sea_level"}),
            "X1": (FIELD, {"units": "K", "standard_name": "air_temperature"}),
            "pr": (FIELD, {"units": "kg m-2 s-1", "standard_name": "precipitation_flux"}),
            "odd": (FIELD, {}),
            "landmask": (FIELD, {}),
            "sftlf": (("lat", "lon"), {"units": "%"}),
            "lat_bnds": (("lat", "lon"), {}),
        },
    )
    _, made = seen(tmp_path)
    assert names(made)[:3] == ["PSL", "X1", "pr"]
    assert product(made, "PSL")["units"] == "hPa"
    assert product(made, "X1")["units"] == "degC"
    assert product(made, "pr")["units"] == "mm h-1"
    assert not {"landmask", "sftlf", "lat_bnds"} & set(names(made))
    assert len(made.products) <= 6


@pytest.mark.parametrize(
    ("about", "values", "level"),
    [
        ({"units": "hPa", "positive": "down"}, [1000, 850, 500], 0),
        ({"units": "millibar"}, [10, 500, 1000], -1),
        ({"standard_name": "atmosphere_hybrid_sigma_pressure_coordinate", "units": "level"},
         [3, 500, 992], -1),
        ({"units": "m", "positive": "up"}, [10, 100, 1000], 0),
        ({"units": "m", "positive": "down", "standard_name": "depth"}, [0.5, 10, 5000], 0),
        ({"units": "m", "positive": "down"}, [5000, 10, 0.5], -1),
        ({"units": "m", "positive": "up"}, [-5000, -10, -1], -1),
        ({"units": "m"}, [-1, -10, -5000], 0),
        ({}, [1, 2, 3], 0),
        ({}, [-0.9, -0.5, -0.1], -1),  # s or sigma of a sea, from the floor to the surface
        ({}, [-0.1, -0.5, -0.9], 0),
        ({"units": "1"}, [-1.0, -0.5, 0.0], -1),
    ],
)  # fmt: skip
def test_the_level_is_the_one_next_to_the_ground_or_the_sea_surface(
    tmp_path: Path, regular: Write, about: dict[str, Any], values: list[float], level: int
):
    regular(
        "out_1.nc",
        {"lev": (("lev",), {"kind": "f8", "axis": "Z", **about}), "q": (DEEP, {"units": "1"})},
        lev=3,
        values={"lev": values},
    )
    _, made = seen(tmp_path, "q")
    assert product(made, "q")["level"] == level


def test_wind_components_are_shown_as_speed_with_arrows(tmp_path: Path, regular: Write):
    winds = {
        f"{one}as": (FIELD, {"units": "m s-1", "standard_name": f"{way}_wind"})
        for one, way in (("u", "eastward"), ("v", "northward"))
    }
    regular("out_1.nc", winds)
    _, made = seen(tmp_path)
    assert names(made) == ["uas-vas"]
    assert product(made, "uas-vas")["vectors"] == {"u": "uas", "v": "vas", "relative_to": "earth"}


@pytest.mark.parametrize(
    ("sizes", "fields", "said"),
    [
        ({"time": None, "station": 4}, {"t": (("time", "station"), {})}, "nothing to map"),
        ({"time": None, "n": 1}, {}, "numbers without a place"),
        ({"time": None, "lat": 1, "lon": 4}, {"t": (("time", "lat", "lon"), {})}, "one row"),
        ({"time": None, "nCells": 9}, {"t": (("time", "nCells"), {})}, "unstructured mesh"),
        ({"time": None, "n_face": 9}, {"t": (("n_face",), {})}, "unstructured mesh"),
        ({"time": None, "p": 9, "q": 4},
         {"faces": (("p", "q"), {"cf_role": "face_node_connectivity", "kind": "i4"}),
          "p_lat": (("p",), {"units": "degrees_north"})}, "describes a mesh"),
        ({"time": None, "n_face": 9, "n_max_face_nodes": 4},
         {"face_nodes": (("n_face", "n_max_face_nodes"), {"kind": "i4"})}, "describes a mesh"),
        ({"time": None, "lat": 9, "lon": 4, "vertices": 4},
         {"lat_vertices": (("lat", "lon", "vertices"), {})}, "numbers without a place"),
        ({"time": None, "station": 2, "frequency": 4, "direction": 3},
         {"efth": (("time", "station", "frequency", "direction"), {})}, "nothing to map"),
        ({"time": None, "lev": 3, "ncol": 9}, {"T": (("time", "lev", "ncol"), {})}, "unstructured"),
        ({"time": None, "lat": 4, "lev": 3},
         {"T": (("time", "lev", "lat"), {}), "lat": LONLAT["lat"],
          "lev": (("lev",), {"units": "hPa", "axis": "Z"})}, "no variable has two horizontal"),
    ],
)  # fmt: skip
def test_what_cannot_be_mapped_is_named(
    tmp_path: Path, sizes: dict[str, int | None], fields: Any, said: str
):
    write_netcdf(tmp_path / "out_1.nc", sizes, {"time": TIME, **fields})
    _, made = seen(tmp_path)
    assert made.products == ()
    assert said in made.left_out[0]


def test_fields_that_never_change_are_shown_if_nothing_else_is_there(tmp_path: Path):
    write_netcdf(
        tmp_path / "map.nc", {"lat": 4, "lon": 5},
        {**LONLAT, "height": (("lat", "lon"), {"units": "m"})},
    )  # fmt: skip
    found, made = seen(tmp_path)
    assert found.settings["time_variable"] == ""
    assert names(made) == ["height"]


def test_a_stream_of_other_fields_adds_to_the_first_one(tmp_path: Path, regular: Write):
    regular("a_1.nc", {"tas": (FIELD, {"units": "K"})})
    regular("b_1.nc", {"pr": (FIELD, {"units": "mm"}), "tas": (FIELD, {"units": "K"})})
    _, made = seen(tmp_path)
    assert {table["name"]: table.get("stream") for table in made.products} == {
        "tas": None, "pr": "b",
    }  # fmt: skip


@pytest.mark.integration
def test_products_that_are_asked_for_by_name_variable_and_expression(wrf: Path):
    _, made = seen(wrf, "rain", "slp", "wind@500hPa", "T2-273.15", "QCLOUD*1000", "W", "rain")
    assert names(made) == ["rain", "slp", "wind-500hPa", "T2-273-15", "QCLOUD-1000", "W"]
    assert "contours" in product(made, "rain")  # the recipe's
    slp = {"name": "slp", "kind": "map", "variable": "slp", "units": "hPa"}
    assert product(made, "slp") == slp
    assert product(made, "QCLOUD-1000")["level"] == 0
    assert product(made, "W")["level"] == 0
    assert "level" not in product(made, "wind-500hPa")


def test_products_are_found_while_the_newest_frame_is_in_the_making(tmp_path: Path, regular: Write):
    whole = regular("out_1.nc", {"tas": (FIELD, {"units": "K"})})
    found = recognise(tmp_path)
    assert found is not None
    (tmp_path / "out_1.nc").rename(tmp_path / "out_0.nc")
    (tmp_path / "out_1.nc").write_bytes(b"CDF\x02")  # a rerun begins it again
    assert names(shown(tmp_path, found)) == ["tas"]
    whole.unlink()
    (tmp_path / "out_0.nc").unlink()
    assert shown(tmp_path, found).products == ()  # all of it is gone: no failure


@pytest.mark.integration
def test_sea_level_pressure_is_asked_for_in_hpa_and_all_else_in_its_own_units(wrf: Path):
    _, made = seen(wrf, "slp", "PSFC", "T2")
    units = [product(made, name).get("units") for name in ("slp", "PSFC", "T2")]
    assert units == ["hPa", None, None]


def test_names_that_become_one_are_numbered(tmp_path: Path, regular: Write):
    regular("a_1.nc", {"tas": (FIELD, {"units": "K"})})
    _, made = seen(tmp_path, "tas*2", "tas/2", "(tas)-2")
    assert names(made) == ["tas-2", "tas-2-2", "tas-2-3"]


def test_a_level_by_its_number_is_that_of_the_file(tmp_path: Path, regular: Write):
    regular("a_1.nc", {"q": (DEEP, {"units": "1"})}, lev=4)
    _, made = seen(tmp_path, "q@3")
    assert product(made, "q-3") == {"name": "q-3", "kind": "map", "variable": "q", "level": 3}
    with pytest.raises(AttachError, match="level 4 is outside of lev"):
        seen(tmp_path, "q@4")


def test_a_variable_of_another_stream_is_found_there(tmp_path: Path, regular: Write):
    regular("his_1.nc", {"tas": (FIELD, {"units": "K"})})
    regular("rad_1.nc", {"olr": (FIELD, {"units": "W m-2"})})
    _, made = seen(tmp_path, "olr")
    assert product(made, "olr")["stream"] == "rad"


@pytest.mark.integration
@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("QCLUD", "no variable 'QCLUD'; did you mean QCLOUD or the product clouds?"),
        ("rainz", "no variable 'rainz'; did you mean rain or [^p]*\\?"),  # no product of that name
        ("wind@500foo", "wind@500foo: '500foo' is not a level"),
        ("wind@90", "level 90 is outside"),
        ("T2 +", "T2 \\+"),
        ("wind-nest", "--product wind-nest: there are no files of the stream d02"),
    ],
)
def test_a_wrong_product_is_refused_before_anything_starts(wrf: Path, asked: str, said: str):
    with pytest.raises(AttachError, match=said):
        seen(wrf, asked)


def test_a_text_that_could_harm_is_a_name_without_it(tmp_path: Path, regular: Write):
    regular("a_1.nc", {"tas": (FIELD, {"units": "K"})})
    for text in ("../../etc", "<b>tas</b>", "", "tas\x1b[2J", "{tas}"):
        with pytest.raises(AttachError, match="--product"):
            seen(tmp_path, text)


@pytest.mark.integration
def test_of_a_named_recipe_its_products_and_guards_are_taken_not_its_simulation(
    tmp_path: Path, wrf_frame: Callable[..., Path]
):
    wrf_frame("wrfout_d01_2005-08-28_21:00:00", CYCLONE)
    found, made = seen(tmp_path, recipe="wrf-severe")
    assert made.products
    table = recipe_table(tmp_path, found, made)
    assert table["simulation"] == {"model": "wrf", "inputs": str(tmp_path)}


def test_a_recipes_own_files_are_found_beside_it(tmp_path: Path, regular: Write):
    regular("run/a_1.nc", {"tas": (FIELD, {"units": "K"})})
    (tmp_path / "mine.toml").write_text(
        'title = "t"\n[simulation]\nmodel = "wrf"\ninputs = "elsewhere"\n'
        '[[product]]\nname = "p"\nkind = "map"\nvariable = "tas"\ncities = "towns.csv"\n'
    )
    (tmp_path / "towns.csv").write_text("name,lat,lon\nA,1,2\n")
    _, made = seen(tmp_path / "run", recipe=str(tmp_path / "mine.toml"))
    assert names(made) == ["p"]
    assert made.base == tmp_path


def test_a_recipe_that_does_not_exist_is_refused(tmp_path: Path, regular: Write):
    regular("a_1.nc", {"tas": (FIELD, {"units": "K"})})
    with pytest.raises(RecipeError, match="wrf-severe"):
        seen(tmp_path, recipe="wrf-sever")


@pytest.mark.integration
def test_a_written_recipe_passes_check_and_has_the_same_products(tmp_path: Path, regular: Write):
    regular("run/a_1.nc", {"tas": (FIELD, {"units": "K"}), "q": (("time", "lat"), {})})
    folder = tmp_path / "run"
    touch(folder, 'odd "name" \\.txt')
    found, made = seen(folder)
    text = write_recipe(folder, found, made)
    table = tomllib.loads(text)
    assert table["product"] == recipe_table(folder, found, made)["product"]
    assert "put here what starts your model" in table["simulation"]["command"][2]
    recipe, _ = check(Source("mine", tmp_path / "mine.toml", table))
    assert [one.level for one in preflight(recipe) if one.level == "error"] == []


def test_a_written_recipe_names_what_is_left_out(tmp_path: Path):
    write_netcdf(
        tmp_path / "out_1.nc", {"time": None, "station": 4},
        {"time": (("time",), {"units": SINCE}), "t": (("time", "station"), {})},
    )  # fmt: skip
    found, made = seen(tmp_path)
    text = write_recipe(tmp_path, found, made)
    assert "# Left out: stream out: no variable has two horizontal dimensions" in text
    assert '# kind = "map"' in text
    tomllib.loads(text)
