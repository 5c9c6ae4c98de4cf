"""Material: from layers or a netCDF file to the effective media of the staggered grid.

Effective media follow Graves (1996), equations 10 to 14: density is the arithmetic mean of the two
nodes beside a velocity, the shear modulus the harmonic mean of the four around a shear stress.
The edge values extend outside the grid, into the absorbing layers.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from burstlens.core.errors import RecipeError
from burstlens.workflows.awm.fields import Field, apart
from burstlens.workflows.awm.parameters import Layer

Axis = NDArray[np.floating]

LENGTH = {"m": 1.0, "metre": 1.0, "meter": 1.0, "metres": 1.0, "meters": 1.0, "km": 1e3}
SPEED = {"m s-1": 1.0, "m/s": 1.0, "km s-1": 1e3, "km/s": 1e3}
DENSITY = {"kg m-3": 1.0, "kg/m3": 1.0, "kg m^-3": 1.0, "g cm-3": 1e3, "g/cm3": 1e3}
UNITS = {"vp": SPEED, "vs": SPEED, "rho": DENSITY}


@dataclass(frozen=True, slots=True)
class Rock:
    """vp and vs in m/s and rho in kg/m3 at the nodes, each (z, y, x), float32."""

    vp: Field
    vs: Field
    rho: Field


def from_layers(layers: tuple[Layer, ...], z: Axis, ny: int, nx: int) -> Rock:
    """Homogeneous layers at heights ``z`` (m, negative below the surface).

    A node on an interface belongs to the layer below.
    """
    tops = np.array([layer.top_m for layer in layers])
    index = np.searchsorted(tops, -np.minimum(z, 0.0) + 1e-6 * np.ptp(z), side="right") - 1

    def fill(values: list[float]) -> Field:
        column = np.array(values, dtype=np.float32)[index]
        return np.ascontiguousarray(np.broadcast_to(column[:, None, None], (z.size, ny, nx)))

    return Rock(
        fill([la.vp_m_s for la in layers]),
        fill([la.vs_m_s for la in layers]),
        fill([la.rho_kg_m3 for la in layers]),
    )


def _bracket(axis: Axis, at: Axis, name: str, path: Path) -> tuple[NDArray[np.intp], Axis]:
    """Lower index and weight of the upper index, for each position on an ascending axis."""
    slack = 1e-6 * (axis[-1] - axis[0])
    if at.min() < axis[0] - slack or at.max() > axis[-1] + slack:
        raise RecipeError(
            f"material.file: {path}: {name} covers {axis[0]:g} to {axis[-1]:g} m, "
            f"the grid needs {at.min():g} to {at.max():g} m"
        )
    lower = np.clip(np.searchsorted(axis, at, side="right") - 1, 0, axis.size - 2)
    weight = (at - axis[lower]) / (axis[lower + 1] - axis[lower])
    return lower, np.clip(weight, 0.0, 1.0)


def from_file(path: Path, z: Axis, y: Axis, x: Axis) -> Rock:
    """Trilinear samples of the variables vp, vs and rho (z, y, x) of a COARDS netCDF file.

    The coordinate variables z, y and x are in m or km, as their ``units`` say; z is a height
    unless its attribute ``positive`` is ``down``. Two levels of the file are held at a time.
    Raises RecipeError for a file that lacks a variable or does not cover the grid.
    """
    os.environ.setdefault("HDF5_USE_FILE_LOCKING", "FALSE")
    import netCDF4  # sets HDF5 up when it loads, so after the line above

    if not path.is_file():
        raise RecipeError(f"material.file: {path}: there is no such file")
    try:
        with netCDF4.Dataset(path) as nc:
            return _sample(nc, path, z, y, x)
    except (OSError, RuntimeError) as error:
        raise RecipeError(f"material.file: {path}: cannot be read: {error}") from None


def _scale(variable: object, units: dict[str, float], path: Path, name: str) -> float:
    text = getattr(variable, "units", None)
    if text not in units:
        raise RecipeError(
            f"material.file: {path}: {name} has units {text!r}, known are {', '.join(units)}"
        )
    return units[text]


def _sample(nc: object, path: Path, z: Axis, y: Axis, x: Axis) -> Rock:
    variables = nc.variables  # type: ignore[attr-defined]
    missing = [n for n in ("z", "y", "x", "vp", "vs", "rho") if n not in variables]
    if missing:
        raise RecipeError(f"material.file: {path}: has no variable {', '.join(missing)}")
    axes = {}
    for name in "zyx":
        scale = _scale(variables[name], LENGTH, path, name)
        axes[name] = np.asarray(variables[name][:], dtype=np.float64) * scale
    if getattr(variables["z"], "positive", "up") == "down":
        axes["z"] = -axes["z"]
    upward = bool(axes["z"][-1] > axes["z"][0])
    heights = axes["z"] if upward else axes["z"][::-1]
    for name, axis in (("z", heights), ("y", axes["y"]), ("x", axes["x"])):
        if axis.size < 2 or not np.all(np.diff(axis) > 0):
            raise RecipeError(f"material.file: {path}: {name} must rise or fall, 2 values or more")
    kz, wz = _bracket(heights, z, "z", path)
    ky, wy = _bracket(axes["y"], y, "y", path)
    kx, wx = _bracket(axes["x"], x, "x", path)
    out = {}
    for name, units in UNITS.items():
        variable = variables[name]
        scale = _scale(variable, units, path, name)
        if variable.dimensions != ("z", "y", "x"):
            raise RecipeError(
                f"material.file: {path}: {name} has dimensions {variable.dimensions}, "
                "not ('z', 'y', 'x')"
            )
        field = np.empty((z.size, y.size, x.size), dtype=np.float32)
        levels: dict[int, Axis] = {}
        for k in range(z.size):
            for level in (int(kz[k]), int(kz[k]) + 1):
                if level not in levels:
                    raw = variable[level if upward else heights.size - 1 - level]
                    plane = np.ma.filled(np.ma.asarray(raw, dtype=np.float64), np.nan)
                    rows = plane[ky] * (1 - wy[:, None]) + plane[ky + 1] * wy[:, None]
                    levels[level] = scale * (rows[:, kx] * (1 - wx) + rows[:, kx + 1] * wx)
            field[k] = levels[int(kz[k])] * (1 - wz[k]) + levels[int(kz[k]) + 1] * wz[k]
            levels = {n: v for n, v in levels.items() if n >= kz[k]}
        out[name] = field
    rock = Rock(out["vp"], out["vs"], out["rho"])
    if not (rock.vs.min() > 0 and rock.rho.min() > 0 and (rock.vp > 1.1547 * rock.vs).all()):
        raise RecipeError(
            f"material.file: {path}: vs and rho must be above 0 and vp above 1.155 vs everywhere"
        )
    return rock


@dataclass(frozen=True, slots=True)
class Medium:
    """Effective media, each (z, y, x) on the padded grid, times step / spacing.

    ``p`` is lambda + 2 mu and ``l`` lambda at the nodes, ``mxy``, ``mxz``, ``myz`` the shear
    modulus at the shear stresses, ``bx``, ``by``, ``bz`` one over density at the velocities.
    ``ratio`` (y, x) is lambda / (lambda + 2 mu) at the free surface. With a free surface, its level
    has the moduli of plane stress, which follow from szz = 0.
    """

    p: Field
    l: Field  # noqa: E741
    mxy: Field
    mxz: Field
    myz: Field
    bx: Field
    by: Field
    bz: Field
    ratio: Field


def _beside(field: Field, axis: int, ahead: int) -> Field:
    """Each element's neighbour along an axis, itself at the end."""
    index = np.clip(np.arange(field.shape[axis]) + ahead, 0, field.shape[axis] - 1)
    return np.take(field, index, axis=axis)


