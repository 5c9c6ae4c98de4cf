"""Products and guards that need what frames will not have, with files of the real model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import netCDF4
import pytest

from burstlens.viz import inspection
from burstlens.workflows.recipe.findings import Finding
from burstlens.workflows.recipe.load import load
from burstlens.workflows.recipe.survey import survey

pytestmark = pytest.mark.integration

DATA = Path(__file__).parents[1] / "data"
CYCLONE = DATA / "wrf" / "wrfout_d01_2005-08-28_21_00_00"


@pytest.fixture
def found(tmp_path: Path) -> Callable[..., dict[str, Finding]]:
    """What the survey of a recipe's tables finds, by path."""

    def look(tables: str, model: str = 'model = "wrf"') -> dict[str, Finding]:
        path = tmp_path / "it.toml"
        path.write_text(f'[simulation]\n{model}\ninputs = "inputs"\n{tables}')
        recipe, _ = load(str(path))
        return {finding.path: finding for finding in survey(recipe)}

    return look


def product(lines: str, kind: str = "map") -> str:
    return f'[[product]]\nname = "p"\nkind = "{kind}"\n{lines}\n'


@pytest.mark.parametrize(
    ("table", "key", "text"),
    [
        (product('variable = "T22"'), "variable", "no variable 'T22'; did you mean T2"),
        (product('variable = "tempature@850hPa"'), "variable", "did you mean temperature"),
        (product('variable = "2 * U11 [m s-1]"'), "variable", "no variable 'U11'"),
        (product('variable = "T2 + W [K]"'), "variable", "not on one grid"),
        (product('variable = "UH"'), "variable", "UH is not in the stream d01"),
        (product('variable = "W"\nlevel = 99'), "level", "level 99 is outside of bottom_top_stag"),
        (product('variable = "W@40"'), "variable", "level 40 is outside of bottom_top"),
        (product('variable = "W"'), "variable", "say which `level`"),
        (product('variable = "T2"\nlevel = 1'), "level", "T2 has no levels"),
        (product('variable = "W@30hPa"'), "variable", "30 hPa is above the domain"),
        (product('variable = "W@1200hPa"'), "variable", "1200 hPa is below the ground"),
        (product('variable = "W@30-35km"'), "variable", "above the domain, whose top is at 20 km"),
        (product('variable = "W@1km - W@30km [m s-1]"'), "variable", "30 km above sea level is ab"),
        (
            product('variable = "W"\nslices = { height = [1, 40] }', "scene"),
            "slices.height", "height = 40 is outside of the domain, which has 0 to 20 km",
        ),
        (
            product('variables = ["W"]\nvertical = "pressure"\ntop = 1500', "profile"),
            "top", "top = 1500 hPa is below the ground",
        ),
        (product('variable = "T2"\nunits = "kts"'), "units", "K cannot be shown as 'kts'"),
        (product('variable = "slp"\nunits = "K"'), "units", "Pa cannot be shown as 'K'"),
        (
            product('variable = "T2"\ncontours = [{ variable = "slpp" }]'),
            "contours.0.variable", "did you mean slp",
        ),
        (
            product('variable = "T2"\nbarbs = { u = "U11" }'), "barbs.u", "no variable 'U11'",
        ),
        (
            product('variable = "T2"\ncrop = { index = { west_east = [50, 60] } }'),
            "crop.index", "outside of 0 to 40",
        ),
        (
            product('variable = "T2"\ncrop = { range = { x = [5e5, 6e5] } }'),
            "crop.range", "x 500000 to 600000 is outside",
        ),
        (
            product('variable = "T2"\ncrop = { follow = "min:PSFCC", half_width = 3 }'),
            "crop.follow", "did you mean PSFC",
        ),
        (product('variables = ["W", "QRAINE"]', "vtk"), "variables", "did you mean QRAIN"),
        (product('variables = ["W", "T2"]', "vtk"), "variables", "not on the same grid"),
        (product('variables = ["T"]\nunits = { T = "hPa" }', "netcdf"), "units.T", "K cannot be"),
        (product('variables = ["T2"]', "profile"), "variables", "T2 is not a 3-D field"),
        (product("at = { i = 60, j = 3 }", "sounding"), "at", "outside of the domain"),
        (product('variable = "vortcity"', "track"), "variable", "did you mean vorticity"),
        (
            product('isosurfaces = [{ variable = "WX", value = 1 }]', "scene"),
            "isosurfaces.0.variable", "no variable 'WX'",
        ),
        (
            product('variable = "W"\nslices = { y = [500] }', "scene"),
            "slices.y", "y = 500 is outside of the domain, which has 1 to 81",
        ),
        (
            product('variable = "W"\nslices = { lat = [25] }', "scene"),
            "slices.lat", "have no lat to be cut at: take x and y",
        ),
        (product('variable = "W"', "scene"), "variable", "say by slices where it is shown"),
        (product('components = ["T2"]', "peak"), "components", "T2 is in K: a ground motion"),
        (
            product('components = ["U10"]\nstations = [{ x = 9e6, y = 9e6 }]', "seismogram"),
            "stations", "none of its places is in the domain",
        ),
    ],
)  # fmt: skip
def test_a_value_that_frames_will_not_have_is_an_error_at_its_key(
    wrf_inputs, found, table, key, text
):
    wrf_inputs()
    findings = found(table)
    assert list(findings) == [f"product.p.{key}"]
    finding = findings[f"product.p.{key}"]
    assert finding.level == "error"
    assert text in finding.text
    assert finding.text.startswith(f"product.p.{key}: ")


