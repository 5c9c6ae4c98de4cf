"""awm in a layer over a half-space (LOH.1) against wavenumber integration, by envelope and phase.

Envelope and phase misfit: Kristekova, Moczo & Day (2009), Geophys. J. Int. 178, relative to the
strongest of the three components. data/make_loh.py makes the reference.
"""

import math
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.slow

REFERENCE = Path(__file__).parent / "data" / "loh1.npz"
ELEMENTS = {"strike_slip": "mxy_n_m", "dip_slip": "mxz_n_m"}
SPACING_M = 2000 / 19  # so that the interface, at 1000 m, lies midway between two levels of nodes
STEP_S = 0.008
LAYERS = [
    {"top_m": 0.0, "vp_m_s": 4000.0, "vs_m_s": 2000.0, "rho_kg_m3": 2600.0},
    {"top_m": 1000.0, "vp_m_s": 6000.0, "vs_m_s": 3464.0, "rho_kg_m3": 2700.0},
]
# The extent beyond source and receivers, the absorbing layers, and the misfit allowed. Layers with
# friction reflect more.
EDGES = {
    "default": (900.0, {}, 0.015),
    "friction": (900.0, {"robust": True}, 0.05),
}


@pytest.fixture(scope="module")
def reference():
    """The stored traces and what they were made with."""
    with np.load(REFERENCE) as stored:
        return dict(stored)


@pytest.fixture(scope="module", params=EDGES)
def edges(request):
    """Margin in m, keys of the absorbing layers and the misfit allowed."""
    return EDGES[request.param]


@pytest.fixture(scope="module", params=ELEMENTS)
def waves(request, edges, reference, parameters, traces):
    """Computed and reference velocity (receiver, component, time), at the reference's times."""
    margin, absorbing, _ = edges
    offsets = reference["offsets_m"]
    nx, ny = (math.ceil((reach + 2 * margin) / SPACING_M) for reach in offsets.max(axis=0))
    every = round(float(reference["step_s"]) / STEP_S)
    wanted = reference[request.param].astype(np.float64)
    frequency = float(reference["frequency_hz"])
    given = parameters(
        grid={
            "nx": nx,
            "ny": ny,
            "nz": math.ceil((2000.0 + margin) / SPACING_M),
            "spacing_m": SPACING_M,
        },
        time={"step_s": STEP_S, "steps": every * (wanted.shape[-1] - 1)},
        material={"layers": LAYERS},
        absorbing=absorbing,
        source={
            "x_m": margin,
            "y_m": margin,
            "depth_m": 2000.0,
            "frequency_hz": frequency,
            ELEMENTS[request.param]: 1e18,
        },
    )
    assert 2000 / given.source.highest_hz / SPACING_M == pytest.approx(6.0, rel=0.01)
    found = traces(given, [(margin + x, margin + y, 0.0) for x, y in offsets])
    return found[..., every - 1 :: every], wanted[..., 1:]


@pytest.mark.parametrize("n", range(4))
def test_envelope_and_phase_at_six_points_per_wavelength(waves, edges, reference, n):
    tf_misfit = pytest.importorskip("obspy.signal.tf_misfit")
    found, wanted = waves
    band = {"dt": float(reference["step_s"]), "fmin": 0.2, "fmax": 3.2, "nf": 50}
    assert tf_misfit.em(found[n], wanted[n], **band).max() < edges[2]
    assert tf_misfit.pm(found[n], wanted[n], **band).max() < edges[2]
