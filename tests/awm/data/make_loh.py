"""Makes loh.npz: reference velocities for a layer over a half-space, by wavenumber integration.

    python tests/awm/data/make_loh.py [--check]

Needs pyprop8 (1.1.5 made the stored file; GPL-3.0, not needed by the tests), numpy and scipy.
pyprop8 integrates over wavenumbers after O'Toole & Woodhouse (2011), Geophys. J. Int. 187.

The problem is LOH.1 of Day & Bradley (2001), without attenuation and with a gaussian moment rate:
a layer of 1000 m over a half-space, a source of 1e18 N m at a depth of 2000 m, receivers at the
surface. Axes x east, y north, z up. ``strike_slip`` is Mxy, ``dip_slip`` is Mxz. ``fault`` is as
LOH.2 a rupture that runs along a vertical strike-slip fault through the half-space at 3000 m/s, on
a smaller fault: 20 elements of equal moment, 300 m apart.

``--check`` prints relative L2 misfits of pyprop8 against solutions that share no code with it and
writes nothing: an explosion in LOH.1 by a system of boundary conditions solved at each wavenumber
and complex frequency, and a double couple in a full space (Aki & Richards 2002, equation 4.29).
"""

from __future__ import annotations

import argparse
import importlib.metadata
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyprop8
from numpy.typing import NDArray
from scipy.special import jv

Array = NDArray[np.floating]
Spectrum = NDArray[np.complexfloating]

LAYER, HALF_SPACE = (4.0, 2.0, 2.6), (6.0, 3.464, 2.7)  # vp and vs in km/s, rho in g/cm3
THICKNESS_KM, DEPTH_KM = 1.0, 2.0
FREQUENCY_HZ = 1.829  # the 1/e point of the moment rate's spectrum
DELAY_S = 1.2 / FREQUENCY_HZ
STEP_S, COUNT = 0.032, 160
WINDOW = 512
OFFSETS_M = ((1200.0, 1600.0), (2400.0, 3200.0), (3600.0, 4800.0), (3600.0, 800.0))
TENSORS = {"strike_slip": (0, 1), "dip_slip": (0, 2)}
FAULT_X_M, FAULT_DEPTHS_M = (-600.0, -300.0, 0.0, 300.0, 600.0), (1500.0, 1800.0, 2100.0, 2400.0)
HYPOCENTRE_M, RUPTURE_M_S = (-600.0, 1950.0), 3000.0  # x and depth
LAYERS = [(THICKNESS_KM, *LAYER), (math.inf, *HALF_SPACE)]


def frequencies() -> tuple[Array, float, Spectrum]:
    """Times, decay in 1/s, and the complex angular frequencies of the window."""
    decay = 2 * math.pi / (WINDOW * STEP_S)
    omegas = 2 * math.pi * np.fft.rfftfreq(WINDOW, STEP_S) - 1j * decay
    return np.arange(WINDOW) * STEP_S, decay, omegas


def moment_rate(omegas: Spectrum) -> Spectrum:
    """Spectrum of a gaussian of unit area."""
    a = math.pi * FREQUENCY_HZ
    return np.exp(-((omegas / (2 * a)) ** 2) - 1j * omegas * DELAY_S)


def inverse(spectra: Spectrum) -> Array:
    """Time series (..., COUNT) of spectra (..., frequency)."""
    t, decay, _ = frequencies()
    return np.asarray((np.fft.irfft(spectra, WINDOW) / STEP_S * np.exp(decay * t))[..., :COUNT])


def velocities(
    tensors: Array,
    offsets_m: tuple[tuple[float, float], ...],
    layers: Sequence[tuple[float, ...]] | None = None,
    depths_km: tuple[float, float] = (DEPTH_KM, 0.0),
    lags_s: Array | float = 0.0,
) -> Array:
    """Velocity (tensor, receiver, component x y z, time) in m/s of tensors in 1e18 N m, for each
    receiver ``lags_s`` late."""
    x, y = np.array(offsets_m).T / 1e3
    _, _, omegas = frequencies()
    strong = omegas.real < 2 * math.pi * 3.6 * FREQUENCY_HZ
    spectra = np.zeros((len(tensors), x.size, 3, omegas.size), dtype=complex)
    spectra[..., strong] = pyprop8.compute_spectra(
        pyprop8.LayeredStructureModel(list(layers or LAYERS)),
        pyprop8.PointSource(0.0, 0.0, depths_km[0], tensors, np.zeros((len(tensors), 3, 1)), 0),
        pyprop8.ListOfReceivers(x, y, depth=depths_km[1]),
        omegas[strong],
        show_progress=False,
        squeeze_outputs=False,
        stencil_kwargs={"kmin": 0, "kmax": 36.0, "nk": 2400},
    )
    spectra *= moment_rate(omegas) * np.exp(-1j * omegas * np.reshape(lags_s, (-1, 1, 1)))
    radial, transverse, upward = np.moveaxis(inverse(spectra), 2, 0) * 1e3
    cos, sin = (np.array([[along]]).T for along in (x / np.hypot(x, y), y / np.hypot(x, y)))
    cos, sin = cos.reshape(1, -1, 1), sin.reshape(1, -1, 1)
    turned = (radial * cos - transverse * sin, radial * sin + transverse * cos, upward)
    return np.stack(turned, axis=2)


