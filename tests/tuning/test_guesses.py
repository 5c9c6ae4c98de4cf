"""First guesses by rule."""

from __future__ import annotations

import pytest

from burstlens.workflows.tuning.guesses import aggregators, first_guesses, usual_space
from burstlens.workflows.tuning.space import Factor, Space, steps


def values(guess) -> dict[str, object]:
    return {steps(key)[-1]: value for key, value in guess.configuration.values}


def test_three_guesses_that_differ_in_kind():
    space = usual_space(16, ("wrfout*",), striped=True, servers=1)
    more, off, sizes = first_guesses(space, 16)
    assert (values(more)["cb_nodes"], values(more)["romio_cb_write"]) == (16, "enable")
    assert values(off)["romio_cb_write"] == "disable"
    assert "cb_nodes" not in values(off)
    assert values(sizes)["striping_unit"] == 256 * 1024
    assert all(space.holds(guess.configuration) for guess in (more, off, sizes))
    assert all(guess.rule for guess in (more, off, sizes))


def test_aggregators_divide_the_ranks():
    factor = Factor("simulation.mpiio_hints.*.cb_nodes", (1, 4, 5, 6, 64))
    (more,) = first_guesses(Space((factor,)), 24)
    assert values(more) == {"cb_nodes": 6}


def test_without_a_known_factor_there_is_no_guess():
    assert first_guesses(Space((Factor("simulation.nodes", (1, 2)),)), 4) != []
    assert first_guesses(Space((Factor("simulation.environment.X", ("a", "b")),)), 4) == []


@pytest.mark.parametrize(("ranks", "servers"), [(1, 1), (2, 1), (1024, 6), (1216, 1), (24, 4)])
def test_usual_aggregators_are_few_divisors_with_the_least_and_the_most(ranks, servers):
    found = aggregators(ranks, servers)
    assert 1 <= len(found) <= 5
    assert all(ranks % number == 0 for number in found)
    assert found[-1] == ranks


def test_the_talks_case_1024_ranks_on_4_nodes_tries_multiples_of_4():
    assert all(number % 4 == 0 for number in aggregators(1024, 4))
