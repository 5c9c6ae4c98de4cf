from __future__ import annotations

import errno
import os
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from publish_case import NAME, content

from burstlens.core.lines import read_lines
from burstlens.core.run import events as ev
from burstlens.core.run.history import replay
from burstlens.core.run.journal import read
from burstlens.stagers.base import checksum
from burstlens.workflows.publishing.publish import _fields


def test_a_receipt_becomes_a_file_an_event_and_a_line(begin, staged, run_dir, events):
    publisher, _ = begin()
    [event] = publisher.publish([staged()])
    publisher.close()
    assert content(run_dir) == {NAME: b"picture"}
    assert events() == ["product.publishing", "product.published"]
    [line] = read_lines(run_dir.index)
    assert (line["name"], line["crc32"], line["t"]) == (NAME, event.crc32, event.t)


def is_open(path) -> bool:
    """Whether this process has that file open."""
    folder = "/proc/self/fd"
    return any(os.path.realpath(f"{folder}/{one}") == str(path) for one in os.listdir(folder))


def test_what_a_receipt_says_is_in_the_journal_and_what_readers_need_in_the_index(
    begin, staged, run_dir
):
    publisher, journal = begin(fill=lambda: 0.123456)
    frame = {"stream": "output", "time": "t00000001.000", "attempt": 1}
    journal.append(ev.FrameReady(**frame, bytes=1000))
    facts, clock = {"units": "K"}, {"written": 5.0, "made": 6.0}
    [event] = publisher.publish([replace(staged(), facts=facts, clock=clock)])
    publisher.close()
    assert (event.facts, event.clock) == (facts, clock)
    [line] = read_lines(run_dir.index)
    about = {"written": 5.0, "raw_bytes": 1000, "fill": 0.1235, "facts": facts}
    assert {name: line[name] for name in about} == about
    assert {name: line[name] for name in frame} == frame
    assert not is_open(run_dir.index)


def test_a_line_has_the_models_speed_and_where_the_products_time_went(begin, staged, run_dir):
    publisher, _ = begin(speed=lambda: 48.25)
    clock = {"written": 5.0, "detected": 5.5, "made": 6.0, "staged": 6.25}
    publisher.publish([replace(staged(), clock=clock)])
    publisher.close()
    [line] = read_lines(run_dir.index)
    assert (line["speed"], line["clock"][:5]) == (48.25, [0.5, None, None, None, 0.25])


def test_a_mended_line_says_nothing_of_the_buffer_which_has_changed_since(begin, staged, run_dir):
    publisher, journal = begin()
    journal.append(ev.FrameReady(stream="output", time="t1", attempt=1, bytes=1000))
    publisher.publish([staged()])
    run_dir.index.unlink()
    after, _ = begin(fill=lambda: 0.5, speed=lambda: 2.0)
    after.settle()
    [line] = read_lines(run_dir.index)
    assert (line["raw_bytes"], line["fill"], line["speed"]) == (None, None, None)


def test_pages_have_what_was_published_when_a_driver_has_settled_and_when_it_has_ended(
    begin, staged, run_dir
):
    feed = run_dir.products / "live" / "frames-0000.js"
    publisher, _ = begin()
    publisher.publish([staged()])
    after, _ = begin()
    after.settle()
    assert feed.read_text().count(NAME) == 1
    after.publish([staged(time="t00000002.000")])
    after.close()
    assert NAME.replace("1.000", "2.000") in feed.read_text()


def test_the_journal_is_on_disk_before_the_rename_and_the_folder_after_it(
    begin, staged, run_dir, monkeypatch
):
    publisher, _ = begin()
    receipt = staged()
    done: list[str] = []
    flush, rename = os.fsync, os.replace

    def fsync(descriptor: int) -> None:
        done.append(os.path.basename(os.readlink(f"/proc/self/fd/{descriptor}")))
        flush(descriptor)

    def replaces(old, new) -> None:
        rename(old, new)
        done.append(os.path.basename(new))

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replaces)
    publisher.publish([receipt])
    assert done == ["journal.jsonl", "products", os.path.basename(NAME), "t2"]


