"""Right recipes pass `check` without an alarm, and the schema takes them."""

from __future__ import annotations

import tomllib

import pytest
from check_case import GULF, NESTS, REAL, T2, WRF, Case, Inputs, find, lay

from burstlens.workflows.plan.report import check_report
from burstlens.workflows.recipe.survey import survey

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("mpi_launcher")]


def extended(name: str, *lines: str) -> str:
    """A recipe that ships with inputs, and more of its tables."""
    return f'extends = "{name}"\n[simulation]\ninputs = "inputs"\n' + "".join(lines)


COMMAND = (
    '[simulation]\nmodel = "command"\ncommand = ["./model.sh"]\nframes = "out_*.nc"\n'
    'inputs = "inputs"\n'
)
GIVEN = ("inputs=inputs",)
RIGHT: dict[str, tuple[Case, tuple[str, ...]]] = {
    "wrf-live, idealized": (Case('extends = "wrf-live"\n', given=GIVEN), ()),
    "wrf-live, on the earth": (Case('extends = "wrf-live"\n', GULF, GIVEN), ()),
    "wrf-live with another variable": (
        Case('extends = "wrf-live"\n', GULF, (*GIVEN, "variable=slp", "nodes=4")), (),
    ),
    "wrf-overview without a nest": (
        Case('extends = "wrf-overview"\n', GULF, GIVEN), ("no stream 'd02'",),
    ),
    "wrf-overview with a nest": (
        Case('extends = "wrf-overview"\n', Inputs("max_dom = 2"), GIVEN), (),
    ),
    "wrf-severe": (Case('extends = "wrf-severe"\n', given=GIVEN), ()),
    "wrf-cyclone": (Case('extends = "wrf-cyclone"\n', GULF, GIVEN), ()),
    "wrf-chem-live": (
        Case(
            'extends = "wrf-chem-live"\n', GULF,
            (*GIVEN, "species=DUST_1", "west=-91", "east=-89", "south=24", "north=26"),
        ),
        (),
    ),
    "wrf-cyclone in a moving nest": (
        Case(
            'extends = "wrf-cyclone"\n',
            Inputs("max_dom = 2\n vortex_interval = 15, 15", cyclone=True), (*GIVEN, "stream=d02"),
        ),
        (),
    ),
    "command-generic": (
        Case(
            'extends = "command-generic"\n',
            given=(*GIVEN, "variable=T2", "program=./wrf.exe", "frames=field_*.nc"),
        ),
        ("code of the recipe that will run: simulation: ./wrf.exe",),
    ),
    "three domains of a real case": (
        Case(
            WRF + T2 + T2.replace("t2", "n2") + 'stream = "d02"\n' + T2.replace("t2", "n3")
            + 'stream = "d03"\nlevel = 3\n'.replace("level = 3\n", ""),
            Inputs(
                f"{NESTS}\n specified = .true., .false., .false.\n e_we = 42, 42, 42\n"
                " e_sn = 42, 42, 42\n e_vert = 41, 41, 41",
                ("wrfinput_d02", "wrfinput_d03", "wrfbdy_d01"),
            ),
        ),
        (),
    ),
    "a restart": (
        Case(WRF + T2, Inputs("restart = .true.", ("wrfrst_d01_0001-01-01_00:00:00",))), (),
    ),
    "nudged": (
        Case(
            WRF + T2,
            Inputs(
                "grid_fdda = 1\n gfdda_interval_m = 60\n gfdda_inname = 'wrffdda_d<domain>'",
                ("wrffdda_d01",),
            ),
        ),
        (),
    ),
    "a step that makes the inputs": (
        Case(WRF + T2 + REAL, Inputs("specified = .true.\n max_dom = 1")),
        ("there is no wrfbdy_d01", "code of the recipe"),
    ),
    "auxiliary streams": (
        Case(
            WRF + T2.replace('"T2"', '"RAINNC"') + 'stream = "auxhist2_d01"\n'
            + T2.replace("t2", "p") + 'stream = "auxhist3_d01"\n',
            Inputs("auxhist2_interval = 10\n auxhist3_interval = 5"),
        ),
        ("only where iofields_filename asks", "only where iofields_filename asks"),
    ),
    "every kind": (
        Case(
            WRF
            + """[[product]]
name = "a"
kind = "map"
variable = "wind@850hPa"
units = "kn"
barbs = { u = "U@850hPa", v = "V@850hPa" }
contours = [{ variable = "height@850hPa", interval = 30 }, { variable = "slp", units = "hPa" }]
cities = [{ name = "New Orleans", lat = 29.95, lon = -90.07 }, { lat = 24, lon = -91 }]
crop = { range = { lon = [-92, -89], lat = [23, 26] } }
colormap = "cmocean.speed"
[[product]]
name = "b"
kind = "section"
variable = "wind"
start = { lat = 24, lon = -92 }
end = { lat = 24, lon = -90 }
vertical = "pressure"
top = 500
contours = { variable = "theta_e", interval = 4 }
[[product]]
name = "c"
kind = "sounding"
at = { lat = 24, lon = -91 }
[[product]]
name = "d"
kind = "profile"
variables = ["temperature", "QVAPOR", "dew_point"]
units = { temperature = "degC" }
top = 6
[[product]]
name = "e"
kind = "vtk"
variables = ["QVAPOR", "theta_e"]
wind = {}
crop = { follow = "track:f", half_width_km = 100 }
[[product]]
name = "f"
kind = "track"
variable = "slp"
first_guess = { lat = 24.5, lon = -90.5 }
[[product]]
name = "g"
kind = "track-map"
track = "f"
[[product]]
name = "h"
kind = "netcdf"
variables = ["T2", "U", "QVAPOR"]
[[product]]
name = "i"
kind = "scene"
variable = "wind"
slices = { lat = [24], height = [3] }
isosurfaces = [{ variable = "QVAPOR", value = 10, units = "g kg-1", colour = "#3b5f8a" }]
[[guard]]
variable = "W"
max = 80
level = 5
[[guard]]
expression = "max(hypot(U10, V10)) > 90 or min(PSFC) < 8e4"
then = "stop"
[[guard]]
log = "cfl"
count = 10
[[guard]]
stall = 8
""",
            GULF,
        ),
        (),
    ),
    "expressions and levels": (
        Case(
            WRF + T2.replace('"T2"', '"height@500hPa - height@1000hPa [m]"')
            + T2.replace("t2", "b").replace('"T2"', '"2 * hypot(U10, V10) [m s-1]"')
            + 'units = "kn"\n' + T2.replace("t2", "c").replace('"T2"', '"wind@0-6km agl"')
            + T2.replace("t2", "d").replace('"T2"', '"lapse_rate@700-500hPa"')
            + T2.replace("t2", "e").replace('"T2"', '"W@39"')
        ),
        (),
    ),
    "a program with a step after it": (
        Case(
            COMMAND.replace("./model.sh", "sh") + "[stage_out]\nkeep = ['*.nc']\n"
            '[[step]]\nname = "movie"\ncommand = ["sh", "-c", "ls {x}"]\nafter = "simulation"\n'
            + T2 + '[[product]]\nname = "own"\nkind = "command"\n'
            'command = ["cp", "{frame}", "{out}"]\nextension = "nc"\n'
        ),
        ("code of the recipe",),
    ),
    "streams of a program": (
        Case(
            COMMAND.replace("./model.sh", "sh").replace(
                '"out_*.nc"', '{ a = "a_*.nc", b = "b_*.nc" }'
            )
            + T2 + 'stream = "b"\n'
        ),
        ("code of the recipe that will run: simulation: sh",),
    ),
    "flags of a program, beside a parameter of a similar name": (
        Case(
            '[parameters]\nhours = { type = "int", default = 2 }\n'
            + COMMAND.replace("./model.sh", "sh").replace(
                '"out_*.nc"', '{ atm = "atmf{hour}.nc", sfc = "sfcf{hour}.nc" }'
            )
            + 'ready = "log.atm.f{hour}"\ntime_variable = ""\nnodes = "{hours}"\n'
            + T2 + 'stream = "sfc"\n'
        ),
        ("code of the recipe that will run: simulation: sh",),
    ),
    "parameters in texts and numbers": (
        Case(
            '[parameters]\nn = { type = "int", default = 2 }\nv = { default = "T2" }\n' + WRF
            + 'nodes = "{n}"\n' + T2.replace('"T2"', '"{v}"') + 'every = "{n}"\ntitle = "{v} now"\n'
        ),
        (),
    ),
    "a recipe over one that ships": (
        Case(
            extended("wrf-live", '[[product]]\nname = "map"\nlevel = 3\nvariable = "W"\n'),
            given=GIVEN,
        ),
        (),
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", RIGHT)
def test_a_right_recipe_raises_no_alarm(what, wrf_inputs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    case, warnings = RIGHT[what]
    lay(case.inputs, wrf_inputs, tmp_path)
    report = find(case, tmp_path)
    assert [fault.line() for fault in (*report.faults, *report.errors)] == []
    assert report.right
    found = [fault.line() for fault in (*report.warnings, *report.notes)]
    assert len(found) == len(warnings), found
    for words in warnings:
        assert any(words in one for one in found), (words, found)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("seismic-basin", ()),
        ("seismic-basin", ("simulation.parameters=quick.toml",)),
        ("seismic-scenario", ()),
    ],
)
def test_an_earthquake_that_ships_raises_no_alarm(name, settings):
    report = check_report(name, None, settings, survey)
    assert (report.right, report.warnings, len(report.notes)) == (True, (), 1)


@pytest.mark.parametrize("what", RIGHT)
def test_the_schema_takes_every_right_recipe(validator, what):
    assert list(validator.iter_errors(tomllib.loads(RIGHT[what][0].text))) == []
