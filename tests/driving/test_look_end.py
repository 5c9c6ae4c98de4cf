"""The end of a look at a run that others started: by the watcher's latest report."""

from __future__ import annotations

import pytest

from burstlens.workflows.frames.cursor import Cursor, Open, Unit
from burstlens.workflows.frames.report import FolderReport, Report
from burstlens.workflows.look.driving.look_end import LookEnd, Sight, observe
from burstlens.workflows.look.observer.observer import Observer

YEARS_S = 20 * 365 * 86400.0


def report(*, whole: bool, unsettled: bool = False, quiet_s: float = YEARS_S) -> Report:
    """Of a folder with one file of 2004."""
    unit = Unit("d01", "wrfout_d01_2004-03-01_00:00:00", "20040301T000000")
    entry = Open(unit, (unit.name,), whole=whole, declared=int(whole))
    folder = FolderReport(newest=unit.name, written=1e9, quiet_s=quiet_s, unsettled=unsettled)
    return Report((), (), Cursor(open=(entry,)), folder=folder)


@pytest.fixture
def look():
    """A look and its observer, which has heard of a file that was just met."""
    one = Looking()
    one.end.take(report(whole=False, unsettled=True))
    one.observe(10.0)
    assert one.end.quiet
    assert not one.end.over
    return one


class Looking:
    """A look and its observer."""

    def __init__(self) -> None:
        self.end, self.observer = LookEnd(), Observer()

    def observe(self, now: float, *, page: bool = False) -> Sight:
        """Ask the observer about the latest report."""
        self.end.sight = sight = observe(self.observer, now, self.end.activity, page)
        return sight


def test_a_file_that_became_whole_since_the_observer_was_asked_is_whole_at_the_end(look):
    look.end.take(report(whole=True))
    assert look.end.over
    sight = look.observe(10.2)
    assert look.end.over
    assert sight.outcome.state == "quiet"
    assert "not whole" not in sight.outcome.message
    assert sight.observation == look.observer.look(10.2, look.end.activity)


def test_a_file_that_stays_as_it_is_is_named_at_the_end(look):
    look.end.take(report(whole=False))
    sight = look.observe(10.2)
    assert look.end.over
    assert sight.outcome.message.endswith("; a file there is not whole")


def test_a_model_that_has_written_since_the_observer_was_asked_is_waited_for(look):
    look.end.take(report(whole=True, quiet_s=0.5))
    look.observe(10.2)
    assert not look.end.over
    assert not look.end.quiet


def test_quiet_ends_no_look_that_a_page_shows(look):
    look.end.take(report(whole=True))
    look.observe(10.1, page=True)
    assert not look.end.over
