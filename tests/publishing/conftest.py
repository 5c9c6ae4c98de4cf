"""What tests of publication share: a publisher and its journal."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from burstlens.core.run.history import replay
from burstlens.core.run.journal import Journal, read
from burstlens.workflows.publishing.publish import Publisher


@pytest.fixture
def begin(run_dir) -> Callable[..., tuple[Publisher, Journal]]:
    """A publisher as a driver has it that starts on this run directory now."""

    def make(fill=None, speed=None) -> tuple[Publisher, Journal]:
        history = replay(read(run_dir.journal))
        journal = Journal(run_dir.journal, 1, history.apply)
        return Publisher(run_dir, journal, history, fill=fill, speed=speed), journal

    return make


@pytest.fixture
def events(run_dir):
    """Names of the events in the journal."""
    return lambda: [event.event for event in read(run_dir.journal)]