def medium(rock: Rock, pads: tuple[tuple[int, int], ...], factor: float, surface: int) -> Medium:
    """The effective media of that rock, its edges continued over ``pads`` (z, y, x).

    ``factor`` is step / spacing in s/m. ``surface`` is the padded level of the free surface,
    or -1 for none.
    """
    rho = np.pad(rock.rho, pads, mode="edge")
    mu = rho * np.pad(rock.vs, pads, mode="edge") ** 2
    p = rho * np.pad(rock.vp, pads, mode="edge") ** 2
    lam = p - 2 * mu
    ratio: Field = lam[surface] / p[surface]
    if surface >= 0:
        p[surface] -= lam[surface] * ratio
        lam[surface] -= lam[surface] * ratio
    f = np.float32(factor)
    b = [2 * f / (rho + _beside(rho, axis, ahead)) for axis, ahead in ((2, 1), (1, 1), (0, -1))]
    soft: Field = np.float32(1) / mu
    x1, y1 = _beside(soft, 2, 1), _beside(soft, 1, 1)
    mxy = 4 * f / (soft + x1 + y1 + _beside(x1, 1, 1))
    mxz = 4 * f / (soft + x1 + _beside(soft, 0, -1) + _beside(x1, 0, -1))
    myz = 4 * f / (soft + y1 + _beside(soft, 0, -1) + _beside(y1, 0, -1))
    fields = apart(rho.shape, 8, start=9)
    for field, values in zip(fields, (p * f, lam * f, mxy, mxz, myz, *b), strict=True):
        field[:] = values
    return Medium(*(*fields, ratio))
