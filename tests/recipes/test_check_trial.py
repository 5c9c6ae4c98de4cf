"""A trial of `check`: faults planted in recipes, all found at their lines.

A line that is at fault ends with ``# <- `` and words of its message. What is reported must be these
and nothing else. The initial states and namelists are the real model's.
"""

from __future__ import annotations

import re
import tomllib

import pytest
from check_case import GULF, NESTS, T2, WRF, Case, Inputs, find, lay

from burstlens.core.fault import Fault

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("mpi_launcher")]

MARK = re.compile(r"# <- ([^#\n]+)")


WRONG = {
    "a variable, a level and a unit": Case(
        WRF
        + """[[product]]
name = "a"
kind = "map"
variable = "T22" # <- no variable 'T22'; did you mean T2
[[product]]
name = "b"
kind = "map"
variable = "W"
level = 99 # <- level 99 is outside of bottom_top_stag, which has 0 to 40
[[product]]
name = "c"
kind = "map"
variable = "T2"
units = "hPa" # <- K cannot be shown as 'hPa'
"""
    ),
    "text, table, inputs and namelist at once": Case(
        WRF.replace('"inputs"', '"inputs" # <- there is no wrfinput_d02')
        + T2
        + 'colourmap = "viridis" # <- unknown key; did you mean colormap\n'
        + T2.replace("t2", "b").replace('"T2"', '"QRAINE" # <- did you mean QRAIN'),
        Inputs("max_dom = 2\n input_from_file = .true., .true."),
    ),
    "names of colours": Case(
        WRF
        + T2
        + 'colormap = "virdis" # <- did you mean viridis\n'
        + 'contours = { variable = "slp", colour = "rde" } # <- not a colour\n'
    ),
    "kind, stream and model": Case(
        WRF.replace('"wrf"', '"wrff" # <- no model "wrff"; did you mean wrf')
        + T2.replace('"map"', '"mapp" # <- no kind "mapp"; did you mean map')
        + T2.replace("t2", "s")
        + "stream = \"d1\" # <- no stream 'd1'\n"
    ),
    "outside of the domain in kilometres": Case(
        WRF
        + T2
        + "crop = { range = { x = [5e5, 6e5] } } # <- x 500000 to 600000 is outside\n"
        + """[[product]]
name = "cut"
kind = "section"
variable = "W"
start = { i = 60, j = 3 } # <- outside of the domain
end = { i = 70, j = 3 } # <- outside of the domain
[[product]]
name = "wall"
kind = "scene"
variable = "W"
slices = { height = [90] } # <- height = 90 is outside of the domain, which has 0 to 20 km
"""
    ),
    "outside of the domain in degrees": Case(
        WRF
        + T2
        + "crop = { range = { lon = [0, 10], lat = [50, 60] } } # <- outside\n"
        + 'stations = [{ name = "A", lat = 60, lon = 0 }] # <- none of its places is in\n'
        + """[[product]]
name = "column"
kind = "sounding"
at = { lat = 60, lon = 5 } # <- outside of the domain
[[product]]
name = "cut"
kind = "section"
variable = "W"
start = { lat = 60, lon = 0 } # <- outside of the domain
end = { lat = 60, lon = 5 } # <- outside of the domain
""",
        GULF,
    ),
    "no boundaries": Case(
        WRF.replace('"inputs"', '"inputs" # <- there is no wrfbdy_d01') + T2,
        Inputs("specified = .true."),
    ),
    "no restart file": Case(
        WRF.replace('"inputs"', '"inputs" # <- there is no wrfrst_d01_') + T2,
        Inputs("restart = .true."),
    ),
    "no analyses, no nest": Case(
        WRF.replace(
            '"inputs"', '"inputs" # <- no wrffdda_d01 # <- no wrfinput_d02 # <- no wrfinput_d03'
        )
        + T2,
        Inputs(
            f"{NESTS}\n grid_fdda = 1, 0, 0\n gfdda_interval_m = 60\n"
            " gfdda_inname = 'wrffdda_d<domain>'"
        ),
    ),
    "a folder of output that leads out": Case(
        WRF.replace('"inputs"', '"inputs" # <- history_outname leads out')
        + T2
        + "level = 1 # <- T2 has no levels\n",
        Inputs("history_outname = '/scratch/w_d<domain>_<date>'"),
    ),
    "checkpoints that nobody sees": Case(
        WRF + 'segments = "until done" # <- rst_outname leads out\n' + T2,
        Inputs("rst_outname = '/scratch/r_d<domain>_<date>'"),
    ),
    "checkpoints that replace each other": Case(
        WRF + T2 + '[checkpoint]\nevery = "1 h" # <- rst_outname has no <domain>\n',
        Inputs("max_dom = 2\n rst_outname = 'r_<date>'"),
    ),
    "another domain than the namelist's": Case(
        WRF.replace('"inputs"', '"inputs" # <- namelist.input e_we = 50') + T2,
        Inputs("e_we = 50, 50"),
    ),
    "nothing of WRF among the inputs": Case(
        WRF.replace('"inputs"', '"inputs" # <- no namelist.input and no wrfinput_d01: name a WRF')
        + T2
        + "width_px = 3 # <- width_px\n",
        Inputs(bare=True),
    ),
    "no inputs, no file of a product": Case(
        WRF.replace('"inputs"', '"nowhere" # <- there is no folder')
        + '[[product]]\nname = "mine"\nkind = "python"\n'
        + 'function = "plots.py:rain" # <- there is no file\n'
    ),
    "capacity": Case(
        WRF
        + '[buffer]\ncapacity = "1000000 TiB" # <- room\n'
        + T2.replace('"T2"', '"T22" # <- no variable')
    ),
    "types and ranges": Case(
        WRF
        + "nodes = 0 # <- greater than or equal to 1\n"
        + 'walltime = "soon" # <- expected a duration\n'
        + "[buffer]\nreserve = 1.5 # <- less than 1\n"
        + T2
        + "every = 0 # <- greater than or equal to 1\n"
        + 'level = "low" # <- valid integer\n'
    ),
    "a wrong type beside a wrong variable": Case(
        WRF
        + T2.replace('"T2"', '"T22" # <- no variable')
        + 'level = "low" # <- valid integer\n'
        + T2.replace("t2", "other").replace('"T2"', "3 # <- valid string")
    ),
    "a name that is taken": Case(
        WRF
        + T2
        + T2.replace('"t2"', '"t2" # <- taken by another').replace('"T2"', '"T3" # <- no variable')
    ),
    "invalid names": Case(
        WRF
        + T2.replace('"t2"', '"t 2" # <- a name is 1 to 64')
        + 'units = "K kg" # <- K cannot be shown\n'
        + T2.replace('"t2"', '"../x" # <- a name is').replace('"T2"', '"W@40" # <- level 40')
    ),
    "guards": Case(
        WRF
        + "[[guard]]\nvariable = \"W\"\nthen = \"explode\" # <- 'stop' or 'stop-now'\n"
        + "[[guard]]\nvariable = \"WXX\" # <- no variable 'WXX'\n"
        + '[[guard]]\nlog = "(unclosed" # <- (unclosed\n'
        + '[[guard]]\nvariable = "W"\nlevel = 41 # <- level 41 is outside\n'
        + '[[guard]]\nexpression = "max(W) > 3 and mean(T22) > 1" # <- T22\n'
        + '[[guard]]\nexpression = "mxa(W) > 3" # <- mxa\n'
    ),
    "expressions": Case(
        WRF
        + T2.replace('"T2"', "\"hypot(U10, V11) [m s-1]\" # <- no variable 'V11'")
        + T2.replace("t2", "b").replace('"T2"', '"sqr(T2)" # <- sqr')
        + T2.replace("t2", "c").replace('"T2"', '"T2 + W [K]" # <- not on one grid')
    ),
    "levels that no column has": Case(
        WRF
        + T2.replace('"T2"', '"temperature@1hPa" # <- 1 hPa is above the domain')
        + T2.replace("t2", "b").replace('"T2"', '"wind@40km" # <- above the domain')
        + '[[product]]\nname = "cut"\nkind = "section"\nvariable = "W"\n'
        + "start = { i = 1, j = 3 }\nend = { i = 9, j = 3 }\n"
        + 'vertical = "pressure"\ntop = 2000 # <- nothing is left\n'
    ),
    "products that follow one another": Case(
        WRF
        + '[[product]]\nname = "storm"\nkind = "track"\nvariable = "slpp" # <- did you mean slp\n'
        + '[[product]]\nname = "map"\nkind = "track-map"\ntrack = "strom" # <- did you mean storm\n'
        + T2
        + 'crop = { follow = "track:t2", half_width_km = 3 } # <- not a product that goes\n'
    ),
    "products that follow each other in a circle": Case(
        WRF
        + "".join(
            f'[[product]]\nname = "{a}"\nkind = "python"\nfunction = "p.py:f" # <- no file\n'
            f'chained = true\nextension = "csv"\nfollows = ["{b}"] # <- itself follows another\n'
            for a, b in ("ab", "ba")
        )
    ),
    "parameters": Case(
        "[parameters]\nnodes = { type = 'int', default = 'two' } # <- expected a number\n"
        "level = { type = 'int' } # <- is required\n"
        + WRF
        + 'nodes = "{nods}" # <- {nods} is not a parameter\n'
        + T2.replace('"T2"', '"T22" # <- no variable')
        + 'level = "{level}"\n'
    ),
    "settings": Case(
        WRF + T2,
        given=("product.t2.variable=T22", "product.t3.level=1", "simulation.nodes=x"),
        beside=("no variable 'T22'", 'there is no "t3"', "valid integer"),
    ),
    "an unknown parent": Case(
        'extends = "wrf-overvew" # <- did you mean wrf-overview\n'
        + WRF
        + T2.replace('"T2"', '"T22" # <- no variable')
    ),
    "faults in the parent": Case(
        'extends = "parent.toml"\n[[product]]\nname = "t2"\nlevel = 1 # <- T2 has no levels\n',
        parent=WRF
        + "ranks_per_node = 0 # <- greater than\n"
        + T2
        + T2.replace("t2", "b").replace('"T2"', '"T22" # <- no variable'),
    ),
    "broken lines": Case(
        "title = Storm # <- a text stands in quotes\n"
        + WRF
        + "nodes = 3x # <- unexpected text\n"
        + T2.replace('"T2"', '"T22" # <- no variable')
        + "limits = [1, 2 # <- closing bracket\n"
        + '[[guard]]\nvariable = "WXX" # <- no variable\n'
    ),
    "an unknown site": Case(
        WRF + T2.replace('"T2"', '"T22" # <- no variable'),
        site="lokal",
        beside=('no site "lokal"; did you mean local',),
    ),
    "an unknown stager": Case(
        WRF + T2 + 'dpi = "x" # <- valid integer\n',
        site='scheduler = "local"\n[buffer]\nfolders = ["/tmp"]\nstager = "posx"\n',
        beside=("no stager 'posx'; did you mean posix",),
    ),
    "faults of the site's file": Case(
        WRF + T2.replace('"T2"', '"T22" # <- no variable'),
        site='scheduler = "slrum" # <- did you mean slurm\n'
        '[buffer]\nkind = "disk" # <- input should\n'
        "[viewing]\nnods = 3 # <- did you mean nodes\n",
    ),
    "variables of other kinds": Case(
        WRF
        + '[[product]]\nname = "v"\nkind = "vtk"\nvariables = ["W", "T2"] # <- the same grid\n'
        + '[[product]]\nname = "p"\nkind = "profile"\nvariables = ["T2"] # <- not a 3-D field\n'
        + '[[product]]\nname = "s"\nkind = "scene"\nvariable = "W" # <- say by slices\n'
        + '[[product]]\nname = "n"\nkind = "netcdf"\nvariables = ["W", "Q"] # <- variable \'Q\'\n'
    ),
}


