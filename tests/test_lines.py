from __future__ import annotations

import os
import resource
import subprocess
import sys

import pytest

from burstlens.journal import Journal, read
from burstlens.lines import Lines, read_lines


def test_what_was_appended_is_read_back_in_order(tmp_path):
    path = tmp_path / "index.jsonl"
    lines = Lines(path)
    for number in range(3):
        lines.append({"n": number, "text": "Häufung\n"})
    assert [line["n"] for line in read_lines(path)] == [0, 1, 2]  # before any sync
    lines.close()
    lines.close()
    assert path.read_bytes().count(b"\n") == 3


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


def test_a_full_disk_leaves_whole_lines_and_the_append_can_be_tried_again(tmp_path):
    path = tmp_path / "journal.jsonl"
    code = f"""
import pathlib, resource
from burstlens.lines import Lines
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


def test_the_journal_hands_on_each_event_as_it_was_written(tmp_path):
    seen = []
    journal = Journal(tmp_path / "journal.jsonl", epoch=2, seen=seen.append)
    event = journal.append("frame.ready", stream="d01")
    journal.close()
    assert seen == [event] == list(read(tmp_path / "journal.jsonl"))
    assert (event["driver"], event["event"], event["stream"]) == (2, "frame.ready", "d01")
    assert isinstance(event["t"], float)


def test_a_line_without_an_event_is_none(tmp_path):
    path = tmp_path / "journal.jsonl"
    path.write_text('{"t": 1.0}\n{"event": "run.started"}\n')
    assert [event["event"] for event in read(path)] == ["run.started"]


def test_text_without_utf8_is_kept_and_read_back(tmp_path):
    path = tmp_path / "journal.jsonl"
    lines = Lines(path)
    lines.append({"text": "a\udc80ä"})
    lines.close()
    assert [line["text"] for line in read_lines(path)] == ["a\udc80ä"]


def test_a_line_too_deep_is_passed_over_and_a_pipe_holds_nobody_up(tmp_path):
    path = tmp_path / "deep.jsonl"
    path.write_text("[" * 100_000 + '\n{"n":1}\n')
    assert list(read_lines(path)) == [{"n": 1}]
    os.mkfifo(tmp_path / "pipe.jsonl")
    with pytest.raises(OSError, match="no regular file"):
        list(read_lines(tmp_path / "pipe.jsonl"))
