"""The folder vanishes, comes back, is another one, cannot be read, hangs; odd things lie in it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from look_case import ENDS_S, TESTS, LookCase, tree

pytestmark = pytest.mark.integration
LONG = ("--recipe", "content.toml", "--quiet-after", "1 h")


def cf(case: LookCase, *words: str) -> None:
    """Writes CF files into the folder, to the end."""
    command = [sys.executable, TESTS / "cf_writer.py", case.model, *words]
    assert subprocess.run(command, check=False).returncode == 0


@pytest.mark.fault
def test_a_folder_that_vanishes_and_comes_back_goes_on_and_another_one_is_an_attempt(
    case: LookCase,
) -> None:
    cf(case, "--frames", "3")
    look = case.start(*LONG)
    case.await_event("product.published", 3)
    away = case.model.rename(case.folder / "away")
    case.await_event("path.lost")
    away.rename(case.model)
    case.await_event("path.back")
    cf(case, "--first", "3", "--frames", "1")
    case.await_event("product.published", 4)
    assert [line["same"] for line in case.events("path.back")] == [True]
    assert len(case.events("attempt.observed")) == 1
    case.model.rename(case.folder / "old")
    case.await_event("path.lost", 2)
    case.model.mkdir()
    cf(case, "--frames", "2", "--offset", "3")
    case.await_event("product.published", 6)
    assert case.leave(look) == 0
    assert case.events("path.back")[-1]["same"] is False
    assert "another" in case.events("attempt.observed")[-1]["evidence"]
    assert {line["attempt"] for line in case.events("product.superseded")} == {1}
    assert case.events("run.ended")[-1]["outcome"] == "stopped"


@pytest.mark.fault
def test_a_folder_that_cannot_be_read_for_a_while_is_read_later(
    case: LookCase, ordinary: list[str]
) -> None:
    cf(case, "--frames", "2")
    look = case.start(*LONG, prefix=tuple(ordinary))
    case.await_event("product.published", 2)
    case.model.chmod(0)
    case.await_event("path.lost")
    assert "Permission denied" in case.events("path.lost")[0]["evidence"]
    case.model.chmod(0o755)
    case.await_event("path.back")
    cf(case, "--first", "2", "--frames", "1")
    case.await_event("product.published", 3)
    assert case.leave(look) == 0
    assert case.faults() == []


def test_a_folder_that_cannot_be_read_is_refused_in_one_line(
    case: LookCase, ordinary: list[str]
) -> None:
    case.model.chmod(0)
    assert case.end(case.start(prefix=tuple(ordinary))) == 1
    case.model.chmod(0o755)
    said = f"burstlens: cannot look at {case.model}: Permission denied"
    assert case.said().strip() == said


@pytest.mark.fault
def test_a_file_system_that_hangs_is_named_and_does_not_hold_up_the_end(
    tmp_path: Path, fuse: Any
) -> None:
    case = LookCase(tmp_path, fuse.place)
    try:
        writing = [sys.executable, TESTS / "cf_writer.py", fuse.source]
        subprocess.run([*writing, "--frames", "3"], check=True)
        before = tree(fuse.source)
        look = case.start(*LONG)
        case.await_event("product.published", 3)
        fuse.hang()
        case.await_event("path.lost", limit_s=90.0)
        assert "not answered" in case.events("path.lost")[0]["evidence"]
        fuse.answer()
        case.await_event("path.back")
        assert tree(fuse.source) == before
        subprocess.run([*writing, "--first", "3", "--frames", "1"], check=True)
        case.await_event("product.published", 4)
        fuse.hang()
        time.sleep(3.0)
        assert case.leave(look) == 0
        fuse.answer()
        assert case.faults() == []
        assert fuse.changes == ""
    finally:
        case.close()


@pytest.mark.fault
@pytest.mark.parametrize("page", [True, False])
def test_ctrl_c_ends_a_look_whose_folder_hangs_from_the_beginning(
    tmp_path: Path, fuse: Any, page: bool
) -> None:
    case = LookCase(tmp_path, fuse.place)
    try:
        fuse.hang()
        words = [] if page else ["--no-page"]
        look = case.burstlens("look", fuse.place, *words)
        time.sleep(4.0)
        look.send_signal(signal.SIGINT)
        look.wait(ENDS_S)
        assert "Traceback" not in case.said()
    finally:
        fuse.answer()
        case.close()


@pytest.mark.fault
def test_a_file_system_that_dies_and_is_mounted_again_is_the_same_folder(
    tmp_path: Path, fuse: Any
) -> None:
    case = LookCase(tmp_path, fuse.place)
    try:
        writing = [sys.executable, TESTS / "cf_writer.py", fuse.source]
        subprocess.run([*writing, "--frames", "3"], check=True)
        look = case.start(*LONG)
        case.await_event("product.published", 3)
        fuse.kill()
        case.await_event("path.lost")
        subprocess.run(["umount", "--lazy", fuse.place], check=True)
        fuse.mount()
        case.await_event("path.back")
        subprocess.run([*writing, "--first", "3", "--frames", "1"], check=True)
        case.await_event("product.published", 4)
        time.sleep(3.0)
        assert case.leave(look) == 0
        assert case.faults() == []
        assert len(case.events("product.published")) == 4
        assert len(case.events("attempt.observed")) == 1
    finally:
        case.close()


@pytest.mark.fault
def test_odd_names_links_in_circles_and_other_files_do_no_harm(case: LookCase) -> None:
    cf(case, "--frames", "2")
    cf(case, "--frames", "2", "--name", "sea_{:03d}.nc")
    cf(case, "--frames", "1", "--name", 'a "b" <img src=x onerror=alert(1)>_{:03d}.nc')
    cf(case, "--frames", "1", "--name", "line\nbreak_{:03d}.nc")
    cf(case, "--frames", "1", "--name", "model_restart_{:03d}.nc")
    (case.model / "loop").symlink_to(".")
    (case.model / "here").symlink_to("there")
    (case.model / "there").symlink_to("here")
    (case.model / "turn_009.nc").symlink_to("turn_009.nc")
    (case.model / "notes.nc").write_text("not netCDF")
    half = (case.model / "out_001.nc").read_bytes()
    (case.model / "out_002.nc").write_bytes(half[: len(half) // 2])
    old = time.time() - 2 * 86400
    os.utime(case.model / "out_002.nc", (old, old))
    for name in os.listdir(case.model):
        if not (case.model / name).is_symlink():
            os.utime(case.model / name, (old, old))
    before = tree(case.model)
    assert case.look("--quiet-after", "1s", "--product", "t2m") == 0
    assert tree(case.model) == before
    assert case.faults() == []
    streams = {line["stream"] for line in case.events("frame.ready")}
    assert {"out", "sea"} <= streams
    assert not any("restart" in stream for stream in streams)
    damaged = [line["paths"] for line in case.events("frame.damaged")]
    assert [paths[0].rpartition("/")[2] for paths in damaged] == ["out_002.nc"]
    assert "\nbreak" not in case.said()


@pytest.mark.fault
def test_a_folder_mounted_read_only_is_looked_at(case: LookCase) -> None:
    cf(case, "--frames", "2")
    mount = ["mount", "--bind", "-o", "ro", case.model, case.model]
    done = subprocess.run(mount, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")
    try:
        with pytest.raises(OSError, match="Read-only"):
            (case.model / "x").touch()
        assert case.look("--quiet-after", "5s") == 0
    finally:
        subprocess.run(["umount", "--lazy", case.model], check=True)
    assert case.faults() == []
    assert len(case.events("frame.ready")) == 2


@pytest.mark.fault
def test_a_look_from_inside_the_folder_writes_nothing_there(case: LookCase) -> None:
    shutil.copy(TESTS / "data" / "wrf" / "wrfout_d01_0001-01-01_00_08_00", case.model)
    state = case.folder / "state"
    environment = {key: value for key, value in os.environ.items() if key != "BURSTLENS_RUNS"}
    before = tree(case.model)
    done = subprocess.run(
        [sys.executable, "-m", "burstlens", "look", ".", "--no-page", "--product", "T2",
         "--quiet-after", "1s"],
        cwd=case.model, env=environment | {"XDG_STATE_HOME": str(state)}, timeout=100,
        capture_output=True, text=True, start_new_session=True,
    )  # fmt: skip
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    assert tree(case.model) == before
    assert len(list(state.glob("burstlens/runs/look-model-*/products/T2/*.png"))) == 1


@pytest.mark.fault
def test_a_full_disk_of_the_run_directory_is_one_message_and_no_crash(
    case: LookCase, fill: Callable[[Path], Path]
) -> None:
    cf(case, "--frames", "3")
    case.runs.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1M", "tmpfs", case.runs]
    done = subprocess.run(mount, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    try:
        ballast = case.runs / "ballast"
        ballast.write_bytes(bytes(1 << 20))
        assert case.look(*LONG) == 1
        assert "No space left on device" in case.said()
        ballast.unlink()
        (case.folder / "said").unlink()
        look = case.start(*LONG)
        case.await_that(lambda: case.events("run.attached"), "run", 60.0)
        fill(case.runs)
        time.sleep(10.0)
        assert look.poll() is None, case.said()
        ballast.unlink()
        case.await_event("product.published", 3)
        assert case.leave(look) == 0
        assert case.faults() == []
    finally:
        case.close()
        subprocess.run(["umount", "--lazy", case.runs], check=True)


@pytest.mark.fault
def test_old_output_on_another_file_server_ends_with_its_backlog_and_never_runs(
    tmp_path: Path, fuse: Any
) -> None:
    case = LookCase(tmp_path, fuse.place)
    try:
        written = [sys.executable, TESTS / "cf_writer.py", fuse.source]
        assert subprocess.run(written, check=False).returncode == 0
        then = time.time() - 7200.0
        for path in fuse.source.iterdir():
            os.utime(path, (then, then))
        assert case.look("--recipe", "content.toml", "--no-page") == 0
        states = {line["state"] for line in case.events("model.observed")}
        assert states == {"unknown", "quiet"}
        assert "not known" in case.events("run.ended")[-1]["message"]
        assert len(case.events("product.published")) == 4
    finally:
        case.close()
