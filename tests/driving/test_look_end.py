"""The end of a look at a run that others started: by the watcher's latest report."""

from __future__ import annotations

import pytest

from burstlens.workflows.driver.look_end import LookEnd
from burstlens.workflows.frames.cursor import Cursor, Open, Unit
from burstlens.workflows.frames.report import FolderReport, Report
from burstlens.workflows.placement.observer import Observer

YEARS_S = 20 * 365 * 86400.0


def report(*, whole: bool, unsettled: bool = False, quiet_s: float = YEARS_S) -> Report:
    """Of a folder with one file of 2004."""
    unit = Unit("d01", "wrfout_d01_2004-03-01_00:00:00", "20040301T000000")
    entry = Open(unit, (unit.name,), whole=whole, declared=int(whole))
    folder = FolderReport(newest=unit.name, written=1e9, quiet_s=quiet_s, unsettled=unsettled)
    return Report((), (), Cursor(open=(entry,)), folder=folder)


@pytest.fixture
def ending():
    """A look and its observer, which has heard of a file that was just met."""
    end, observer = LookEnd(), Observer()
    end.take(report(whole=False, unsettled=True))
    end.observe(observer, 10.0, page=False)
    assert end.quiet
    assert end.outcome(observer, 10.1) is None
    return end, observer


def test_a_file_that_became_whole_since_the_observer_was_asked_is_whole_at_the_end(ending):
    end, observer = ending
    end.take(report(whole=True))
    outcome = end.outcome(observer, 10.2)
    assert outcome is not None
    assert outcome.state == "quiet"
    assert "not whole" not in outcome.message
    assert end.observation == observer.look(10.2, end.activity)


def test_a_file_that_stays_as_it_is_is_named_at_the_end(ending):
    end, observer = ending
    end.take(report(whole=False))
    outcome = end.outcome(observer, 10.2)
    assert outcome is not None
    assert outcome.message.endswith("; a file there is not whole")


def test_a_model_that_has_written_since_the_observer_was_asked_is_waited_for(ending):
    end, observer = ending
    end.take(report(whole=True, quiet_s=0.5))
    assert end.outcome(observer, 10.2) is None
    assert not end.quiet


def test_quiet_ends_no_look_that_a_page_shows(ending):
    end, observer = ending
    end.take(report(whole=True))
    end.observe(observer, 10.1, page=True)
    assert end.outcome(observer, 10.2) is None
