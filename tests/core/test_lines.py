from __future__ import annotations

import errno
import json
import os
import re
import resource
import subprocess
import sys

import pytest

from burstlens.core.errors import RunError
from burstlens.core.lines import HeldLines, Lines, lines_of, read_lines
from burstlens.core.run import events as ev
from burstlens.core.run.events import event_of
from burstlens.core.run.journal import Journal, read, read_records


@pytest.mark.parametrize("kind", [Lines, HeldLines])
def test_what_was_appended_is_read_back_in_order(tmp_path, kind):
    path = tmp_path / "index.jsonl"
    lines = kind(path)
    for number in range(3):
        lines.append({"n": number, "text": "Häufung\n"})
    assert [line["n"] for line in read_lines(path)] == [0, 1, 2]  # before any sync
    assert is_open(path)
    lines.close()
    lines.close()
    assert not is_open(path)
    assert path.read_bytes().count(b"\n") == 3
    assert path.stat().st_mode & 0o111 == 0


def is_open(path) -> bool:
    """Whether this process has that file open."""
    folder = "/proc/self/fd"
    return any(
        os.path.realpath(os.path.join(folder, one)) == str(path) for one in os.listdir(folder)
    )


@pytest.fixture
def flushed(monkeypatch):
    """The descriptors that were flushed to disk so far."""
    found: list[int] = []
    flush = os.fsync

    def noted(descriptor: int) -> None:
        found.append(descriptor)
        flush(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    return found


@pytest.mark.parametrize("kind", [Lines, HeldLines])
def test_sync_and_close_bring_to_disk_what_was_appended_and_nothing_twice(tmp_path, flushed, kind):
    lines = kind(tmp_path / "journal.jsonl")
    counts = []
    for step in (lines.sync, lambda: lines.append({"n": 1}), lines.sync, lines.sync):
        step()
        counts.append(len(flushed))
    lines.append({"n": 2})
    lines.close()
    counts.append(len(flushed))
    assert counts == [0, 0, 1, 1, 2]


def test_a_file_that_cannot_be_brought_to_disk_is_closed_all_the_same(tmp_path, monkeypatch):
    path = tmp_path / "journal.jsonl"
    lines = Lines(path)
    lines.append({"n": 1})

    def away(descriptor: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", away)
    with pytest.raises(OSError, match="Input/output error"):
        lines.close()
    assert not is_open(path)
    lines.close()


def test_a_last_line_without_its_end_is_not_read_though_it_is_whole_json(tmp_path):
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b'{"n":1}\n{"n":2}')
    assert list(lines_of(path.open("rb"))) == [(1, b'{"n":1}\n')]


@pytest.mark.parametrize(
    "torn", [b'{"n": 9', b"{", b'{"n": 9, "pad": "' + b"x" * 200_000, "ä".encode()[:1]]
)
def test_opening_cuts_off_a_torn_last_line(tmp_path, torn):
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b'{"n":1}\n' + torn)
    assert [line["n"] for line in read_lines(path)] == [1]
    lines = Lines(path)
    lines.append({"n": 2})
    lines.close()
    assert path.read_bytes() == b'{"n":1}\n{"n":2}\n'


def test_a_torn_last_line_costs_no_whole_line_however_long_or_short(tmp_path):
    path = tmp_path / "journal.jsonl"
    for whole in (
        b'{"n":1}\n{"n":2}\n',
        b"\n",
        b"x" * 65_000 + b"\n",
        b"x\n" + b"y" * 66_000 + b"\n",
    ):
        for torn in (b"{", b"z" * 70_000):
            path.write_bytes(whole + torn)
            Lines(path).close()
            assert path.read_bytes() == whole


def test_a_file_that_does_not_take_a_line_is_named(tmp_path, monkeypatch):
    path = tmp_path / "journal.jsonl"
    lines = Lines(path)

    def full(descriptor: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space left") as caught:
        lines.append({"n": 1})
    assert caught.value.filename == str(path)


def test_a_file_of_nothing_but_a_torn_line_becomes_empty(tmp_path):
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b"x" * 70_000)
    Lines(path).close()
    assert path.read_bytes() == b""


