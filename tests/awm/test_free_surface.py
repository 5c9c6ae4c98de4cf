"""awm under its free surface against discrete wavenumbers: body waves and the Rayleigh wave."""

from pathlib import Path

import numpy as np
import pytest

from burstlens.workflows.awm import solver

DISTANCES = (400.0, 1500.0, 3300.0)
STEPS = 260


@pytest.fixture(scope="module", params=[False, True], ids=["as it comes", "smoothed"])
def waves(request, parameters, traces, half_space):
    """Computed and reference radial and upward velocity at each distance; what is continued above
    the surface as it comes, and smoothed as over a near interface."""
    given = parameters(
        grid={"nx": 54, "ny": 28, "nz": 28},
        time={"steps": STEPS},
        source={
            "x_m": 1000.0,
            "y_m": 1400.0,
            "depth_m": 400.0,
            "frequency_hz": 2.0,
            "mxx_n_m": 1e15,
            "myy_n_m": 1e15,
            "mzz_n_m": 1e15,
        },
    )
    places = [(1000.0 + r, 1400.0, 0.0) for r in DISTANCES]
    with pytest.MonkeyPatch.context() as patch:
        if request.param:
            patch.setattr(solver, "SHARP", 0.0)
        found = traces(given, places)
    t = np.arange(STEPS + 1) * given.time.step_s
    wanted = [half_space(1e15, 400.0, r, t, 2.0) for r in DISTANCES]
    return found, np.array(wanted)[:, :, 1:]


@pytest.mark.slow
@pytest.mark.parametrize("n", range(len(DISTANCES)))
def test_surface_velocity_follows_the_half_space_solution_within_three_percent(waves, misfit, n):
    found, wanted = waves
    assert misfit(found[n, 0], wanted[n, 0]) < 0.03
    assert misfit(found[n, 2], wanted[n, 1]) < 0.03


@pytest.mark.parametrize(("top_m", "smoothed"), [(500.0, True), (700.0, False)])
def test_waves_of_two_points_are_taken_out_only_over_a_near_interface(parameters, top_m, smoothed):
    soft = {"vp_m_s": 3000.0, "vs_m_s": 1700.0, "rho_kg_m3": 2200.0}
    hard = {"top_m": top_m, "vp_m_s": 5000.0, "vs_m_s": 2900.0, "rho_kg_m3": 2700.0}
    grid = {"nx": 12, "ny": 12, "nz": 12}
    source = {"x_m": 600.0, "y_m": 600.0, "depth_m": 800.0, "mxx_n_m": 1e15, "frequency_hz": 1.0}
    made = solver.Solver(
        parameters(grid=grid, material={"layers": [soft, hard]}, source=source), Path()
    )
    assert made.surface.smooth == smoothed


@pytest.mark.parametrize(
    ("at", "words"),
    [
        ({"depth_m": 100.0}, "depth_m: 100 is outside 200 to 2700 m: too near to the surface"),
        ({"depth_m": -50.0}, "depth_m: -50 is outside 200 to 2700 m: above the free surface"),
        ({"depth_m": 2800.0}, "depth_m: 2800 is outside .* in or beyond the absorbing layers"),
        ({"x_m": -100.0}, "x_m: -100 is outside 0 to 2700 m: in or beyond the absorbing layers"),
    ],
)
def test_a_source_outside_the_grid_is_refused_with_where_it_lies(parameters, at, words):
    grid = {"nx": 28, "ny": 28, "nz": 28}
    with pytest.raises(ValueError, match=words):
        parameters(grid=grid, source={"x_m": 900.0, "y_m": 900.0, "mxx_n_m": 1e15, **at})
