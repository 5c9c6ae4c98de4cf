"""Analytic and semi-analytic waves to hold awm against, and small runs to do so."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import pytest
from numpy.typing import NDArray

from burstlens.workflows.awm.executing import Threads
from burstlens.workflows.awm.parameters import Parameters
from burstlens.workflows.awm.program import Run
from burstlens.workflows.awm.solver import Solver
from burstlens.workflows.awm.stretch import Stretch

Array = NDArray[np.float64]
VP, VS, RHO = 5000.0, 2886.75, 2700.0
STATIONS = [{"name": f"S{n}", "x_m": 900.0 + 400 * n, "y_m": 1500.0} for n in range(3)]
SMALL: dict[str, Any] = {
    "grid": {"nx": 32, "ny": 28, "nz": 24},
    "time": {"step_s": 0.008, "steps": 60},
    "source": {"x_m": 1600.0, "y_m": 1400.0, "depth_m": 900.0, "mxx_n_m": 1e15, "mxy_n_m": 4e14},
    "output": {"surface_every": 7, "volume_every": 20, "volume_stride": 2, "peaks": True,
               "station_every": 25, "station_frames": True},
    "station": STATIONS,
    "checkpoint": {"every": 10, "keep": 9},
}  # fmt: skip
"""A run that writes everything."""


@pytest.fixture(scope="session")
def parameters() -> Callable[..., Parameters]:
    """Makes parameters from tables; a table given replaces the default's keys."""

    def make(**tables: Any) -> Parameters:
        base: dict[str, Any] = {
            "threads": 2,
            "grid": {"nx": 44, "ny": 44, "nz": 44, "spacing_m": 100.0},
            "time": {"step_s": 0.008, "steps": 200},
            "material": {"layers": [{"vp_m_s": VP, "vs_m_s": VS, "rho_kg_m3": RHO}]},
            "source": {
                "x_m": 2200.0,
                "y_m": 2200.0,
                "depth_m": 2200.0,
                "function": "gaussian",
                "frequency_hz": 2.5,
            },
        }
        for name, value in tables.items():
            base[name] = {**base[name], **value} if name in base and name != "threads" else value
        return Parameters.model_validate(base)

    return make


@pytest.fixture
def run(parameters: Callable[..., Parameters], tmp_path: Path) -> Callable[..., Run]:
    """Makes a small run that writes everything, in a folder of its own; a table given replaces the
    default's."""

    def make(
        name: str, restart: Path | None = None, until_s: float | None = None,
        every_s: float | None = None, threads: int = 2, **tables: Any,
    ) -> Run:  # fmt: skip
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        given = parameters(**SMALL | tables)
        return Run(given, folder, Threads(threads), Stretch(restart, until_s, every_s))

    return make


@pytest.fixture(scope="session")
def values() -> Callable[[Path], dict[tuple[str, str], bytes]]:
    """The bytes of all values of all frames and stations in a folder, by file and variable."""

    def read(folder: Path) -> dict[tuple[str, str], bytes]:
        found = {}
        for path in sorted(folder.glob("*.nc")):
            with netCDF4.Dataset(path) as nc:
                nc.set_auto_mask(False)
                found |= {(path.name, name): nc[name][:].tobytes() for name in nc.variables}
        return found

    return read


@pytest.fixture(scope="session")
def traces() -> Callable[..., Array]:
    """Runs a solver and gives the velocity (station, component x y z, step) in m/s; ``source_of``
    gives it another source."""

    def run(
        parameters: Parameters,
        places: list[tuple[float, float, float]],
        source_of: Callable[[Solver], Any] | None = None,
    ) -> Array:
        solver = Solver(parameters, Path())
        if source_of is not None:
            solver.source = source_of(solver)
        readers = [[solver.footprint(c, *at) for c in ("vx", "vy", "vz")] for at in places]
        out = np.zeros((len(places), 3, parameters.time.count))
        for step in range(parameters.time.count):
            solver.advance()
            w = solver.wavefield
            for n, three in enumerate(readers):
                out[n, :, step] = [
                    reader.value(field)
                    for reader, field in zip(three, (w.vx, w.vy, w.vz), strict=True)
                ]
        return out

    return run


@pytest.fixture(scope="session")
def misfit() -> Callable[[Array, Array], float]:
    """Relative L2 misfit of a trace, or of several, against a reference."""
    return lambda found, wanted: float(np.linalg.norm(found - wanted) / np.linalg.norm(wanted))


