"""What is on disk before the journal says that a product is published, and the index after it."""

from __future__ import annotations

import errno
import os

import pytest
from publish_case import NAME, content

from burstlens.core.lines import read_lines
from burstlens.core.run import events as ev
from burstlens.workflows.publishing.publish import _fields


@pytest.fixture
def flushed(monkeypatch):
    """The names of what is flushed to disk; the first ``refused`` calls for a folder fail."""
    flush, names = os.fsync, []

    def fsync(descriptor: int) -> None:
        name = os.path.basename(os.readlink(f"/proc/self/fd/{descriptor}"))
        if name == "t2" and fsync.refused:
            fsync.refused -= 1
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        flush(descriptor)
        names.append(name)

    fsync.refused = 0
    fsync.names = names
    monkeypatch.setattr(os, "fsync", fsync)
    return fsync


def test_the_name_of_a_products_folder_is_flushed_once(begin, staged, flushed):
    publisher, _ = begin()
    for number in (1, 2):
        publisher.publish([staged(time=f"t0000000{number}.000")])
    assert flushed.names == ["journal.jsonl", "products", "t2", "journal.jsonl", "t2"]


def test_a_rename_that_a_former_driver_has_not_flushed_is_flushed_before_it_is_published(
    begin, staged, run_dir, events, flushed
):
    _, journal = begin()
    receipt = staged()
    journal.append(ev.ProductPublishing(**_fields(receipt)))
    journal.sync()
    (run_dir.products / receipt.name).parent.mkdir()
    os.replace(run_dir.products / receipt.incoming, run_dir.products / receipt.name)
    flushed.names.clear()
    after, _ = begin()
    after.settle()
    assert flushed.names == ["products", "t2"]
    assert events()[-1] == "product.published"


def test_a_rename_that_could_not_be_flushed_is_flushed_when_the_receipt_is_given_again(
    begin, staged, flushed
):
    publisher, _ = begin()
    receipt = staged()
    flushed.refused = 1
    with pytest.raises(OSError, match="Input/output error"):
        publisher.publish([receipt])
    flushed.names.clear()
    assert len(publisher.publish([receipt])) == 1
    assert flushed.names[-1] == "t2"


def test_the_newest_line_of_a_mended_index_is_that_of_the_file_that_stands(begin, staged, run_dir):
    publisher, journal = begin()
    publisher.publish([staged()])
    run_dir.index.unlink()  # a power cut takes what nobody flushed
    journal.append(ev.ProductPublishing(**_fields(staged(content=b"better", attempt=2))))
    journal.sync()
    after, _ = begin()
    after.settle()
    assert [line["attempt"] for line in read_lines(run_dir.index)] == [1, 2]
    assert content(run_dir) == {NAME: b"better"}


def test_a_receipt_that_comes_twice_in_one_group_is_published_once(begin, staged, run_dir):
    publisher, _ = begin()
    receipt = staged()
    assert len(publisher.publish([receipt, receipt])) == 1
    assert content(run_dir) == {NAME: b"picture"}
