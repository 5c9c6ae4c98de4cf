"""Turbulence in two dimensions on a periodic square of 2000 km: vortices meet, merge and grow.

The barotropic vorticity equation, pseudo-spectral with the 2/3 rule, third-order Adams-Bashforth,
viscosity exactly. One netCDF file per frame.
"""

import argparse

import netCDF4
import numpy as np

SIDE_M, POINTS, STEP_S, SPEED_M_S = 2.0e6, 128, 120.0, 10.0

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--viscosity", type=float, default=5000.0, help="m2/s")
parser.add_argument("--hours", type=float, default=120.0, help="of the model")
parser.add_argument("--every", type=float, default=4.0, help="hours from frame to frame")
given = parser.parse_args()

ky = 2 * np.pi / SIDE_M * np.fft.fftfreq(POINTS, 1 / POINTS)[:, None]
kx = 2 * np.pi / SIDE_M * np.arange(POINTS // 2 + 1)[None, :]
square = kx**2 + ky**2
inverse = np.divide(-1.0, square, out=np.zeros_like(square), where=square > 0)
kept = (np.abs(ky) < ky.max() * 2 / 3) & (kx < kx.max() * 2 / 3)
damping = np.exp(-given.viscosity * square * STEP_S)


def velocity(vorticity):
    """u and v in m/s of a spectrum of vorticity."""
    stream = inverse * vorticity
    return np.fft.irfft2(-1j * ky * stream), np.fft.irfft2(1j * kx * stream)


def tendency(vorticity):
    """The change of the spectrum by advection, per second."""
    u, v = velocity(vorticity)
    advected = u * np.fft.irfft2(1j * kx * vorticity) + v * np.fft.irfft2(1j * ky * vorticity)
    return -np.fft.rfft2(advected) * kept


def write(number, hour, vorticity):
    """Write one frame; it is whole when the line about it is printed."""
    name = f"turbulence_{number:04d}.nc"
    with netCDF4.Dataset(name, "w") as file:
        for axis in ("y", "x"):
            file.createDimension(axis, POINTS)
            coordinate = file.createVariable(axis, "f8", (axis,))
            coordinate.units = "km"
            coordinate[:] = np.arange(POINTS) * SIDE_M / POINTS / 1000
        file.createDimension("time", None)
        time = file.createVariable("time", "f8", ("time",))
        time.units = "hours since 2000-01-01 00:00:00"
        time[0] = hour
        field = file.createVariable("vorticity", "f4", ("time", "y", "x"))
        field.units = "s-1"
        field.long_name = "Relative vorticity"
        field[0] = np.fft.irfft2(vorticity)
    print(f"wrote {name}", flush=True)


random = np.random.default_rng(7)
wave = np.sqrt(square) * SIDE_M / (2 * np.pi)
ring = np.exp(-(((wave - 10) / 2) ** 2))  # eddies of about 200 km at first
vorticity = ring * np.fft.rfft2(random.standard_normal((POINTS, POINTS)))
u, v = velocity(vorticity)
vorticity *= SPEED_M_S / np.sqrt(np.mean(u**2 + v**2))

steps = round(given.hours * 3600 / STEP_S)
every = round(given.every * 3600 / STEP_S)
before = older = tendency(vorticity)
for step in range(steps + 1):
    hour = step * STEP_S / 3600
    if step % every == 0:
        write(step // every, hour, vorticity)
        print(f"t = {step * STEP_S:.0f} s of {given.hours * 3600:.0f} s", flush=True)
    now = tendency(vorticity)
    vorticity = damping * (vorticity + STEP_S / 12 * (23 * now - 16 * before + 5 * older))
    before, older = now, before
