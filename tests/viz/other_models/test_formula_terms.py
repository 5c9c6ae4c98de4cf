"""CF's formulas for levels, against values computed by hand (CF 1.11, Appendix D)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from burstlens.viz.geometry.formula_terms import FORMULAS, evaluate, parse_terms


@pytest.mark.parametrize(
    ("name", "terms", "expected"),
    [
        ("atmosphere_ln_pressure_coordinate", {"p0": 1e5, "lev": 1.0}, 36787.9441),
        ("atmosphere_sigma_coordinate", {"sigma": 0.5, "ps": 101000, "ptop": 5000}, 53000),
        ("atmosphere_sigma_coordinate", {"sigma": 0.5, "ps": 101000}, 50500),
        (
            "atmosphere_hybrid_sigma_pressure_coordinate",
            {"a": 0.1, "b": 0.5, "p0": 1e5, "ps": 98000}, 59000,
        ),
        ("atmosphere_hybrid_sigma_pressure_coordinate", {"ap": 2e3, "b": 0.5, "ps": 9e4}, 47000),
        ("atmosphere_hybrid_sigma_pressure_coordinate", {"b": 1.0, "ps": 9e4}, 90000),
        ("atmosphere_hybrid_height_coordinate", {"a": 500, "b": 0.9, "orog": 1000}, 1400),
        (
            "atmosphere_sleve_coordinate",
            {"a": 0.1, "b1": 0.5, "b2": 0.2, "ztop": 2e4, "zsurf1": 800, "zsurf2": 100}, 2420,
        ),
        ("ocean_sigma_coordinate", {"sigma": -0.25, "eta": 2, "depth": 98}, -23),
        ("ocean_sigma_coordinate", {"sigma": -0.25, "depth": 100}, -25),
        # C(-1) = -1 for every a and b: the sea floor.
        (
            "ocean_s_coordinate",
            {"s": -1.0, "eta": 1, "depth": 200, "a": 5, "b": 0.4, "depth_c": 10}, -200,
        ),
        # C = sinh(-1) / sinh(2) = -0.32402714
        (
            "ocean_s_coordinate",
            {"s": -0.5, "eta": 1, "depth": 110, "a": 2, "b": 0, "depth_c": 10}, -36.902714,
        ),
        (
            "ocean_s_coordinate",
            {"s": -0.5, "eta": 1, "depth": 110, "a": 0, "b": 0, "depth_c": 10}, -54.5,
        ),
        # S = 10 (-0.5) + 90 (-0.2) = -23, z = -23 + 2 (1 - 0.23)
        (
            "ocean_s_coordinate_g1",
            {"s": -0.5, "C": -0.2, "eta": 2, "depth": 100, "depth_c": 10}, -21.46,
        ),
        # S = (10 (-0.5) + 100 (-0.2)) / 110 = -0.2272727, z = 2 + 102 S
        (
            "ocean_s_coordinate_g2",
            {"s": -0.5, "C": -0.2, "eta": 2, "depth": 100, "depth_c": 10}, -21.181818,
        ),
    ],
)  # fmt: skip
def test_each_formula_is_that_of_cf(name: str, terms: dict[str, Any], expected: float):
    arrays = {term: np.asarray(float(value)) for term, value in terms.items()}
    assert evaluate(FORMULAS[name], arrays) == pytest.approx(expected, rel=1e-7)


def test_the_surface_and_the_floor_of_a_sea_are_levels_0_and_minus_1():
    for name in ("ocean_s_coordinate_g1", "ocean_s_coordinate_g2"):
        ends = np.array([-1.0, 0])[:, None, None]
        depth, eta = np.array([[50.0, 4000]]), np.array([[0.5, -1]])
        z = evaluate(
            FORMULAS[name],
            {"s": ends, "C": ends, "eta": eta, "depth": depth, "depth_c": np.array(20.0)},
        )
        assert np.allclose(z, [-depth, eta])


def test_terms_are_read_as_cf_and_others_write_them():
    wanted = {"a": "hyam", "b": "hybm", "p0": "P0", "ps": "PS"}
    assert parse_terms("a: hyam b: hybm p0: P0 ps: PS") == wanted
    assert parse_terms("a:hyam b:hybm  p0:P0\nps:PS") == wanted
    assert parse_terms("") == parse_terms("nonsense") == {}
    assert parse_terms("a: b: hybm") == {"b": "hybm"}
