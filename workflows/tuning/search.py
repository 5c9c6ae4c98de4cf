"""What to try next: first guesses, then Optuna's tree-structured Parzen estimator (TPE).

A proposal follows from the trials so far and a seed alone: the study is made anew of them each
time, so that a search resumes from the journal, without a database.
"""

from __future__ import annotations

import contextlib
import math
import random
import statistics
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from burstlens.core.errors import BurstlensError
from burstlens.core.extras import install_command
from burstlens.workflows.tuning.space import Configuration, Space, Trial

STARTUP = 4
"""Trials before the model chooses."""
DRAWS = 32
"""Random configurations of which one is chosen before."""
PRIOR = 2.0
"""Weight of the prior, 1 by default: a dozen noisy runs say less than a dozen exact ones."""
FAILED_TIMES = 2.0
"""A failed configuration counts as so many times the slowest measured one."""
ASKS = 8
"""How often the model is asked for a configuration that was not tried yet: which ones are worth
another run is decided by their times (``course``)."""


def is_modelled(space: Space, trials: Sequence[Trial]) -> bool:
    """Whether these trials suffice for the model to choose the next one."""
    return len(_known(space, trials)) >= STARTUP


def proposed(space: Space, trials: Sequence[Trial], seed: int) -> Configuration:
    """The configuration that TPE asks for after these trials; a random one before the fifth."""
    known = _known(space, trials)
    if not is_modelled(space, known):
        return unlike(space, known, random.Random(seed))
    optuna = _optuna()
    slowest = max((t.seconds for t in known if t.seconds is not None), default=1.0)
    values = {
        factor.key: optuna.distributions.CategoricalDistribution(factor.values)
        for factor in space.factors
    }
    with _quiet(optuna):
        sampler = optuna.samplers.TPESampler(
            multivariate=True, group=True, n_startup_trials=STARTUP, prior_weight=PRIOR, seed=seed
        )
        study = optuna.create_study(sampler=sampler)
        for trial in known:
            chosen = dict(trial.plan.configuration.values)
            seconds = FAILED_TIMES * slowest if trial.seconds is None else trial.seconds
            given = {"params": chosen, "distributions": {key: values[key] for key in chosen}}
            value = math.log(max(seconds, 1e-9))
            study.add_trial(optuna.trial.create_trial(**given, value=value))
        tried = {trial.plan.configuration for trial in known}
        for _ in range(ASKS):
            found = _suggested(space, study.ask())
            if found not in tried:
                break
    return found


def _known(space: Space, trials: Sequence[Trial]) -> list[Trial]:
    return [trial for trial in trials if space.holds(trial.plan.configuration)]


def _suggested(space: Space, asked: Any) -> Configuration:
    """The configuration of a trial that Optuna was asked for."""
    return space.filled(lambda factor: asked.suggest_categorical(factor.key, factor.values))


def unlike(space: Space, trials: Sequence[Trial], source: random.Random) -> Configuration:
    """Of random configurations the one that differs in the most factors from whichever tried one
    is nearest to it: few trials are to tell the model something about each value."""
    tried = [trial.plan.configuration for trial in trials]
    drawn = [space.drawn(source) for _ in range(DRAWS)]
    return max(drawn, key=lambda one: min((_differences(one, it) for it in tried), default=0))


def _differences(one: Configuration, other: Configuration) -> int:
    """In how many factors they differ. One that has an effect in one of them only counts: so the
    draws go to the other side of a factor that switches others."""
    values, others = dict(one.values), dict(other.values)
    return sum(values.get(key) != others.get(key) for key in values.keys() | others.keys())


@dataclass(frozen=True, slots=True)
class Standing:
    """A configuration and the mean of its runs; ``failed`` runs rule it out."""

    configuration: Configuration
    mean: float
    runs: int


def standings(trials: Sequence[Trial]) -> list[Standing]:
    """The configurations that never failed, the fastest by the mean of its runs first."""
    seconds: dict[Configuration, list[float]] = {}
    failed = set()
    for trial in trials:
        if trial.seconds is None:
            failed.add(trial.plan.configuration)
        else:
            seconds.setdefault(trial.plan.configuration, []).append(trial.seconds)
    return sorted(
        (Standing(tried, statistics.fmean(runs), len(runs))
         for tried, runs in seconds.items() if tried not in failed),
        key=lambda standing: standing.mean,
    )  # fmt: skip


def _optuna() -> Any:
    try:
        import optuna
    except ImportError:
        raise BurstlensError(
            f"tuning needs Optuna, which is not installed: {install_command('tuning')}"
        ) from None
    return optuna


def require_optuna() -> None:
    """Raise BurstlensError where Optuna is not installed."""
    _optuna()


@contextlib.contextmanager
def _quiet(optuna: Any) -> Iterator[None]:
    """Without Optuna's log lines and its warnings of experimental options."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        optuna.logging.set_verbosity(before)