@pytest.mark.parametrize(
    "table",
    [
        product('variable = "T2"\nunits = "degC"\ncontours = { variable = "slp", units = "hPa" }'),
        product('variable = "W"\nlevel = 40'),
        product('variable = "W@39"'),
        product('variable = "W@60hPa"'),
        product('variable = "W@19-25km"'),
        product('variables = ["W"]\ntop = 20', "profile"),
        product('variable = "W"\nlevel = -1'),
        product('variable = "wind@500hPa"\nunits = "kn"\nbarbs = { u = "U@1km agl", v = "V@1" }'),
        product('variable = "hypot(U10, V10) [m s-1]"\nunits = "kn"'),
        product('variable = "QGRAUP"\ncrop = { index = { bottom_top = 3 } }'),
        product('variable = "o3"\nlevel = 0\ncrop = { range = { x = [7e4, 9e9] } }'),
        product('variable = "rain_rate"'),
        product('variable = "T2"\ncities = [{ x = 9e6, y = 0 }, { x = 1e4, y = 1e4 }]'),
        product('variables = ["U", "V", "W", "reflectivity"]\nwind = {}', "vtk"),
        product('variables = ["T", "T2", "TSLB", "PM10"]', "netcdf"),
        product('variable = "W"\nstart = { i = 0, j = 0 }\nend = { i = 9, j = 9 }', "section"),
        product('variable = "slp"\nunits = "hPa"', "track"),
        product('variable = "W"\nslices = { x = [1, 80.5], height = [1.5] }', "scene"),
        '[[guard]]\nexpression = "max(abs(W)) > mean(T2)"\nlevel = 9\n',
        '[[guard]]\nvariable = "slp"\n',
    ],
)  # fmt: skip
def test_what_frames_may_have_passes(wrf_inputs, found, table):
    wrf_inputs()
    assert found(table) == {}


def test_a_picture_that_reaches_above_the_domain_is_a_warning(wrf_inputs, found):
    wrf_inputs()
    line = "start = { i = 0, j = 0 }\nend = { i = 9, j = 9 }\n"
    high = found(product(f'variable = "W"\n{line}top = 45', "section"))["product.p.top"]
    assert (high.level, "whose top is at 20 km" in high.text) == ("warning", True)
    low = product(f'variable = "W"\n{line}vertical = "pressure"\ntop = 20', "section")
    assert "whose top is at 57.16 hPa" in found(low)["product.p.top"].text


def test_each_fault_of_a_recipe_is_found_beside_the_others(wrf_inputs, found):
    wrf_inputs()
    findings = found(
        product(
            'variable = "T22"\nlevel = 1\ncrop = { range = { x = [9e6, 9.1e6] } }\n'
            'contours = [{ variable = "W", level = 99, units = "K" }]\n'
            "stations = [{ x = -9e6, y = 0 }]"
        )
        + '[[product]]\nname = "s"\nkind = "map"\nstream = "d1"\nvariable = "T2"\n'
        + '[[guard]]\nvariable = "WXYZ"\n[[guard]]\nname = "named"\nvariable = "W"\nlevel = 41\n'
    )
    assert {path for path, finding in findings.items() if finding.level == "error"} == {
        "product.p.variable", "product.p.crop.range", "product.p.contours.0.level",
        "product.p.contours.0.units", "product.p.stations", "product.s.stream",
        "guard.0.variable", "guard.named.level",
    }  # fmt: skip


def test_places_on_the_earth_are_compared_with_the_domain(wrf_inputs, found):
    wrf_inputs(CYCLONE)
    ends = "start = { lat = 24, lon = -92 }\nend = { lat = 24, lon = %d }"
    beside = product('variable = "W"\n' + ends % -60, "section")
    assert found(beside)["product.p.end"].level == "warning"
    away = product(
        'variable = "W"\nstart = { lat = 60, lon = 0 }\nend = { lat = 60, lon = 5 }', "section"
    )
    assert {path: one.level for path, one in found(away).items()} == {
        "product.p.start": "error", "product.p.end": "error",
    }  # fmt: skip
    assert found(product('variable = "W"\n' + ends % -90, "section")) == {}
    cut = 'variable = "W"\nslices = { lon = [%d] }'
    assert list(found(product(cut % 10, "scene"))) == ["product.p.slices.lon"]
    assert found(product(cut % (360 - 91), "scene")) == {}
    crop = "crop = { range = { lon = [%d, %d], lat = [20, 60] } }"
    assert found(product('variable = "T2"\n' + crop % (-95, -91))) == {}
    assert list(found(product('variable = "T2"\n' + crop % (0, 10)))) == ["product.p.crop.range"]
    places = 'stations = [{ name = "A", lat = 24, lon = -91 }, { name = "B", lat = 80, lon = 0 }]'
    one = found(product(f'variable = "T2"\n{places}'))["product.p.stations"]
    assert (one.level, one.text) == ("warning", "product.p.stations: outside of the domain: B")


