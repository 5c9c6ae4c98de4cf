"""Incremental reads of an append-only file."""

from __future__ import annotations

import json
import os

import pytest

from burstlens.core.run.follow import Followed, number, read_stretch


def text(*values: object) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "lines.jsonl"


def test_a_missing_file_is_empty_and_read_when_it_comes(path):
    followed = Followed(path)
    assert followed.look().lines == []
    path.write_bytes(text({"n": 1}))
    assert followed.look().lines == [{"n": 1}]


def test_each_look_gives_only_what_came_since_the_last_one(path):
    followed = Followed(path)
    path.write_bytes(text({"n": 1}))
    assert followed.look().fresh
    with path.open("ab") as stream:
        stream.write(text({"n": 2}, {"n": 3}))
    second = followed.look()
    assert (second.lines, second.fresh) == ([{"n": 2}, {"n": 3}], False)
    assert followed.look().lines == []


def test_a_torn_last_line_waits_until_it_is_whole(path):
    followed = Followed(path)
    whole = text({"n": 1}, {"name": "é"})
    path.write_bytes(whole[:-6])  # inside a character
    assert followed.look().lines == [{"n": 1}]
    path.write_bytes(whole)
    assert followed.look().lines == [{"name": "é"}]


def test_what_a_crash_left_torn_and_the_next_driver_cut_is_never_seen(path):
    followed = Followed(path)
    path.write_bytes(text({"n": 1}) + b'{"n": 2, "cut')
    followed.look()
    path.write_bytes(text({"n": 1}, {"n": 3}))
    assert followed.look().lines == [{"n": 3}]


@pytest.mark.parametrize("foreign", [b"no json\n", b"[1]\n", b"\xff\xfe\n", b"\n", b"3\n"])
def test_a_foreign_line_is_passed_over(path, foreign):
    path.write_bytes(text({"n": 1}) + foreign + text({"n": 2}))
    assert read_stretch(path).lines == [{"n": 1}, {"n": 2}]


@pytest.mark.parametrize("other", [text({"m": 1}), text(*[{"other": n} for n in range(9)])])
def test_another_file_under_the_same_name_is_read_anew(path, tmp_path, other):
    followed = Followed(path)
    path.write_bytes(text({"n": 1}, {"n": 2}))
    followed.look()
    (tmp_path / "new").write_bytes(other)
    (tmp_path / "new").rename(path)
    found = followed.look()
    assert found.fresh
    assert found.lines == [json.loads(line) for line in other.splitlines()]


def test_an_offset_where_no_line_begins_starts_anew(path):
    path.write_bytes(text({"n": 1}, {"n": 2}))
    found = read_stretch(path, 4)
    assert (found.fresh, found.lines) == (True, [{"n": 1}, {"n": 2}])
    assert read_stretch(path, 10_000).fresh


def test_a_limit_gives_the_whole_in_parts(path):
    values = [{"n": n} for n in range(100)]
    path.write_bytes(text(*values))
    offset, more, found, parts = 0, True, [], 0
    while more:
        stretch = read_stretch(path, offset, limit=64)
        offset, more = stretch.offset, stretch.more
        found += stretch.lines
        parts += 1
    assert found == values
    assert parts > 10


def test_a_mark_leaves_out_the_lines_without_it(path):
    path.write_bytes(text({"event": "frame.ready"}, {"event": "alarm"}, {"event": "frame.damaged"}))
    followed = Followed(path, marks=(b'"frame.',))
    assert [line["event"] for line in followed.look().lines] == ["frame.ready", "frame.damaged"]


@pytest.mark.parametrize(
    ("value", "is_number"),
    [(1, True), (1.5, True), ("1", False), (True, False), (float("nan"), False), (None, False)],
)
def test_only_finite_numbers_are_numbers(value, is_number):
    assert number(value) == (value if is_number else None)


def test_a_pipe_in_the_place_of_the_file_is_refused_and_not_waited_for(path):
    os.mkfifo(path)
    with pytest.raises(OSError, match="not a regular file"):
        read_stretch(path)


def test_a_line_nested_too_deep_is_foreign(path):
    path.write_bytes(text({"n": 1}) + b"[" * 100_000 + b"\n" + text({"n": 2}))
    assert read_stretch(path).lines == [{"n": 1}, {"n": 2}]
