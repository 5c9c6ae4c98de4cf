"""A file that cannot be read after the model's end: its state is unknown, so it is not damage."""

from __future__ import annotations

import sys

import pytest

from burstlens.workflows.frames import ready
from burstlens.workflows.frames.hdf5 import Prober


@pytest.fixture
def silent():
    """A prober that gets no answer, as from a file server that hangs."""
    silent = "import time; print('ready', flush=True); time.sleep(600)"
    prober = Prober(limit_s=0.1, command=(sys.executable, "-c", silent))
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
