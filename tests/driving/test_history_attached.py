"""What the events of a run that others started add up to, and how they stand in the journal."""

from __future__ import annotations

import json

import pytest

from burstlens.core.errors import RunError
from burstlens.core.run import events as ev
from burstlens.core.run.directory import RunDir
from burstlens.core.run.facts import RunFacts, facts_of, write_facts
from burstlens.core.run.history import replay
from burstlens.core.run.journal import Journal, read

LARGE = 2**64 - 1
"""Lustre and FUSE use all 64 bits of an inode."""


def ready(attempt: int, size: int, file: str = "wrfout_d01") -> ev.FrameReady:
    return ev.FrameReady(
        attempt=attempt, stream="d01", time="20060910T000000", record=0, bytes=size, file=file,
        fingerprint=(66, LARGE, size, 1_700_000_000_000_000_001),
    )  # fmt: skip


ALL = [
    ev.RunAttached(path="/runs/w", model="wrf", reason="namelist.input", device=66, inode=LARGE),
    ev.AttemptObserved(attempt=1, evidence="found on arrival"),
    ev.ModelObserved(attempt=1, state="running", evidence="process 4711 runs"),
    ready(1, 100),
    ev.PathLost(evidence="[Errno 5] Input/output error"),
    ev.PathBack(evidence="listed again", same=True),
]


def test_each_event_of_an_attached_run_is_read_as_it_was_written(tmp_path):
    journal = Journal(tmp_path / "journal.jsonl", 1)
    for event in ALL:
        journal.append(event)
    journal.close()
    found = list(read(tmp_path / "journal.jsonl"))
    assert [type(event) for event in found] == [type(event) for event in ALL]
    assert found[0].inode == LARGE
    assert found[3].fingerprint == (66, LARGE, 100, 1_700_000_000_000_000_001)


def test_a_frame_of_a_launched_run_has_no_key_for_a_fingerprint(tmp_path):
    journal = Journal(tmp_path / "journal.jsonl", 1)
    journal.append(ev.FrameReady(attempt=1, stream="d01", time="t1", record=0))
    journal.close()
    line = json.loads((tmp_path / "journal.jsonl").read_text())
    assert set(line) == {"t", "driver", "event", "attempt", "stream", "time", "record"}


def test_a_fingerprint_of_three_numbers_is_damage(tmp_path):
    journal = tmp_path / "journal.jsonl"
    line = {"event": "frame.ready", "attempt": 1, "stream": "d01", "time": "t1"}
    journal.write_text(json.dumps(line | {"fingerprint": [1, 2, 3]}) + "\n")
    with pytest.raises(RunError, match=r'line 1: frame.ready: "fingerprint" has 3 entries, not 4'):
        list(read(journal))


def test_the_attempt_is_the_highest_that_was_observed():
    later = ev.AttemptObserved(attempt=3, evidence="the log has another inode")
    earlier = ev.AttemptObserved(attempt=2, evidence="x")
    assert replay([*ALL, later, earlier]).attempt == 3


def test_the_latest_observation_of_the_model_counts():
    history = replay([*ALL, ev.ModelObserved(attempt=1, state="quiet", evidence="x")])
    assert (history.attached, history.observed.state) == (ALL[0], "quiet")


def test_a_lost_path_is_lost_until_it_is_back():
    assert replay(ALL[:5]).path_lost == "[Errno 5] Input/output error"
    assert replay(ALL).path_lost is None


def test_the_latest_fingerprint_of_a_valid_time_counts():
    key = ("d01", "20060910T000000")
    history = replay([ready(1, 100), ready(2, 200)])
    assert history.fingerprints[key] == (2, "wrfout_d01", 0, ready(2, 200).fingerprint)
    assert replay([ready(2, 200), ready(1, 100)]).fingerprints[key][0] == 2


def test_the_fingerprint_of_a_frame_that_was_journalled_again_counts():
    history = replay([ready(1, 100), ready(1, 200)])
    assert history.fingerprints["d01", "20060910T000000"][3][2] == 200
    assert history.raw_bytes == 100


def test_a_damaged_frame_has_a_fingerprint_as_well():
    damaged = ev.FrameDamaged(
        attempt=1, stream="d01", time="t1", record=2, paths=["run/1/wrfout"],
        fingerprint=(1, 2, 3, 4),
    )  # fmt: skip
    assert replay([damaged]).fingerprints == {("d01", "t1"): (1, "wrfout", 2, (1, 2, 3, 4))}


def test_facts_keep_the_path_and_the_options_of_look(tmp_path):
    run = RunDir(tmp_path)
    write_facts(run, RunFacts(run="look-w-1", attached={"path": "/runs/w", "job": "12"}))
    assert facts_of(run, "attached").attached == {"path": "/runs/w", "job": "12"}
