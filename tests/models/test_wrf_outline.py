"""What is known of WRF's frames before the run, against frames that the real model wrote."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import netCDF4
import pytest

from burstlens.workflows.models.wrf import Wrf
from burstlens.workflows.models.wrf_outline import table

DATA = Path(__file__).parents[1] / "data" / "wrf"
FRAMES = [
    "wrfout_d01_0001-01-01_00_08_00", "wrfout_d02_0001-01-01_00_03_00",
    "wrfout_d01_2005-08-28_21_00_00",
]  # fmt: skip


@pytest.mark.parametrize("name", FRAMES)
def test_the_table_has_each_variable_of_a_frame_with_its_dimensions_and_units(name: str):
    with netCDF4.Dataset(DATA / name) as data:
        for variable in set(data.variables.values()):
            if variable.name in ("Times", "XTIME"):  # the table does not know when a run begins
                continue
            entry = table()[variable.name]
            assert entry.dimensions == variable.dimensions[1:], variable.name
            assert 0 in entry.streams, variable.name
            # WRF fills an empty unit in.
            assert entry.units in (variable.units.strip(), ""), variable.name


def test_names_are_as_wrf_writes_them_and_chemistry_is_marked():
    assert table()["DN"].units == ""
    assert (table()["o3"].units, table()["o3"].chem) == ("ppmv", True)
    assert "O3" not in table()
    assert table()["P_PL"].streams == {23}
    assert table()["TSLB"].dimensions == ("soil_layers_stag", "south_north", "west_east")
    assert not table()["UH"].streams


def test_sizes_are_those_of_the_initial_state_and_then_of_the_namelist(tmp_path: Path):
    settings = "max_dom = 2, e_we = 74, 112, e_sn = 61, 97, e_vert = 40, 40, num_soil_layers = 4"
    (tmp_path / "namelist.input").write_text(f"&domains {settings} /")
    nest = Wrf().outline(tmp_path, "d02")
    assert nest is not None
    assert nest.attributes is None
    assert {k: nest.sizes[k] for k in ("west_east", "south_north_stag", "bottom_top")} == {
        "west_east": 111, "south_north_stag": 97, "bottom_top": 39,
    }  # fmt: skip
    assert nest.sizes["soil_layers_stag"] == 4
    (tmp_path / "wrfinput_d01").symlink_to(DATA / FRAMES[0])
    outer = Wrf().outline(tmp_path, "d01")
    assert outer is not None
    assert outer.sizes["west_east"] == 41
    assert outer.attributes is not None
    assert outer.attributes["DX"] == 2000


def test_the_place_of_a_nest_that_may_move_is_uncertain(tmp_path: Path):
    sizes = "e_we = 42, 43, e_sn = 42, 43, e_vert = 41, 41"
    (tmp_path / "namelist.input").write_text(f"&domains max_dom = 2, {sizes}, num_moves = 3 /")
    places = {name: Wrf().outline(tmp_path, name) for name in ("d01", "d02")}
    assert {name: known.is_placed for name, known in places.items() if known} == {
        "d01": True, "d02": False,
    }  # fmt: skip


def test_without_a_namelist_nothing_is_known(tmp_path: Path):
    assert Wrf().outline(tmp_path, "d01") is None


REGISTRY = """
dimspec    i       1     standard_domain           x     west_east
dimspec    j       3     standard_domain           y     south_north
dimspec    k       2     standard_domain           z     bottom_top
dimspec    l       2     namelist=num_soil_layers  z     soil_layers
dimspec    np      2     namelist=num_press        z     num_press_levels
# state  real  hidden  ij  misc  1  -  h  "HIDDEN"  "a comment"  "K"
state real u     ikjb    dyn_em 2 X i0rhusdf=(bdy_interp:dt) "U" "x-wind component" "m s-1"
state real dn    k       misc   1 - irh         "dn "  "a name in upper case" ""
state real tslb  ilj     misc   1 Z i02rhd=(interp_mask_field:lu_index,iswater) "TSLB" "soil" "K"
state real t_pl  i{np}j  misc   1 Z h{23}       "T_PL" "pressure level data" \\
  "K"
state real tt    ikj     misc   1 - r           "TT"   "no history"
include registry.more
"""
CHEM = """
include Registry.EM
state real o3    ikjftb  chem   1 - i0{12}rhusdf=(bdy_interp:dt) "o3" "ozone" "ppmv"
state real e_co  i{np}jf emis   1 Z i5          "E_CO" "an emission" "mol"
"""


@pytest.mark.integration
def test_the_table_is_made_from_the_registry(tmp_path: Path):
    (tmp_path / "Registry.EM").write_text(REGISTRY)
    (tmp_path / "Registry.EM_CHEM").write_text(CHEM)
    (tmp_path / "registry.more").write_text('state real t2 ij misc 1 - i01rh01{22} "T2" "T" "K"\n')
    script = Path(__file__).parents[2] / "tools" / "wrf_variables.py"
    done = subprocess.run(
        [sys.executable, script, tmp_path], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [
        "DN\tbottom_top\t\t0\t",
        "T2\tsouth_north,west_east\tK\t0,1,22\t",
        "TSLB\tsoil_layers_stag,south_north,west_east\tK\t0\t",
        "TT\tbottom_top,south_north,west_east\t-\t\t",
        "T_PL\tnum_press_levels_stag,south_north,west_east\tK\t23\t",
        "U\tbottom_top,south_north,west_east_stag\tm s-1\t0\t",
        "o3\tbottom_top,south_north,west_east\tppmv\t0\tchem",
    ]
