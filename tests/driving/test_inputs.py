"""The inputs' folder: what is walked, what is staged in, what is old output."""

from __future__ import annotations

import errno
import os
import re

import pytest

from burstlens.workflows.awm.adapter import Awm
from burstlens.workflows.models.command import Command
from burstlens.workflows.models.inputs import (
    dead_links,
    earlier_frame,
    input_files,
    input_folders,
    old_output,
    selected,
)
from burstlens.workflows.models.wrf import Wrf

OLD = "2005-08-28_12:00:00"


@pytest.fixture
def fill(tmp_path):
    """Writes empty inputs of these names, and a namelist with these settings."""

    def write(*names: str, settings: str = ""):
        for name in names:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text("")
        if settings:
            (tmp_path / "namelist.input").write_text(f"&time_control {settings} /\n")
        return tmp_path

    return write


def taken(inputs, model) -> set[str]:
    return {name for _, name in selected(inputs, model, ()).files} - {"namelist.input"}


def test_links_that_lead_nowhere_are_named_and_not_selected(tmp_path):
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "there").write_text("")
    for name, target in (("a", "nowhere"), ("tables/b", "b"), ("c", "tables/there")):
        (tmp_path / name).symlink_to(target)
    assert dead_links(tmp_path) == ["a", "tables/b"]
    chosen = selected(tmp_path, Command(argv=["./m"], frames="*.nc"), ())
    assert [name for _, name in chosen.files] == ["c", "tables/there"]
    assert chosen.left == 2


def test_a_folder_that_does_not_answer_for_a_moment_is_not_left_out(fill, monkeypatch):
    inputs = fill("a", "tables/b")
    chosen = selected(inputs, Command(argv=["./m"], frames="*.nc"), ())
    real, failed = os.scandir, []

    def stale(path):
        if str(path).endswith("tables") and len(failed) < 2:
            failed.append(path)
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE), path)
        return real(path)

    monkeypatch.setattr(os, "scandir", stale)
    assert selected(inputs, Command(argv=["./m"], frames="*.nc"), ()) == chosen
    assert len(failed) == 2


def test_an_earlier_frame_is_the_newest_of_its_stream_with_all_tiles(fill):
    fill("wrfout_d01_2005-08-28_00:00:00", "out/wrfout_d01_2005-08-29_00:00:00_0000",
         "out/wrfout_d01_2005-08-29_00:00:00_0001", "wrfout_d02_2005-08-30_00:00:00")  # fmt: skip
    inputs = fill(settings="history_outname = 'out/wrfout_d<domain>_<date>'")
    identify = Wrf().configured(inputs).identify
    assert [path.name[-4:] for path in earlier_frame(inputs, identify, "d01")] == ["0000", "0001"]
    assert earlier_frame(inputs, identify, "d03") == ()


def test_folders_that_link_in_a_circle_are_walked_once(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "loop").symlink_to("..")
    (tmp_path / "a" / "x").write_text("")
    assert [name for _, name in input_files(tmp_path / "a")] == ["x"]
    assert input_folders(tmp_path / "a") == ["b"]


def test_two_links_to_one_folder_are_both_staged_in(tmp_path):
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "table").write_text("")
    (tmp_path / "in").mkdir()
    for name in ("d01", "d02"):
        (tmp_path / "in" / name).symlink_to("../shared")
    found = {name for _, name in input_files(tmp_path / "in")}
    assert found == {"d01/table", "d02/table"}


@pytest.mark.parametrize(
    "old",
    [
        f"wrfout_d01_{OLD}",
        f"out/wrfout_d02_{OLD}",
        f"deep/er/auxhist2_d01_{OLD}_0003",
        f"out/arctic_d01_{OLD}",
        f"out/wrfoutReady_d01_{OLD}",
        "logs/rsl.error.0000",
        f"rst/wrfrst_d01_{OLD}",
        f"restarts/mine_d01_{OLD}",
        f"wrfrst_d01_{OLD}",
    ],
)
def test_old_output_of_wrf_is_left_behind_by_relative_and_by_default_names(fill, old):
    inputs = fill(
        old,
        "wrfinput_d01",
        settings="history_outname = './out//arctic_d<domain>_<date>', restart = .false., "
        "rst_outname = 'restarts/mine_d<domain>_<date>'",
    )
    assert taken(inputs, Wrf()) == {"wrfinput_d01"}


