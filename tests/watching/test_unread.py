"""A file that gives no answer after the model's end: nothing is known, so nothing is concluded."""

from __future__ import annotations

import sys

import pytest

from burstlens.workflows.frames import ready
from burstlens.workflows.frames.hdf5 import Prober


@pytest.fixture
def silent():
    """A prober that gets no answer, as of a file server that hangs."""
    says_nothing = "import time; print('ready', flush=True); time.sleep(600)"
    prober = Prober(limit_s=0.1, command=(sys.executable, "-c", says_nothing))
    yield prober
    prober.close()


@pytest.mark.parametrize("answers_again", [True, False])
def test_a_file_that_gives_no_answer_after_the_end_is_read_again_before_it_is_called_damaged(
    course, silent, answers_again
):
    run = course("netcdf4_one")
    run.walk(lambda call: call % 9 == 0)
    run.player.finish()
    answering, run.prober, run.watcher = run.prober, silent, None
    known = len(run.frames)
    for elapsed_s in (1.0, 5.0, 5.0):
        assert not run.scan(elapsed_s, ended=True).ended
    assert not run.damaged
    if answers_again:
        run.prober, run.watcher = answering, None
        run.scan(20.0, ended=True)
        run.settle()
        assert set(run.calls) == run.whole()
        assert not run.damaged
    else:
        run.scan(ready.UNREAD_QUIET_S, ended=True)
        assert run.report.ended
        assert len(run.frames) == known
        assert all("too long" in entry.reason for entry in run.damaged)
        assert run.damaged
