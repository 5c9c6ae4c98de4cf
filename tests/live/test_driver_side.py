"""What the driver writes for pages: when a run is created and with each publication."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from burstlens.core.lines import read_lines
from burstlens.core.run import events as ev
from burstlens.core.run.history import replay
from burstlens.core.run.journal import Journal, read
from burstlens.viz.live.page import page_text
from burstlens.workflows.plan.commands import new_run
from burstlens.workflows.publishing.publish import Publisher


@pytest.fixture
def publisher(run_dir):
    def make(fill=None):
        history = replay(read(run_dir.journal))
        journal = Journal(run_dir.journal, 1, history.apply)
        return Publisher(run_dir, journal, history, fill=fill), journal

    return make


@pytest.mark.integration
def test_a_new_run_lacks_nothing_that_a_page_reads(recipe_file, monkeypatch, tmp_path):
    monkeypatch.setenv("BURSTLENS_RUNS", str(tmp_path / "runs"))
    run, _ = new_run(str(recipe_file()), "local", [], "fresh")
    assert (run.products / "index.html").read_text() == page_text()
    assert run.index.read_bytes() == b""
    status = json.loads(run.status.read_text())
    assert (status["state"], status["title"]) == ("new", "Any program")
    names = {path.name for path in (run.products / "live").iterdir()}
    assert names == {"status.js", "count.js", "recipe.js"}


def test_a_line_has_the_time_its_frame_was_written_and_the_fill_of_the_buffer(
    publisher, staged, run_dir
):
    publish, journal = publisher(fill=lambda: 0.25)
    journal.append(ev.FrameReady(stream="output", time="t1", attempt=1, bytes=4000))
    publish.publish([replace(staged(), clock={"written": 17.5})])
    publish.close()
    [line] = read_lines(run_dir.index)
    assert (line["written"], line["raw_bytes"], line["fill"]) == (17.5, 4000, 0.25)


def test_raw_bytes_and_fill_are_null_for_a_publication_by_an_earlier_driver(
    publisher, staged, run_dir
):
    publish, _ = publisher(fill=lambda: 0.25)
    publish.publish([replace(staged(), clock={"written": 17.5})])
    publish.close()
    run_dir.index.unlink()
    later, _ = publisher(fill=lambda: 0.5)
    later.settle()
    later.close()
    [line] = read_lines(run_dir.index)
    assert (line["written"], line["raw_bytes"], line["fill"]) == (17.5, None, None)


def test_a_later_driver_feeds_pages_with_all_that_was_published_before(publisher, staged, run_dir):
    publish, _ = publisher()
    publish.publish([staged("t00000001.000"), staged("t00000002.000")])
    publish.close()
    for path in (run_dir.products / "live").iterdir():
        path.unlink()
    later, _ = publisher()
    later.settle()
    later.close()
    text = (run_dir.products / "live" / "frames-0000.js").read_text()
    lines = json.loads(text.removeprefix("burstlensFeed(").removesuffix(");\n"))
    assert lines == list(read_lines(run_dir.index))
