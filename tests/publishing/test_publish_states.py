"""Products with a state: both stand, or both are made again."""

from __future__ import annotations

import os

import pytest
from publish_case import NAME, content

from burstlens.core.run import events as ev
from burstlens.core.run.history import replay
from burstlens.core.run.journal import read
from burstlens.workflows.publishing.publish import _fields

STATE = ".states/t2_output_t00000001.000_1"


@pytest.mark.parametrize("reached", ["publishing", "state", "renamed"])
def test_a_driver_killed_between_a_state_and_its_product_leaves_both_to_the_next(
    begin, staged, run_dir, reached
):
    _, journal = begin()
    receipt = staged(state=b"state")
    journal.append(ev.ProductPublishing(**_fields(receipt)))
    journal.sync()
    steps = ["publishing", "state", "renamed"].index(reached)
    for part in (receipt.state, receipt)[:steps]:
        (run_dir.products / part.name).parent.mkdir(exist_ok=True)
        os.replace(run_dir.products / part.incoming, run_dir.products / part.name)
    after, _ = begin()
    after.settle()
    after.clean_incoming()
    assert content(run_dir) == {NAME: b"picture", STATE: b"state"}
    assert replay(read(run_dir.journal)).states.newest("t2", "output", "t9") == STATE


def test_a_later_attempts_equal_picture_that_was_cut_brings_its_own_state(begin, staged, run_dir):
    publisher, journal = begin()
    publisher.publish([staged(state=b"first")])
    journal.append(ev.ProductPublishing(**_fields(staged(attempt=2, state=b"second"))))
    journal.sync()
    after, _ = begin()
    after.settle()
    after.clean_incoming()
    second = STATE[:-1] + "2"
    assert content(run_dir) == {NAME: b"picture", STATE: b"first", second: b"second"}


def test_a_product_that_stands_without_its_state_is_made_again(begin, staged, run_dir, events):
    _, journal = begin()
    receipt = staged(state=b"state")
    journal.append(ev.ProductPublishing(**_fields(receipt)))
    journal.sync()
    (run_dir.products / receipt.name).parent.mkdir()
    os.replace(run_dir.products / receipt.incoming, run_dir.products / receipt.name)
    (run_dir.products / receipt.state.incoming).unlink()
    after, _ = begin()
    after.settle()
    assert events() == ["product.publishing"]


def test_a_cut_publication_whose_state_is_null_in_the_journal_is_settled(begin, staged, events):
    _, journal = begin()
    journal.append(ev.ProductPublishing(**_fields(staged()) | {"state": None}))
    journal.sync()
    after, _ = begin()
    after.settle()
    assert events()[-1] == "product.published"


def test_a_product_whose_state_is_not_the_one_staged_is_made_again(begin, staged, run_dir):
    _, journal = begin()
    receipt = staged(state=b"state")
    journal.append(ev.ProductPublishing(**_fields(receipt)))
    journal.sync()
    (run_dir.products / receipt.state.incoming).write_bytes(b"torn")
    after, _ = begin()
    after.settle()
    after.clean_incoming()
    assert content(run_dir) == {}


def test_states_that_there_is_no_room_for_are_deleted_the_oldest_first(
    begin, staged, run_dir, monkeypatch
):
    monkeypatch.setattr("burstlens.core.run.product_record.HELD_BYTES", 10)
    monkeypatch.setattr("burstlens.core.run.product_record.LEAST", 2)
    publisher, _ = begin()
    for number in range(4):
        publisher.publish([staged(time=f"t{number:08d}.000", state=b"state")])
        if number == 1:  # another process has deleted it already
            (run_dir.products / ".states" / "t2_output_t00000000.000_1").unlink()
    publisher.close()
    kept = sorted(path.name for path in (run_dir.products / ".states").iterdir())
    assert kept == [f"t2_output_t{number:08d}.000_1" for number in (2, 3)]


def test_a_late_twin_takes_its_state_with_it(begin, staged, run_dir):
    publisher, _ = begin()
    publisher.publish([staged(state=b"state"), staged(state=b"state")])
    publisher.close()
    assert content(run_dir) == {NAME: b"picture", STATE: b"state"}
