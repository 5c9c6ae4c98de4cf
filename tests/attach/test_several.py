"""Folders that hold several runs, and runs whose output lies in several folders."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from attach_case import FIELD, LONLAT, NAMELIST, TIME, Write, known, patterns, touch
from attach_case import write_netcdf as netcdf

from burstlens.core.errors import SeveralRunsError

D01, D02 = "wrfout_d01_0001-01-01_00:08:00", "wrfout_d02_0001-01-01_00:08:00"


def listed(folder: Path) -> list[str]:
    """The folders of the runs that are found side by side."""
    with pytest.raises(SeveralRunsError) as caught:
        known(folder)
    assert all(f"burstlens look {name}" in str(caught.value) for name in caught.value.folders)
    return [Path(name).name for name in caught.value.folders]


@pytest.mark.integration
def test_wrf_runs_side_by_side_are_listed_and_not_mixed(
    tmp_path: Path, wrf_frame: Callable[..., Path]
):
    for name in ("storm", "nested"):
        wrf_frame(f"{name}/{D01}")
        touch(tmp_path, f"{name}/rsl.error.0000", f"{name}/namelist.input")
    wrf_frame(f"nested/{D02}")
    assert listed(tmp_path) == ["nested", "storm"]


@pytest.mark.integration
def test_so_are_copies_of_their_output_without_logs(tmp_path: Path, wrf_frame: Callable[..., Path]):
    wrf_frame(f"storm/{D01}")
    wrf_frame(f"nested/{D01}")
    wrf_frame(f"nested/{D02}")
    assert listed(tmp_path) == ["nested", "storm"]


@pytest.mark.integration
def test_beside_runs_with_settings_copies_of_others_without_them_are_listed(
    tmp_path: Path, wrf_frame: Callable[..., Path]
):
    for name in ("storm", "warm"):
        wrf_frame(f"{name}/{D01}")
        touch(tmp_path, f"{name}/namelist.input")
    wrf_frame(f"nested/{D01}")
    wrf_frame(f"katrina/{D01}.nc")
    assert listed(tmp_path) == ["katrina", "nested", "storm", "warm"]


@pytest.mark.integration
def test_domains_in_folders_of_their_own_are_one_run(
    tmp_path: Path, wrf_frame: Callable[..., Path]
):
    wrf_frame(f"d01/{D01}")
    wrf_frame(f"d02/{D02}")
    assert patterns(known(tmp_path)).keys() == {"d01", "d02"}


def test_runs_that_have_not_written_yet_are_listed_by_their_settings(tmp_path: Path):
    for name in ("a", "b"):
        touch(tmp_path, f"{name}/namelist.input", content=NAMELIST.encode())
    assert listed(tmp_path) == ["a", "b"]


def test_any_models_runs_side_by_side_are_listed(tmp_path: Path, regular: Write):
    for name in ("cold", "warm", "warmer"):
        regular(f"{name}/out_001.nc", {"tas": FIELD})
        touch(tmp_path, f"{name}/ocean.log")
    regular("plots/tas_001.nc", {"tas": FIELD})
    assert listed(tmp_path) == ["cold", "warm", "warmer"]


def test_members_below_the_settings_of_one_run_are_one_run(tmp_path: Path, regular: Write):
    touch(tmp_path, "run.nml", "job.log")
    for name in ("mem01", "mem02"):
        regular(f"{name}/out_001.nc", {"tas": FIELD})
    assert len(known(tmp_path).streams) == 2


def test_members_with_logs_of_their_own_are_runs(tmp_path: Path, regular: Write):
    touch(tmp_path, "submit.log")
    for name in ("mem01", "mem02"):
        regular(f"{name}/out_001.nc", {"tas": FIELD})
        touch(tmp_path, f"{name}/model.log")
    assert listed(tmp_path) == ["mem01", "mem02"]


def test_a_stream_in_folders_by_year_is_one_run(tmp_path: Path, regular: Write):
    for year in (2001, 2002, 2003):
        regular(f"{year}/out_{year}0101.nc", {"tas": FIELD})
    assert len(known(tmp_path).streams) == 3


def test_models_that_run_together_are_one_run(tmp_path: Path, regular: Write):
    regular("atm/atm_001.nc", {"tas": FIELD})
    regular("ocn/ocn_001.nc", {"tos": FIELD})
    touch(tmp_path, "atm/atm.log", "ocn/ocn.log")
    assert len(known(tmp_path).streams) == 2


def test_ranks_in_folders_of_their_own_are_no_runs(tmp_path: Path):
    for rank, first in enumerate((0.0, 8.0)):
        netcdf(
            tmp_path / f"rank{rank}" / "out_001.nc", {"time": None, "lat": 6, "lon": 8},
            {"time": TIME, **LONLAT, "tas": FIELD}, values={"lon": [first + at for at in range(8)]},
        )  # fmt: skip
    known(tmp_path)  # no runs


def test_one_run_beside_other_folders_is_one_run(tmp_path: Path, regular: Write):
    touch(tmp_path, "wps/namelist.wps", "real/namelist.input", "notes/log.txt")
    regular("run/out_001.nc", {"tas": FIELD})
    touch(tmp_path, "run/model.log")
    assert patterns(known(tmp_path)).keys() == {"out"}


def test_streams_that_the_user_names_are_taken(tmp_path: Path, regular: Write):
    for name in ("cold", "warm"):
        regular(f"{name}/out_001.nc", {"tas": FIELD})
        touch(tmp_path, f"{name}/ocean.log")
    found = known(tmp_path, streams={"warm": "warm/out_*.nc"})
    assert patterns(found).keys() == {"warm"}
