"""What holds for awm in every medium: order of convergence, reciprocity, and no energy gained."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from burstlens.workflows.awm.interpolation import OFFSETS
from burstlens.workflows.awm.parameters import Parameters
from burstlens.workflows.awm.solver import Solver

C1, C2 = 9 / 8, -1 / 24
SPACING_M = 100.0
NODES = 16
LAYER_POINTS = 6
AXES = "xyz"
COMPONENTS = ("sxx", "syy", "szz", "sxy", "sxz", "syz")

Array = NDArray[np.float64]
Layers = list[dict[str, float]]
Node = tuple[int, int, int]
Keys = dict[str, float | str]

SHORT: Keys = {"function": "bell", "duration_s": 0.4, "highest_frequency_hz": 1.0}
# Without net moment, so that it leaves no strain behind; over after 210 steps.
RESOLVED: Keys = {"function": "ricker", "frequency_hz": 1.4, "highest_frequency_hz": 3.6}

OBLIQUE = {"strike_deg": 30.0, "dip_deg": 60.0, "rake_deg": 40.0, "moment_n_m": 1e15}
RECEIVERS = ((800.0, 400.0, -400.0), (-400.0, 800.0, 800.0), (1200.0, 0.0, 400.0))


@pytest.fixture(scope="module")
def error(
    parameters: Callable[..., Parameters],
    traces: Callable[..., Array],
    full_space: Callable[..., Array],
    misfit: Callable[[Array, Array], float],
) -> Callable[[float, float], float]:
    """The misfit in a full space, all receivers together, for a spacing and a step."""

    @functools.cache
    def of(spacing: float, step: float) -> float:
        nodes = round(4400.0 / spacing) + 1
        run = parameters(
            free_surface=False,
            grid={"nx": nodes, "ny": nodes, "nz": nodes, "spacing_m": spacing},
            time={"step_s": step, "steps": round(2.4 / step)},
            source={**OBLIQUE, "frequency_hz": 1.25},
        )
        found = traces(run, [(2200.0 + x, 2200.0 + y, 2200.0 - z) for x, y, z in RECEIVERS])
        t = np.arange(1, run.time.count + 1) * step
        wanted = [full_space(run.source.tensor, np.array(at), t, 1.25) for at in RECEIVERS]
        return misfit(found, np.array(wanted))

    return of


@pytest.mark.slow
def test_error_falls_with_the_fourth_power_of_the_spacing(
    error: Callable[[float, float], float],
) -> None:
    coarse, fine = error(200.0, 0.016), error(100.0, 0.004)
    assert np.log2(coarse / fine) > 3.5


@pytest.mark.slow
def test_error_falls_with_the_square_of_spacing_and_step(
    error: Callable[[float, float], float],
) -> None:
    coarse, fine = error(200.0, 0.016), error(100.0, 0.008)
    assert np.log2(coarse / fine) > 2.0


@st.composite
def rocks(draw: st.DrawFn) -> Layers:
    """One to four layers, of any order of speeds."""
    tops = draw(st.lists(st.integers(1, 14), max_size=3, unique=True).map(sorted))
    layers = []
    for top in (0, *tops):
        vp = draw(st.floats(4000.0, 6000.0))
        layers.append(
            {
                "top_m": top * SPACING_M,
                "vp_m_s": vp,
                "vs_m_s": vp / draw(st.floats(1.6, 2.2)),
                "rho_kg_m3": draw(st.floats(1800.0, 3000.0)),
            }
        )
    return layers


def solver(
    layers: Layers, component: str, node: Node, free_surface: bool, steps: int, function: Keys
) -> Solver:
    """A solver with a source in one component of stress, at the element (z, y, x) of a node."""
    dz, dy, dx = OFFSETS[component]
    k, j, i = node
    return Solver(
        Parameters.model_validate(
            {
                "free_surface": free_surface,
                "grid": {"nx": NODES, "ny": NODES, "nz": NODES, "spacing_m": SPACING_M},
                "time": {"step_s": 0.008, "steps": steps},
                "material": {"layers": layers},
                "absorbing": {"points": LAYER_POINTS},
                "source": {
                    "x_m": (i + dx) * SPACING_M,
                    "y_m": (j + dy) * SPACING_M,
                    "depth_m": (NODES - 1 - k - dz) * SPACING_M,
                    f"m{component[1:]}_n_m": 1e15,
                    **function,
                },
            }
        ),
        Path(),
    )


def difference(made: Solver, velocity: str, axis: int, at: Node) -> float:
    """4th-order difference of a velocity along an axis (0: z) at an element of a stress."""
    field = getattr(made.wavefield, velocity)
    offset = OFFSETS[velocity][axis]
    # At a node the neighbours lie half a spacing away where the velocity is staggered along the
    # axis, at an element that is staggered itself where it is not.
    first = {0.5: -1, -0.5: 0}.get(offset, -1 if axis == 0 else 0)
    values = []
    for n in range(-1, 3):
        index = list(at)
        index[axis] += first + n
        values.append(float(field[tuple(index)]))
    return C1 * (values[2] - values[1]) + C2 * (values[3] - values[0])


def strain_rates(made: Solver, node: tuple[int, int, int], steps: int) -> Array:
    """What a moment tensor there does work on, of each component at each step, in 1/s."""
    k, j, i = (made.grid.rim + n for n in node)
    out = np.zeros((len(COMPONENTS), steps))
    for step in range(steps):
        made.advance()
        for n, component in enumerate(COMPONENTS):
            a, b = component[1], component[2]
            pairs = {(a, b), (b, a)}
            out[n, step] = sum(
                difference(made, f"v{c}", 2 - AXES.index(d), (k, j, i)) for c, d in pairs
            )
    return out / SPACING_M


PLACES = st.tuples(st.integers(2, 12), st.integers(2, 13), st.integers(2, 13))
TWO_COMPONENTS = st.tuples(*[st.integers(0, len(COMPONENTS) - 1)] * 2)


def asymmetry(
    layers: Layers, components: tuple[int, int], places: tuple[Node, Node], free_surface: bool
) -> float:
    """The strain rate by a source at the other place, there and back: largest difference.

    Relative to the largest strain rate of any component.
    """
    rates = [
        strain_rates(
            solver(layers, COMPONENTS[components[n]], places[n], free_surface, 90, SHORT),
            places[1 - n],
            90,
        )
        for n in (0, 1)
    ]
    gap = rates[0][components[1]] - rates[1][components[0]]
    return float(np.abs(gap).max() / max(np.abs(rate).max() for rate in rates))


@given(rocks(), TWO_COMPONENTS, st.tuples(PLACES, PLACES))
@settings(max_examples=20, derandomize=True, deadline=None)
@pytest.mark.slow
def test_source_and_receiver_can_be_exchanged_inside(
    layers: Layers, components: tuple[int, int], places: tuple[Node, Node]
) -> None:
    assert asymmetry(layers, components, places, free_surface=False) < 5e-4


@given(rocks(), TWO_COMPONENTS, st.tuples(PLACES, PLACES))
@settings(max_examples=20, derandomize=True, deadline=None)
@pytest.mark.slow
def test_source_and_receiver_can_be_exchanged_under_a_free_surface(
    layers: Layers, components: tuple[int, int], places: tuple[Node, Node]
) -> None:
    """To a few percent: the one-sided differences at the surface are not their own transpose."""
    assert asymmetry(layers, components, places, free_surface=True) < 0.05


def energy(made: Solver) -> float:
    """Advance by a step and give the energy between its two velocities, up to a factor.

    The product of the velocities before and after stands for their square, since the stresses
    are those of the time midway: that sum is what the scheme conserves.
    """
    m, w, top = made.medium, made.wavefield, made.grid.top
    before = [getattr(w, name).astype(np.float64) for name in ("vx", "vy", "vz")]
    stress = {name: getattr(w, name).astype(np.float64) for name in COMPONENTS}
    made.advance()
    after = [getattr(w, name).astype(np.float64) for name in ("vx", "vy", "vz")]
    density, compliance = m.density.astype(np.float64), m.compliance.astype(np.float64)
    twice = 0.5 / compliance
    lam = m.lam.astype(np.float64)
    total = np.zeros_like(lam)
    for axis, one, other in zip((2, 1, 0), before, after, strict=True):
        total += (density + np.roll(density, 1 if axis == 0 else -1, axis)) * one * other
    # At the free surface szz is 0 and lam that of plane stress.
    sides = np.full(lam.shape[0], 3.0)
    if made.grid.surface >= 0:
        sides[made.grid.surface] = 2.0
    sizes = sides[:, None, None]
    trace = stress["sxx"] + stress["syy"] + stress["szz"]
    squares = sum(stress[name] ** 2 for name in ("sxx", "syy", "szz"))
    total += (squares - lam / (sizes * lam + twice) * trace**2) / twice
    for name, (one, other) in {"sxy": (1, 2), "sxz": (0, 2), "syz": (0, 1)}.items():
        four = compliance + np.roll(compliance, 1 if one == 0 else -1, one)
        total += (four + np.roll(four, -1, other)) * stress[name] ** 2
    return float(total[2 : top + 1, 2:-2, 2:-2].sum()) / 2


@given(rocks(), st.integers(0, len(COMPONENTS) - 1), PLACES, st.booleans())
@settings(max_examples=12, derandomize=True, deadline=None)
@pytest.mark.slow
def test_no_energy_is_gained_after_the_source_has_ended(
    layers: Layers, component: int, place: Node, free_surface: bool
) -> None:
    made = solver(layers, COMPONENTS[component], place, free_surface, 600, RESOLVED)
    for _ in range(210):
        made.advance()
    found = []
    for _ in range(20):
        found.append(energy(made))
        for _ in range(9):
            made.advance()
    gained = np.diff(found).max() / found[0]
    assert gained < 1e-5
    assert 0 < found[-1] < 0.05 * found[0]
