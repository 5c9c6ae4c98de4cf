"""A resume of a long run reads the ends of its index and journal, and mends what they lack."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from burstlens.core.lines import lines_before, read_lines
from burstlens.core.run import events as ev
from burstlens.core.run.history_file import history_of, turn
from burstlens.core.run.journal import Journal
from burstlens.core.run.volumes import VOLUME_EVENTS
from burstlens.viz.live import feed
from burstlens.workflows.publishing.publish import Publisher


class Driver:
    """The parts of a driver that publish."""

    def __init__(self, run_dir) -> None:
        self.run_dir = run_dir
        self.history = history_of(run_dir.journal)
        self.journal = Journal(run_dir.journal, 1, self.history.apply)
        self.publisher = Publisher(run_dir, self.journal, self.history)

    def turn(self) -> None:
        self.publisher.mark()
        self.journal.events = VOLUME_EVENTS
        assert turn(self.journal, self.history, self.run_dir.claim(2))

    def end(self) -> None:
        self.publisher.close()
        self.journal.close()


@pytest.fixture
def driver(run_dir) -> Callable[[], Driver]:
    return lambda: Driver(run_dir)


def times(run_dir) -> list[str]:
    return [str(line["time"]) for line in read_lines(run_dir.index)]


def fed(run_dir) -> list[str]:
    """The times in the page's script files, in order."""
    found = []
    for path in sorted((run_dir.products / "live").glob("frames-*.js")):
        text = path.read_text().removeprefix("burstlensFeed(").removesuffix(");\n")
        found += [line["time"] for line in json.loads(text)]
    return found


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(feed, "CHUNK", 2)


def test_what_a_killed_driver_had_not_listed_after_the_last_volume_is_listed(
    driver, staged, run_dir, small_chunks
):
    first = driver()
    first.publisher.publish([staged(f"t{number:08d}.000") for number in (1, 2, 3)])
    first.turn()
    first.publisher.publish([staged(f"t{number:08d}.000") for number in (4, 5)])
    first.end()
    whole = times(run_dir)
    lines = run_dir.index.read_bytes().splitlines(keepends=True)
    run_dir.index.write_bytes(b"".join(lines[:4]))  # the line of the last one is lost
    later = driver()
    assert later.history.volume == 1
    later.publisher.settle()
    later.end()
    assert times(run_dir) == whole == fed(run_dir)


@pytest.mark.parametrize("gone", ["chunk", "end of the index", "index"])
def test_where_the_index_or_the_feed_lost_older_lines_all_is_read_again(
    driver, staged, run_dir, small_chunks, gone
):
    first = driver()
    first.publisher.publish([staged(f"t{number:08d}.000") for number in (1, 2, 3)])
    first.turn()
    first.publisher.publish([staged("t00000004.000")])
    first.end()
    lines = run_dir.index.read_bytes().splitlines(keepends=True)
    if gone == "chunk":
        (run_dir.products / "live" / "frames-0000.js").unlink()
    elif gone == "index":
        run_dir.index.unlink()
    else:
        run_dir.index.write_bytes(b"".join(lines[:2]))
    later = driver()
    later.publisher.settle()
    later.end()
    assert sorted(times(run_dir)) == [f"t{number:08d}.000" for number in (1, 2, 3, 4)]
    assert sorted(fed(run_dir)) == sorted(times(run_dir))


def test_a_publication_that_was_cut_before_the_last_volume_is_finished(driver, staged, run_dir):
    first = driver()
    receipt = staged("t00000001.000")
    first.journal.append(ev.ProductPublishing(
        product=receipt.product, stream=receipt.stream, time=receipt.time, attempt=receipt.attempt,
        uuid=receipt.uuid, incoming=receipt.incoming, name=receipt.name, bytes=receipt.bytes,
        crc32=receipt.crc32,
    ))  # fmt: skip
    first.turn()
    first.end()
    later = driver()
    assert later.history.volume == 1
    later.publisher.settle()
    later.end()
    assert times(run_dir) == ["t00000001.000"]
    assert (run_dir.products / receipt.name).exists()


def test_the_last_lines_before_a_place_are_given_if_they_are_whole(tmp_path):
    path = tmp_path / "index.jsonl"
    path.write_bytes(b'{"a":1}\n{"a":2}\n{"a":3}\n')
    assert lines_before(path, 16, 1) == [b'{"a":2}\n']
    assert lines_before(path, 24, 3) == [b'{"a":1}\n', b'{"a":2}\n', b'{"a":3}\n']
    assert lines_before(path, 16, 0) == []
    assert lines_before(path, 0, 0) == []
    assert lines_before(path, 24, 4) is None
    assert lines_before(path, 15, 1) is None
    assert lines_before(path, 32, 1) is None
    path.write_bytes(b'{"a":1}\nnot JSON\n')
    assert lines_before(path, 17, 1) is None