def fault() -> Array:
    """Velocity (receiver, component, time) in m/s of the fault."""
    total: Array = np.zeros((len(OFFSETS_M), 3, COUNT))
    for depth in FAULT_DEPTHS_M:
        x = np.array(FAULT_X_M)
        run = np.hypot(x - HYPOCENTRE_M[0], depth - HYPOCENTRE_M[1]) / RUPTURE_M_S
        offsets = tuple((east - one, north) for one in x for east, north in OFFSETS_M)
        lags = np.repeat(run, len(OFFSETS_M))
        found = velocities(tensor(0, 1)[None], offsets, None, (depth / 1e3, 0.0), lags)[0]
        total += found.reshape(x.size, *total.shape).sum(axis=0)
    return total / (len(FAULT_X_M) * len(FAULT_DEPTHS_M))


def explosion(r_km: float) -> tuple[Array, Array]:
    """Radial and upward surface velocity in m/s of an explosion of 1e18 N m in LOH.1.

    Discrete wavenumbers (Bouchon 1981, BSSA 71). Unknown are the amplitudes of P and SV going
    down and up in the layer and down in the half-space; six conditions, at the surface and at
    the interface, give them. Depth is positive down.
    """
    _, _, omegas = frequencies()
    k = (np.arange(3000) + 0.5) * 2 * math.pi / 250.0
    dk = k[1] - k[0]
    out = np.zeros((2, omegas.size), dtype=complex)
    for n, w in enumerate(omegas):
        if w.real >= 2 * math.pi * 3.6 * FREQUENCY_HZ:
            break
        system = np.zeros((k.size, 6, 6), dtype=complex)
        layer_0, layer_h, half = (
            waves(k, w, LAYER, 0.0, THICKNESS_KM),
            waves(k, w, LAYER, THICKNESS_KM, 0.0),
            waves(k, w, HALF_SPACE, 0.0, 0.0),
        )
        system[:, :2, :4] = layer_0[:, 2:]
        system[:, 2:, :4] = layer_h
        system[:, 2:, 4:] = -half[:, :, :2]
        vp, _, rho = HALF_SPACE
        nu = root(k, w, vp)
        incident = -np.exp(-nu * (DEPTH_KM - THICKNESS_KM)) / nu / (4 * math.pi * rho * vp**2)
        right = np.zeros((k.size, 6), dtype=complex)
        right[:, 2:] = half[:, :, 2] * incident[:, None]
        found = np.linalg.solve(system, right[..., None])[:, :4, 0]
        u, z = np.einsum("kab,kb->ak", layer_0[:, :2], found)
        # Potential -M/(4 pi rho vp2) exp(i w R/vp)/R; its integral is over k J0(k r) dk / nu.
        out[0, n] = (u * k * jv(1, k * r_km)).sum() * dk
        out[1, n] = (z * k * jv(0, k * r_km)).sum() * dk
    radial, down = inverse(out * moment_rate(omegas)) * 1e3
    return radial, -down


def root(k: Array, w: complex, speed: float) -> Spectrum:
    """Vertical wavenumber that decays with depth."""
    found = np.sqrt(k * k - (w / speed) ** 2 + 0j)
    return np.asarray(np.where(found.real < 0, -found, found))


def waves(
    k: Array, w: complex, rock: tuple[float, float, float], below: float, above: float
) -> Spectrum:
    """ur, uz, srz and szz (k, 4, 4) of unit P down, SV down, P up and SV up.

    ``below`` is the distance from where the waves that go down start, ``above`` from where those
    that go up start. ur stands before J1(k r), uz before J0(k r).
    """
    vp, vs, rho = rock
    nu, gamma, mu = root(k, w, vp), root(k, w, vs), rho * vs**2
    both = k * k + gamma * gamma
    columns = []
    for sign, distance in ((-1.0, below), (1.0, above)):
        # P: phi = J0 exp(sign nu z); ur = d phi/dr = -k J1, uz = d phi/dz.
        p = np.stack([-k + 0j, sign * nu, -2 * mu * k * sign * nu, mu * both + 0j])
        # SV: uz = k^2 J0, ur = d2/drdz of the potential J0 exp(sign gamma z).
        s = np.stack([-k * sign * gamma, k * k + 0j, -mu * k * both, 2 * mu * k * k * sign * gamma])
        columns += [p * np.exp(-nu * distance), s * np.exp(-gamma * distance)]
    return np.moveaxis(np.stack(columns), 2, 0).swapaxes(1, 2)


