from __future__ import annotations

import errno
import os
import subprocess
import sys

import pytest

from burstlens.cluster_configs.site import BufferSite, Site
from burstlens.core.errors import SiteError, StagingError
from burstlens.workflows.models.command import Command
from burstlens.workflows.placement.buffer import (
    BufferRef,
    Released,
    bring_home,
    destroy,
    release,
    stage_in,
    with_room,
)
from burstlens.workflows.placement.provision import Folder

MODEL = Command(argv=["./model.sh"], frames="out_*.nc")


@pytest.fixture
def buffer(tmp_path):
    (tmp_path / "bb" / "storm-1" / "1").mkdir(parents=True)
    return BufferRef("posix", str(tmp_path / "bb"), "storm-1")


@pytest.fixture
def place(buffer):
    """The model's folder on the buffer."""
    return buffer.root() / buffer.folder / "1"


def test_the_first_candidate_with_room_is_taken_and_is_the_users_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("SCRATCH_HERE", str(tmp_path))
    (tmp_path / "file").write_text("")
    candidates = ["$NOT_SET_ANYWHERE/x", "", str(tmp_path / "file"), "$SCRATCH_HERE/bb"]
    root = tmp_path / "bb" / f"burstlens-{os.getuid()}"
    assert with_room(candidates, 1000, "storm-1") == root
    space = Folder(Site(name="here", buffer=BufferSite(folders=tuple(candidates))), "storm-1", 1000)
    assert space.provide(None) == (BufferRef("posix", str(root), "storm-1"), False)
    assert root.stat().st_mode & 0o777 == 0o700
    assert (root / "storm-1").is_dir()


def test_the_error_for_no_room_says_what_each_candidate_has(tmp_path):
    with pytest.raises(SiteError) as raised:
        with_room([str(tmp_path)], 1 << 60, "storm-1")
    text = str(raised.value)
    assert text.startswith("no room in the buffer for 1024 PiB: ")
    assert f"{tmp_path}/burstlens-{os.getuid()} has " in text
    assert "BURSTLENS_BUFFER names another folder" in text


def test_a_folder_that_cannot_be_listed_is_not_left_behind(tmp_path, buffer, place, monkeypatch):
    (place / "deeper").mkdir()
    (place / "deeper" / "out_1.nc").write_text("kept")
    (tmp_path / "run").mkdir()
    real, number = os.scandir, errno.ESTALE

    def failing(path):
        nonlocal number
        if number and str(path).endswith("deeper"):
            error = OSError(number, os.strerror(number), str(path))
            number = 0 if number == errno.ESTALE else number
            raise error
        return real(path)

    monkeypatch.setattr(os, "scandir", failing)
    home = str(tmp_path / "run" / "output")
    assert bring_home(buffer, "1", ["*.nc"], home) == [("deeper/out_1.nc", 4)]
    number = errno.EACCES
    with pytest.raises(StagingError, match="cannot bring home") as raised:
        bring_home(buffer, "1", ["*.nc"], home)
    assert raised.value.errno == errno.EACCES


@pytest.mark.parametrize("number", [errno.ETIMEDOUT, errno.ESTALE, errno.EIO])
def test_a_buffer_is_freed_after_an_error_that_passes(buffer, place, monkeypatch, number):
    (place / "out_1.nc").write_text("raw")
    real, failed = os.scandir, []

    def failing(path):
        if not failed:
            failed.append(path)
            raise OSError(number, os.strerror(number), str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", failing)
    destroy(buffer)
    assert failed
    assert not place.parent.exists()


def test_an_error_that_stays_is_reported_as_the_buffer_is_freed(buffer, place, monkeypatch):
    def failing(path):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr(os, "scandir", failing)
    with pytest.raises(StagingError, match="cannot free the buffer") as raised:
        destroy(buffer)
    assert raised.value.errno == errno.EACCES


def test_what_stays_on_the_buffer_is_named_with_its_whole_path(buffer, place, monkeypatch):
    (place / "sub").mkdir()
    real = os.rmdir

    def failing(path, *, dir_fd=None):
        if os.fspath(path).endswith("sub"):
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), path)
        real(path, dir_fd=dir_fd)

    monkeypatch.setattr(os, "rmdir", failing)
    with pytest.raises(StagingError) as raised:
        destroy(buffer)
    assert (raised.value.path, raised.value.errno) == (str(place / "sub"), errno.EBUSY)


