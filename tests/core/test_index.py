"""The index of products as readers see it."""

from __future__ import annotations

import json

import pytest

from burstlens.core.errors import RunError
from burstlens.core.run.index import Index, product_path, published

LINE = {
    "product": "t2",
    "stream": "d01",
    "time": "20050828T120000",
    "attempt": 1,
    "name": "t2/t2_d01_20050828T120000.png",
    "bytes": 7,
    "crc32": 5,
    "t": 20.5,
    "written": 20.0,
    "facts": {"units": "K"},
}


def write(run_dir, *lines):
    run_dir.index.write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_a_later_line_of_the_same_frame_replaces_the_earlier_one(run_dir):
    index = Index(run_dir.index)
    write(run_dir, LINE, LINE | {"time": "20050828T130000"})
    index.look()
    write(run_dir, LINE, LINE | {"time": "20050828T130000"}, LINE | {"attempt": 2})
    index.look()
    found = [(entry.time, entry.attempt) for entry in index.entries.values()]
    assert found == [("20050828T130000", 1), ("20050828T120000", 2)]


def test_lines_that_differ_in_product_stream_or_time_stand_side_by_side(run_dir):
    others = [LINE | {name: "other"} for name in ("product", "stream", "time")]
    write(run_dir, LINE, *others)
    index = Index(run_dir.index)
    index.look()
    assert [entry.line for entry in index.entries.values()] == [LINE, *others]


def test_the_size_of_a_volume_is_that_of_its_table_and_its_pieces():
    piece = {"name": "t2/pieces/a_0000.vts", "bytes": 100, "crc32": 1}
    volume = published(LINE | {"pieces": [piece, piece | {"bytes": 10}]})
    assert volume.bytes == 7 + 110
    assert [one["bytes"] for one in volume.pieces] == [100, 10]


@pytest.mark.parametrize("pieces", [None, 3, {"count": 2}, ["a"], [{"name": 1, "bytes": 5}]])
def test_pieces_that_are_none_are_passed_over(pieces):
    volume = published(LINE | {"pieces": pieces})
    assert (volume.bytes, list(volume.pieces)) == (7, [])


def test_an_index_that_was_written_anew_is_read_from_its_beginning(run_dir):
    write(run_dir, LINE, LINE | {"time": "20050828T130000"})
    index = Index(run_dir.index)
    index.look()
    run_dir.index.unlink()
    write(run_dir, LINE | {"attempt": 2})
    index.look()
    assert [(entry.time, entry.attempt) for entry in index.entries.values()] == [(LINE["time"], 2)]


def test_the_fields_of_a_product(run_dir):
    found = published(LINE)
    fields = ("product", "stream", "time", "attempt", "name", "bytes", "t", "written", "facts")
    assert {name: getattr(found, name) for name in fields} == {name: LINE[name] for name in fields}
    assert found.latency_s == 0.5
    assert published(LINE | {"written": 20.5}).latency_s == 0.0
    assert published(LINE | {"written": 20.6}).latency_s is None  # clocks that differ
    assert found.facts["units"] == "K"
    assert found.placeholder == ""
    assert published(LINE | {"written": None}).latency_s is None
    hole = published(LINE | {"facts": {"placeholder": True, "reason": "no T2"}})
    assert hole.placeholder == "no T2"
    assert published(LINE | {"facts": {"placeholder": True}}).placeholder == "no reason"


def test_the_index_of_an_older_version_is_read(run_dir):
    """Without ``written``, facts or a checksum."""
    old = {key: LINE[key] for key in ("product", "stream", "time", "name")}
    found = published(old)
    assert (found.attempt, found.bytes, found.t, found.latency_s) == (0, 0, 0.0, None)
    assert (found.facts, found.placeholder) == ({}, "")


@pytest.mark.parametrize(
    "line", [{}, LINE | {"name": 3}, LINE | {"time": None}, {"event": "alarm"}]
)
def test_a_line_that_is_not_an_index_line_is_skipped(run_dir, line):
    assert published(line) is None
    write(run_dir, line, LINE)
    index = Index(run_dir.index)
    index.look()
    assert len(index.entries) == 1


@pytest.mark.parametrize(
    ("odd", "default"),
    [("attempt", 0), ("bytes", 0), ("t", 0.0), ("written", None), ("facts", {})],
)
def test_an_odd_value_spoils_no_more_than_itself(odd, default):
    found = published(LINE | {odd: ["?"]})
    assert getattr(found, odd) == default
    assert found.name == LINE["name"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("../secret", "leads out of"),
        ("/etc/passwd", "leads out of"),
        ("t2/../../secret", "leads out of"),
        ("t2/link.png", "leads out of"),
        ("loop/x", "cannot be found"),
        ("a\0b", "cannot be found: embedded null byte"),
        ("gone", "cannot be found: No such file or directory$"),
    ],
)
def test_no_name_and_no_link_leads_out_of_the_products(run_dir, name, message):
    (run_dir.path / "secret").write_text("x")
    (run_dir.products / "t2").mkdir()
    (run_dir.products / "t2" / "link.png").symlink_to(run_dir.path / "secret")
    (run_dir.products / "loop").symlink_to("loop")
    with pytest.raises(RunError, match=message):
        product_path(run_dir.products, name)


def test_the_path_of_a_product_is_inside(run_dir):
    (run_dir.products / "t2").mkdir()
    path = run_dir.products / LINE["name"]
    path.write_bytes(b"picture")
    assert product_path(run_dir.products, LINE["name"]) == path


def test_entries_of_foreign_lines_are_skipped_and_what_strict_readers_refuse_is_kept(tmp_path):
    path = tmp_path / "index.jsonl"
    whole = {"product": "t2", "stream": "d01", "time": "t1", "name": "t2/a.png", "attempt": 2}
    lines = [
        "not JSON", "[]", "{}", json.dumps(whole | {"time": 3}),
        json.dumps(whole | {"facts": {"max": float("nan")}}),
        json.dumps(whole | {"time": "t2", "facts": {"placeholder": True, "reason": "cut"}}),
        json.dumps(whole | {"time": "t3", "attempt": "x", "facts": []}),
        json.dumps(whole | {"time": "t4\udc80"}), "[" * 100_000,
    ]  # fmt: skip
    path.write_text("".join(f"{line}\n" for line in lines))
    index = Index(path)
    index.look()
    found = list(index.entries.values())
    assert [entry.time for entry in found] == ["t1", "t2", "t3", "t4\udc80"]
    assert [entry.placeholder for entry in found] == ["", "cut", "", ""]
    assert [entry.attempt for entry in found] == [2, 2, 0, 2]
    assert found[1].line["facts"]["reason"] == "cut"
    assert found[1] == published(json.loads(lines[5]))