def test_a_point_outside_is_found_beside_an_unknown_variable(wrf_inputs, found):
    wrf_inputs()
    lines = 'variable = "WXYZ"\nstart = {{ i = {0}, j = 3 }}\nend = {{ i = {0}, j = 9 }}'
    assert list(found(product(lines.format(3), "section"))) == ["product.p.variable"]
    assert list(found(product(lines.format(60), "section"))) == [
        "product.p.variable", "product.p.start", "product.p.end",
    ]  # fmt: skip


def test_a_step_that_may_move_the_domain_makes_its_place_doubtful(wrf_inputs, found):
    wrf_inputs(CYCLONE)
    away = product('variable = "T2"\ncrop = { range = { lon = [0, 10], lat = [20, 60] } }')
    step = '[[step]]\nname = "real"\ncommand = ["./real.exe"]\nbefore = "simulation"\n'
    assert found(away + step)["product.p.crop.range"].level == "warning"


def test_iofields_add_variables_and_take_them_out(wrf_inputs, found):
    folder = wrf_inputs(settings="iofields_filename = 'fields.txt'")
    (folder / "fields.txt").write_text("+:h:0:UH,my_own\n-:h:0:W,RAINNC\n# -:h:0:T2\n")
    asked = product('variables = ["UH", "MY_OWN", "T2", "W"]', "netcdf")
    assert "the stream d01 has no variable 'W'" in found(asked)["product.p.variables"].text
    assert found(product('variables = ["UH", "MY_OWN", "T2"]', "netcdf")) == {}
    (folder / "fields.txt").unlink()
    assert {one.level for one in found(asked).values()} == {"warning"}


def test_earlier_output_among_the_inputs_names_what_the_registry_does_not(wrf_inputs, found):
    folder = wrf_inputs(None)
    (folder / "wrfinput_d01").symlink_to(CYCLONE)
    asked = product('variables = ["THM_OF_MINE"]', "netcdf")
    assert found(asked)["product.p.variables"].level == "error"
    with netCDF4.Dataset(folder / "wrfout_d01_0001-01-01_00:00:00", "w") as data:
        data.createDimension("Time", None)
        data.createDimension("west_east", 7)
        data.createVariable("Times", "S1", ("Time",))[0] = b"x"
        data.createVariable("THM_OF_MINE", "f4", ("Time", "west_east"))[0] = 1
    assert "product.p.variables" not in found(asked)


def test_a_stream_without_frames_is_a_warning_and_an_unknown_stream_an_error(wrf_inputs, found):
    wrf_inputs(settings="auxhist2_outname = 'rain_d<domain>_<date>'\n auxhist3_interval = 10")
    table = '[[product]]\nname = "{0}"\nkind = "map"\nvariable = "RAINNC"\nstream = "{0}"\n'
    names = ("auxhist2_d01", "auxhist3_d01", "d02", "history")
    findings = found("".join(table.format(name) for name in names))
    streams = {name: findings.get(f"product.{name}.stream") for name in names}
    assert streams["auxhist3_d01"] is None
    assert "auxhist2_interval is not set" in streams["auxhist2_d01"].text
    assert "no stream 'd02'" in streams["d02"].text
    assert [streams[name].level for name in ("auxhist2_d01", "d02", "history")] == [
        "warning", "warning", "error",
    ]  # fmt: skip
    assert findings["product.auxhist3_d01.variable"].level == "warning"


@pytest.mark.parametrize("kind", ["vtk", "netcdf", "scene"])
def test_a_volume_that_a_worker_cannot_hold_is_warned_of(
    kind: str, wrf_inputs: Any, found: Any, monkeypatch: pytest.MonkeyPatch
):
    wrf_inputs()
    monkeypatch.setattr(inspection, "_HELD", 10_000)  # as of a domain 1,250 times as large
    held = 'isosurfaces = [{ variable = "W", value = 2 }]' if kind == "scene" else (
        'variables = ["W"]' + ("\ncompress = true" if kind == "vtk" else "")
    )  # fmt: skip
    key = "isosurfaces" if kind == "scene" else "variables"
    one = found('[viewing]\nmemory = "400 MB"\n' + product(held, kind))[f"product.p.{key}"]
    assert one.level == "warning"
    assert "takes about 657 MiB, and a worker may use 381 MiB" in one.text
    assert "a crop or a stride needs less" in one.text
    cropped = held + "\ncrop = { stride = 2 }"
    assert f"product.p.{key}" not in found(
        '[viewing]\nmemory = "400 MB"\n' + product(cropped, kind)
    )
