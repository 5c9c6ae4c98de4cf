"""Temperature and moisture of the levels, at 2 m, and of the whole column."""

from __future__ import annotations

from functools import reduce

import numpy as np

from burstlens.viz.diagnostics import thermodynamics as air
from burstlens.viz.diagnostics.diagnostic import SURFACE, VOLUME, Array, Block, Diagnostic, made_of
from burstlens.viz.diagnostics.levels import interpolate
from burstlens.viz.diagnostics.pressure import face_heights

BASE_THETA = 300.0
"""K: WRF's T is the potential temperature less this (its variable T00 is something else)."""


def precipitable_water(
    pressure: Array, temperature: Array, mixing_ratio: Array, faces: Array
) -> Array:
    """Water vapour of the column in kg m-2, as (y, x); ``faces`` are heights (z + 1, y, x).

    The sum over the model's layers of r / (1 + r) p / (Rd Tv) times their thickness.
    """
    r = np.maximum(mixing_ratio, 0)
    density = pressure / (air.RD * air.virtual_temperature(temperature, r))
    layers = r / (1 + r) * density * np.diff(faces, axis=0)
    # One by one: numpy sums a single column in another order, with other last bits.
    return np.asarray(reduce(np.add, layers))


def _surface_pressure(block: Block) -> Array:
    """PSFC, NaN where it is 0: idealized cases without surface physics do not set it."""
    pressure = block["PSFC"]
    return np.where(pressure > 0, pressure, pressure.dtype.type(np.nan))


def _precipitable_water(block: Block) -> Array:
    return precipitable_water(
        block["pressure"], block["temperature"], block["QVAPOR"], face_heights(block)
    )


def _lapse_rate(block: Block) -> Array:
    """Lapse rate between the ends of the layer; an end below the lowest level is taken there."""
    layer = block.layer
    coordinate = block[layer.coordinate]
    low, high = layer.ends
    if layer.coordinate == "pressure":
        coordinate, ends = np.log(coordinate), (np.log(low), np.log(high))
    else:
        ends = (np.maximum(low, coordinate[0]), high)
    cold, warm, top, bottom = (
        interpolate(block[name], coordinate, ends[n])
        for name in ("temperature", "height")
        for n in (1, 0)
    )
    return np.asarray((warm - cold) / (top - bottom) * 1000)


_MOIST_AIR = ("temperature", "QVAPOR", "pressure")
_STATE = ("T", "P", "PB")
_MOIST = (*_STATE, "QVAPOR")
DIAGNOSTICS = (
    Diagnostic(
        "theta", "potential temperature", "K", ("T",), VOLUME,
        lambda block: block["T"] + BASE_THETA, "air_potential_temperature",
    ),
    Diagnostic(
        "temperature", "temperature", "K", _STATE, VOLUME,
        made_of(air.temperature, "theta", "pressure"), "air_temperature",
    ),
    Diagnostic(
        "theta_e", "equivalent potential temperature", "K", _MOIST, VOLUME,
        made_of(air.equivalent_potential_temperature, *_MOIST_AIR),
        "air_equivalent_potential_temperature",
    ),
    Diagnostic(
        "rh", "relative humidity", "%", _MOIST, VOLUME,
        made_of(air.relative_humidity, *_MOIST_AIR), "relative_humidity",
    ),
    Diagnostic(
        "dew_point", "dew point", "K", ("QVAPOR", "P", "PB"), VOLUME,
        made_of(air.dew_point, "QVAPOR", "pressure"), "dew_point_temperature",
    ),
    Diagnostic(
        "rh_2m", "2 m relative humidity", "%", ("T2", "Q2", "PSFC"), SURFACE,
        lambda block: air.relative_humidity(block["T2"], block["Q2"], _surface_pressure(block)),
        "relative_humidity",
    ),
    Diagnostic(
        "dew_point_2m", "2 m dew point", "K", ("Q2", "PSFC"), SURFACE,
        lambda block: air.dew_point(block["Q2"], _surface_pressure(block)), "dew_point_temperature",
    ),
    Diagnostic(
        "precipitable_water", "precipitable water", "kg m-2", (*_MOIST, "PH", "PHB"), SURFACE,
        _precipitable_water, "atmosphere_mass_content_of_water_vapor",
    ),
    Diagnostic(
        "lapse_rate", "lapse rate", "K km-1", (*_STATE, "PH", "PHB"), SURFACE, _lapse_rate,
        layer="700-500hPa", levels=2,
    ),
)  # fmt: skip
