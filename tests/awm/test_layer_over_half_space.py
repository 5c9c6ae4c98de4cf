"""awm in a layer over a half-space against wavenumber integration, by envelope and phase: a point
source (LOH.1) and a rupture along a fault (as LOH.2, on a smaller fault).

Envelope and phase misfit: Kristekova, Moczo & Day (2009), Geophys. J. Int. 178, relative to the
strongest of the three components. data/make_loh.py makes the reference.
"""

import itertools
import math
from pathlib import Path

import numpy as np
import pytest

from burstlens.workflows.awm.point_source import PointSource

pytestmark = pytest.mark.slow

REFERENCE = Path(__file__).parent / "data" / "loh.npz"
ELEMENTS = {"strike_slip": "mxy_n_m", "dip_slip": "mxz_n_m", "fault": "mxy_n_m"}
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


class Rupture:
    """A fault whose elements release equal parts of a moment, each when the rupture reaches it.

    ``fault`` holds its numbers, ``x_m`` and ``y_m`` its middle.
    """

    def __init__(self, solver, fault, x_m, y_m):
        given = solver.parameters.source
        self.elements = []
        times = np.arange(solver.parameters.time.count + 1) * STEP_S
        last = (solver.grid.top, *(size - 1 for size in solver.grid.shape[1:]))
        places = [(x, depth) for x in fault["fault_x_m"] for depth in fault["fault_depths_m"]]
        for x, depth in places:
            hypocentre = fault["hypocentre_m"]
            lag_s = math.hypot(x - hypocentre[0], depth - hypocentre[1]) / fault["rupture_m_s"]
            released = given.rate(times - lag_s) * STEP_S / SPACING_M**3 / len(places)
            where = solver.place(x_m + x, y_m, depth)
            one = PointSource(solver.wavefield, given.tensor, where, last, released)
            self.elements.append(one)

    def release(self, step):
        """Change the stresses by what that step releases."""
        for one in self.elements:
            one.release(step)


@pytest.fixture(scope="module")
def reference():
    """The stored traces and what they were made with."""
    with np.load(REFERENCE) as stored:
        return dict(stored)


# The slow tier has each source and each kind of edges, `make fault` the other pairs as well.
SLOW = {("default", "strike_slip"), ("default", "fault"), ("friction", "dip_slip")}
PAIRS = [
    pytest.param(pair, id="-".join(pair), marks=[pytest.mark.fault] * (pair not in SLOW))
    for pair in itertools.product(EDGES, ELEMENTS)
]


@pytest.fixture(scope="module", params=PAIRS)
def waves(request, reference, parameters, traces):
    """Computed and reference velocity (receiver, component, time), at the reference's times, and
    the misfit allowed."""
    edges, element = request.param
    margin, absorbing, most = EDGES[edges]
    offsets = reference["offsets_m"]
    broken = element == "fault"
    west = margin + (-reference["fault_x_m"].min() if broken else 0.0)
    deepest = reference["fault_depths_m"].max() if broken else 2000.0
    east, north = offsets.max(axis=0)
    extents = west + east + margin, north + 2 * margin, deepest + margin
    nx, ny, nz = (math.ceil(extent / SPACING_M) for extent in extents)
    every = round(float(reference["step_s"]) / STEP_S)
    wanted = reference[element].astype(np.float64)
    frequency = float(reference["frequency_hz"])
    given = parameters(
        grid={
            "nx": nx,
            "ny": ny,
            "nz": nz,
            "spacing_m": SPACING_M,
        },
        time={"step_s": STEP_S, "steps": every * (wanted.shape[-1] - 1)},
        material={"layers": LAYERS},
        absorbing=absorbing,
        source={
            "x_m": west,
            "y_m": margin,
            "depth_m": 2000.0,
            "frequency_hz": frequency,
            ELEMENTS[element]: 1e18,
        },
    )
    assert 2000 / given.source.highest_hz / SPACING_M == pytest.approx(6.0, rel=0.01)
    places = [(west + x, margin + y, 0.0) for x, y in offsets]
    found = traces(
        given, places, (lambda made: Rupture(made, reference, west, margin)) if broken else None
    )
    return found[..., every - 1 :: every], wanted[..., 1:], most


@pytest.mark.parametrize("n", range(4))
def test_envelope_and_phase_at_six_points_per_wavelength(waves, reference, n):
    tf_misfit = pytest.importorskip("obspy.signal.tf_misfit")
    found, wanted, most = waves
    band = {"dt": float(reference["step_s"]), "fmin": 0.2, "fmax": 3.2, "nf": 50}
    assert tf_misfit.em(found[n], wanted[n], **band).max() < most
    assert tf_misfit.pm(found[n], wanted[n], **band).max() < most