def full_space(tensor: Array, offset_km: Array) -> Array:
    """Velocity (3, COUNT) in m/s in a full space of HALF_SPACE, by Aki & Richards, eq. 4.29."""
    vp, vs, rho = HALF_SPACE
    a, t = math.pi * FREQUENCY_HZ, np.arange(COUNT) * STEP_S
    r = float(np.linalg.norm(offset_km))
    g, one = offset_km / r, np.eye(3)

    def rate(s: Array) -> Array:
        return np.asarray(a / math.sqrt(math.pi) * np.exp(-((a * (s - DELAY_S)) ** 2)))

    def slope(s: Array) -> Array:
        return -2 * a * a * (s - DELAY_S) * rate(s)

    lags = np.linspace(r / vp, r / vs, 2001)
    weights = np.gradient(lags) * lags
    weights[[0, -1]] *= 0.5
    near = (weights * rate(t[:, None] - lags)).sum(axis=1)
    ggg = np.einsum("n,p,q->npq", g, g, g)
    npq, pnq = np.einsum("n,pq->npq", g, one), np.einsum("p,nq->npq", g, one)
    qnp = np.einsum("q,np->npq", g, one)
    terms = [
        ((15 * ggg - 3 * npq - 3 * pnq - 3 * qnp) / r**4, near),
        ((6 * ggg - npq - pnq - qnp) / (vp * r) ** 2, rate(t - r / vp)),
        (-(6 * ggg - npq - pnq - 2 * qnp) / (vs * r) ** 2, rate(t - r / vs)),
        (ggg / (vp**3 * r), slope(t - r / vp)),
        (-(ggg - qnp) / (vs**3 * r), slope(t - r / vs)),
    ]
    total = sum(np.einsum("npq,pq->n", c, tensor)[:, None] * time for c, time in terms)
    return np.asarray(total) / (4 * math.pi * rho) * 1e3


def misfit(found: Array, wanted: Array) -> float:
    """Relative L2 misfit."""
    return float(np.linalg.norm(found - wanted) / np.linalg.norm(wanted))


def tensor(row: int, column: int) -> Array:
    """A unit couple of that element."""
    out = np.zeros((3, 3))
    out[row, column] = out[column, row] = 1.0
    return out


def check() -> None:
    """Print the misfits against the independent solutions."""
    for offset in OFFSETS_M:
        r = math.hypot(*offset)
        x, y, up = velocities(np.eye(3)[None], (offset,))[0, 0]
        along = (x * offset[0] + y * offset[1]) / r
        radial, upward = explosion(r / 1e3)
        print(f"LOH.1, explosion, {r:5.0f} m: radial {misfit(along, radial):.1e}, "
              f"vertical {misfit(up, upward):.1e}")  # fmt: skip
    deep = [(math.inf, *HALF_SPACE)]
    for name, at in TENSORS.items():
        found = velocities(tensor(*at)[None], OFFSETS_M, deep, (32.0, 30.0))[0]
        for one, offset in zip(found, OFFSETS_M, strict=True):
            wanted = full_space(tensor(*at), np.array([*offset, 2000.0]) / 1e3)
            print(f"full space, {name}, {offset}: {misfit(one, wanted):.1e}")


def main() -> None:
    """Check, or write the file beside this script."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    if parser.parse_args().check:
        check()
        return
    found = velocities(np.array([tensor(*at) for at in TENSORS.values()]), OFFSETS_M)
    np.savez_compressed(
        Path(__file__).with_name("loh.npz"),
        code=f"pyprop8 {importlib.metadata.version('pyprop8')}",
        frequency_hz=FREQUENCY_HZ,
        step_s=STEP_S,
        offsets_m=np.array(OFFSETS_M),
        fault_x_m=np.array(FAULT_X_M),
        fault_depths_m=np.array(FAULT_DEPTHS_M),
        hypocentre_m=np.array(HYPOCENTRE_M),
        rupture_m_s=RUPTURE_M_S,
        fault=fault().astype(np.float32),
        **{name: one.astype(np.float32) for name, one in zip(TENSORS, found, strict=True)},
    )


if __name__ == "__main__":
    main()
