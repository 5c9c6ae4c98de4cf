"""The column over a point: its profiles, the parcel that is lifted in it, and its energies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from burstlens.core.errors import FrameError
from burstlens.viz.diagnostics.diagnostic import check_needs
from burstlens.viz.diagnostics.parcel import cape_cin, lifted_path
from burstlens.viz.geometry.c_grid import read_centred
from burstlens.viz.geometry.grid import Array
from burstlens.viz.geometry.place import End
from burstlens.viz.geometry.transect import spot
from burstlens.viz.product import ProductFrame

_NEEDS = ("T", "P", "PB", "QVAPOR", "U", "V")


@dataclass(frozen=True, slots=True)
class Column:
    """Levels from the lowest upwards: Pa, K, m s-1 eastward and northward; the parcel's path in K.

    ``condensation`` is the pressure and the temperature at which the parcel is saturated; ``cape``
    and ``cin`` (negative) are in J kg-1, ``water`` is precipitable, in kg m-2, None where it cannot
    be computed. ``place`` is latitude and longitude in degrees, None off the earth.
    """

    pressure: Array
    temperature: Array
    dew_point: Array
    eastward: Array
    northward: Array
    path: Array
    condensation: tuple[float, float]
    cape: float
    cin: float
    water: float | None
    place: tuple[float, float] | None


def read_column(frame: ProductFrame, at: End, *, most_unstable: bool) -> Column:
    """The column over a point, bilinear between the four around it, which are all that is read.

    Levels with a NaN, or whose pressure does not sink, are left out. FrameError when the point is
    outside of the domain, a variable is missing, or fewer than two levels are left.
    """
    check_needs(frame, "a sounding", _NEEDS)
    point = spot(frame, "T", at, "sounding: the point")
    whole = slice(0, frame.dimensions["bottom_top"], 1)

    def profile(name: str) -> Array:
        window = {**point.window, "bottom_top": whole}
        return point.sample(read_centred(frame, name, window))[:, 0].astype(np.float64)

    names = ("pressure", "temperature", "QVAPOR", "dew_point", "u_earth", "v_earth")
    levels = np.stack([profile(name) for name in names])
    levels = levels[:, np.isfinite(levels).all(axis=0)]
    above = np.minimum.accumulate(np.append(np.inf, levels[0]))[:-1]
    p, t, q, dew, u, v = levels[:, levels[0] < above]
    if p.size < 2:
        raise FrameError("sounding: the column has fewer than two levels with values")
    path, base, cold = lifted_path(p, t, np.maximum(q, 0), int(most_unstable))
    cape, cin = cape_cin(
        *(values[:, None, None].astype(np.float32) for values in (p, t, q)), int(most_unstable)
    )
    water = np.nan
    if {"PH", "PHB"} <= set(frame.names):
        water = float(point.sample(frame.read("precipitable_water", point.window))[0])
    place = None
    if point.lat is not None and point.lon is not None:
        place = float(point.lat[0]), float(point.lon[0])
    return Column(
        p, t, dew, u, v, path, (float(base), float(cold)), float(cape[0, 0]), float(cin[0, 0]),
        water if np.isfinite(water) else None, place,
    )  # fmt: skip
