"""Settings of WRF's namelist that a person changes: which values are taken, and which refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from burstlens.core.errors import RecipeError
from burstlens.workflows.models.continuation import Continuation
from burstlens.workflows.models.wrf import Wrf
from burstlens.workflows.models.wrf_settings import reals, wanted_changes

TEXT = """
&time_control
 run_hours = 12, history_interval = 60, 60, 60, restart = .false.
 history_outname = 'wrfout_d<domain>_<date>', nocolons = .false., fine_input_stream = 0,
/
&domains
 max_dom = 2, time_step = 10, e_we = 41, 43, 43, dx = 2000, use_adaptive_time_step = F,
 dtramp_min = 60, nproc_x = 2, nproc_y = 2
/
&physics
 mp_physics = 6, 6, 6, obs_sdfile = 'a', slope_rad =
 radt = 10, 10, cu_physics = 0, 0, sf_surface_physics = 2, ra_sw_physics = 4, nwp_diagnostics = 0
/
&dynamics
 use_theta_m = 1, epssm = 0.1, mine = 3, w_damping = 0, km_opt = 4
/
&notes
 mood = 1
/
"""


def changes(**settings: str) -> dict:
    return wanted_changes(
        TEXT, {f"namelist.{key.replace('__', '.')}": settings[key] for key in settings}
    )


@pytest.mark.parametrize(
    ("key", "text", "values"),
    [
        ("domains__time_step", "6", [6]),
        ("DOMAINS__Time_Step", "6", [6]),
        ("domains__time_step", " 6 ", [6]),
        # Of the settings that are whole numbers here WRF reads these as real ones.
        ("domains__dtramp_min", "2.5", [2.5]),
        ("physics__radt", "2.5, 2.5", [2.5, 2.5]),
        ("dynamics__epssm", "0.5", [0.5]),
        ("dynamics__epssm", "1", [1]),
        ("domains__use_adaptive_time_step", ".true.", [True]),
        ("domains__use_adaptive_time_step", "T", [True]),
        ("time_control__history_interval", "30, 15", [30, 15]),
        ("time_control__history_interval", "2*30", [30, 30]),
        ("time_control__history_interval", "30, 15, 5", [30, 15, 5]),
        ("time_control__fine_input_stream", "0, 2", [0, 2]),
        ("physics__obs_sdfile", "my/file", ["my/file"]),
        ("physics__obs_sdfile", "'my, file'", ["my, file"]),
        ("physics__slope_rad", "1, 1", [1, 1]),
        ("physics__nwp_diagnostics", "1", [1]),
        ("dynamics__w_damping", "1", [1]),
        ("dynamics__km_opt", "2", [2]),
    ],
)  # fmt: skip
def test_values_are_read_as_in_a_namelist_one_per_domain(key: str, text: str, values: list):
    group, _, name = key.lower().partition("__")
    assert changes(**{key: text}) == {(group, name): values}


@pytest.mark.parametrize(
    ("key", "text", "message"),
    [
        ("domains__time_stp", "6", "has no time_stp; did you mean time_step"),
        ("physics__time_step", "6", "&physics of namelist.input has no time_step; it is in &domai"),
        ("domain__time_step", "6", "has no group &domain; did you mean domains"),
        ("notes__mood", "2", "has no group &notes"),
        ("domains__time_step", "fast", "expected numbers, got 'fast'"),
        ("domains__time_step", "", "expected numbers, got ''"),
        ("domains__time_step", "6 / &physics x = 1", "expected numbers"),
        ("domains__time_step", "6, max_dom = 3", "expected numbers"),
        ("domains__time_step", "6\n", None),
        ("domains__time_step", "6, 7, 8", "expected 1 value, one per domain, got 3"),
        ("time_control__history_interval", "30", "expected 2 values, one per domain, got 1"),
        ("time_control__history_interval", "30,,30", "expected numbers"),
        ("domains__use_adaptive_time_step", "1", "expected truth values"),
        ("domains__time_step", "6.5", "expected whole numbers, as in namelist.input, got '6.5'"),
        ("domains__time_step", "6.0", "expected whole numbers"),
        ("domains__time_step", "6e0", "expected whole numbers"),
        ("dynamics__mine", "1.5", "expected whole numbers"),
        ("physics__mp_physics", "8, 8", "variables WRF carries from step to step"),
        ("physics__cu_physics", "1, 0", "variables WRF carries from step to step"),
        ("physics__sf_surface_physics", "4", "variables WRF carries from step to step"),
        ("physics__ra_sw_physics", "1", "variables WRF carries from step to step"),
        ("dynamics__use_theta_m", "0", "variables WRF carries from step to step"),
        ("domains__max_dom", "1", "domains or their grid"),
        ("domains__e_we", "50, 50", "domains or their grid"),
        ("domains__dx", "1000", "domains or their grid"),
        ("domains__nproc_x", "4", "which part of a domain each rank has"),
        ("domains__nproc_y", "1", "which part of a domain each rank has"),
        ("time_control__run_hours", "24", "set for each attempt"),
        ("time_control__restart", "T", "set for each attempt"),
        ("time_control__history_outname", "x", "output files: change namelist.input"),
        ("time_control__nocolons", "T", "output files: change namelist.input"),
    ],
)
def test_what_is_wrong_with_a_setting_is_said(key: str, text: str, message: str | None):
    if message is None:
        assert changes(**{key: text})
        return
    with pytest.raises(RecipeError, match=message):
        changes(**{key: text})


@pytest.mark.parametrize("name", ["time_step", "namelist.time_step", "namelist", "wrf.domains.x"])
def test_a_name_of_another_form_is_no_setting_of_wrf(name: str):
    with pytest.raises(RecipeError, match=r"namelist\.<group>\.<key>"):
        wanted_changes(TEXT, {name: "1"})


@pytest.mark.integration
def test_the_list_of_real_settings_is_made_from_the_registry(tmp_path: Path):
    (tmp_path / "Registry.EM").write_text(
        "rconfig real Radt namelist,physics max_domains 0 h\n"
        "rconfig integer time_step namelist,domains 1 -1 ih\n"
        'state real u ikjb dyn_em 2 X i0rhusdf=(bdy_interp:dt) "U" "x-wind" "m s-1"\n'
    )
    (tmp_path / "Registry.EM_CHEM").write_text(
        "include Registry.EM\nrconfig real bioemdt namelist,chem max_domains 0 h\n"
    )
    script = Path(__file__).parents[2] / "tools" / "wrf_variables.py"
    command = [sys.executable, script, tmp_path, "reals"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["bioemdt", "radt"]
    assert {"bioemdt", "radt", "dx"} <= reals()


def test_a_changed_setting_is_in_the_copy_and_in_the_differences(tmp_path):
    (tmp_path / "namelist.input").write_text(TEXT)
    wanted = Continuation(settings={"namelist.domains.time_step": "6"})
    found = Wrf().start(tmp_path, wanted)
    assert found.files == {"namelist.input": TEXT.replace("time_step = 10", "time_step = 6")}
    assert found.changes == ("time_step = 10 -> 6",)
