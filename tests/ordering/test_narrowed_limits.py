"""Colour limits that stale frames have widened."""

from __future__ import annotations

import pytest
from attempts_case import Attempts
from driver_case import Drivers, key
from recipe_texts import ANY as RECIPE

from burstlens.cluster_configs.site import choose
from burstlens.core.run import events as ev
from burstlens.core.run.history import replay
from burstlens.core.run.journal import read

KEEP = '[stage_out]\nkeep = ["*"]\n'


@pytest.fixture
def run(recipe, tmp_path):
    drivers = Drivers(recipe(text=RECIPE + KEEP), choose("local"), tmp_path)
    yield Attempts(drivers)
    drivers.disk.remove()


def ends(run: Attempts, outcome: str) -> None:
    run.drivers.journal.append(
        ev.SimulationEnded(job="attempt-1", attempt=1, outcome=outcome)
    )  # fmt: skip


def limits(run: Attempts) -> tuple[float, float] | None:
    return run.production.history.limits.get("t2")


def drawn(run: Attempts) -> dict[str, tuple[float, float]]:
    """The limits with which each picture stands."""
    return {key[2]: pair for key, pair in run.production.history.drawn.items()}


def blow_up(run: Attempts) -> None:
    """Hour 3 of the first attempt has values that reach three times as far."""
    run.report(1, 1, 2)
    run.publish()
    assert limits(run) == (-1, 1)
    run.report(1, 3)
    run.publish(2)
    assert limits(run) == (-3, 3)
    assert set(drawn(run).values()) == {(-3, 3)}


def resume(run: Attempts) -> None:
    run.begin(2, key(2))
    run.drivers.after(run.production.begin_attempt)


def test_what_a_failed_attempt_has_widened_is_undone_and_pictures_are_made_again(run):
    blow_up(run)
    ends(run, "failed")
    resume(run)
    assert limits(run) == (-1, 1)
    run.report(2, 3)
    run.publish()
    assert drawn(run) == dict.fromkeys((key(1), key(2), key(3)), (-1, 1))


def test_after_the_end_of_a_job_s_time_the_same_frames_come_again_and_nothing_is_undone(run):
    blow_up(run)
    ends(run, "cut")
    resume(run)
    assert limits(run) == (-3, 3)


def test_a_picture_that_was_ordered_before_is_made_with_the_limits_that_hold_now(run):
    blow_up(run)
    run.report(1, 0)
    run.drivers.turn(release=False)
    ends(run, "failed")
    resume(run)
    run.publish()
    assert limits(run) == (-1, 1)
    assert drawn(run)[key(0)] == (-1, 1)


def test_limits_that_stale_frames_alone_have_set_are_forgotten(run):
    run.report(1, 3)
    run.publish(2)
    ends(run, "failed")
    resume(run)
    assert limits(run) is None


def test_the_next_driver_knows_it_by_the_journal(run):
    blow_up(run)
    ends(run, "failed")
    resume(run)
    run.drivers.journal.sync()
    history = replay(read(run.drivers.run.journal))
    assert history.limits["t2"] == (-1, 1)
