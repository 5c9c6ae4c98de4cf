"""Pictures with values: they and their grid stand before the picture, and are replaced with it."""

from __future__ import annotations

import json
import os

import pytest
from publish_case import NAME, content

from burstlens.core.run import events as ev
from burstlens.core.run.history import replay
from burstlens.core.run.journal import read
from burstlens.workflows.publishing.publish import _fields

VALUES = NAME.removesuffix(".png") + ".values.js"
GRID = "live/grid-0123.js"


def grid_of(run_dir):
    path = run_dir.products / GRID
    return path.read_bytes() if path.exists() else None


def test_who_sees_a_picture_finds_its_values_and_their_grid(begin, staged, run_dir, monkeypatch):
    publisher, _ = begin()
    receipt, order = staged(values=b"values", grid=b"grid"), []
    replace = os.replace

    def recorded(source, target, **how):
        order.append(os.path.relpath(target, run_dir.products))
        replace(source, target, **how)

    monkeypatch.setattr(os, "replace", recorded)
    publisher.publish([receipt])
    assert order == [GRID, VALUES, NAME]


@pytest.mark.parametrize("reached", range(4))
def test_a_driver_killed_between_values_and_their_picture_leaves_all_to_the_next(
    begin, staged, run_dir, reached
):
    _, journal = begin()
    receipt = staged(values=b"values", grid=b"grid")
    journal.append(ev.ProductPublishing(**_fields(receipt)))
    journal.sync()
    for part in (*receipt.values, receipt)[:reached]:
        (run_dir.products / part.name).parent.mkdir(exist_ok=True)
        os.replace(run_dir.products / part.incoming, run_dir.products / part.name)
    after, _ = begin()
    after.settle()
    after.clean_incoming()
    assert content(run_dir) == {NAME: b"picture", VALUES: b"values"}
    assert grid_of(run_dir) == b"grid"


def test_a_cut_publication_that_has_lost_its_values_is_made_again(begin, staged, run_dir, events):
    _, journal = begin()
    receipt = staged(values=b"values", grid=b"grid")
    journal.append(ev.ProductPublishing(**_fields(receipt)))
    journal.sync()
    (run_dir.products / receipt.values[-1].incoming).unlink()
    after, _ = begin()
    after.settle()
    assert events() == ["product.publishing"]


def test_the_index_names_the_values_and_the_ledger_counts_them(begin, staged, run_dir):
    publisher, _ = begin()
    publisher.publish([staged(values=b"values", grid=b"grid")])
    publisher.flush(force=True)
    line = json.loads(run_dir.index.read_text().splitlines()[-1])
    assert line["values"]["name"] == VALUES
    assert line["values"]["bytes"] == 6
    assert replay(read(run_dir.journal)).product_bytes == len(b"picture" + b"values" + b"grid")


def test_a_later_attempt_replaces_values_with_their_picture(begin, staged, run_dir):
    publisher, _ = begin()
    publisher.publish([staged(values=b"values", grid=b"grid")])
    publisher.publish([staged(attempt=2, content=b"second", values=b"newer")])
    assert content(run_dir) == {NAME: b"second", VALUES: b"newer"}


def test_values_do_not_outlive_their_picture(begin, staged, run_dir):
    publisher, _ = begin()
    publisher.publish([staged(values=b"values", grid=b"grid")])
    publisher.publish([staged(attempt=2, content=b"placeholder")])
    publisher.flush(force=True)
    assert content(run_dir) == {NAME: b"placeholder"}
    assert "values" not in json.loads(run_dir.index.read_text().splitlines()[-1])


def test_a_late_twin_takes_its_values_with_it(begin, staged, run_dir):
    publisher, _ = begin()
    publisher.publish([staged(values=b"values", grid=b"grid")])
    publisher.publish([staged(values=b"values", grid=b"grid")])
    assert list(run_dir.incoming.iterdir()) == []
