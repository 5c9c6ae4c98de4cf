"""Absorbing layers: what they send back, and that nothing grows in them, however long a run is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from burstlens.workflows.awm.parameters import Parameters
from burstlens.workflows.awm.solver import Solver

pytestmark = pytest.mark.slow

Make = Callable[..., Parameters]
STEPS, QUIET = (9_000, 20_000), 0.01
BLAST = {"mxx_n_m": 1e15, "myy_n_m": 1e15, "mzz_n_m": 1e15}
# Contrast of vs, Vp/Vs of the soft layer and of the rock, depth of the interface in m, points of
# the layers, the source's frequency in Hz: the six worst of bench/stability.py, and two that grew
# before. The slow tier has the last one, `make fault` all others: each takes minutes.
WORST = [
    (5.0, 1.5, 1.73, 900.0, 10, 2.0),
    (5.0, 4.0, 4.0, 500.0, 10, 2.0),
    (5.0, 2.5, 1.73, 900.0, 10, 2.0),
    (5.0, 4.0, 1.73, 900.0, 10, 2.0),
    (5.0, 1.73, 1.73, 900.0, 10, 2.0),
    (5.0, 1.5, 1.73, 200.0, 10, 2.0),
    (1.6, 1.73, 1.73, 200.0, 10, 2.0),  # without smoothing at the free surface
    (5.77, 3.17, 1.73, 500.0, 10, 0.3),
]


def soft_over_hard(
    parameters: Make, contrast: float, soft: float, rock: float, depth_m: float,
    points: int, frequency_hz: float,
) -> Parameters:  # fmt: skip
    vs = 6000.0 / rock
    vp = soft * vs / contrast
    return parameters(
        allow_unstable=True,
        grid={"nx": 16, "ny": 16, "nz": 14},
        time={"step_s": 0.0082 * min(1.0, 6000.0 / vp), "steps": STEPS[-1]},
        absorbing={"points": points},
        material={
            "layers": [
                {"vp_m_s": vp, "vs_m_s": vs / contrast, "rho_kg_m3": 2000},
                {"top_m": depth_m, "vp_m_s": 6000, "vs_m_s": vs, "rho_kg_m3": 2700},
            ]
        },
        source={
            **BLAST, "x_m": 800.0, "y_m": 800.0, "depth_m": 700.0, "frequency_hz": frequency_hz,
        },
    )  # fmt: skip


def loudness(solver: Solver) -> float:
    w = solver.wavefield
    return max(float(np.abs(field).max()) for field in (w.vx, w.vy, w.vz))


@pytest.mark.fault
def test_three_to_one_under_a_free_surface_ends_quiet(parameters: Make) -> None:
    solver = Solver(
        soft_over_hard(parameters, 3.0, 2000 / 1100, 6000 / 3300, 500.0, 10, 2.0), Path()
    )
    peak, left = 0.0, {}
    for step in range(1, STEPS[-1] + 1):
        solver.advance()
        if step % 20 == 0 and step <= 1000:
            peak = max(peak, loudness(solver))
        if step in STEPS:
            left[step] = loudness(solver) / peak
    assert max(left.values()) < QUIET


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=[pytest.mark.fault] * (case != WORST[-1])) for case in WORST],
    ids=str,
)
def test_random_velocities_die_in_the_worst_materials(
    parameters: Make, case: tuple[float, float, float, float, int, float]
) -> None:
    solver = Solver(soft_over_hard(parameters, *case), Path())
    solver.source = QuietSource()
    rim, w, random = solver.grid.rim, solver.wavefield, np.random.default_rng(0)
    for field in (w.vx, w.vy, w.vz):
        inside = field[rim:-2, rim:-rim, rim:-rim]
        inside[:] = random.standard_normal(inside.shape)
    heard, lately = [], 0.0
    for step in range(1, STEPS[-1] + 1):
        solver.advance()
        if (step % 1000 > 950 and step % 5 == 0) or step % 1000 == 0:
            lately = max(lately, loudness(solver))  # several waves beat: one look is not enough
        if step % 1000 == 0:
            heard.append(lately)
            lately = 0.0
    assert heard[-1] < min(heard[: len(heard) // 2])


@pytest.mark.parametrize(
    ("free_surface", "contrast", "most"),
    [
        (False, 1.0, 5e-4),
        (True, 1.0, 5e-4),
        pytest.param(True, 3.0, 0.02, marks=pytest.mark.fault),  # less than the next one
        (True, 5.0, 0.02),
    ],
)
def test_the_echo_is_a_small_part_of_the_wave(
    parameters: Make,
    traces: Callable[..., NDArray[Any]],
    free_surface: bool,
    contrast: float,
    most: float,
) -> None:
    found = []
    for nodes in (30, 88):
        middle = nodes // 2 * 100.0
        depth = 1500.0 if free_surface else middle
        given = parameters(
            free_surface=free_surface,
            allow_unstable=True,
            grid={"nx": nodes, "ny": nodes, "nz": nodes if not free_surface else (nodes + 30) // 2},
            time={"steps": 230 if contrast == 1 else 500},
            material={
                "layers": [
                    {"vp_m_s": 5000 / contrast, "vs_m_s": 2886.75 / contrast, "rho_kg_m3": 2700},
                    {"top_m": 600, "vp_m_s": 5000, "vs_m_s": 2886.75, "rho_kg_m3": 2700},
                ]
            },
            source={
                "strike_deg": 30.0, "dip_deg": 60.0, "rake_deg": 40.0, "moment_n_m": 1e15,
                "x_m": middle, "y_m": middle, "depth_m": depth, "frequency_hz": 2.5 / contrast,
            },
        )  # fmt: skip
        at = 0.0 if free_surface else depth
        places = [(1200.0, 0.0), (1000.0, 700.0), (-600.0, -1300.0), (300.0, 0.0)]
        found.append(traces(given, [(middle + x, middle + y, at) for x, y in places]))
    small, large = found
    echo = np.abs(small - large).max() / np.abs(large).max()
    assert 0 < echo < most


class QuietSource:
    """No source: the start is all that moves."""

    def release(self, step: int) -> None:
        pass