def test_an_index_that_the_disk_does_not_take_is_written_later(begin, staged, run_dir, monkeypatch):
    publisher, _ = begin()
    full = True
    write = os.write

    def refused(descriptor: int, data: bytes) -> int:
        if full and os.readlink(f"/proc/self/fd/{descriptor}") == str(run_dir.index):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(descriptor, data)

    monkeypatch.setattr(os, "write", refused)
    publisher.publish([staged()])
    with pytest.raises(OSError, match="No space left"):
        publisher.flush()
    full = False
    publisher.flush()
    assert [line["name"] for line in read_lines(run_dir.index)] == [NAME]
    full = True
    publisher.publish([staged(time="t00000002.000")])
    with pytest.raises(OSError, match="No space left"):
        publisher.close()
    assert not is_open(run_dir.index)


def test_a_receipt_whose_file_is_gone_raises_its_name(begin, staged, run_dir):
    publisher, _ = begin()
    publisher.publish([staged()])
    receipt = staged(time="t00000002.000")
    (run_dir.products / receipt.incoming).unlink()
    with pytest.raises(FileNotFoundError, match=re.escape(receipt.incoming)):
        publisher.publish([receipt])


def test_each_product_stream_and_time_is_published_once(begin, staged, run_dir, events):
    publisher, _ = begin()
    first, zombie, retried = staged(), staged(content=b"other"), staged(content=b"third")
    assert len(publisher.publish([first, zombie])) == 1  # in one group
    assert publisher.publish([retried]) == []  # and later
    publisher.close()
    assert content(run_dir) == {NAME: b"picture"}
    assert events().count("product.published") == 1
    assert len(list(read_lines(run_dir.index))) == 1


def test_a_later_attempt_supersedes_and_an_earlier_one_is_dropped(begin, staged, run_dir, events):
    publisher, _ = begin()
    publisher.publish([staged()])
    publisher.publish([staged(content=b"better", attempt=2)])
    assert publisher.publish([staged(content=b"late", attempt=1)]) == []
    publisher.close()
    assert content(run_dir) == {NAME: b"better"}
    assert events()[-2:] == ["product.superseded", "product.published"]
    [old] = [event for event in read(run_dir.journal) if event.event == "product.superseded"]
    about = "t2", "output", "t00000001.000", 1
    assert (*old.key, old.attempt) == about
    after, _ = begin()
    after.settle()
    assert [line["attempt"] for line in read_lines(run_dir.index)] == [1, 2]


WIDER = (-5.0, 5.0)


@pytest.fixture
def outgrown(begin, staged):
    """A publisher with a picture whose colour limits are outgrown, and its journal."""

    def make():
        publisher, journal = begin()
        first = replace(staged(), limits=(-1.0, 1.0))
        publisher.publish([first])
        journal.append(ev.ProductLimits(product="t2", limits=WIDER))
        return publisher, journal

    return make


def test_a_picture_with_wider_limits_supersedes_that_of_the_same_attempt(
    outgrown, begin, staged, run_dir, events
):
    publisher, _ = outgrown()
    [event] = publisher.publish([replace(staged(content=b"wider"), limits=WIDER)])
    assert event.limits == WIDER
    assert events()[-3:] == ["product.publishing", "product.superseded", "product.published"]
    # Those of a zombie worker and of a retry come too late.
    assert publisher.publish([replace(staged(content=b"zombie"), limits=(-1.0, 1.0))]) == []
    assert publisher.publish([replace(staged(content=b"again"), limits=WIDER)]) == []
    publisher.close()
    assert content(run_dir) == {NAME: b"wider"}
    after, _ = begin()
    after.settle()
    assert [line["crc32"] for line in read_lines(run_dir.index)][-1] == event.crc32
    assert len(list(read_lines(run_dir.index))) == 2