def planted(case: Case) -> dict[tuple[str, int], list[str]]:
    """The words of each fault, by file and line."""
    return {
        (name, number): [words.strip() for words in MARK.findall(line)]
        for name, text in (
            ("it.toml", case.text),
            ("parent.toml", case.parent),
            ("own.toml", case.site or ""),
        )
        for number, line in enumerate(text.splitlines(), 1)
        if MARK.search(line)
    }


def where(fault: Fault) -> tuple[str, int]:
    place = fault.place
    return (place.file.name, place.line) if place and place.file and not place.setting else ("", 0)


@pytest.mark.parametrize("what", WRONG)
def test_every_planted_fault_is_found_at_its_line_and_nothing_else(what, wrf_inputs, tmp_path):
    case = WRONG[what]
    lay(case.inputs, wrf_inputs, tmp_path)
    report = find(case, tmp_path)
    found: dict[tuple[str, int], list[str]] = {}
    for fault in (*report.faults, *report.errors):
        found.setdefault(where(fault), []).append(fault.message)
        assert fault.message.count("did you mean") <= 1
    expected = planted(case) | ({("", 0): list(case.beside)} if case.beside else {})
    shown = "\n".join(f"{at}: {said}" for at, said in found.items())
    assert found.keys() == expected.keys(), shown
    for at, words in expected.items():
        assert len(found[at]) == len(words), shown
        for one in words:
            assert any(one in message for message in found[at]), (one, shown)
    assert not report.right


def test_the_trial_has_many_faults():
    count = sum(
        len(words) for case in WRONG.values() for words in (*planted(case).values(), case.beside)
    )
    assert (len(WRONG) >= 30, count >= 80) == (True, True)


BY_SHAPE = (
    "text, table, inputs and namelist at once", "kind, stream and model", "types and ranges",
    "a wrong type beside a wrong variable", "invalid names", "guards",
)  # fmt: skip


@pytest.mark.parametrize("what", BY_SHAPE)
def test_the_schema_refuses_what_is_wrong_by_shape(validator, what):
    assert not validator.is_valid(tomllib.loads(WRONG[what].text))
