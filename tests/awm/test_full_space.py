"""awm in a homogeneous full space against the analytic solution, and what its edges send back."""

import numpy as np
import pytest

pytestmark = pytest.mark.slow

SOURCE = 2200.0
FREQUENCY_HZ = 2.5
STEPS = 230
OFFSETS = [
    (1000.0, 0.0, 0.0),
    (623.0, 367.0, -245.0),
    (0.0, 1700.0, 0.0),
    (1500.0, -1100.0, 1050.0),
    (-1700.0, 30.0, -700.0),
    (-800.0, -800.0, 310.0),
]
EXPLOSION = {"mxx_n_m": 1e15, "myy_n_m": 1e15, "mzz_n_m": 1e15}
OBLIQUE = {"strike_deg": 30.0, "dip_deg": 60.0, "rake_deg": 40.0, "moment_n_m": 1e15}
# Off the nodes, so that every component is spread and read by interpolation.
SHIFT = {"x_m": SOURCE + 31.0, "y_m": SOURCE - 47.0, "depth_m": SOURCE + 22.0}


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(EXPLOSION, id="blast"),
        pytest.param({**OBLIQUE, **SHIFT}, id="oblique", marks=pytest.mark.slow),
    ],
)
def waves(request, parameters, traces, full_space):
    """Computed and analytic velocity (offset, component, step) and the times of the steps."""
    given = parameters(free_surface=False, source=request.param, time={"steps": STEPS})
    at = given.source
    found = traces(given, [(at.x_m + x, at.y_m + y, at.depth_m - z) for x, y, z in OFFSETS])
    t = np.arange(1, STEPS + 1) * given.time.step_s
    wanted = [full_space(at.tensor, np.array(o), t, FREQUENCY_HZ) for o in OFFSETS]
    return found, np.array(wanted), t


@pytest.mark.parametrize("n", range(len(OFFSETS)))
def test_velocity_traces_follow_the_analytic_solution_within_two_percent(waves, misfit, n):
    found, wanted, _ = waves
    assert misfit(found[n], wanted[n]) < 0.02


def test_absorbing_layers_send_back_less_than_a_thousandth_of_the_wave(waves):
    found, wanted, t = waves
    late = t > 1700.0 / 2886.75 + 2.2 / FREQUENCY_HZ
    nearest = found[0]
    assert late.sum() > 40
    assert np.abs(nearest[:, late] - wanted[0][:, late]).max() < 1e-3 * np.abs(nearest).max()
