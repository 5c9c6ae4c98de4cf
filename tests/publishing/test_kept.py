"""A product that a later attempt computes again to the same bytes is kept."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
from publish_case import NAME, content

from burstlens.core.lines import read_lines
from burstlens.core.model import State
from burstlens.core.run import events as ev
from burstlens.core.run.history import replay
from burstlens.core.run.index import values_path
from burstlens.core.run.journal import read
from burstlens.stagers.base import checksum


def test_equal_bytes_of_a_later_attempt_leave_the_file_as_it_is(begin, staged, run_dir, events):
    publisher, _ = begin()
    publisher.publish([staged()])
    os.utime(run_dir.products / NAME, (1.0, 1.0))
    before = (run_dir.products / NAME).stat()
    assert publisher.publish([staged(attempt=2)]) == []
    publisher.close()
    after = (run_dir.products / NAME).stat()
    assert (after.st_mtime, after.st_ino) == (before.st_mtime, before.st_ino)
    assert content(run_dir) == {NAME: b"picture"}  # nothing is left in .incoming
    assert events() == ["product.publishing", "product.published", "product.kept"]
    assert [line["attempt"] for line in read_lines(run_dir.index)] == [1, 2]


def test_a_kept_product_is_settled_and_counted_for_the_attempt_that_computed_it(
    begin, staged, run_dir
):
    publisher, _ = begin()
    [event] = publisher.publish([staged()])
    publisher.publish([staged(attempt=2)])
    history = replay(read(run_dir.journal))
    assert history.settled(event.key, 2)
    assert (history.standing["t2"], history.kept["t2"]) == (1, 1)
    assert history.product_bytes == event.bytes
    assert publisher.publish([staged(content=b"late")]) == []  # of the first attempt


def test_a_file_that_is_damaged_since_is_replaced(begin, staged, run_dir, events):
    publisher, _ = begin()
    publisher.publish([staged()])
    (run_dir.products / NAME).write_bytes(b"pictuRe")
    publisher.publish([staged(attempt=2)])
    assert content(run_dir) == {NAME: b"picture"}
    assert events()[-2:] == ["product.superseded", "product.published"]


def test_a_picture_whose_values_differ_is_replaced(begin, staged, run_dir, events):
    publisher, _ = begin()
    publisher.publish([staged()])
    values_path(run_dir.products / NAME).write_text("of the first attempt")
    publisher.publish([staged(attempt=2)])
    assert events()[-1] == "product.published"
    assert not values_path(run_dir.products / NAME).exists()


def test_a_placeholder_is_published_again(begin, staged, events):
    publisher, _ = begin()
    for attempt in (1, 2):
        publisher.publish([replace(staged(attempt=attempt), facts={"placeholder": True})])
    assert events()[-1] == "product.published"


def with_state(receipt, run_dir):
    """The receipt of a chained product, with its state."""
    place = f"{receipt.product}_{receipt.stream}_{receipt.time}_{receipt.attempt}"
    staged = State(f"{receipt.incoming}.state", f".states/{place}", 5, 0)
    path = run_dir.products / staged.incoming
    path.write_bytes(b"total")
    return replace(receipt, state=replace(staged, crc32=checksum(path).crc32))


def test_the_state_of_a_kept_product_is_that_of_the_attempt_that_computed_it(
    begin, staged, run_dir
):
    publisher, journal = begin()
    first = with_state(staged(), run_dir)
    publisher.publish([first])
    journal.append(ev.SimulationSubmitting(job="attempt-1", attempt=1))
    fork = {"checkpoint": "t00000000.500", "written_by": 1}
    journal.append(ev.SimulationSubmitting(job="attempt-2", attempt=2, **fork))
    second = with_state(staged(attempt=2), run_dir)
    publisher.publish([second])
    states = replay(read(run_dir.journal)).states
    assert states.newest("t2", "output", first.time) == second.state.name
    assert (run_dir.products / second.state.name).read_bytes() == b"total"


@pytest.mark.parametrize("listed", [True, False])
def test_a_later_driver_lists_what_was_kept_where_the_index_lacks_it(
    begin, staged, run_dir, listed
):
    publisher, _ = begin()
    publisher.publish([staged()])
    publisher.publish([staged(attempt=2)])
    if not listed:
        lines = run_dir.index.read_bytes().splitlines(keepends=True)
        run_dir.index.write_bytes(lines[0])
    after, _ = begin()
    after.settle()
    assert [line["attempt"] for line in read_lines(run_dir.index)] == [1, 2]


def test_what_a_cut_publication_has_left_is_published_not_kept(
    begin, staged, run_dir, events, monkeypatch
):
    publisher, _ = begin()
    publisher.publish([staged()])
    cut = with_state(staged(content=b"other", attempt=2), run_dir)
    rename = os.replace

    def killed(old, new) -> None:
        rename(old, new)
        if os.path.basename(new) == os.path.basename(NAME):
            raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        publisher.publish([cut])
    monkeypatch.undo()
    (run_dir.products / cut.state.name).unlink()  # it was not on disk yet
    after, _ = begin()
    after.settle()
    after.publish([with_state(staged(content=b"other", attempt=2), run_dir)])
    assert events()[-2:] == ["product.superseded", "product.published"]
