"""What is tried next."""

from __future__ import annotations

import random
import sys

import pytest

from burstlens.core.errors import BurstlensError
from burstlens.workflows.tuning import search
from burstlens.workflows.tuning.search import proposed, standings
from burstlens.workflows.tuning.space import Configuration, Factor, Measured, Plan, Space, Trial

CB, NODES = "simulation.h.cb", "simulation.h.nodes"
SPACE = Space(
    (
        Factor(CB, ("on", "off")),
        Factor(NODES, (1, 2, 4, 8, 16, 32), {CB: ("on",)}),
        Factor("simulation.h.size", (1, 4, 16)),
    )
)


def tried(configuration: Configuration, seconds: float | None) -> Trial:
    measured = None if seconds is None else Measured({"out": seconds})
    return Trial(Plan("search", configuration, "model"), measured, wall_s=seconds or 1.0)


def surface(configuration: Configuration) -> float:
    """More nodes are faster, sizes hardly matter, without collective buffering it is slow."""
    nodes = configuration.get(NODES)
    size = configuration.get("simulation.h.size")
    assert isinstance(size, int)
    return (8.0 if nodes is None else 4.0 / int(nodes) ** 0.5) + 0.05 * size


def searched(runs: int, seed: int) -> list[Trial]:
    pytest.importorskip("optuna")
    trials: list[Trial] = []
    for number in range(runs):
        chosen = proposed(SPACE, trials, seed + number)
        trials.append(tried(chosen, surface(chosen)))
    return trials


def test_on_a_known_surface_it_comes_closer_to_the_best_than_at_random():
    best = min(map(surface, SPACE.configurations()))
    found = [standings(searched(14, seed))[0].mean / best for seed in range(0, 3000, 100)]
    by_chance = []
    for seed in range(30):
        source = random.Random(seed)
        drawn = [surface(SPACE.drawn(source)) for _ in range(14)]
        by_chance.append(min(drawn) / best)
    assert sum(found) / len(found) < sum(by_chance) / len(by_chance)
    assert sum(one < 1.25 for one in found) >= 24


def test_the_same_trials_and_seed_give_the_same_proposal():
    trials = searched(7, 11)
    assert proposed(SPACE, trials, 5) == proposed(SPACE, list(trials), 5)


def test_a_configuration_that_fails_is_not_proposed_again_and_again():
    pytest.importorskip("optuna")
    bad = next(SPACE.configurations())
    trials = [tried(one, 1.0) for one in list(SPACE.configurations())[3:9]]
    trials += [tried(bad, None)] * 2
    found = [proposed(SPACE, trials, seed) for seed in range(20)]
    assert found.count(bad) <= 3


def test_before_the_model_has_four_trials_it_draws_untried_ones():
    known = next(SPACE.configurations())
    found = {proposed(SPACE, [tried(known, 1.0)], seed) for seed in range(40)}
    assert known not in found
    assert len(found) > 1


def test_the_first_draws_differ_from_what_was_tried_in_every_factor_that_they_can():
    known = SPACE.made({CB: "on", NODES: 4, "simulation.h.size": 4})
    for seed in range(20):
        drawn = proposed(SPACE, [tried(known, 1.0)], seed)
        assert drawn.get(CB) == "off"  # so that the number of nodes has no effect
        assert drawn.get("simulation.h.size") != 4


def test_the_standing_of_a_configuration_is_its_mean_and_failing_once_rules_it_out():
    one, two, three = list(SPACE.configurations())[:3]
    trials = [tried(one, 2.0), tried(two, 1.0), tried(two, 4.0), tried(three, 0.1)]
    found = standings([*trials, tried(three, None)])
    assert [(s.configuration, s.mean, s.runs) for s in found] == [(one, 2.0, 1), (two, 2.5, 2)]


def test_without_optuna_one_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(BurstlensError, match=r"pip install .*\[tuning\]'"):
        search.require_optuna()