def test_an_existing_buffer_is_adopted(buffer):
    space = Folder(Site(name="here", buffer=BufferSite()), "storm-1", 1 << 60)
    assert space.provide(buffer) == (buffer, True)


def test_a_root_that_is_a_link_is_refused(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / f"burstlens-{os.getuid()}").symlink_to("elsewhere")
    with pytest.raises(SiteError, match="is not a folder of yours"):
        with_room([str(tmp_path)], 1000, "storm-1")
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder to another user")
def test_a_root_that_another_user_made_first_is_refused(tmp_path):
    (tmp_path / "burstlens-0").mkdir(mode=0o777)
    os.chown(tmp_path / "burstlens-0", 65534, 65534)
    with pytest.raises(SiteError, match="is not a folder of yours"):
        with_room([str(tmp_path)], 1000, "storm-1")


def test_a_root_that_others_may_write_is_refused(tmp_path):
    root = tmp_path / f"burstlens-{os.getuid()}"
    root.mkdir()
    root.chmod(0o777)
    with pytest.raises(SiteError, match="may be written by others"):
        with_room([str(tmp_path)], 1000, "storm-1")


def test_inputs_come_in_through_links_without_old_output(tmp_path, buffer):
    inputs, shared = tmp_path / "inputs", tmp_path / "shared"
    (inputs / "sub").mkdir(parents=True)
    shared.mkdir()
    (shared / "wrfinput").write_text("data")
    (inputs / "wrfinput").symlink_to("../shared/wrfinput")
    (inputs / "tables").symlink_to("../shared")
    (inputs / "sub" / "up").symlink_to("..")
    for name in ("out_1.nc", "notes.txt", "namelist"):
        (inputs / name).write_text(name)
    assert stage_in(buffer, str(inputs), MODEL, ["*.txt"]) == (3, 16, 2)
    target = buffer.root() / "storm-1" / "inputs"
    brought = sorted(str(p.relative_to(target)) for p in target.rglob("*") if p.is_file())
    assert brought == ["namelist", "tables/wrfinput", "wrfinput"]
    assert not any(path.is_symlink() for path in target.rglob("*"))


def test_folders_come_in_also_empty_ones_and_those_left_without_their_old_output(tmp_path, buffer):
    inputs = tmp_path / "inputs"
    for folder in ("empty/deeper", "out", "scratch"):
        (inputs / folder).mkdir(parents=True)
    (inputs / "out" / "out_1.nc").write_text("old")
    model = Command(argv=["./model.sh"], frames="out/out_*.nc")
    assert stage_in(buffer, str(inputs), model, ["scratch"]) == (0, 0, 1)
    target = buffer.root() / "storm-1" / "inputs"
    found = sorted(str(path.relative_to(target)) for path in target.rglob("*"))
    assert found == ["empty", "empty/deeper", "out"]


def test_a_link_among_the_inputs_that_leads_nowhere_is_left_behind(tmp_path, buffer):
    inputs = tmp_path / "inputs"
    inputs.mkdir()
    (inputs / "wrfinput").symlink_to("/nowhere/wrfinput")
    (inputs / "namelist").write_text("text")
    assert stage_in(buffer, str(inputs), MODEL, []) == (1, 4, 1)
    target = buffer.root() / "storm-1" / "inputs"
    assert [path.name for path in target.iterdir()] == ["namelist"]


def test_room_is_found_without_making_a_folder(tmp_path):
    full, free = tmp_path / "file", tmp_path / "not" / "yet"
    full.write_text("")
    root = with_room([str(full), str(free)], 1000)
    assert root == free / f"burstlens-{os.getuid()}"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file"]
    with pytest.raises(SiteError, match=r"no room in the buffer for 1024 PiB: .*/not/yet/.* has "):
        with_room([str(free)], 1 << 60)


