"""The watcher's state for files and for the log."""

from __future__ import annotations

import pytest

from burstlens.workflows.frames.cursor import RECENT, Cursor, Done, Unit
from burstlens.workflows.frames.reason import Reason
from burstlens.workflows.frames.speech import Speech
from burstlens.workflows.models.base import BANNER, CAUSE, OutputName


def test_the_tiles_of_a_frame_are_one_unit():
    output = OutputName("d01", "00010101T000000", 3)
    unit = Unit.of("out/wrfout_d01_0003", output)
    assert unit == Unit("d01", "out/wrfout_d01", "00010101T000000", tiled=True)
    assert Unit.of("out_0003", OutputName("d01")) == Unit("d01", "out_0003")


def test_units_are_of_one_line_if_their_names_differ_only_in_numbers():
    one, long, other, stream = (
        Unit("d01", "s_8.nc"), Unit("d01", "s_10.nc"), Unit("d01", "t_8.nc"), Unit("d02", "s_8.nc")
    )  # fmt: skip
    assert one.line == long.line
    assert len({unit.line for unit in (one, other)}) == 2
    assert one.series != long.series  # which sort by name
    assert stream.series != one.series


def test_units_are_ordered_by_their_time_then_by_the_length_of_the_name_then_by_the_name():
    ordered = [
        Unit("d01", "a_9"), Unit("d01", "b_9"), Unit("d01", "a_10"), Unit("d01", "z", "t1"),
        Unit("d01", "y", "t2"),
    ]  # fmt: skip
    shuffled = [ordered[place] for place in (3, 0, 4, 2, 1)]
    assert sorted(shuffled, key=lambda unit: unit.order) == ordered


def test_recent_finished_units_are_kept_by_name_and_earlier_ones_by_the_greatest_name():
    done = Done()
    names = [f"n{number:03d}" for number in range(RECENT + 3)]
    for name in reversed(names):
        done = done.adding(name)
    assert done == Done("n002", tuple(names[3:]))
    assert all(name in done for name in names)
    assert "n001x" in done  # a gap below the mark is not known
    assert "n003x" not in done
    assert None not in done
    assert done.last == names[-1]


@pytest.mark.parametrize(("done", "last"), [(Done(), ""), (Done("n1"), "n1")])
def test_without_recent_names_the_high_water_mark_is_the_greatest_finished_name(done, last):
    assert done.last == last


def test_units_of_different_series_are_finished_separately():
    cursor = Cursor().finishing(Unit("d01", "n_2")).finishing(Unit("d02", "n_1"))
    units = [Unit("d01", "n_2"), Unit("d01", "n_1"), Unit("d02", "n_1"), Unit("d02", "n_2")]
    assert [cursor.is_done(unit) for unit in units] == [True, False, True, False]


@pytest.mark.parametrize(
    ("reason", "last_line", "why"),
    [
        (None, "", None),
        (None, "bye", "bye"),
        (Reason(CAUSE, "no memory"), "bye", "no memory"),
        (Reason(BANNER, "MPI_ABORT"), "bye", "bye"),
        (Reason(BANNER, "MPI_ABORT"), "", "MPI_ABORT"),
    ],
)
def test_the_reason_of_a_bad_end_is_its_cause_else_the_last_line_else_a_banner(
    reason, last_line, why
):
    assert Speech(reason=reason, last_line=last_line).why == why
