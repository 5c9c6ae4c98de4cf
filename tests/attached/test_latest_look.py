"""A later look at a folder: which of its options count, and which stay those of the first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from look_case import LookCase

from burstlens.core.run.directory import RunDir
from burstlens.workflows.look.options import Look, latest, note_frames
from burstlens.workflows.look.preparation import LookRequest, frames_of

FIRST = Look("/scratch/storm", newest=100)


@pytest.fixture
def run(tmp_path: Path) -> RunDir:
    made = RunDir(tmp_path / "look")
    made.create()
    return made


@pytest.mark.parametrize(
    ("asked", "taken"),
    [
        (LookRequest(last="12h"), (None, None, 43200.0, 1)),
        (LookRequest(since="2005-08-28"), (None, "20050828T000000", None, 1)),
        (LookRequest(all=True, every=3), (None, None, None, 3)),
        (LookRequest(every=2), (100, None, None, 2)),
    ],
)
def test_the_frames_are_those_that_the_latest_look_takes(
    run: RunDir, asked: LookRequest, taken: tuple[object, ...]
) -> None:
    note_frames(run, frames_of(asked))
    look = latest(run, FIRST)
    assert (look.newest, look.since, look.last_s, look.every) == taken


@pytest.mark.parametrize(
    "dropped", [None, "{", "[]", {"every": 0}, {"every": "1"}, {"newest": 3}], ids=str
)
def test_without_such_a_word_they_are_those_of_the_first(run: RunDir, dropped: object) -> None:
    if dropped is not None:
        text = dropped if isinstance(dropped, str) else json.dumps(dropped)
        (run.control / "frames.json").write_text(text)
    assert latest(run, FIRST).newest == 100


@pytest.mark.slow
def test_a_later_look_takes_earlier_frames_and_says_what_stays(tmp_path: Path) -> None:
    case = LookCase(tmp_path)
    case.written()
    assert case.look("--name", "look-storm", "--last", "1s") == 0
    assert len(case.times()) == 1
    assert case.look("--name", "look-storm", "--all", "--workers", "1") == 0
    assert "look-storm goes on with --all; --workers: as in its first look" in case.said()
    assert len(case.times()) == 3
    assert case.faults() == []
    case.close()
