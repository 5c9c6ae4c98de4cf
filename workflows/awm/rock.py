"""The rock: speeds and density at the nodes, level by level, from layers or a netCDF file.

Values are checked as they are read; a fault is reported with its place and its number.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from burstlens.core.errors import RecipeError
from burstlens.core.lengths import metres
from burstlens.workflows.awm import limits
from burstlens.workflows.awm.fields import Field
from burstlens.workflows.awm.parameters import Layer, Material

Axis = NDArray[np.floating]

SPEED = {"m s-1": 1.0, "m/s": 1.0, "km s-1": 1e3, "km/s": 1e3}
DENSITY = {"kg m-3": 1.0, "kg/m3": 1.0, "kg m^-3": 1.0, "g cm-3": 1e3, "g/cm3": 1e3}
UNITS = {"vp": SPEED, "vs": SPEED, "rho": DENSITY}


@dataclass(frozen=True, slots=True)
class Level:
    """vp and vs in m/s and rho in kg/m3 at the nodes of one level, each (y, x), float32."""

    vp: Field
    vs: Field
    rho: Field


def levels(given: Material, folder: Path, z: Axis, y: Axis, x: Axis) -> Iterator[Level]:
    """The rock at the heights ``z``, in their order; a file is looked up in ``folder``.

    Raises RecipeError for a file that cannot be used and for values that are not those of rock.
    """
    if given.layers is not None:
        yield from from_layers(given.layers, z, y.size, x.size)
    else:
        yield from from_file(folder / str(given.file), z, y, x)


def from_layers(layers: tuple[Layer, ...], z: Axis, ny: int, nx: int) -> Iterator[Level]:
    """Homogeneous layers at heights ``z`` (m, negative below the surface).

    A node on an interface belongs to the layer below.
    """
    tops = np.array([layer.top_m for layer in layers])
    index = np.searchsorted(tops, -np.minimum(z, 0.0) + 1e-6 * np.ptp(z), side="right") - 1
    for n in index:
        layer = layers[n]
        values = (layer.vp_m_s, layer.vs_m_s, layer.rho_kg_m3)
        yield Level(*(np.full((ny, nx), value, np.float32) for value in values))


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


def from_file(path: Path, z: Axis, y: Axis, x: Axis) -> Iterator[Level]:
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
            yield from _sample(nc, path, z, y, x)
    except (OSError, RuntimeError) as error:
        raise RecipeError(f"material.file: {path}: cannot be read: {error}") from None


def _scale(variable: object, units: dict[str, float], path: Path, name: str) -> float:
    text = getattr(variable, "units", None)
    if text not in units:
        raise RecipeError(
            f"material.file: {path}: {name} has units {text!r}, known are {', '.join(units)}"
        )
    return units[text]


def _sample(nc: object, path: Path, z: Axis, y: Axis, x: Axis) -> Iterator[Level]:
    variables = nc.variables  # type: ignore[attr-defined]
    missing = [n for n in ("z", "y", "x", "vp", "vs", "rho") if n not in variables]
    if missing:
        raise RecipeError(f"material.file: {path}: has no variable {', '.join(missing)}")
    axes = {}
    for name in "zyx":
        unit = str(getattr(variables[name], "units", ""))
        if (length := metres(unit)) is None:
            what = f"{name} has units {unit!r}, which are no length"
            raise RecipeError(f"material.file: {path}: {what}")
        axes[name] = np.asarray(variables[name][:], dtype=np.float64) * length
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
    scales = {name: _scale(variables[name], units, path, name) for name, units in UNITS.items()}
    for name in UNITS:
        if variables[name].dimensions != ("z", "y", "x"):
            raise RecipeError(
                f"material.file: {path}: {name} has dimensions {variables[name].dimensions}, "
                "not ('z', 'y', 'x')"
            )
    rows: dict[tuple[str, int], Axis] = {}
    for k in range(z.size):
        rows = {at: row for at, row in rows.items() if at[1] >= kz[k]}
        found = []
        for name, scale in scales.items():
            for level in (int(kz[k]), int(kz[k]) + 1):
                if (name, level) not in rows:
                    raw = variables[name][level if upward else heights.size - 1 - level]
                    plane = np.ma.filled(np.ma.asarray(raw, dtype=np.float64), np.nan)
                    along = plane[ky] * (1 - wy[:, None]) + plane[ky + 1] * wy[:, None]
                    rows[name, level] = scale * (along[:, kx] * (1 - wx) + along[:, kx + 1] * wx)
            low, high = rows[name, int(kz[k])], rows[name, int(kz[k]) + 1]
            found.append((low * (1 - wz[k]) + high * wz[k]).astype(np.float32))
        sampled = Level(*found)
        _check(sampled, f"material.file: {path}", float(z[k]), y, x)
        yield sampled


def _check(level: Level, source: str, z: float, y: Axis, x: Axis) -> None:
    """Raises RecipeError, with the place and the number, for what no rock has."""
    for name, units in (("vp", "m/s"), ("vs", "m/s"), ("rho", "kg/m3")):
        values = getattr(level, name)
        wrong = ~((values > 0) & np.isfinite(values))
        if wrong.any():
            value = float(values[wrong][0])
            what = f"{name} is {value:g} {units} and must be above 0"
            if math.isnan(value):
                what = f"{name} is missing"
            elif name == "vs" and value == 0:
                what += ": awm computes solids, no fluid"
            break
    else:
        wrong = level.vp < np.float32(limits.VP_OVER_VS) * level.vs
        if not wrong.any():
            return
        what = limits.not_rock(float(level.vp[wrong][0]), float(level.vs[wrong][0])) or ""
    j, i = np.unravel_index(int(wrong.argmax()), wrong.shape)
    raise RecipeError(f"{source}: at x {x[i]:g} m, y {y[j]:g} m, depth {-z:g} m {what}")
