"""What comes home of several attempts, and the checkpoint that an attempt resumes from."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from burstlens.workflows.awm.adapter import Awm
from burstlens.workflows.placement import model_folder
from burstlens.workflows.placement.buffer import BufferRef, bring_all_home, release
from burstlens.workflows.recipe.wanted import Wanted

MODEL = Awm()
SHARED = {"surface.nc": (1, 2)}


@pytest.fixture
def buffer(tmp_path: Path) -> BufferRef:
    for attempt, files in enumerate(
        ({"surface.nc": b"one", "surface_000001.nc": b"1", "table.txt": b"short"},
         {"surface.nc": b"two", "surface_000002.nc": b"2", "table.txt": b"longer"}), 1,
    ):  # fmt: skip
        folder = tmp_path / "buffer" / "storm" / str(attempt)
        folder.mkdir(parents=True)
        (folder / "model.log").write_text(f"attempt {attempt}")
        for name, data in files.items():
            (folder / name).write_bytes(data)
    return BufferRef("posix", str(tmp_path / "buffer"), "storm")


def content(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def test_frames_of_all_attempts_come_home_and_of_other_files_the_newest(buffer, tmp_path):
    home, logs = tmp_path / "home" / "output", tmp_path / "home" / "logs"
    logs.mkdir(parents=True)
    what = Wanted(("*.nc", "*.txt"))
    found = bring_all_home(buffer, (1, 2), MODEL, what, str(home), str(logs))
    assert content(home) == {
        "surface.nc": b"two", "attempt-1/surface.nc": b"one",
        "surface_000001.nc": b"1", "surface_000002.nc": b"2", "table.txt": b"longer",
    }  # fmt: skip
    assert dict(found.files) == {name: len(data) for name, data in content(home).items()}
    assert content(logs) == {
        "attempt-1/model.log": b"attempt 1", "attempt-2/model.log": b"attempt 2",
    }  # fmt: skip


def test_frames_that_are_home_from_another_buffer_are_put_aside_once(buffer, tmp_path):
    home, logs = tmp_path / "home" / "output", tmp_path / "home" / "logs"
    logs.mkdir(parents=True)
    what = Wanted(("*.nc", "*.txt"))
    bring_all_home(buffer, (1,), MODEL, what, str(home), str(logs))
    shutil.rmtree(tmp_path / "buffer" / "storm" / "1")
    for _ in range(2):
        bring_all_home(buffer, (2,), MODEL, what, str(home), str(logs), shared=SHARED)
        assert content(home) == {
            "surface.nc": b"two", "attempt-1/surface.nc": b"one",
            "surface_000001.nc": b"1", "surface_000002.nc": b"2", "table.txt": b"longer",
        }  # fmt: skip


def test_stale_files_stay_where_they_are(buffer, tmp_path):
    home, logs = tmp_path / "home" / "output", tmp_path / "home" / "logs"
    logs.mkdir(parents=True)
    stale = {1: frozenset({"surface.nc"})}
    bring_all_home(buffer, (1, 2), MODEL, Wanted(("*.nc",)), str(home), str(logs), stale)
    assert content(home) == {
        "surface.nc": b"two", "surface_000001.nc": b"1", "surface_000002.nc": b"2",
    }  # fmt: skip


def test_a_file_that_was_brought_home_before_is_brought_again_without_harm(buffer, tmp_path):
    home, logs = tmp_path / "home" / "output", tmp_path / "home" / "logs"
    logs.mkdir(parents=True)
    for _ in range(2):
        bring_all_home(buffer, (1, 2), MODEL, Wanted(("surface.nc",)), str(home), str(logs))
    assert content(home) == {"surface.nc": b"two", "attempt-1/surface.nc": b"one"}


def job(folder: str, *names: str) -> dict[str, object]:
    return {"folder": folder, "checkpoint": [[f"storm/1/{name}", name] for name in names]}


def test_an_attempt_has_the_checkpoint_of_the_one_before_and_keeps_it_when_that_is_deleted(
    buffer, tmp_path
):
    base = tmp_path / "buffer"
    (base / "storm" / "1" / "rst").write_bytes(b"state")
    made = model_folder.make(base, job("storm/3", "rst"))
    assert os.path.samefile(made / "rst", base / "storm" / "1" / "rst")
    (base / "storm" / "1" / "rst").unlink()
    assert (made / "rst").read_bytes() == b"state"
    model_folder.make(base, job("storm/3", "rst"))  # again, as by a second supervisor


def test_it_is_copied_where_there_are_no_hard_links(buffer, tmp_path, monkeypatch):
    base = tmp_path / "buffer"
    (base / "storm" / "1" / "rst").write_bytes(b"state")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    made = model_folder.make(base, job("storm/3", "rst"))
    assert (made / "rst").read_bytes() == b"state"
    assert not os.path.samefile(made / "rst", base / "storm" / "1" / "rst")


def test_a_checkpoint_that_is_gone_is_named(buffer, tmp_path):
    with pytest.raises(ValueError, match=r"the checkpoint's file .*/storm/1/rst is gone"):
        model_folder.make(tmp_path / "buffer", job("storm/3", "rst"))


@pytest.mark.parametrize("state", [b"", b"stat", b"state and more"])
def test_one_of_another_size_than_when_it_was_whole_is_refused(buffer, tmp_path, state):
    base = tmp_path / "buffer"
    (base / "storm" / "1" / "rst").write_bytes(b"state")
    sized = {"folder": "storm/3", "checkpoint": [["storm/1/rst", "rst", 5]]}
    assert (model_folder.make(base, sized) / "rst").read_bytes() == b"state"
    (base / "storm" / "1" / "rst").write_bytes(state)
    found = f"/storm/1/rst has {len(state)} bytes instead of 5"
    with pytest.raises(ValueError, match=f"the checkpoint's file .*{found}"):
        model_folder.make(base, sized)


def test_a_file_of_a_branch_that_was_given_up_moves_aside_at_home(buffer, tmp_path):
    """It came home when the run had ended before."""
    home, logs = tmp_path / "home" / "output", tmp_path / "home" / "logs"
    logs.mkdir(parents=True)
    what = Wanted(("*.nc",))
    bring_all_home(buffer, (1,), MODEL, what, str(home), str(logs))
    left = {1: frozenset({"surface_000001.nc", "never.nc"})}
    stale = {1: left[1] | {"surface.nc"}}
    for _ in range(2):
        bring_all_home(buffer, (1, 2), MODEL, what, str(home), str(logs), stale, left)
        assert content(home) == {
            "surface.nc": b"two", "surface_000002.nc": b"2", "attempt-1/surface_000001.nc": b"1",
        }  # fmt: skip


@pytest.mark.parametrize("first", [1, 2])
def test_a_growing_file_that_was_released_is_not_replaced_by_another_attempt_s(
    buffer, tmp_path, first
):
    home = tmp_path / "home" / "output"
    (tmp_path / "home").mkdir()
    for attempt in (first, 3 - first):
        shared = {} if (first, attempt) == (1, 1) else SHARED  # the second had not begun
        for _ in range(2):  # a retry does no harm
            release(buffer, [f"storm/{attempt}/surface.nc"], ("*.nc",), str(home), shared)
    assert content(home) == {"surface.nc": b"two", "attempt-1/surface.nc": b"one"}


@pytest.mark.parametrize("released", [1, 2])
def test_nor_by_one_that_comes_home_at_the_end(buffer, tmp_path, released):
    home, logs = tmp_path / "home" / "output", tmp_path / "home" / "logs"
    logs.mkdir(parents=True)
    shared = {} if released == 1 else SHARED
    release(buffer, [f"storm/{released}/surface.nc"], ("*.nc",), str(home), shared)
    what = Wanted(("surface.nc",))
    for _ in range(2):
        bring_all_home(buffer, (1, 2), MODEL, what, str(home), str(logs), {}, {}, SHARED)
    assert content(home) == {"surface.nc": b"two", "attempt-1/surface.nc": b"one"}
