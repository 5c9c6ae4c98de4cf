"""Whether a folder's file system answers, apart from a worker that is only slow."""

from __future__ import annotations

import os
import threading
import time

import pytest

from burstlens.workflows.look.driving import answering
from burstlens.workflows.look.driving.answering import ANSWER_S, Answering


def asked(found, now):
    """Whether it is silent at that second, after the question had time to be answered."""
    silent = found.is_silent(now)
    time.sleep(0.1)
    return silent


@pytest.mark.parametrize("there", [True, False])
def test_a_folder_that_answers_is_not_silent_however_often_it_is_asked(tmp_path, there):
    found = Answering(str(tmp_path if there else tmp_path / "gone"))
    assert not any(asked(found, 1e6 + number * ANSWER_S) for number in range(4))


def test_a_folder_that_hangs_is_silent_until_it_answers(tmp_path, monkeypatch):
    goes_on, scandir = threading.Event(), os.scandir

    def hangs(path):
        goes_on.wait(120.0)
        return scandir(path)

    monkeypatch.setattr(answering.os, "scandir", hangs)
    found = Answering(str(tmp_path))
    assert [asked(found, now) for now in (0.0, 0.9 * ANSWER_S, 1.1 * ANSWER_S)] == [
        False, False, True
    ]  # fmt: skip
    goes_on.set()
    time.sleep(0.2)
    assert not asked(found, 2 * ANSWER_S)


def test_of_a_folder_that_only_workers_see_nothing_else_answers():
    assert Answering(None).is_silent(0.0)