def test_what_the_recipe_keeps_comes_home_verified_and_the_rest_stays(buffer, place, tmp_path):
    (place / "deep").mkdir()
    for name in ("wrfrst_1", "deep/wrfrst_2", "wrfout_1"):
        (place / name).write_text(name)
    (place / "wrfbdy").symlink_to("nowhere")
    home = tmp_path / "output"
    found = bring_home(buffer, "1", ["wrfrst_*", "deep/wrfrst_*"], str(home))
    assert sorted(found) == [("deep/wrfrst_2", 13), ("wrfrst_1", 8)]
    brought = sorted(str(path.relative_to(home)) for path in home.rglob("*") if path.is_file())
    assert brought == ["deep/wrfrst_2", "wrfrst_1"]


def test_released_frames_are_deleted_and_those_to_keep_are_home_first(buffer, place, tmp_path):
    (place / "deep").mkdir()
    names = ["out_1.nc", "rst_1", "deep/rst_2", "deep/out_2.nc"]
    for name in names:
        (place / name).write_text(name)
    paths = [f"storm-1/1/{name}" for name in names]
    home = tmp_path / "output"
    done = release(buffer, paths, ["rst_*", "deep/rst_*"], str(home))
    assert done == Released(files=4, home=2, bytes=sum(map(len, names)))
    assert not any((buffer.root() / path).exists() for path in paths)
    assert (home / "rst_1").read_text() == "rst_1"
    assert (home / "deep" / "rst_2").read_text() == "deep/rst_2"
    assert release(buffer, paths, ["rst_*"], str(home)) == Released(0, 0, 0)  # a retry


def test_a_link_among_released_frames_stays_and_only_freed_bytes_are_counted(buffer, place):
    (place / "out_1").write_bytes(bytes(1000))
    (place / "out_2").symlink_to("out_1")
    (place / "out_3").write_bytes(bytes(500))
    os.link(place / "out_3", place / "also_3")  # its bytes stay with the other name
    paths = [f"storm-1/1/out_{number}" for number in (1, 2, 3)]
    done = release(buffer, paths, [], "nowhere")
    assert done == Released(files=2, home=0, bytes=1000, links=("storm-1/1/out_2",))
    assert sorted(os.listdir(place)) == ["also_3", "out_2"]


def test_a_frame_that_cannot_be_brought_home_is_not_deleted(buffer, place, tmp_path):
    (place / "rst_1").write_text("precious")
    (tmp_path / "output").write_text("a file is in the way")
    with pytest.raises(StagingError) as raised:
        release(buffer, ["storm-1/1/rst_1"], ["rst_*"], str(tmp_path / "output"))
    assert raised.value.errno in {errno.EEXIST, errno.ENOTDIR}
    assert (place / "rst_1").read_text() == "precious"


@pytest.mark.integration
def test_a_full_target_leaves_no_partial_file_and_the_frame_on_the_buffer(buffer, place, tmp_path):
    (place / "rst_1").write_bytes(bytes(100_000))
    home = tmp_path / "output"
    code = f"""
import resource, sys
sys.dont_write_bytecode = True  # the limit would tear it, for every later process
from burstlens.core.errors import StagingError
from burstlens.workflows.placement.buffer import BufferRef, bring_home, release
buffer = BufferRef("posix", {buffer.path!r}, "storm-1")
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
for call in (
    lambda: bring_home(buffer, "1", ["rst_*"], {str(home)!r}),
    lambda: release(buffer, ["storm-1/1/rst_1"], ["rst_*"], {str(home)!r}),
):
    try:
        call()
    except StagingError as error:
        print(error.errno)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(errno.EFBIG)] * 2
    assert list(home.iterdir()) == []
    assert (place / "rst_1").stat().st_size == 100_000


def test_the_runs_folder_is_freed_and_nothing_else(buffer, tmp_path):
    (tmp_path / "bb" / "other").mkdir()
    destroy(buffer)
    destroy(buffer)
    assert os.listdir(tmp_path / "bb") == ["other"]


@pytest.mark.parametrize("folder", ["", ".", "..", "../x", "a/b", ".hidden"])
def test_a_folder_that_is_not_a_runs_is_never_deleted(tmp_path, folder):
    (tmp_path / "keep").write_text("")
    with pytest.raises(StagingError, match="left alone"):
        destroy(BufferRef("posix", str(tmp_path), folder))
    assert (tmp_path / "keep").exists()
