"""Pressure: of the model's levels, and reduced to sea level; heights of the levels."""

from __future__ import annotations

import numpy as np

from burstlens.viz.diagnostics.diagnostic import SURFACE, VOLUME, Array, Block, Diagnostic
from burstlens.viz.diagnostics.thermodynamics import RD
from burstlens.viz.geometry.grid import GRAVITY

LAPSE_RATE = 0.0065
"""K m-1, of the US Standard Atmosphere."""
_ABOVE = 1e4
"""Pa above the lowest level: there the temperature hardly varies with the time of day."""
_HOT = 273.16 + 17.5
_ENOUGH = 14
"""Levels: WRF's usual ones reach 100 hPa above the ground with 8 to 12."""


def pressure(block: Block) -> Array:
    """Full pressure of the levels in Pa: P + PB; without these the hydrostatic one, P_HYD."""
    if "P" in block and "PB" in block:
        return block["P"] + block["PB"]
    return block["P_HYD"]


def face_heights(block: Block) -> Array:
    """Heights of the faces between the levels, in m above sea: (PH + PHB) / g."""
    return np.asarray((block.on_faces("PH") + block.on_faces("PHB")) / GRAVITY)


def height(block: Block) -> Array:
    """Heights of the levels, in m above sea: those of the faces, averaged."""
    return np.asarray((block["PH"] + block["PHB"]) / GRAVITY)


def height_agl(block: Block) -> Array:
    """Heights of the levels, in m above the ground, which is the lowest face."""
    return np.asarray(block["height"] - face_heights(block.lowest(1))[0])


def sea_level_pressure(
    pressure: Array, temperature: Array, mixing_ratio: Array, height: Array
) -> Array:
    """Pressure reduced to mean sea level in Pa, as (y, x), from levels (z, y, x).

    The temperature 100 hPa above the lowest level is extrapolated to that level and to the sea
    with 6.5 K km-1, lowered where it is hot, and their mean put into the hypsometric equation.
    MM5 (subroutine SEAPRS), RIP, ARWpost and NCL do the same; interpolation in ln p and the
    exception for cold ground are MM5's and missing in NCL and wrf-python. NaN where the column does
    not reach that high.
    """
    target = pressure[0] - _ABOVE
    above = pressure < target
    upper = np.maximum(above.argmax(axis=0), 1)[None]
    low, high = (np.take_along_axis(pressure, n, 0)[0] for n in (upper - 1, upper))
    weight = np.log(target / high) / np.log(low / high)

    def there(values: Array) -> Array:
        under, over = (np.take_along_axis(values, n, 0)[0] for n in (upper - 1, upper))
        return np.asarray(over + (under - over) * weight)

    virtual = there(temperature) * (1 + 0.608 * there(mixing_ratio))
    ground = virtual * (pressure[0] / target) ** (LAPSE_RATE * RD / GRAVITY)
    sea = virtual + LAPSE_RATE * there(height)
    lowered = np.where(ground <= _HOT, _HOT, _HOT - 0.005 * (ground - _HOT) ** 2)
    sea = np.where((sea < _HOT) & (ground <= _HOT), sea, lowered)
    reduced = pressure[0] * np.exp(2 * GRAVITY * height[0] / (RD * (sea + ground)))
    return np.asarray(np.where(above.any(axis=0), reduced, np.nan), dtype=pressure.dtype)


def _slp(block: Block) -> Array:
    """Sea-level pressure from the lowest levels, which are mostly enough, else from all."""
    size = block.frame.dimensions["bottom_top"]
    for count in sorted({min(_ENOUGH, size), size}):
        low = block.lowest(count)
        fields = (low[name] for name in ("pressure", "temperature", "QVAPOR", "height"))
        values = sea_level_pressure(*fields)
        if not np.isnan(values).any():
            break
    return values


DIAGNOSTICS = (
    Diagnostic(
        "pressure", "air pressure", "Pa", ("P", "PB"), VOLUME, pressure, "air_pressure",
    ),
    Diagnostic(
        "height", "height above sea level", "m", ("PH", "PHB"), VOLUME, height, "altitude",
    ),
    Diagnostic(
        "height_agl", "height above ground", "m", ("PH", "PHB"), VOLUME, height_agl, "height",
    ),
    Diagnostic(
        "slp", "sea-level pressure", "Pa", ("P", "PB", "T", "QVAPOR", "PH", "PHB"), SURFACE, _slp,
        "air_pressure_at_mean_sea_level", levels=2,
    ),
)  # fmt: skip
