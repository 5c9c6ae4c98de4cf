"""Staggered grids and grids with halos, as files of ROMS, CICE and NEMO have them.

Beside the points of the field such files have the positions of other points of the same cells.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyproj
from model_grids import GRIDS, RADIUS, Array, ModelGrid, Written

_POINTS = {"rho": (0.0, 0.0), "u": (0.0, 0.5), "v": (0.5, 0.0), "psi": (0.5, 0.5)}
"""Where ROMS's points lie, in rows and columns from the first rho point."""


def _roms(
    definition: str, points: str, *, turn: float = 0.0, is_named: bool = True,
    middle: tuple[float, float] = (0.0, 0.0), size: tuple[int, int] = (56, 70),
) -> ModelGrid:  # fmt: skip
    """ROMS: rho points in the middles of cells, u and v on their sides, psi at their corners."""
    plane, angle = pyproj.Proj(f"{definition} +R={RADIUS:.0f}"), np.radians(turn)
    degrees: dict[str, tuple[Array, Array]] = {}
    further: dict[str, Written] = {}
    for name, (down, right) in _POINTS.items():
        rows, columns = size[0] - bool(down), size[1] - bool(right)
        y, x = np.mgrid[0:rows, 0:columns] * 4e4
        x, y = (at + (part - count / 2) * 4e4
                for at, part, count in ((x, right, size[1]), (y, down, size[0])))  # fmt: skip
        x, y = x * np.cos(angle) - y * np.sin(angle), x * np.sin(angle) + y * np.cos(angle)
        lon, lat = plane(x + middle[0], y + middle[1], inverse=True)
        degrees[name] = np.asarray(lon), np.asarray(lat)
        for of, values, units in zip(
            ("lon", "lat"), degrees[name], ("degree_east", "degree_north"), strict=True
        ):
            if name != points:
                further[f"{of}_{name}"] = (f"eta_{name}", f"xi_{name}"), values, {"units": units}
    further["mask_rho"] = ("eta_rho", "xi_rho"), np.ones(size), {"long_name": "mask on RHO-points"}
    return ModelGrid(
        *degrees[points], variable={"u": "ubar", "v": "vbar"}.get(points, "zeta"),
        names=(f"lon_{points}", f"lat_{points}"), dimensions=(f"eta_{points}", f"xi_{points}"),
        is_named=is_named, further=further,
    )  # fmt: skip


def _cice(points: str) -> ModelGrid:
    """CICE on a displaced pole: T points, and U points at their north-eastern corners, both with
    fill values where blocks of land are not computed."""
    grid = GRIDS["displaced pole, a gap"]()
    assert grid.unset is not None
    whole = GRIDS["displaced pole"]()
    corner = _corners(whole)
    others = {"T": (whole.lon, whole.lat), "U": corner}
    own = others.pop(points)
    further: dict[str, Written] = {}
    for name, (lon, lat) in others.items():
        for of, values, units in (("LON", lon, "degrees_east"), ("LAT", lat, "degrees_north")):
            gone = np.where(grid.unset, 1e30, values)
            further[f"{name}{of}"] = ("nj", "ni"), gone, {"units": units}
    further["ANGLE"] = ("nj", "ni"), 0 * whole.lon, {"units": "radians"}
    return ModelGrid(
        *own, unset=grid.unset, names=(f"{points}LON", f"{points}LAT"), further=further,
        variable="aice" if points == "T" else "uvel",
    )  # fmt: skip


def _corners(grid: ModelGrid) -> tuple[Array, Array]:
    """Half-way to the next row and column, around the earth."""
    from burstlens.viz.geometry.sphere import degrees, vectors

    at = vectors(grid.lon, grid.lat)
    at = at + np.roll(at, -1, axis=1)
    at[:-1] = at[:-1] + at[1:]
    lon, lat = degrees(at)
    return lon % 360, lat


def _orca(*, zeros: bool = False) -> ModelGrid:
    """NEMO's ORCA: a halo column on both sides, and the last row is the one before it, folded."""
    grid = GRIDS["tripolar, from -280"]()
    first = -280.0
    lon, lat = (np.hstack([at[:, -1:], at, at[:, :1]]) for at in (grid.lon, grid.lat))
    lon = np.vstack([lon, 2 * first - lon[-1:]])
    lat = np.vstack([lat, lat[-1:]])
    unset = None
    if zeros:
        unset = np.zeros(lon.shape, bool)
        unset[20:32, 40:70] = True
    return ModelGrid(
        (lon + 180) % 360 - 180, lat, names=("nav_lon", "nav_lat"), dimensions=("y", "x"),
        variable="sosstsst", unset=unset, fill=0.0,
    )  # fmt: skip


def _pole(points: str, **how: Any) -> ModelGrid:
    return _roms("+proj=stere +lat_0=90 +lat_ts=70 +lon_0=-45", points, turn=33.0, **how)


OCEAN_GRIDS: dict[str, Callable[[], ModelGrid]] = {
    "ROMS, u": lambda: _roms("+proj=lcc +lat_1=30 +lat_2=50 +lat_0=40 +lon_0=-70", "u", turn=40),
    "ROMS, v": lambda: _roms("+proj=lcc +lat_1=30 +lat_2=50 +lat_0=40 +lon_0=179", "v", turn=-30),
    "ROMS, psi, its coordinates not named": lambda: _roms(
        "+proj=merc +lon_0=-20 +lat_ts=30", "psi", is_named=False, middle=(0.0, 4e6)),
    "ROMS around the pole, rho": lambda: _pole("rho"),
    "ROMS around the pole, u": lambda: _pole("u", middle=(3e5, -2e5)),
    "ROMS around the pole, psi": lambda: _pole("psi", is_named=False),
    "CICE": lambda: _cice("T"),
    "CICE, velocities": lambda: _cice("U"),
    "CICE, its north": lambda: _northern(_cice("U"), 60),
    "NEMO ORCA": lambda: _orca(),
    "NEMO ORCA, zeros on land": lambda: _orca(zeros=True),
}  # fmt: skip
"""By the model and its points."""


def _northern(grid: ModelGrid, first: int) -> ModelGrid:
    further = {
        name: (dimensions, values[first:], attributes)
        for name, (dimensions, values, attributes) in grid.further.items()
    }
    unset = None if grid.unset is None else grid.unset[first:]
    return replace(grid, lon=grid.lon[first:], lat=grid.lat[first:], unset=unset, further=further)