@pytest.fixture(scope="session")
def full_space() -> Callable[..., Array]:
    """Velocity (3, t) of a moment tensor with a gaussian moment rate in a full space.

    Aki & Richards (2002), equation 4.29, differentiated once in time.
    """

    def velocity(tensor: Array, offset: Array, t: Array, frequency_hz: float) -> Array:
        a, delay = math.pi * frequency_hz, 1.2 / frequency_hz
        r = float(np.linalg.norm(offset))
        g = offset / r

        def rate(s: Array) -> Array:
            return a / math.sqrt(math.pi) * np.exp(-((a * (s - delay)) ** 2))

        def rate_of_rate(s: Array) -> Array:
            return -2 * a * a * (s - delay) * rate(s)

        lags = np.linspace(r / VP, r / VS, 801)
        weights = np.gradient(lags) * lags
        weights[[0, -1]] *= 0.5
        near = (weights * rate(t[:, None] - lags)).sum(axis=1)
        one = np.eye(3)
        ggg = np.einsum("n,p,q->npq", g, g, g)
        npq = np.einsum("n,pq->npq", g, one)
        pnq = np.einsum("p,nq->npq", g, one)
        qnp = np.einsum("q,np->npq", g, one)
        terms = [
            ((15 * ggg - 3 * npq - 3 * pnq - 3 * qnp) / r**4, near),
            ((6 * ggg - npq - pnq - qnp) / (VP * r) ** 2, rate(t - r / VP)),
            (-(6 * ggg - npq - pnq - 2 * qnp) / (VS * r) ** 2, rate(t - r / VS)),
            (ggg / (VP**3 * r), rate_of_rate(t - r / VP)),
            (-(ggg - qnp) / (VS**3 * r), rate_of_rate(t - r / VS)),
        ]
        total = sum(np.einsum("npq,pq->n", c, tensor)[:, None] * time for c, time in terms)
        return np.asarray(total) / (4 * math.pi * RHO)

    return velocity


def _bessel(order: int, x: Array) -> Array:
    """J of an integer order by its integral; the midpoint rule is exact to rounding here."""
    angle = (np.arange(200) + 0.5) * math.pi / 200
    return np.asarray(np.cos(order * angle - x[:, None] * np.sin(angle)).mean(axis=1))


@pytest.fixture(scope="session")
def half_space() -> Callable[..., tuple[Array, Array]]:
    """Radial and upward surface velocity (t) of a buried explosion under a free surface.

    By discrete wavenumbers at complex frequencies (Bouchon 1981, BSSA 71): P reflects as P and SV
    at the surface, so Rayleigh's function stands below, and its wave is in the traces.
    """

    def velocity(
        moment: float, depth: float, r: float, t: Array, frequency_hz: float
    ) -> tuple[Array, Array]:
        dt, n = t[1] - t[0], 1024
        window = n * dt
        decay = math.pi / window
        nodes = np.arange(n) * dt
        a, delay = math.pi * frequency_hz, 1.2 / frequency_hz
        rate = a / math.sqrt(math.pi) * np.exp(-((a * (nodes - delay)) ** 2))
        spectrum = np.fft.rfft(rate * np.exp(-decay * nodes)) * dt
        omegas = 2 * math.pi * np.fft.rfftfreq(n, dt) - 1j * decay
        length = VP * window + 2 * r
        k = (np.arange(4000) + 0.5) * 2 * math.pi / length
        k = k[k < 12 * 2 * math.pi * frequency_hz / VS]
        dk = k[1] - k[0]
        bessel0, bessel1 = _bessel(0, k * r), _bessel(1, k * r)
        radial = np.zeros(omegas.size, dtype=complex)
        upward = np.zeros(omegas.size, dtype=complex)
        for m, w in enumerate(omegas):
            if w.real > 12 * 2 * math.pi * frequency_hz / 2.5:
                break
            nu = np.sqrt(k * k - (w / VP) ** 2 + 0j)
            gamma = np.sqrt(k * k - (w / VS) ** 2 + 0j)
            nu = np.where(nu.real < 0, -nu, nu)
            gamma = np.where(gamma.real < 0, -gamma, gamma)
            b = 2 * k * k - (w / VS) ** 2
            down = np.exp(-nu * depth)
            reflected = -(b * b + 4 * k * k * nu * gamma) / (b * b - 4 * k * k * nu * gamma)
            shear = -2 * down * (1 - reflected) / b
            source = -moment * spectrum[m] / (4 * math.pi * RHO * VP**2)
            z = down * (1 - reflected) + k * k * shear
            h = down / nu * (1 + reflected) - gamma * shear
            upward[m] = -source * (k * z * bessel0).sum() * dk
            radial[m] = -source * (k * k * h * bessel1).sum() * dk
        back = np.exp(decay * nodes) / dt
        return (
            (np.fft.irfft(radial, n) * back)[: t.size],
            (np.fft.irfft(upward, n) * back)[: t.size],
        )

    return velocity
