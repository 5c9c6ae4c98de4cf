"""What WRF reads at its start, against the inputs that are there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from burstlens.workflows.models.base import Lack
from burstlens.workflows.models.wrf import Wrf

STATE = Path(__file__).parents[1] / "data" / "wrf" / "wrfout_d01_0001-01-01_00_08_00"
NUDGED = "gfdda_interval_m = 60, grid_fdda = 1"
BEGIN = "start_year = 2005, start_month = 8, start_day = 28, start_hour = 12"


@pytest.fixture
def lacks(tmp_path: Path) -> Callable[..., list[Lack]]:
    """What a run with this namelist lacks, with these files among the inputs."""

    def look(settings: str, *files: str, program: str = "\x7fELF") -> list[Lack]:
        (tmp_path / "namelist.input").write_text(f"&time_control\n{settings}\n/\n")
        (tmp_path / "wrf.exe").write_text(program)
        for name in files:
            (tmp_path / name).symlink_to(STATE)
        return Wrf().lacks(tmp_path)

    return look


@pytest.mark.parametrize(
    ("settings", "files", "missing"),
    [
        ("max_dom = 1", (), ["wrfinput_d01"]),
        ("max_dom = 1", ("wrfinput_d01",), []),
        ("max_dom = 2", ("wrfinput_d01",), []),
        ("max_dom = 2, input_from_file = T, F", ("wrfinput_d01",), []),
        ("max_dom = 3, input_from_file = T, T, T", ("wrfinput_d01", "wrfinput_d03"),
         ["wrfinput_d02"]),
        ("input_inname = 'init_d<domain>'", ("wrfinput_d01",), ["init_d01"]),
        ("io_form_input = 102", ("wrfinput_d01_0000",), []),
        ("specified = .true.", ("wrfinput_d01",), ["wrfbdy_d01"]),
        ("specified = .true., .false.", ("wrfinput_d01", "wrfbdy_d01"), []),
        ("specified = .true., multi_bdy_files = .true.", ("wrfinput_d01",), []),
        (f"restart = .true., {BEGIN}", ("wrfinput_d01",), ["wrfrst_d01_2005-08-28_12:00:00"]),
        (f"restart = .true., {BEGIN}", ("wrfrst_d01_2005-08-28_12_00_00",), []),
        (f"restart = .true., {BEGIN}", ("wrfrst_d01_2005-08-28_00:00:00",),
         ["wrfrst_d01_2005-08-28_12:00:00"]),
        (f"restart = .true., rst_inname = 'back_d<domain>_<date>', {BEGIN}",
         ("back_d01_2005-08-28_12:00:00",), []),
        (f"{NUDGED}, gfdda_inname = 'wrffdda_d<domain>'", ("wrfinput_d01",), ["wrffdda_d01"]),
        (f"{NUDGED}, gfdda_inname = 'wrffdda_d<domain>'", ("wrfinput_d01", "wrffdda_d01"), []),
        ("grid_fdda = 0, gfdda_inname = 'wrffdda_d<domain>'", ("wrfinput_d01",), []),
        (f"max_dom = 2, {NUDGED}, 0", ("wrfinput_d01", "gfdda_d01"), []),
        ("max_dom = 2, gfdda_interval = 60, grid_fdda = 0, 1", ("wrfinput_d01",), ["gfdda_d02"]),
    ],
)  # fmt: skip
def test_missing_files_that_the_namelist_asks_for_are_named(lacks, settings, files, missing):
    found = lacks(settings, *files)
    assert [lack.file for lack in found] == missing
    assert all(lack.sure for lack in found)


def test_a_dangling_link_is_not_an_initial_state(lacks, tmp_path):
    (tmp_path / "wrfinput_d01").symlink_to("nowhere")
    assert [lack.file for lack in lacks("max_dom = 1")] == ["wrfinput_d01"]


def test_surface_analyses_and_those_without_an_interval_are_doubtful(lacks):
    found = lacks("grid_fdda = 2, grid_sfdda = 1", "wrfinput_d01")
    assert [(lack.file, lack.sure) for lack in found] == [
        ("gfdda_d01", False), ("sgfdda_d01", False),
    ]  # fmt: skip


def test_a_script_is_assumed_to_make_its_initial_state_unless_part_of_it_exists(lacks):
    script = "#!/bin/sh\n"
    assert lacks("specified = T", program=script) == []
    assert [lack.sure for lack in lacks(f"restart = T, {BEGIN}", program=script)] == [True]
    (lack,) = lacks("specified = T", "wrfinput_d01", program=script)
    assert (lack.file, lack.sure) == ("wrfbdy_d01", True)


def test_an_initial_state_of_another_size_than_in_the_namelist_is_named(lacks):
    sizes = "max_dom = 1, e_we = {}, e_sn = 42, e_vert = {}"
    assert lacks(sizes.format(42, 41), "wrfinput_d01") == []
    texts = [lack.text for lack in lacks(sizes.format(100, 35))]
    assert len(texts) == 2
    assert "WEST-EAST_GRID_DIMENSION = 42, and namelist.input e_we = 100 for domain 1" in texts[0]
    assert "BOTTOM-TOP_GRID_DIMENSION = 41, and namelist.input e_vert = 35" in texts[1]


def test_an_initial_state_that_cannot_be_read_is_named(lacks, tmp_path):
    (tmp_path / "wrfinput_d01").write_bytes(b"")
    (lack,) = lacks("max_dom = 1")
    assert (lack.file, lack.text) == ("wrfinput_d01", "wrfinput_d01 is empty")
    assert lacks("io_form_input = 5") == []


@pytest.mark.parametrize(
    ("settings", "name", "sure"),
    [
        ("sst_update = 1, auxinput4_inname = 'wrflowinp_d<domain>'", "wrflowinp_d01", False),
        ("iofields_filename = 'f.txt', 'f.txt'", "f.txt", False),
        ("iofields_filename = 'f.txt', ignore_iofields_warning = .false.", "f.txt", True),
    ],
)
def test_a_missing_optional_file_is_a_warning(lacks, tmp_path, settings, name, sure):
    (lack,) = lacks(settings, "wrfinput_d01")
    assert (lack.file, lack.sure) == (name, sure)
    (tmp_path / name).touch()
    assert lacks(settings) == []


def test_without_a_namelist_no_files_are_missing(tmp_path):
    assert Wrf().lacks(tmp_path) == []
