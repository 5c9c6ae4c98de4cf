"""What is left of branches that were given up: frames that came no more, and files at home."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from burstlens.core.run import events as ev
from burstlens.core.run.history import History, replay
from burstlens.workflows.deciding.given_up import given_up_files, uncounted
from burstlens.workflows.models.wrf import Wrf

RUNS = Path(__file__).parents[1] / "data" / "wrf" / "restart"
DAY = "00010101T00"


def run(*attempts: tuple[str | None, Iterable[str]]) -> History:
    """Attempts from checkpoints of these minutes and seconds, and the frames of each."""
    events: list[ev.Event] = []
    for number, (begin, times) in enumerate(attempts, 1):
        checkpoint = begin and DAY + begin
        events.append(
            ev.SimulationSubmitting(
                job=f"attempt-{number}", attempt=number, checkpoint=checkpoint,
                written_by=number - 1 if begin else None,
            )
        )  # fmt: skip
        events += [
            ev.FrameReady(attempt=number, stream="d01", time=DAY + at, record=0, file=f"out_{at}")
            for at in times
        ]
    return replay(events)


def recorded() -> list[str]:
    """``I``: from 00:02 on frames came each 20 s instead of each 30 s."""
    model = Wrf().configured(RUNS / "I2")
    said = map(model.read_line, (RUNS / "I2" / "rsl.error.0000").read_text().splitlines())
    return [one.time.removeprefix(DAY) for one in said if one and one.kind == "written"]


FIRST = ["0000", "0030", "0100", "0130", "0200", "0230"]


def test_a_frame_that_the_next_attempt_has_not_at_its_time_is_named():
    history = run((None, FIRST), ("0200", recorded()))
    assert uncounted(history) == (
        "1 frame of a branch that was given up came no more: d01 0001-01-01 00:02:30 UTC; what was "
        "made of them stays stale"
    )


def test_frames_that_are_computed_again_are_not_named():
    assert uncounted(run((None, FIRST), ("0200", ["0230", "0300"]))) == ""
    assert uncounted(run((None, FIRST), ("0200", ["0200", "0230", "0300"]))) == ""
    assert uncounted(run((None, FIRST), (None, FIRST))) == ""
    assert uncounted(run((None, FIRST))) == ""


def test_of_many_the_first_are_named():
    text = uncounted(run((None, ["0000", "0001", "0002", "0003", "0004", "0005"]), ("0001", [])))
    assert text.startswith("4 frames of ")
    assert "00:00:04 UTC, ...;" in text


@pytest.mark.parametrize(
    ("third", "left"),
    [
        (None, {1: {"out_0230"}}),
        # The second attempt is not on the lineage of the third: all of it is given up.
        (("0100", ["0130", "0200"]), {1: {"out_0230"}, 2: {"out_0220", "out_0240"}}),
    ],
)
def test_files_under_names_that_no_attempt_has_whose_frames_count_are_given_up(third, left):
    attempts = [(None, FIRST), ("0200", ["0220", "0240"]), *([third] if third else [])]
    stale = {1: frozenset({"out_0230", "out_0200"} if third else {"out_0230"})}
    assert given_up_files(run(*attempts), stale) == left


def test_a_name_that_counts_by_now_is_not_given_up():
    history = run((None, FIRST), ("0200", ["0230", "0300"]))
    assert given_up_files(history, {1: frozenset({"out_0230"})}) == {}
    assert given_up_files(run((None, FIRST)), {}) == {}
