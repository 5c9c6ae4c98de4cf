"""What is right at a place, by brute force on the sphere, and what the values of maps answer there.

Two fields tell: one that is its own longitude, and one that is its own latitude.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from model_grids import ModelGrid

from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.drawing.maps.reach import extent
from burstlens.viz.geometry.around_pole import pole_centred
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.geometry.field import read_field
from burstlens.viz.geometry.grid import separated
from burstlens.viz.geometry.sphere import angle, bilinear, degrees, vectors
from burstlens.viz.values.lookup import Grid, Place
from burstlens.viz.values.options import Values
from burstlens.viz.values.shown import Shown, shown_on_map

BOX = (20, 10, 160, 122)


def places(grid: ModelGrid, count: int, seed: int = 1) -> tuple[Any, Any]:
    """Longitudes and latitudes of random places between points that all have a position."""
    dice = np.random.default_rng(seed)
    rows, columns = (dice.uniform(0, size - 1, count) for size in grid.lon.shape)
    nodes = vectors(grid.lon, grid.lat)
    lon, lat = degrees(bilinear(nodes, rows, columns))
    known = np.ones(count, bool)
    if grid.unset is not None:
        for r in (np.floor(rows), np.ceil(rows)):
            for c in (np.floor(columns), np.ceil(columns)):
                known &= ~grid.unset[r.astype(int), c.astype(int)]
    return lon[known], lat[known]


def wrong(grid: ModelGrid, lon: Any, lat: Any, found: Any, every: int = 1) -> list[str]:
    """The places whose answers lie further away than the nearest kept point, by more than half a
    cell; ``found`` are longitudes and latitudes that the fields answer, NaN where they do not."""
    at = vectors(lon, lat)
    kept = slice(None, None, every)
    points = vectors(grid.lon[kept, kept], grid.lat[kept, kept])
    if grid.unset is not None:
        points[grid.unset[kept, kept]] = np.nan
    long = np.zeros(points.shape[:2])
    for axis in (0, 1):
        steps = angle(np.take(points, range(1, points.shape[axis]), axis),
                      np.take(points, range(points.shape[axis] - 1), axis))  # fmt: skip
        for part in (slice(None, -1), slice(1, None)):
            index = [slice(None), slice(None)]
            index[axis] = part
            long[tuple(index)] = np.fmax(long[tuple(index)], steps)
    flat, sizes = points.reshape(-1, 3), long.ravel()
    known = np.isfinite(flat[:, 0])
    flat, sizes = flat[known], sizes[known]
    nearest = (at @ flat.T).argmax(axis=1)
    least = angle(at, flat[nearest])
    away = angle(at, vectors(*found))
    bad = ~(away <= least + 0.5 * sizes[nearest])
    if every > 1 and grid.unset is not None:
        # The nearest kept point may be one without a value.
        all_points = vectors(grid.lon[kept, kept], grid.lat[kept, kept]).reshape(-1, 3)
        without = grid.unset[kept, kept].ravel()[(at @ all_points.T).argmax(axis=1)]
        bad &= ~(without & np.isnan(away))
    return [
        f"{lat[n]:.3f}, {lon[n]:.3f}: {found[1][n]:.3f}, {found[0][n]:.3f}, "
        f"{np.degrees(away[n]):.2f} degrees away" for n in np.flatnonzero(bad)
    ]  # fmt: skip


def shown(grid: ModelGrid, path: Path, points: int = 500) -> tuple[Grid, Any, int]:
    """The grid file of a map of such a file, the kept longitudes and latitudes, the stride."""
    files = [grid.write(path / f"{name}.nc", values) for name, values in grid.fields().items()]
    return shown_of(files, [grid.variable] * 2, path / "grid.js", points)


def shown_of(
    files: Sequence[Path], variables: Sequence[str], to: Path, points: int = 500
) -> tuple[Grid, Any, int]:
    """The same of variables on one grid that are in these files."""
    fields = [
        shown_field(file, variable, points) for file, variable in zip(files, variables, strict=True)
    ]
    to.write_bytes(fields[-1].grid.text)
    return Grid.read(to), [one.values for one in fields], int(fields[-1].facts["stride"])


def shown_field(file: Path, variable: str, points: int = 500) -> Shown:
    """The values beside a map of a variable, so many points along its longer side at most."""
    with open_frame([file]) as frame:
        field = read_field(frame, variable, level=None, crop=Crop(), units=None)
    plane = separated(pole_centred(field.plane))
    return shown_on_map(field, plane, extent(plane, 0.0)[0], BOX, Values(points=points))


def answered(on: Grid, fields: Sequence[Any], lon: Any, lat: Any) -> Any:
    """What the fields answer at places: (field, place), NaN beside the grid."""
    found = np.full((len(fields), lon.size), np.nan)
    for n, at in enumerate(zip(lon.tolist(), lat.tolist(), strict=True)):
        cell = on.point(Place(lat=at[1], lon=at[0]))
        if cell is not None:
            found[:, n] = [values[cell] for values in fields]
    return found
