"""Averages between the faces and the centres of cells."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.geometry.c_grid import (
    around,
    around_faces,
    centres,
    read_at_centres,
    to_centres,
    to_faces,
)

NAN = np.nan


@pytest.mark.parametrize(
    ("faces", "values", "expected"),
    [
        ("inner", [1, 3, 5], [1, 2, 4, 5]),
        ("inner", [NAN, 3, NAN], [NAN, 3, 3, NAN]),
        ("outer", [1, 3, 5, NAN, NAN], [2, 4, 5, NAN]),
        ("before", [1, 3, 5], [2, 4, 5]),
        ("behind", [1, 3, 5], [1, 2, 4]),
        ("behind", [NAN, NAN, 5], [NAN, NAN, 5]),
        ("none", [1, NAN, 5], [1, NAN, 5]),
    ],
)
def test_a_centre_is_the_mean_of_the_faces_that_have_a_value(
    faces: Any, values: list[float], expected: list[float]
):
    assert np.array_equal(to_centres(np.array(values, "f4"), 0, faces), expected, equal_nan=True)
    rows = np.array([values, values], "f8")
    assert np.array_equal(to_centres(rows, 1, faces)[1], expected, equal_nan=True)


@pytest.mark.parametrize(
    ("faces", "expected"),
    [
        ("inner", [1.5, 2.5, 3.5]),
        ("outer", [1, 1.5, 2.5, 3.5, 4]),
        ("before", [1, 1.5, 2.5, 3.5]),
        ("behind", [1.5, 2.5, 3.5, 4]),
    ],
)
def test_a_face_is_the_mean_of_its_cells(faces: Any, expected: list[float]):
    assert to_faces(np.array([1.0, 2, 3, 4]), 0, faces).tolist() == expected


@pytest.mark.parametrize(
    ("sizes", "coordinates", "dimension", "expected"),
    [
        ({"xi_rho": 5, "xi_u": 4}, {}, "xi_u", ("xi_rho", "inner")),
        ({"eta_rho": 5, "eta_u": 5}, {}, "eta_u", ("eta_rho", "none")),
        ({"eta_rho": 5, "eta_v": 4}, {}, "eta_rho", ("eta_rho", "none")),
        ({"X": 5, "Xp1": 6}, {}, "Xp1", ("X", "outer")),
        ({"XC": 5, "XG": 5}, {}, "XG", ("XC", "before")),
        ({"xh": 5, "xq": 5}, {}, "xq", ("xh", "behind")),
        ({"xh": 5, "xq": 5}, {"xh": 0.5, "xq": 0.0}, "xq", ("xh", "before")),
        ({"XC": 5, "XG": 5}, {"XC": 0.0, "XG": 0.5}, "XG", ("XC", "behind")),
        ({"x_grid_T": 5, "x_grid_U": 5}, {}, "x_grid_U", ("x_grid_T", "behind")),
        ({"y_grid_T": 5, "y_grid_U": 5}, {}, "y_grid_U", ("y_grid_T", "none")),
        ({"xi_u": 4}, {}, "xi_u", ("xi_u", "none")),
        ({"lon": 4}, {}, "lon", ("lon", "none")),
        ({"xi_rho": 9, "xi_u": 4}, {}, "xi_u", ("xi_u", "none")),
    ],
)
def test_the_dimension_of_the_centres_is_found(
    tmp_path: Path,
    sizes: dict[str, int],
    coordinates: dict[str, float],
    dimension: str,
    expected: Any,
):
    path = tmp_path / "grid.nc"
    with netCDF4.Dataset(os.fspath(path), "w") as data:
        for name, size in sizes.items():
            data.createDimension(name, size)
        for name, first in coordinates.items():
            data.createVariable(name, "f4", (name,))[:] = first + np.arange(sizes[name])
    with open_frame([path]) as frame:
        assert centres(frame, dimension) == expected


def test_comodos_attribute_shows_the_shift_of_other_names(tmp_path: Path):
    path = tmp_path / "grid.nc"
    with netCDF4.Dataset(os.fspath(path), "w") as data:
        for name, shift in (("ni", None), ("ni_u", 0.5)):
            data.createDimension(name, 4)
            axis = data.createVariable(name, "f4", (name,))
            axis.axis = "X"
            axis[:] = np.arange(4)
            if shift:
                axis.c_grid_axis_shift = shift
    with open_frame([path]) as frame:
        assert centres(frame, "ni_u") == ("ni", "behind")


def test_a_part_of_the_centres_is_that_of_the_whole(roms: Any):
    with open_frame([roms()], 1) as frame:
        whole = read_at_centres(frame, "u", {})
        part = {"s_rho": slice(3, 5), "eta_rho": slice(2, 17, 3), "xi_rho": slice(1, 9)}
        assert whole.shape == (10, 18, 24)
        assert np.array_equal(
            read_at_centres(frame, "u", part), whole[3:5, 2:17:3, 1:9], equal_nan=True
        )
        assert np.isnan(whole[0]).sum() == 4 * 6


@pytest.mark.parametrize("faces", ["inner", "outer", "before", "behind", "none"])
@pytest.mark.parametrize(
    "window", [slice(0, 6), slice(0, 1), slice(2, 5), slice(5, 6), slice(1, 6, 2)]
)
def test_only_the_points_around_a_part_are_needed(faces: Any, window: slice):
    cells = 6
    stored = cells + {"inner": -1, "outer": 1}.get(faces, 0)
    values = np.arange(10.0, 10 + stored) ** 2
    part, kept = around(window, faces, cells, stored)
    assert np.array_equal(
        to_centres(values[part], 0, faces)[kept], to_centres(values, 0, faces)[window]
    )
    assert part.stop - part.start <= window.stop - window.start + 1
    # Seen from the faces, cells lie around them in the same way.
    values, some = np.arange(10.0, 10 + cells) ** 2, slice(*window.indices(stored))
    part, kept = around_faces(some, faces, stored, cells)
    assert np.array_equal(to_faces(values[part], 0, faces)[kept], to_faces(values, 0, faces)[some])