def test_an_earlier_attempts_picture_is_dropped_though_it_has_the_wider_limits(
    begin, staged, run_dir
):
    publisher, journal = begin()
    publisher.publish([replace(staged(attempt=2), limits=(-1.0, 1.0))])
    journal.append(ev.ProductLimits(product="t2", limits=WIDER))
    assert publisher.publish([replace(staged(content=b"late", attempt=1), limits=WIDER)]) == []
    assert content(run_dir) == {NAME: b"picture"}


def test_a_picture_with_limits_that_are_outgrown_as_well_is_dropped(outgrown, staged, run_dir):
    publisher, _ = outgrown()
    assert publisher.publish([replace(staged(content=b"2"), limits=(-2.0, 2.0))]) == []
    assert content(run_dir) == {NAME: b"picture"}


@pytest.mark.parametrize("state", ["staged", "publishing", "renamed", "published", "listed"])
def test_a_driver_killed_as_it_supersedes_leaves_one_valid_picture(
    outgrown, begin, staged, run_dir, state
):
    publisher, journal = outgrown()
    receipt = replace(staged(content=b"wider"), limits=WIDER)
    if state in {"publishing", "renamed", "published"}:
        journal.append(ev.ProductPublishing(**_fields(receipt)))
    if state in {"renamed", "published"}:
        os.replace(run_dir.products / receipt.incoming, run_dir.products / receipt.name)
    if state == "published":
        journal.append(ev.ProductPublished(**_fields(receipt)))
    if state == "listed":
        publisher.publish([receipt])
    journal.sync()
    publisher._index.sync()

    after, journal = begin()
    after.settle()
    after.clean_incoming()
    history = replay(read(run_dir.journal))
    made_again = history.outgrown(("t2", "output", "t00000001.000"))
    assert made_again == (state == "staged")
    assert content(run_dir) == {NAME: b"picture" if made_again else b"wider"}
    crc32 = checksum(run_dir.products / NAME).crc32
    assert [line["crc32"] for line in read_lines(run_dir.index)][-1] == crc32


@pytest.mark.parametrize("order", [(1, 2), (2, 1)])
def test_of_one_group_the_highest_attempt_alone_is_published(begin, staged, run_dir, order):
    publisher, _ = begin()
    receipts = [staged(content=str(attempt).encode(), attempt=attempt) for attempt in order]
    assert [event.attempt for event in publisher.publish(receipts)] == [2]
    publisher.close()
    assert content(run_dir) == {NAME: b"2"}


@pytest.mark.parametrize("state", ["staged", "publishing", "renamed", "published", "listed"])
def test_a_driver_killed_at_any_point_leaves_what_the_next_one_settles(
    begin, staged, run_dir, events, state
):
    publisher, journal = begin()
    receipt = staged()
    if state in {"publishing", "renamed", "published"}:
        journal.append(ev.ProductPublishing(**_fields(receipt)))
    if state in {"renamed", "published"}:
        (run_dir.products / receipt.name).parent.mkdir()
        os.replace(run_dir.products / receipt.incoming, run_dir.products / receipt.name)
    if state == "published":
        journal.append(ev.ProductPublished(**_fields(receipt)))
    if state == "listed":
        publisher.publish([receipt])
    journal.sync()
    publisher._index.sync()

    after, _ = begin()  # the former one is never closed: it was killed
    after.settle()
    after.clean_incoming()
    if state == "staged":  # nothing was said of it: it is made again
        assert content(run_dir) == {}
        after.publish([staged()])
    assert content(run_dir) == {NAME: b"picture"}
    assert events().count("product.published") == 1
    assert [line["name"] for line in read_lines(run_dir.index)] == [NAME]

    again, _ = begin()  # settling is done once and for all
    again.settle()
    assert events().count("product.published") == 1
    assert len(list(read_lines(run_dir.index))) == 1