def test_foreign_lines_are_passed_over(tmp_path):
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b'{"n":1}\n\0\0\0\n[2]\n\xff\n{"n":3}\n')
    assert [line["n"] for line in read_lines(path)] == [1, 3]
    assert list(read_lines(tmp_path / "absent")) == []


@pytest.mark.integration
def test_a_full_disk_leaves_whole_lines_and_the_append_can_be_tried_again(tmp_path):
    path = tmp_path / "journal.jsonl"
    code = f"""
import pathlib, resource
from burstlens.core.lines import Lines
lines = Lines(pathlib.Path({str(path)!r}))
lines.append({{"n": 0}})
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
value = {{"n": 1, "pad": "x" * 8000}}
try:
    lines.append(value)
except OSError:
    print(pathlib.Path({str(path)!r}).read_text(), end="")
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
lines.append(value)
lines.close()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == '{"n":0}\n'
    assert [line["n"] for line in read_lines(path)] == [0, 1]
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


def test_half_a_line_that_could_not_be_cut_off_is_cut_off_before_the_next_one(
    tmp_path, monkeypatch
):
    path = tmp_path / "journal.jsonl"
    lines = HeldLines(path)
    lines.append({"n": 0})
    write, away = os.write, True

    def half(descriptor: int, data: bytes) -> int:
        return write(descriptor, data[:4] if away else data)

    def refused(descriptor: int, size: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "write", half)
    with monkeypatch.context() as server:
        server.setattr(os, "ftruncate", refused)
        lines.append({"n": 1})
    away = False
    lines.append({"n": 2})
    lines.close()
    assert path.read_text() == '{"n":0}\n{"n":1}\n{"n":2}\n'


def test_the_journal_hands_on_each_event_as_it_was_written(tmp_path):
    seen = []
    journal = Journal(tmp_path / "journal.jsonl", 2, seen.append)
    event = journal.append(ev.ViewingQueued(label="d01"))
    journal.close()
    assert seen == [event] == list(read(tmp_path / "journal.jsonl"))
    assert (event.driver, event.event, event.label) == (2, "viewing.queued", "d01")
    assert isinstance(event.t, float)


FRAME = {"t": 1.0, "driver": 1, "event": "frame.ready", "stream": "d01", "time": "t1", "attempt": 1}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"t": 1.0}, '"event" is missing'),
        ([1], "it is a list, not an object"),
        ({key: FRAME[key] for key in FRAME if key != "attempt"}, '"attempt" is missing'),
        (FRAME | {"attempt": "1"}, '"attempt" is a text, not a whole number'),
        (FRAME | {"t": 1e300}, '"t" is out of range'),
        ({"event": "run.started", "t": 1.0, "format": 3, "burstlens": "7.0"}, "Burstlens 7.0"),
    ],
)
def test_a_damaged_event_is_refused_with_its_file_and_line(tmp_path, line, said):
    path = tmp_path / "journal.jsonl"
    path.write_text(json.dumps(FRAME) + "\n" + json.dumps(line) + "\n" + json.dumps(FRAME) + "\n")
    with pytest.raises(RunError, match=f"{re.escape(str(path))}, line 2: .*{re.escape(said)}"):
        list(read(path))


def test_unknown_events_and_fields_are_skipped_and_kept_for_those_who_read_all(tmp_path):
    path = tmp_path / "journal.jsonl"
    events = [FRAME | {"more": [1]}, {"event": "buffer.asked", "t": 2.0, "name": "case"}]
    path.write_text("".join(json.dumps(event) + "\n" for event in events))
    assert list(read_records(path)) == events
    [known] = read(path)
    assert known == event_of(FRAME)


def test_text_without_utf8_is_kept_and_read_back(tmp_path):
    path = tmp_path / "journal.jsonl"
    lines = Lines(path)
    lines.append({"text": "a\udc80ä"})
    lines.close()
    assert [line["text"] for line in read_lines(path)] == ["a\udc80ä"]


def test_a_line_too_deep_is_skipped_and_a_pipe_blocks_no_reader(tmp_path):
    path = tmp_path / "deep.jsonl"
    path.write_text("[" * 100_000 + '\n{"n":1}\n')
    assert list(read_lines(path)) == [{"n": 1}]
    os.mkfifo(tmp_path / "pipe.jsonl")
    with pytest.raises(OSError, match="not a regular file"):
        list(read_lines(tmp_path / "pipe.jsonl"))
