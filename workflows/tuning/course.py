"""The course of a tuning: from all trials that have ended to the next one, or to the verdict.

Pilot (the default alone: its noise), search (guesses by rule, then TPE; the last runs measure the
best again), pairs (default and leader in turn). A pure function of the trials, so that a tuning
that was cut short goes on where it was.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from burstlens.core.quantity import counted
from burstlens.workflows.tuning.guesses import Guess
from burstlens.workflows.tuning.search import Standing, is_modelled, proposed, standings
from burstlens.workflows.tuning.space import DEFAULT, Phase, Plan, Space, Trial
from burstlens.workflows.tuning.verdict import (
    LEAST_SHARE,
    PAIRS,
    PILOT,
    Noise,
    Verdict,
    is_refuted,
    judge,
    noise_of,
)

AGAIN = 4
"""Of a search, one run in so many measures the best again."""
SLOW, PATIENCE_S = 3.0, 30.0
"""A trial may take so many times as long as the slowest of the pilot, and so many seconds."""
NOISE_MARGIN = 1.5
"""However little is left of the budget, a trial may take so many times as long as that one."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a tuning ended; ``failed`` where nothing could be measured."""

    verdict: Verdict
    leader: Standing | None = None
    noise: Noise | None = None
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Course:
    """What to run and when to stop: ``runs`` of the search, within ``budget_s`` seconds of the
    trials' own time, None for no bound."""

    space: Space
    guesses: tuple[Guess, ...]
    runs: int = 12
    seed: int = 1
    budget_s: float | None = None

    def after(self, trials: Sequence[Trial]) -> Plan | Ending:
        """The next trial after these, or how it ended. Raises BurstlensError without Optuna."""
        pilot = _of("pilot", trials)
        if failed := next((trial for trial in pilot if trial.seconds is None), None):
            why = f"the recipe as it is could not be measured: {failed.message}"
            return Ending(Verdict(False, why), failed=True)
        pairs, searched = _of("pair", trials), _of("search", trials)
        if not searched and (why := self._too_little(pilot)):
            return Ending(Verdict(False, why), failed=True)
        if len(pilot) < PILOT:
            return Plan("pilot", DEFAULT, "default", "the noise of the recipe as it is")
        noise = noise_of(_seconds(pilot))
        if (reason := _nothing_to_gain(pilot)) is not None:
            return Ending(Verdict(False, reason, noise.mean), None, noise)
        if not pairs and len(searched) < self.runs and self._affords(trials, pilot):
            return self._next(searched, noise)
        leader = best(searched, noise)
        if leader is None or leader.mean >= noise.mean:
            reason = "no configuration was faster than the recipe as it is"
            return Ending(Verdict(False, reason, noise.mean), leader, noise)
        return self._pair(pairs, leader, noise)

    def _too_little(self, pilot: Sequence[Trial]) -> str:
        """Why the budget cannot lead to a verdict, whatever is tried; else an empty text."""
        if self.budget_s is None or not pilot:
            return ""
        least = PILOT + 1 + 2 * PAIRS
        needed = least * statistics.fmean(trial.wall_s for trial in pilot)
        if needed <= self.budget_s:
            return ""
        return (
            f"--node-hours allows {self.budget_s:.3g} s of trials, and nothing can be found in "
            f"less than {least} of them, which take about {needed:.3g} s: give more, or a "
            "shorter trial by [tune] set"
        )

    def _affords(self, trials: Sequence[Trial], pilot: Sequence[Trial]) -> bool:
        """Whether another run of the search leaves time for the pairs."""
        if self.budget_s is None:
            return True
        one = statistics.fmean(trial.wall_s for trial in pilot)
        spent = sum(trial.wall_s for trial in trials)
        return spent + (1 + 2 * PAIRS) * one <= self.budget_s

    def limit_s(self, trials: Sequence[Trial]) -> float | None:
        """How long the next trial may take: a slower one hangs, its values are bad, or it would
        leave too little of the budget for the pairs. None before the pilot is over.
        """
        pilot = [trial.wall_s for trial in _of("pilot", trials)]
        if len(pilot) < PILOT:
            return None
        limit = SLOW * max(pilot) + PATIENCE_S
        if self.budget_s is None:
            return limit
        kept = 0.0 if _of("pair", trials) else 2 * PAIRS * statistics.fmean(pilot)
        left = self.budget_s - kept - sum(trial.wall_s for trial in trials)
        return min(limit, max(left, NOISE_MARGIN * max(pilot)))

    def _next(self, searched: Sequence[Trial], noise: Noise) -> Plan:
        done = len(searched)
        if done < len(self.guesses):
            guess = self.guesses[done]
            return Plan("search", guess.configuration, "rule", guess.rule)
        if self.runs - done <= self.runs // AGAIN and (again := promising(searched, noise)):
            reason = f"measured {counted(again.runs, 'time')} so far, {again.mean:.4g} s"
            return Plan("search", again.configuration, "again", reason)
        configuration = proposed(self.space, searched, self.seed + done)
        if is_modelled(self.space, searched):
            return Plan("search", configuration, "model", "by Optuna's TPE")
        return Plan("search", configuration, "random", "unlike what was tried")

    def _pair(self, pairs: Sequence[Trial], leader: Standing, noise: Noise) -> Plan | Ending:
        """Default and leader in turn; ends early where a gain cannot be claimed any more."""
        default = [trial for trial in pairs if trial.plan.configuration.is_default]
        others = [trial for trial in pairs if not trial.plan.configuration.is_default]
        if failed := next((trial for trial in default if trial.seconds is None), None):
            reason = f"the recipe as it is failed when it was run again: {failed.message}"
            return Ending(Verdict(False, reason), leader, noise)
        base, best = _seconds(default), [trial.seconds for trial in others]
        if is_refuted(base, best) or len(pairs) >= 2 * PAIRS:
            return Ending(judge(base, best), leader, noise)
        if len(default) <= len(others):
            return Plan("pair", DEFAULT, "default", "to compare with the leader")
        return Plan("pair", leader.configuration, "leader", "to compare with the default")


def best(searched: Sequence[Trial], noise: Noise) -> Standing | None:
    """The leader: the least mean after a penalty for few runs, of which one may have been lucky."""
    return _least(searched, noise, +1)


def promising(searched: Sequence[Trial], noise: Noise) -> Standing | None:
    """The configuration that may be the best, by its mean and by how uncertain that is."""
    return _least(searched, noise, -1)


def _least(searched: Sequence[Trial], noise: Noise, sign: int) -> Standing | None:
    def bound(one: Standing) -> float:
        return one.mean * (1 + sign * min(noise.variation, 0.5) / math.sqrt(one.runs))

    return min(standings(searched), key=bound, default=None)


def _nothing_to_gain(pilot: Sequence[Trial]) -> str | None:
    wall = sum(trial.wall_s for trial in pilot)
    share = sum(_seconds(pilot)) / wall if wall > 0 else 1.0
    if share >= LEAST_SHARE:
        return None
    return f"output takes {share:.1%} of the run's time: there is nothing to gain"


def _of(phase: Phase, trials: Sequence[Trial]) -> list[Trial]:
    return [trial for trial in trials if trial.plan.phase == phase]


def _seconds(trials: Sequence[Trial]) -> list[float]:
    return [trial.seconds for trial in trials if trial.seconds is not None]
