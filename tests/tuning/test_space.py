"""Factors and configurations."""

from __future__ import annotations

import random

import pytest

from burstlens.workflows.tuning.space import DEFAULT, Configuration, Factor, Space, steps

CB, NODES, DS = "simulation.h.out*.cb", "simulation.h.out*.nodes", "simulation.h.out*.ds"
SPACE = Space(
    (
        Factor(CB, ("on", "off")),
        Factor(NODES, (1, 2, 4), {CB: ("on",)}),
        Factor(DS, (True, False)),
    )
)


def test_a_part_of_a_key_with_dots_stands_in_quotes():
    assert steps('simulation.mpiio_hints."out_*.nc".cb_nodes')[2] == "out_*.nc"
    assert Factor(CB, ("on",)).name == "cb"


@pytest.mark.parametrize("key", ["", "simulation", "simulation..nodes", ".nodes", 'a."b', "a.b."])
def test_what_is_not_a_dotted_key_is_refused(key):
    with pytest.raises(ValueError, match="not a dotted key"):
        steps(key)


def test_a_conditional_factor_is_varied_only_where_it_has_an_effect():
    found = list(SPACE.configurations())
    assert len(found) == 2 * 3 + 2 == len(set(found))
    assert all((one.get(NODES) is None) == (one.get(CB) == "off") for one in found)
    assert DEFAULT not in found


def test_random_configurations_belong_to_the_space_and_reach_all_of_it():
    source = random.Random(1)
    drawn = {SPACE.drawn(source) for _ in range(200)}
    assert drawn == set(SPACE.configurations())
    assert all(map(SPACE.holds, drawn))


@pytest.mark.parametrize(
    "strange",
    [
        DEFAULT,
        Configuration(((CB, "off"), (NODES, 2), (DS, True))),
        Configuration(((CB, "on"), (NODES, 3), (DS, True))),
        Configuration(((CB, "on"),)),
    ],
)
def test_a_configuration_of_other_factors_or_values_does_not_belong(strange):
    assert not SPACE.holds(strange)


@pytest.mark.parametrize(
    ("factors", "said"),
    [
        ((Factor(CB, ()),), "no values"),
        ((Factor(CB, (1, 1)),), "a value twice"),
        ((Factor(CB, (1,)), Factor(CB, (2,))), "given twice"),
        ((Factor(NODES, (1,), {CB: ("on",)}), Factor(CB, ("on",))), "not a factor above it"),
        ((Factor(CB, ("on",)), Factor(NODES, (1,), {CB: ("of",)})), "not among its values"),
    ],
)
def test_factors_that_do_not_fit_are_refused(factors, said):
    with pytest.raises(ValueError, match=said):
        Space(factors)


def test_hints_of_several_patterns_are_named_with_their_pattern():
    one, other = ('simulation.mpiio_hints."a.*".cb_nodes', "simulation.mpiio_hints.b*.cb_nodes")
    chosen = Configuration(((one, 2), (other, 4), ("simulation.nodes", 1)))
    assert chosen.text() == "a.*.cb_nodes=2 b*.cb_nodes=4 nodes=1"
    assert Configuration(((one, 2),)).text() == "cb_nodes=2"
