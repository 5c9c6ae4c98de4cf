"""Vorticity, divergence, and helicity of updraughts."""

from __future__ import annotations

import numpy as np

from burstlens.core.errors import FrameError, RecipeError
from burstlens.viz.diagnostics.diagnostic import (
    OR,
    SURFACE,
    VOLUME,
    Array,
    Block,
    Diagnostic,
    made_of,
)
from burstlens.viz.diagnostics.levels import layer_mean
from burstlens.viz.geometry.grid import to_centres


def _vorticity(block: Block) -> Array:
    """mx my (d(v / my) / dx - d(u / mx) / dy), of winds averaged to the mass points.

    Haltiner and Williams 1980, Numerical Prediction and Dynamic Meteorology, ch. 1; m are the
    map factors. Differences are central over two cells, one-sided at the domain's edges.
    """
    wide = block.widened(1)
    for dimension in SURFACE:
        if wide.part[dimension].stop - wide.part[dimension].start < 2:
            raise FrameError(f"vorticity needs 2 points along {dimension}, the frame has 1")
    v = to_centres(wide.on_faces("V") / _factor(wide, "MAPFAC_VY", "MAPFAC_V"), 1)
    u = to_centres(wide.on_faces("U") / _factor(wide, "MAPFAC_UX", "MAPFAC_U"), 2)
    turning = np.gradient(v, wide.attribute("DX"), axis=2)
    turning = turning - np.gradient(u, wide.attribute("DY"), axis=1)
    return block.trimmed(turning * _area_factor(wide), wide)


def _divergence(block: Block) -> Array:
    """mx my (d(u / my) / dx + d(v / mx) / dy), from the faces of each cell."""
    dense = block.widened(0)
    u = dense.on_faces("U") / _factor(dense, "MAPFAC_UY", "MAPFAC_U")
    v = dense.on_faces("V") / _factor(dense, "MAPFAC_VX", "MAPFAC_V")
    spreading = np.diff(u, axis=2) / dense.attribute("DX")
    spreading += np.diff(v, axis=1) / dense.attribute("DY")
    spreading *= _area_factor(dense)
    return block.trimmed(spreading, dense)


def updraft_helicity(
    w: Array, vorticity: Array, height_agl: Array, low: float, high: float
) -> Array:
    """The integral of w times vorticity over a layer above ground in m2 s-2, as (y, x).

    Kain et al. 2008, Wea. Forecasting 23, 931-952. 0 where the layer's mean w is not
    upward, as in the code of the Center for Analysis and Prediction of Storms that wrf-python
    uses; NaN where the column does not contain the layer.
    """
    rising = layer_mean(w, height_agl, low, high)
    helicity = layer_mean(w * vorticity, height_agl, low, high) * (high - low)
    return np.asarray(np.where(rising > 0, helicity, np.where(np.isnan(rising), rising, 0)))


def _updraft_helicity(block: Block) -> Array:
    layer = block.layer
    if layer.coordinate != "height_agl":
        raise RecipeError("updraft_helicity needs a layer above ground, such as @2-5km agl")
    return updraft_helicity(block["W"], block["vorticity"], block["height_agl"], *layer.ends)


def _factor(block: Block, *names: str) -> Array:
    """The first map factor that the file has: WRF 2 and older have one for both directions.

    Idealized cases leave that one at 0, which means 1.
    """
    factor = block.on_faces(next(name for name in names if name in block))
    return np.where(factor == 0, factor.dtype.type(1), factor)


def _area_factor(block: Block) -> Array:
    return _factor(block, "MAPFAC_MX", "MAPFAC_M") * _factor(block, "MAPFAC_MY", "MAPFAC_M")


_AREA = (f"MAPFAC_MX{OR}MAPFAC_M", f"MAPFAC_MY{OR}MAPFAC_M")
_ROTATION = ("U", "V", f"MAPFAC_UX{OR}MAPFAC_U", f"MAPFAC_VY{OR}MAPFAC_V", *_AREA)
_SPREAD = ("U", "V", f"MAPFAC_UY{OR}MAPFAC_U", f"MAPFAC_VX{OR}MAPFAC_V", *_AREA)
DIAGNOSTICS = (
    Diagnostic(
        "vorticity", "relative vorticity", "s-1", _ROTATION, VOLUME, _vorticity,
        "atmosphere_upward_relative_vorticity", halo=1,
    ),
    Diagnostic(
        "absolute_vorticity", "absolute vorticity", "s-1", (*_ROTATION, "F"), VOLUME,
        made_of(np.add, "vorticity", "F"), "atmosphere_upward_absolute_vorticity", halo=1,
    ),
    Diagnostic(
        "divergence", "divergence of the wind", "s-1", _SPREAD, VOLUME, _divergence,
        "divergence_of_wind",
    ),
    Diagnostic(
        "updraft_helicity", "updraft helicity", "m2 s-2", (*_ROTATION, "W", "PH", "PHB"), SURFACE,
        _updraft_helicity, layer="2-5km agl", levels=2, halo=1,
    ),
)  # fmt: skip
