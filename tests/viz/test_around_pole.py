"""Grids around a pole: planes of maps, positions, sections and winds across the seam."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from model_grids import GRIDS

from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.diagnostics.velocity import turned_to_earth
from burstlens.viz.geometry import position
from burstlens.viz.geometry.around_pole import pole_centred
from burstlens.viz.geometry.grid import map_plane
from burstlens.viz.geometry.place import End
from burstlens.viz.geometry.transect import transect


@pytest.mark.parametrize(
    ("kind", "projection"),
    [
        ("EASE", "+proj=stere +lat_0=90"),
        ("EASE, south, its first row at the top", "+proj=laea +lat_0=-90"),
        ("turned about the pole, with masked corners", "+proj=stere +lat_0=90 +lon_0=-12"),
        ("tripolar", "+proj=longlat"),
        ("across 180 degrees", "+proj=longlat"),
    ],
)
def test_a_grid_around_a_pole_is_shown_on_a_plane_there(
    kind: str, projection: str, tmp_path: Path
) -> None:
    grid = GRIDS[kind]()
    with open_frame([grid.write(tmp_path / "a.nc", grid.lat)]) as frame:
        shown = pole_centred(map_plane(frame, "tas", {}))
    assert shown.projection is not None
    assert shown.projection.definition.replace("-11.9", "-12").startswith(projection[:22])
    lon, lat = shown.projection.inverse(shown.x, shown.y)
    known = ~grid.unset if grid.unset is not None else np.ones(lon.shape, bool)
    away = position.distance_km("degrees", lon, lat, 0, 0) - position.distance_km(
        "degrees", grid.lon, grid.lat, 0, 0
    )
    assert np.abs(away[known]).max() < 1


def test_the_plane_of_the_frame_before_is_used_again_where_the_points_are_the_same(
    tmp_path: Path,
) -> None:
    grid = GRIDS["EASE"]()
    with open_frame([grid.write(tmp_path / "a.nc", grid.lat)]) as frame:
        first, second = (map_plane(frame, "tas", {}) for _ in range(2))
    shown = pole_centred(first)
    assert pole_centred(second) is shown
    other = pole_centred(replace(second, y=second.y - 1))
    assert np.hypot(other.x, other.y).min() > np.hypot(shown.x, shown.y).min()


def test_positions_and_sections_lie_between_neighbours_on_both_sides_of_the_seam(
    tmp_path: Path,
) -> None:
    grid = GRIDS["EASE"]()
    with open_frame([grid.write(tmp_path / "a.nc", grid.lat)]) as frame:
        plane = map_plane(frame, "tas", {})
        line = transect(frame, "tas", End(lat=75.0, lon=170.0), End(lat=75.0, lon=-170.0))
    row, column = position.nearest(plane, 180.0, 70.0)
    for there in np.linspace(-1, 1, 5):
        lon, _ = position.position(plane, row, column + there)
        assert abs(lon) > 170
    assert line.lon is not None
    assert np.abs(line.lon).min() > 169
    assert line.distance[-1] == pytest.approx(576, rel=0.02)


def test_components_along_the_grid_are_turned_to_east_on_both_sides_of_the_seam(
    tmp_path: Path,
) -> None:
    grid = GRIDS["EASE"]()
    ones = np.ones(grid.lon.shape)
    with open_frame([grid.write(tmp_path / "a.nc", grid.lat)]) as frame:
        u, v = turned_to_earth(frame, "tas", ones, 0 * ones, {})
    far = grid.lat < 85
    lam = np.radians(grid.lon)
    assert np.abs(u - np.cos(lam))[far].max() < 0.15
    assert np.abs(v + np.sin(lam))[far].max() < 0.15
