"""A frame whose name leads to an error: lost after the model's end, with its reason."""

from __future__ import annotations

import errno
import os

import pytest
from watcher_case import MODEL, attached_watcher, look, times

from burstlens.workflows.frames.arrival import Selection
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.ready import AWAY_S, LOST_QUIET_S


def loop(path):
    path.symlink_to(path.name)


def folder(path):
    path.mkdir()


@pytest.fixture
def attach(tmp_path, prober):
    """Makes a watcher of ``tmp_path`` as the folder of a run that others started."""
    (tmp_path / "stamp").mkdir()

    def make():
        place = tmp_path, ".", MODEL, "run", 1, Cursor()
        return attached_watcher(
            *place, selection=Selection(), stamp=tmp_path / "stamp" / "s", prober=prober
        )

    return make


@pytest.mark.parametrize(
    ("make", "reason"),
    [(loop, "Too many levels of symbolic links"), (folder, "Is a directory")],
)
@pytest.mark.parametrize("attached", [False, True])
def test_a_frame_that_can_never_be_read_is_lost_after_the_end(
    make, reason, attached, tmp_path, watcher, attach, write
):
    write("out_1.nc", 1.0)
    make(tmp_path / "out_2.nc")
    one = attach() if attached else watcher()
    found = []
    for _ in range(3):
        report = look(one, 60.0)
        found += times(report)
        assert not report.damaged
        assert not report.ended
    reports = [look(one, 3.0, ended=True) for _ in range(3)]
    assert [*found, *(time for report in reports for time in times(report))] == ["1.000"]
    [lost] = [lost for report in reports for lost in report.damaged]
    assert lost.paths[0].endswith("out_2.nc")
    assert lost.reason == f"it cannot be read: {reason}"
    assert reports[-1].ended


@pytest.mark.parametrize("call", ["stat", "open"])
@pytest.mark.parametrize(
    ("number", "lasts_s"), [(errno.EACCES, LOST_QUIET_S), (errno.ESTALE, AWAY_S)]
)
def test_an_error_of_the_file_is_given_up_soon_and_one_of_its_server_late(
    call, number, lasts_s, watcher, write, monkeypatch
):
    write("out_1.nc", 1.0)
    one = watcher()
    look(one)
    fails(monkeypatch, call, number)
    assert not look(one, 9.0, ended=True).damaged  # it failed for the first time
    assert not look(one, 0.9 * lasts_s, ended=True).damaged
    [lost] = look(one, 0.1 * lasts_s, ended=True).damaged
    assert lost.reason == f"it cannot be read: {os.strerror(number)}"
    assert look(one, ended=True).ended


@pytest.mark.parametrize("call", ["stat", "open"])
def test_a_frame_that_answers_again_is_not_lost(call, watcher, write, monkeypatch):
    write("out_1.nc", 1.0)
    one = watcher()
    look(one)
    with monkeypatch.context() as patch:
        fails(patch, call, errno.EACCES)
        assert look(one, 60.0).notices
        assert not look(one, 1.0, ended=True).damaged
    report = look(one, 1.0, ended=True)
    assert (times(report), report.damaged) == (["1.000"], ())


def fails(patch, call, number):
    real = getattr(os, call)

    def failing(path, *words, **named):
        if str(path).endswith("out_1.nc"):
            raise OSError(number, os.strerror(number), path)
        return real(path, *words, **named)

    patch.setattr(os, call, failing)