@pytest.mark.parametrize("damage", [b"", b"pictur!", b"picture and more"])
def test_a_cut_publication_whose_file_is_not_the_one_staged_is_made_again(
    begin, staged, run_dir, damage
):
    _, journal = begin()
    receipt = staged()
    journal.append(ev.ProductPublishing(**_fields(receipt)))
    journal.sync()
    (run_dir.products / receipt.incoming).write_bytes(damage)
    after, _ = begin()
    after.settle()
    after.clean_incoming()
    assert content(run_dir) == {}
    after.publish([staged()])
    assert content(run_dir) == {NAME: b"picture"}


def test_a_cut_superseding_ends_with_the_later_attempts_file(begin, staged, run_dir, events):
    publisher, journal = begin()
    publisher.publish([staged()])
    journal.append(ev.ProductPublishing(**_fields(staged(content=b"better", attempt=2))))
    journal.sync()
    after, _ = begin()
    after.settle()
    assert content(run_dir) == {NAME: b"better"}
    assert events()[-2:] == ["product.superseded", "product.published"]


def test_torn_lines_of_journal_and_index_are_mended(begin, staged, run_dir):
    publisher, _ = begin()
    publisher.publish([staged(), staged(time="t00000002.000")])
    for path in (run_dir.index, run_dir.journal):
        os.truncate(path, path.stat().st_size - 5)
    after, _ = begin()  # the journal has lost its last word: the second one's published
    after.settle()
    after.close()
    names = [NAME, NAME.replace("1.000", "2.000")]
    assert sorted(content(run_dir)) == names
    assert [line["name"] for line in read_lines(run_dir.index)] == names
    published = [e for e in read(run_dir.journal) if e.event == "product.published"]
    assert [event.name for event in published] == names


def test_an_index_that_was_deleted_is_written_anew(begin, staged, run_dir):
    publisher, _ = begin()
    publisher.publish([staged()])
    run_dir.index.unlink()
    after, _ = begin()
    after.settle()
    assert [line["name"] for line in read_lines(run_dir.index)] == [NAME]


def test_a_journal_without_clocks_gives_lines_that_do_not_know_when_a_frame_was_written(
    begin, staged, run_dir
):
    _, journal = begin()
    fields = _fields(staged())
    del fields["clock"]
    journal.append(ev.ProductPublished(**fields))
    journal.sync()
    after, _ = begin()
    after.settle()
    assert [line["written"] for line in read_lines(run_dir.index)] == [None]


def test_a_target_that_is_away_raises_and_the_same_receipts_can_be_given_again(
    begin, staged, run_dir, events
):
    publisher, _ = begin()
    receipts = [staged(), staged(time="t00000002.000")]
    away = run_dir.products.with_name("away")
    run_dir.products.rename(away)
    with pytest.raises(OSError, match="No such file"):
        publisher.publish(receipts)
    away.rename(run_dir.products)
    assert len(publisher.publish(receipts)) == 2
    assert len(content(run_dir)) == 2
    assert events().count("product.published") == 2


def test_a_vtk_series_opens_in_time_order_and_names_files_that_stand(begin, staged, run_dir):
    publisher, _ = begin()
    for time in ("t00000002.000", "t00000010.000", "t00000001.000"):
        publisher.publish([staged(time=time, product="core", extension="vti")])
    publisher.publish([staged()])  # a picture is not part of a series
    publisher.close()
    root = ElementTree.parse(run_dir.products / "core.pvd").getroot()
    sets = [element.attrib for element in root.iter("DataSet")]
    assert [float(entry["timestep"]) for entry in sets] == [1.0, 2.0, 10.0]
    assert all((run_dir.products / entry["file"]).is_file() for entry in sets)
    assert not (run_dir.products / "t2.pvd").exists()


def test_a_resumed_run_keeps_the_series_it_had(begin, staged, run_dir):
    publisher, _ = begin()
    publisher.publish([staged(product="core", extension="vti")])
    after, _ = begin()
    after.settle()
    after.publish([staged(time="t00000002.000", product="core", extension="vti")])
    after.close()
    root = ElementTree.parse(run_dir.products / "core.pvd").getroot()
    assert len(list(root.iter("DataSet"))) == 2
