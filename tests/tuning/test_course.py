"""The course of a tuning: which trial comes next, and how it ends."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from events_case import event

from burstlens.core.run.history import replay
from burstlens.workflows.tuning.course import Course, Ending
from burstlens.workflows.tuning.guesses import Guess
from burstlens.workflows.tuning.options import trials_of
from burstlens.workflows.tuning.space import Configuration, Factor, Measured, Plan, Space, Trial

KEY = "simulation.environment.X"
SPACE = Space((Factor(KEY, ("a", "b", "c", "d")),))
FAST = Configuration(((KEY, "b"),))
COURSE = Course(SPACE, (Guess(FAST, "a rule"),), runs=4)


def measured(plan: Plan, seconds: float | None, wall_s: float | None = None) -> Trial:
    wall = wall_s or 2 * (seconds or 1.0)
    found = None if seconds is None else Measured({"out": seconds}, {"out": 3})
    return Trial(plan, found, "" if found else "ended with exit code 3", wall)


def driven(
    time: Callable[[Plan], float | None], course: Course = COURSE
) -> tuple[list[Trial], Ending]:
    pytest.importorskip("optuna")
    trials: list[Trial] = []
    while isinstance(step := course.after(trials), Plan):
        trials.append(measured(step, time(step)))
        assert len(trials) < 50
    return trials, step


def by_value(default: float, **values: float | None) -> Callable[[Plan], float | None]:
    def time(plan: Plan) -> float | None:
        value = plan.configuration.get(KEY)
        return default if value is None else values.get(str(value), 4.0)

    return time


def test_pilot_then_guesses_then_the_model_then_pairs_in_turn():
    trials, ending = driven(by_value(4.0, b=1.0))
    assert [one.plan.phase for one in trials] == ["pilot"] * 3 + ["search"] * 4 + ["pair"] * 6
    assert [one.plan.origin for one in trials[3:7]] == ["rule", "random", "random", "again"]
    assert [one.plan.configuration.is_default for one in trials[7:]] == [True, False] * 3
    assert ending.verdict.gain
    assert ending.verdict.factor == 4.0
    assert ending.leader is not None
    assert ending.leader.configuration == FAST


def test_nothing_faster_than_the_default_ends_without_pairs():
    trials, ending = driven(by_value(1.0))
    assert [one.plan.phase for one in trials].count("pair") == 0
    assert not ending.verdict.gain
    assert "no configuration was faster" in ending.verdict.reason


def test_pairs_end_as_soon_as_a_gain_cannot_be_claimed():
    luck = {"pair": 4.0}
    trials, ending = driven(lambda plan: luck.get(plan.phase, 4.0 if plan.phase == "pilot" else 2))
    assert [one.plan.phase for one in trials].count("pair") == 2
    assert not ending.verdict.gain


def test_output_that_takes_next_to_none_of_the_time_is_not_tuned():
    trials = [measured(COURSE.after([]), 0.1, wall_s=100.0)] * 3
    ending = COURSE.after(trials)
    assert isinstance(ending, Ending)
    assert "nothing to gain" in ending.verdict.reason
    assert not ending.failed


def test_a_recipe_that_fails_as_it_is_ends_as_failed():
    trials, ending = driven(lambda plan: None)
    assert len(trials) == 1
    assert ending.failed
    assert "exit code 3" in ending.verdict.reason


def test_values_that_fail_are_passed_over():
    trials, ending = driven(by_value(4.0, b=None, c=1.0, a=None, d=None))
    failed = {one.plan.configuration for one in trials if one.seconds is None}
    assert FAST in failed
    assert ending.leader is None or ending.leader.configuration not in failed


def test_a_default_that_fails_in_the_pairs_proves_no_gain():
    def time(plan: Plan) -> float | None:
        return None if plan.phase == "pair" else by_value(4.0, b=1.0)(plan)

    _, ending = driven(time)
    assert not ending.verdict.gain
    assert "failed when it was run again" in ending.verdict.reason


def test_the_search_leaves_time_for_the_pairs():
    course = Course(SPACE, COURSE.guesses, runs=50, budget_s=100.0)
    trials, ending = driven(by_value(4.0, b=1.0), course)
    assert sum(one.wall_s for one in trials) <= 100.0
    assert [one.plan.phase for one in trials].count("pair") == 6
    assert ending.verdict.gain


def test_too_few_node_hours_for_any_search_end_as_failed_after_one_trial():
    course = Course(SPACE, COURSE.guesses, runs=50, budget_s=30.0)
    trials, ending = driven(by_value(4.0, b=1.0), course)
    assert len(trials) == 1
    assert ending.failed
    assert "no configuration was faster" not in ending.verdict.reason, "none was tried"
    assert "10 of them, which take about 80 s" in ending.verdict.reason


def test_a_search_that_was_cut_short_goes_on_from_the_journal_as_it_would_have():
    trials, _ = driven(by_value(4.0, b=1.0, c=2.0, a=3.0))
    for cut in range(len(trials)):
        lines = []
        for number, one in enumerate(trials[:cut], 1):
            about = {"t": 1.0, "driver": 1, "job": f"trial-{number}"}
            plan = one.plan
            begun = {"phase": plan.phase, "origin": plan.origin, "reason": plan.reason}
            values = dict(plan.configuration.values)
            lines.append({**about, "event": "trial.submitting", **begun, "values": values})
            seconds = one.measured.seconds if one.measured else None
            ended = {"outcome": "done", "seconds": seconds, "wall_s": one.wall_s}
            lines.append({**about, "event": "trial.ended", **ended})
        lost = {"t": 1.0, "driver": 1, "job": "trial-99", "phase": "search", "origin": "model"}
        lines.append({**lost, "event": "trial.submitting", "values": {KEY: "a"}})
        lines.append({**lost, "event": "trial.ended", "outcome": "lost"})
        again = trials_of(replay(map(event, lines)).trials.values())
        assert COURSE.after(again) == trials[cut].plan


def test_load_that_goes_away_after_the_pilot_is_no_gain():
    """All are equal, and the pilot was slow: what looks like a leader is unmasked by the pairs."""
    trials, ending = driven(lambda plan: 8.0 if plan.phase == "pilot" else 4.0)
    assert [one.plan.phase for one in trials].count("pair") == 2
    assert not ending.verdict.gain


def test_load_that_comes_in_the_pairs_meets_both():
    slow = iter([1.0, 1.0, 3.0, 3.0, 3.0, 3.0])

    def time(plan: Plan) -> float:
        found = by_value(4.0, b=2.0)(plan) or 0.0
        return found * next(slow) if plan.phase == "pair" else found

    _, ending = driven(time)
    assert not ending.verdict.gain, "the leader under load is slower than the default without"


def test_a_trial_may_take_three_times_as_long_as_the_pilot_and_never_the_time_of_the_pairs():
    default = Configuration()
    pilot = [measured(Plan("pilot", default, "default"), 4.0, wall_s=10.0) for _ in range(3)]
    assert COURSE.limit_s(pilot[:2]) is None
    assert COURSE.limit_s(pilot) == 3 * 10.0 + 30.0
    bounded = Course(SPACE, COURSE.guesses, budget_s=130.0)
    assert bounded.limit_s(pilot) == 130.0 - 30.0 - 60.0
    searched = [*pilot, measured(Plan("search", FAST, "rule"), 1.0, wall_s=39.0)]
    assert bounded.limit_s(searched) == 15.0  # noise must not end it
    pair = [*searched, measured(Plan("pair", default, "default"), 4.0, wall_s=10.0)]
    assert bounded.limit_s(pair) == 130.0 - 79.0
