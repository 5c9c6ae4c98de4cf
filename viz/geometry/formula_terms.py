"""Positions of levels that CF gives by a formula: pure functions of arrays.

CF conventions 1.11, Appendix D "Parametric Vertical Coordinates"; each function names its section.
Arguments are CF's terms: those of levels as (z, 1, 1), those of the ground as (y, x), numbers as
(). All heights are in m above the vertical datum, upwards; pressures in Pa. Missing terms are 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Quantity = Literal["height", "pressure"]


def ln_pressure(p0: Array, lev: Array) -> Array:
    """Appendix D, "Atmosphere natural log pressure coordinate": p = p0 exp(-lev)."""
    return np.asarray(p0 * np.exp(-lev))


def sigma_pressure(sigma: Array, ps: Array, ptop: Array) -> Array:
    """Appendix D, "Atmosphere sigma coordinate": p = ptop + sigma (ps - ptop)."""
    return np.asarray(ptop + sigma * (ps - ptop))


def hybrid_pressure(
    a: Array | None, b: Array, ps: Array, p0: Array | None, ap: Array | None
) -> Array:
    """Appendix D, "Atmosphere hybrid sigma pressure coordinate": p = a p0 + b ps, or ap + b ps."""
    fixed = ap if ap is not None else (0.0 if a is None or p0 is None else a * p0)
    return np.asarray(fixed + b * ps)


def hybrid_height(a: Array, b: Array, orog: Array) -> Array:
    """Appendix D, "Atmosphere hybrid height coordinate": z = a + b orog."""
    return np.asarray(a + b * orog)


def sleve_height(
    a: Array, b1: Array, b2: Array, ztop: Array, zsurf1: Array, zsurf2: Array
) -> Array:
    """Appendix D, "Atmosphere smooth level vertical (SLEVE) coordinate"."""
    return np.asarray(a * ztop + b1 * zsurf1 + b2 * zsurf2)


def ocean_sigma(sigma: Array, eta: Array, depth: Array) -> Array:
    """Appendix D, "Ocean sigma coordinate": z = eta + sigma (depth + eta)."""
    return np.asarray(eta + sigma * (depth + eta))


def ocean_s(s: Array, eta: Array, depth: Array, a: Array, b: Array, depth_c: Array) -> Array:
    """Appendix D, "Ocean s-coordinate": z = eta (1 + s) + depth_c s + (depth - depth_c) C(s).

    C = (1 - b) sinh(a s) / sinh(a) + b (tanh(a (s + 1/2)) / (2 tanh(a / 2)) - 1/2), or s for a = 0.
    """
    stretched = s
    if np.any(a):
        deep = np.tanh(a * (s + 0.5)) / (2 * np.tanh(0.5 * a)) - 0.5
        stretched = (1 - b) * np.sinh(a * s) / np.sinh(a) + b * deep
    return np.asarray(eta * (1 + s) + depth_c * s + (depth - depth_c) * stretched)


def ocean_s_g1(s: Array, C: Array, eta: Array, depth: Array, depth_c: Array) -> Array:  # noqa: N803
    """Appendix D, "Ocean s-coordinate, generic form 1": z = S + eta (1 + S / depth).

    S = depth_c s + (depth - depth_c) C.
    """
    rest = depth_c * s + (depth - depth_c) * C
    return np.asarray(rest + eta * (1 + rest / depth))


def ocean_s_g2(s: Array, C: Array, eta: Array, depth: Array, depth_c: Array) -> Array:  # noqa: N803
    """Appendix D, "Ocean s-coordinate, generic form 2": z = eta + (eta + depth) S.

    S = (depth_c s + depth C) / (depth_c + depth).
    """
    return np.asarray(eta + (eta + depth) * (depth_c * s + depth * C) / (depth_c + depth))


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula, its result, the terms it needs, those it can do without (``None`` or 0 then).

    ``ground`` is the term with the ground's height, a depth where ``quantity`` is that of a sea,
    or the pressure there.
    """

    compute: Callable[..., Array]
    quantity: Quantity
    needs: tuple[str, ...]
    optional: tuple[str, ...] = ()
    ground: str = ""


FORMULAS = {
    "atmosphere_ln_pressure_coordinate": Formula(ln_pressure, "pressure", ("p0", "lev")),
    "atmosphere_sigma_coordinate": Formula(
        sigma_pressure, "pressure", ("sigma", "ps"), ("ptop",), "ps"
    ),
    "atmosphere_hybrid_sigma_pressure_coordinate": Formula(
        hybrid_pressure, "pressure", ("b", "ps"), ("a", "p0", "ap"), "ps"
    ),
    "atmosphere_hybrid_height_coordinate": Formula(
        hybrid_height, "height", ("a", "b", "orog"), ground="orog"
    ),
    "atmosphere_sleve_coordinate": Formula(
        sleve_height, "height", ("a", "b1", "b2", "ztop", "zsurf1", "zsurf2")
    ),
    "ocean_sigma_coordinate": Formula(ocean_sigma, "height", ("sigma", "depth"), ("eta",), "depth"),
    "ocean_s_coordinate": Formula(
        ocean_s, "height", ("s", "depth", "a", "b", "depth_c"), ("eta",), "depth"
    ),
    "ocean_s_coordinate_g1": Formula(
        ocean_s_g1, "height", ("s", "C", "depth", "depth_c"), ("eta",), "depth"
    ),
    "ocean_s_coordinate_g2": Formula(
        ocean_s_g2, "height", ("s", "C", "depth", "depth_c"), ("eta",), "depth"
    ),
}
"""By the standard name of the vertical coordinate."""
_ABSENT = {"eta": np.zeros(()), "ptop": np.zeros(())}


def parse_terms(text: str) -> dict[str, str]:
    """CF's ``formula_terms`` (4.3.3), ``"s: s_rho C: Cs_r"``: the variable of each term.

    >>> parse_terms("s: s_rho  eta: zeta")
    {'s': 's_rho', 'eta': 'zeta'}
    """
    words = text.replace(":", ": ").split()
    return {
        term.removesuffix(":"): name
        for term, name in pairwise(words)
        if term.endswith(":") and not name.endswith(":")
    }


def evaluate(formula: Formula, terms: Mapping[str, Array]) -> Array:
    """The formula of these terms; those that it can do without may be missing."""
    given = {name: terms[name] for name in formula.needs}
    optional = {name: terms.get(name, _ABSENT.get(name)) for name in formula.optional}
    return formula.compute(**given, **optional)