def test_a_restart_stages_its_restart_files_in_wherever_they_are(fill):
    names = {f"rst/wrfrst_d01_{OLD}", f"wrfrst_d02_{OLD}"}
    inputs = fill(*names, f"out/wrfout_d01_{OLD}", settings="restart = .true.")
    assert taken(inputs, Wrf()) == names


def test_what_the_namelist_names_as_input_is_not_old_output(fill):
    name = f"parent/wrfout_d01_{OLD}"
    inputs = fill(name, settings="auxinput2_inname = 'parent/wrfout_d<domain>_<date>'")
    assert taken(inputs, Wrf()) == {name}


def test_old_output_of_any_program_is_judged_by_its_relative_name(fill):
    inputs = fill("out/a.nc", "data/a.nc", "a.nc")
    assert taken(inputs, Command(argv=["x"], frames="out/*.nc")) == {"data/a.nc", "a.nc"}
    assert taken(inputs, Command(argv=["x"], frames="./*.nc")) == {"out/a.nc", "data/a.nc"}


def test_the_folders_that_wrf_writes_to_are_made_and_none_outside(fill):
    inputs = fill(
        "wrfinput_d01",
        settings="history_outname = 'a/b/../wrfout_d<domain>_<date>',\n"
        " auxhist2_outname = './rain/d<domain>/<year>-<month>/r_<date>',\n"
        " rst_outname = '../rst/wrfrst_d<domain>_<date>', auxinput5_outname = '/abs/x',\n"
        " input_outname = 'c/../../1/x', auxhist3_outname = 'by/<date>/x',\n"
        " max_dom = 2, start_year = 2005, start_month = 8, start_day = 31, run_hours = 24",
    )
    assert selected(inputs, Wrf(), ()).folders == (
        "a", "a/b", "rain", "rain/d01", "rain/d01/2005-08", "rain/d01/2005-09",
        "rain/d02", "rain/d02/2005-08", "rain/d02/2005-09",
    )  # fmt: skip
    folders = Wrf().configured(inputs).facts(inputs).folders
    assert {"", "a", "rain/d02/2005-09"} <= set(folders)


def test_the_restart_file_that_wrf_starts_from_is_linked_and_every_later_one_copied(fill):
    inputs = fill(
        settings="restart = .true., rst_outname = 'rst/wrfrst_d<domain>_<date>', "
        "start_year = 2005, start_month = 8, start_day = 28, start_hour = 12"
    )
    copied = Wrf().configured(inputs).output_names(inputs).copied
    for name in (f"wrfrst_d01_{OLD}", "rst/wrfrst_d02_2005-08-28_12_00_00_0003", "wrfinput_d01"):
        assert not re.fullmatch(copied, name), name
    for name in ("wrfrst_d01_2005-08-28_13:00:00", "rst/wrfrst_d02_2005-08-28_13_00_00_0003",
                 f"wrfout_d01_{OLD}", "namelist.output", "rsl.out.0000"):  # fmt: skip
        assert re.fullmatch(copied, name), name


@pytest.mark.parametrize("name", ["surface_000001.nc", "volume.nc", "stations.nc"])
def test_awm_and_any_program_write_their_frames_through_no_link(tmp_path, name):
    assert re.fullmatch(Awm().output_names(tmp_path).copied, name)
    model = Command(argv=["x"], frames={"a": f"./{name}", "b": "out/*.nc"})
    assert re.fullmatch(model.output_names(tmp_path).copied, name)
    assert not re.fullmatch(model.output_names(tmp_path).copied, "table.nc")


def test_old_output_is_counted_and_named_in_one_message(tmp_path):
    (tmp_path / "out_1.nc").touch()
    left = "the inputs hold output of an earlier run, which is not taken along"
    assert old_output(tmp_path, lambda name: True) == [f"{left}: 1 file (out_1.nc)"]
    (tmp_path / "out_2.nc").touch()
    (message,) = old_output(tmp_path, lambda name: True)
    assert message.startswith(f"{left}: 2 files (")
