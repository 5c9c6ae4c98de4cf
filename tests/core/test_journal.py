from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from burstlens.core.errors import RunError
from burstlens.core.run import events as ev
from burstlens.core.run.journal import Journal, read

LOST = {"attempt": 1, "stream": "d01", "time": None, "record": 2, "paths": ["r/1/out.nc"]}


def test_a_damaged_frame_of_unknown_time_is_read_back(tmp_path: Path):
    path = tmp_path / "journal.jsonl"
    journal = Journal(path, 1)
    written = journal.append(ev.FrameDamaged(**LOST, reason="it has 0 bytes"))
    journal.close()
    assert list(read(path)) == [written]


def test_limits_that_are_not_a_pair_are_refused(tmp_path: Path):
    path = tmp_path / "journal.jsonl"
    event = {"t": 1.0, "driver": 1, "event": "product.limits", "product": "t2", "limits": [1.0]}
    path.write_text(json.dumps(event) + "\n")
    with pytest.raises(RunError, match='"limits" has 1 entries, not 2'):
        list(read(path))


def test_a_damaged_line_is_refused_by_its_number(tmp_path: Path):
    path = tmp_path / "journal.jsonl"
    good = {"t": 1.0, "driver": 1, "event": "frame.damaged", **LOST}
    path.write_text(f"{json.dumps(good)}\n{json.dumps(good | {'paths': 3})}\n")
    with pytest.raises(RunError, match=r'journal\.jsonl, line 2: .*"paths" is a whole number'):
        list(read(path))


DEEP = {
    "event": "product.added", "product": "w", "t": 1.0,
    "table": json.loads('{"a":' * 40 + "1" + "}" * 40),
}  # fmt: skip


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"event": "alarm"', "it is not JSON; the journal is damaged: restore it"),
        ("[" * 100_000, "it is not JSON"),
        (json.dumps(DEEP), "product.added: it is nested too deep"),
    ],
)
def test_a_line_that_is_not_an_event_is_refused_by_its_number(
    tmp_path: Path, line: str, message: str
):
    path = tmp_path / "journal.jsonl"
    path.write_text(f"{line}\n")
    with pytest.raises(RunError, match=f"line 1: {message}"):
        list(read(path))


def test_what_was_appended_is_on_disk_after_a_sync_and_after_the_end(tmp_path: Path, monkeypatch):
    flushed: list[int] = []
    monkeypatch.setattr(os, "fsync", flushed.append)
    journal = Journal(tmp_path / "journal.jsonl", 1)
    for end in (journal.sync, journal.close):
        journal.append(ev.Alarm(text="full"))
        before = len(flushed)
        end()
        assert len(flushed) == before + 1
