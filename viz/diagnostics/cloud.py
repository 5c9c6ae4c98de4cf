"""Clouds as seen from above."""

from __future__ import annotations

import numpy as np

from burstlens.viz.diagnostics.diagnostic import SURFACE, Array, Block, Diagnostic
from burstlens.viz.diagnostics.levels import interpolate
from burstlens.viz.diagnostics.thermodynamics import ZERO_C
from burstlens.viz.geometry.grid import GRAVITY

_WATER, _ICE = 145.0, 272.0
"""Absorption in m2 kg-1 (0.145 and 0.272 m2 g-1 in RIP)."""


def cloud_top_temperature(
    pressure: Array, temperature: Array, water: Array, ice: Array | None = None
) -> Array:
    """Temperature in K where the optical depth from above reaches 1, as (y, x).

    The depth is the sum of (145 water + 272 ice) dp / g downwards. Where it stays below 1 the
    lowest level's temperature is used, as an infrared image shows the ground. Without ``ice``,
    water below freezing counts as ice. RIP, NCL and wrf-python (routine wrfcttcalc) do the same.
    """
    if ice is None:
        mass = np.where(temperature < ZERO_C, _ICE, _WATER) * np.maximum(water, 0)
    else:
        mass = _WATER * np.maximum(water, 0) + _ICE * np.maximum(ice, 0)
    middle = 0.5 * (pressure[1:] + pressure[:-1])
    top = 1.5 * pressure[-1:] - 0.5 * pressure[-2:-1]
    bottom = 1.5 * pressure[:1] - 0.5 * pressure[1:2]
    faces = np.concatenate([bottom, middle, np.maximum(top, 0)]).astype(pressure.dtype)
    depth = np.cumsum((mass * (faces[:-1] - faces[1:]) / GRAVITY)[::-1], axis=0)
    reached = depth >= 1
    layer = reached.argmax(axis=0)[None]
    over = np.take_along_axis(np.concatenate([np.zeros_like(depth[:1]), depth]), layer, 0)[0]
    under = np.take_along_axis(depth, layer, 0)[0]
    high = np.take_along_axis(faces[::-1], layer, 0)[0]
    low = np.take_along_axis(faces[::-1], layer + 1, 0)[0]
    thick = np.where(reached.any(axis=0), under - over, 1)
    place = high + (1 - over) / thick * (low - high)
    # Beyond the outermost level centres there is no temperature to interpolate.
    place = np.clip(place, pressure[-1], pressure[0])
    found = np.where(reached.any(axis=0), interpolate(temperature, pressure, place), temperature[0])
    spoiled = np.isnan(depth[-1])
    return np.asarray(np.where(spoiled, np.nan, found), dtype=temperature.dtype)


def _cloud_top_temperature(block: Block) -> Array:
    fields = [block[name] for name in ("pressure", "temperature", "QCLOUD")]
    if "QICE" in block:
        fields.append(block["QICE"])
    return cloud_top_temperature(*fields)


DIAGNOSTICS = (
    Diagnostic(
        "cloud_top_temperature", "cloud-top temperature", "K", ("QCLOUD", "T", "P", "PB"), SURFACE,
        _cloud_top_temperature, "air_temperature_at_cloud_top", uses=("QICE",), levels=2,
    ),
)  # fmt: skip
