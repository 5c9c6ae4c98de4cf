"""What tests of the driver's side share: a backlog."""

from __future__ import annotations

from pathlib import Path

import pytest

from burstlens.core.run.history import replay
from burstlens.viz.product import Context
from burstlens.workflows.ordering.backlog import Backlog


@pytest.fixture
def backlog():
    """A backlog of these products, after these events."""

    def make(*products, events=()):
        context = Context("storm-1", "Any", "", "", "", Path("files"))
        return Backlog(products, replay(events), context, "output", "products")

    return make
