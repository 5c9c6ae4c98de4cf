"""A watcher that the kernel wakes: at once where it can, and never at a frame's cost."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from watcher_case import MODEL, times

from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.wakeup import Wakeup, file_system
from burstlens.workflows.frames.watch import watch

NEVER_S = 250.0
"""A pause after which a test has failed long ago: only a change can have ended it."""
LIMITED = """
import sys
from pathlib import Path
from burstlens.workflows.frames.wakeup import Wakeup
one = Wakeup()
print(one.arm([sys.argv[1]], []), one.wait(0.01), one.why)
"""


@pytest.fixture
def wakeup():
    one = Wakeup()
    yield one
    one.close()


def call(folder: Path, ended=lambda: False):
    return watch(
        folder, ".", MODEL, "run", 1, Cursor(), baseline={}, ended=ended,
        timeout_s=NEVER_S, interval_s=NEVER_S,
    )  # fmt: skip


def quiet(wakeup):
    """Read the changes that have come so far."""
    while wakeup.wait(0.0):
        pass


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "new").touch(),
        lambda folder: (folder / "frame").open("a").close(),
        lambda folder: (folder / "frame").rename(folder / "other"),
        lambda folder: (folder / "log").open("a").write("line\n"),
        lambda folder: folder.rename(folder.with_name("moved")),
        shutil.rmtree,
    ],
    ids=["created", "closed", "renamed", "logged", "moved", "deleted"],
)
def test_what_can_end_a_frame_wakes(tmp_path, wakeup, change):
    folder = tmp_path / "run"
    folder.mkdir()
    for name in ("frame", "log"):
        (folder / name).touch()
    assert wakeup.arm([str(folder)], [str(folder / "log")])
    quiet(wakeup)
    change(folder)
    assert wakeup.wait(NEVER_S)


def test_what_is_written_to_a_frame_does_not_wake(tmp_path, wakeup):
    with (tmp_path / "frame").open("wb", buffering=0) as file:
        assert wakeup.arm([str(tmp_path)], [])
        quiet(wakeup)
        file.write(b"data")
        assert not wakeup.wait(0.0)


def test_what_is_new_to_it_may_have_changed_before(tmp_path, wakeup):
    folder, log = tmp_path / "run", tmp_path / "run" / "log"
    folder.mkdir()
    found = []
    for change in (lambda: None, lambda: None, log.touch, lambda: None):
        change()
        wakeup.arm([str(folder)], [str(log)])
        found.append(wakeup.fresh)
    assert found == [True, False, True, False]


def test_a_folder_that_was_replaced_is_followed(tmp_path, wakeup):
    folder = tmp_path / "run"
    folder.mkdir()
    wakeup.arm([str(folder)], [])
    folder.rename(tmp_path / "before")
    assert not wakeup.arm([str(folder)], [])
    folder.mkdir()
    assert wakeup.arm([str(folder)], [])
    assert wakeup.fresh
    quiet(wakeup)
    (tmp_path / "before" / "old").touch()
    assert not wakeup.wait(0.0)
    (folder / "new").touch()
    assert wakeup.wait(NEVER_S)


def test_a_file_system_that_others_may_write_to_is_polled(tmp_path, wakeup):
    assert not wakeup.arm([str(tmp_path), "/proc"], [])
    assert (
        wakeup.why == f"other nodes may write to its file system (type {file_system('/proc'):#x})"
    )
    assert not wakeup.arm([str(tmp_path), "/proc"], [])
    (tmp_path / "new").touch()
    assert not wakeup.wait(0.0)


def test_another_folder_is_tried_anew_and_the_one_before_wakes_no_more(tmp_path, wakeup):
    one, other = tmp_path / "1", tmp_path / "2"
    one.mkdir()
    other.mkdir()
    assert not wakeup.arm(["/proc"], [])
    for folder in (one, other):
        assert wakeup.arm([str(folder)], [])
        assert wakeup.fresh
    quiet(wakeup)
    (one / "new").touch()
    assert not wakeup.wait(0.0)
    (other / "new").touch()
    assert wakeup.wait(NEVER_S)


@pytest.mark.integration
@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs a namespace of users")
@pytest.mark.parametrize("limit", ["max_inotify_watches", "max_inotify_instances"])
def test_where_a_limit_of_the_kernel_is_met_it_polls(tmp_path, limit):
    enter = ["unshare", "--user", "--map-root-user", "sh", "-c"]
    program = [sys.executable, "-c", LIMITED, str(tmp_path)]
    limited = f'echo 0 > /proc/sys/user/{limit} && exec "$@"'
    if subprocess.run([*enter, "true"], check=False).returncode:
        pytest.skip("no namespace of users can be made here")
    found = subprocess.run(
        [*enter, limited, "sh", *program], capture_output=True, text=True, check=True
    )
    assert found.stdout.startswith("False False inotify: ")


def test_a_queue_that_has_overflowed_wakes_and_goes_on(tmp_path, wakeup):
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    if limit > 1 << 17:
        pytest.skip("the queue takes too many events here")
    wakeup.arm([str(tmp_path)], [])
    one, other = tmp_path / "one", tmp_path / "other"
    one.touch()
    for _ in range(limit // 4 + 1):  # two events each
        os.rename(one, other)
        os.rename(other, one)
    assert wakeup.wait(NEVER_S)
    assert not wakeup.wait(0.0)
    one.unlink()
    one.touch()
    assert wakeup.wait(NEVER_S)


@pytest.mark.parametrize("log", ["there", "later"])
def test_a_frame_is_found_as_soon_as_its_line_is_in_the_log(tmp_path, write, log):
    if log == "there":
        (tmp_path / "model.log").touch()

    def model():
        write("out_1.nc", 1.0)
        with (tmp_path / "model.log").open("a") as file:
            file.write("wrote out_1.nc\n")

    thread = threading.Timer(0.3, model)
    thread.start()
    report = call(tmp_path)
    thread.join()
    assert times(report) == ["1.000"]
    assert [frame.signal for frame in report.frames] == ["log"]


def test_a_frame_is_found_as_soon_as_a_later_one_is_begun(tmp_path, write):
    write("out_1.nc", 1.0)
    thread = threading.Timer(0.3, (tmp_path / "out_2.nc").touch)
    thread.start()
    report = call(tmp_path)
    thread.join()
    assert [frame.signal for frame in report.frames] == ["later"]


def test_a_frame_in_a_folder_that_replaces_the_watched_one_is_found(tmp_path, write):
    folder, made = tmp_path / "run", tmp_path / "made"
    folder.mkdir()
    made.mkdir()

    def replaced():
        write("made/out_1.nc", 1.0)
        (made / "model.log").write_text("wrote out_1.nc\n")
        os.rename(folder, tmp_path / "before")
        os.rename(made, folder)

    thread = threading.Timer(0.3, replaced)
    thread.start()
    report = call(folder)
    thread.join()
    while not report.frames and not report.ended:  # the moment between the renames is a notice
        report = call(folder, ended=lambda: True)
    assert times(report) == ["1.000"]


def test_that_the_model_has_ended_is_looked_for_at_each_step(tmp_path):
    ends = iter([False, True])
    report = watch(
        tmp_path, ".", MODEL, "run", 1, Cursor(), baseline={}, ended=lambda: next(ends, True),
        timeout_s=NEVER_S, interval_s=0.01,
    )  # fmt: skip
    assert report.ended
