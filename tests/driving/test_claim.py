"""The claim of a run: one driver has it, whatever the file server reports."""

from __future__ import annotations

import errno
import json
import os

import pytest

from burstlens.core.errors import RunError
from burstlens.core.run.heartbeat import driver_process
from burstlens.workflows.driver.claim import take_over


def test_a_claim_that_was_made_and_reported_as_failed_is_this_drivers(run_dir, monkeypatch):
    real = os.link

    def late(one, other):
        real(one, other)
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE), other)

    monkeypatch.setattr(os, "link", late)
    assert take_over(run_dir) == 1
    assert json.loads(run_dir.claim(1).read_text()) == driver_process()
    assert [path.name for path in run_dir.path.glob(".driver*")] == []


def test_a_claim_of_another_driver_at_the_same_moment_is_refused(run_dir, monkeypatch):
    real = os.link

    def second(one, other):
        run_dir.claim(1).write_text('{"host": "elsewhere", "pid": 1, "ticks": 1}')
        real(one, other)

    monkeypatch.setattr(os, "link", second)
    with pytest.raises(RunError, match="at the same moment"):
        take_over(run_dir)
