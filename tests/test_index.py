"""The index of products as readers see it."""

from __future__ import annotations

import json

import pytest

from burstlens.errors import RunError
from burstlens.index import Index, product_path, published

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


def test_what_is_told_of_a_product(run_dir):
    found = published(LINE)
    assert found.latency_s == 0.5
    assert found.facts["units"] == "K"
    assert found.placeholder == ""
    assert published(LINE | {"written": None}).latency_s is None
    hole = published(LINE | {"facts": {"placeholder": True, "reason": "no T2"}})
    assert hole.placeholder == "no T2"


def test_the_index_of_an_older_version_is_read(run_dir):
    """Without ``written``, facts or a checksum."""
    old = {key: LINE[key] for key in ("product", "stream", "time", "name")}
    assert published(old).latency_s is None


@pytest.mark.parametrize(
    "line", [{}, LINE | {"name": 3}, LINE | {"time": None}, {"event": "alarm"}]
)
def test_a_line_that_is_no_index_line_is_passed_over(run_dir, line):
    assert published(line) is None
    write(run_dir, line, LINE)
    index = Index(run_dir.index)
    index.look()
    assert len(index.entries) == 1


@pytest.mark.parametrize("odd", ["attempt", "bytes", "t", "written", "facts", "crc32"])
def test_an_odd_value_spoils_no_more_than_itself(odd):
    found = published(LINE | {odd: ["?"]})
    assert found.name == LINE["name"]


@pytest.mark.parametrize(
    "name", ["../secret", "/etc/passwd", "t2/../../secret", "t2/link.png", "loop/x", "a\0b", "gone"]
)
def test_no_name_and_no_link_leads_out_of_the_products(run_dir, name):
    (run_dir.path / "secret").write_text("x")
    (run_dir.products / "t2").mkdir()
    (run_dir.products / "t2" / "link.png").symlink_to(run_dir.path / "secret")
    (run_dir.products / "loop").symlink_to("loop")
    with pytest.raises(RunError):
        product_path(run_dir.products, name)


def test_the_path_of_a_product_is_inside(run_dir):
    (run_dir.products / "t2").mkdir()
    path = run_dir.products / LINE["name"]
    path.write_bytes(b"picture")
    assert product_path(run_dir.products, LINE["name"]) == path
