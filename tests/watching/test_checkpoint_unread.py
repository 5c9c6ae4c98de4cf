"""Files of checkpoints that cannot be read at the model's end: their state is not known yet."""

from __future__ import annotations

import errno
import os
import sys

import pytest
from checkpoint_case import CLASSIC, RestartingWrf, Scans, key, write

from burstlens.workflows.frames import ready
from burstlens.workflows.frames.hdf5 import Prober


@pytest.fixture
def scans(tmp_path, prober):
    return Scans(tmp_path, RestartingWrf(), prober)


@pytest.fixture
def silent():
    """A prober that gets no answer, as from a file server that hangs."""
    code = "import time; print('ready', flush=True); time.sleep(600)"
    prober = Prober(limit_s=0.1, command=(sys.executable, "-c", code))
    yield prober
    prober.close()


def end(run: Scans, seconds: float, step_s: float = 1.0) -> str:
    """What was reported in so many seconds after the model's end."""
    found = []
    for _ in range(int(seconds / step_s)):
        report = run.scan(step_s, ended=True)
        found += report.unproven_checkpoints
        assert report.ended == (not run.cursor.checkpoints.open)
    return " ".join(found)


@pytest.mark.integration
@pytest.mark.parametrize("quiet_s", [0.0, 400.0])
def test_a_file_that_gives_no_answer_at_the_end_is_read_again(scans, silent, prober, quiet_s):
    scans.use(silent)
    write(scans.path(2), 2)
    scans.scan()
    scans.scan(quiet_s)
    scans.scan(ended=True)
    assert end(scans, 10.0) == ""
    scans.use(prober)
    assert end(scans, 10.0) == ""
    assert scans.whole == [key(2)]


@pytest.mark.integration
def test_one_that_never_answers_is_given_up_as_late_as_a_frame(scans, silent):
    scans.use(silent)
    write(scans.path(2), 2)
    scans.scan(ended=True)
    assert end(scans, ready.UNREAD_QUIET_S - 1.0) == ""
    assert "too long" in end(scans, 1.0)
    assert scans.whole == []


def failing(patch, path, call: str, number: int) -> None:
    real = getattr(os, call)

    def fails(name, *words, **named):
        if str(name) == str(path):
            raise OSError(number, os.strerror(number), name)
        return real(name, *words, **named)

    patch.setattr(os, call, fails)


@pytest.mark.parametrize("call", ["stat", "open"])
@pytest.mark.parametrize(
    ("number", "lasts_s"),
    [
        (errno.EACCES, ready.LOST_QUIET_S),
        (errno.EIO, ready.AWAY_S),
        (errno.ESTALE, ready.AWAY_S),
    ],
)
def test_an_error_of_the_file_is_given_up_soon_and_one_of_its_server_late(
    scans, monkeypatch, call, number, lasts_s
):
    write(scans.path(2), 2, CLASSIC)
    failing(monkeypatch, scans.path(2), call, number)
    assert scans.scan(60.0).notices == ()
    report = scans.scan(60.0, ended=True)
    assert report.notices == (f"{scans.path(2).name} does not answer: {os.strerror(number)}",)
    assert end(scans, 0.75 * lasts_s, 0.25 * lasts_s) == ""
    assert f"cannot be read: {os.strerror(number)}" in end(scans, 0.25 * lasts_s, 0.25 * lasts_s)
    assert scans.whole == []


@pytest.mark.parametrize("call", ["stat", "open"])
def test_a_file_that_answers_again_long_after_the_end_is_whole(scans, monkeypatch, call):
    write(scans.path(2), 2, CLASSIC)
    scans.scan()
    with monkeypatch.context() as patch:
        failing(patch, scans.path(2), call, errno.ESTALE)
        scans.scan(ended=True)
        assert end(scans, 300.0, 10.0) == ""
    assert end(scans, 1.0) == ""
    assert scans.whole == [key(2)]
