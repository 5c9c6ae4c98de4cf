"""What tests of the driver's parts share: a backlog, a publisher and its journal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from burstlens.core.run.history import replay
from burstlens.core.run.journal import Journal, read
from burstlens.viz.product import Context
from burstlens.workflows.production.backlog import Backlog
from burstlens.workflows.production.publish import Publisher


@pytest.fixture
def backlog():
    """A backlog of these products, after these events."""

    def make(*products, events=()):
        context = Context("storm-1", "Any", "", "", "", Path("files"))
        return Backlog(products, replay(events), context, "output", "products")

    return make


@pytest.fixture
def begin(run_dir) -> Callable[..., tuple[Publisher, Journal]]:
    """A publisher as a driver has it that starts on this run directory now."""

    def make(fill=None, speed=None) -> tuple[Publisher, Journal]:
        history = replay(read(run_dir.journal))
        journal = Journal(run_dir.journal, epoch=1, seen=history.apply)
        return Publisher(run_dir, journal, history, fill=fill, speed=speed), journal

    return make


@pytest.fixture
def events(run_dir):
    """Names of the events in the journal."""
    return lambda: [event.event for event in read(run_dir.journal)]
