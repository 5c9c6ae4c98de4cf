"""Soft rock over hard, cut by the absorbing layers: plain perfectly matched ones blow up there."""

from pathlib import Path

import numpy as np
import pytest

from burstlens.workflows.awm.solver import Solver


@pytest.mark.slow
def test_trapped_waves_die_by_default(parameters):
    given = parameters(
        grid={"nx": 24, "ny": 24, "nz": 20, "spacing_m": 100.0},
        time={"step_s": 0.0082, "steps": 3000},
        material={
            "layers": [
                {"top_m": 0, "vp_m_s": 1900, "vs_m_s": 600, "rho_kg_m3": 1900},
                {"top_m": 500, "vp_m_s": 6000, "vs_m_s": 3460, "rho_kg_m3": 2700},
            ]
        },
        source={
            "x_m": 700.0,
            "y_m": 900.0,
            "depth_m": 800.0,
            "frequency_hz": 0.65,
            "mxz_n_m": 1e15,
            "mxx_n_m": 1e15,
        },
    )
    solver = Solver(given, Path())
    peak, last = 0.0, 0.0
    for step in range(3000):
        solver.advance()
        if step % 50 == 0:
            fields = (solver.wavefield.vx, solver.wavefield.vy, solver.wavefield.vz)
            last = max(float(np.abs(field).max()) for field in fields)
            peak = max(peak, last)
    assert 0 < peak < 1
    assert last < 0.05 * peak
