"""Along which dimension of a file its records lie."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from burstlens.core.errors import FrameError
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.frames.record import time_dimension

SINCE = {"units": "days since 2000-01-01"}


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    """Writes a file of dimensions (None: unlimited, of 3) and variables (dimensions, about)."""

    def write(sizes: dict[str, int | None], form: str = "NETCDF4", **variables: Any) -> Path:
        path = tmp_path / "file.nc"
        with netCDF4.Dataset(os.fspath(path), "w", format=form) as data:
            for name, size in sizes.items():
                data.createDimension(name, size)
            for name, (dimensions, attributes) in variables.items():
                variable = data.createVariable(name, "f8", dimensions)
                variable.setncatts(attributes)
                shape = tuple(sizes[dimension] or 3 for dimension in dimensions)
                variable[...] = np.arange(np.prod(shape, dtype=int)).reshape(shape)
        return path

    return write


@pytest.mark.parametrize(
    ("sizes", "variables", "found"),
    [
        ({"t": 3, "x": 4}, {"t": (["t"], SINCE)}, "t"),
        ({"t": 3, "x": None}, {"t": (["t"], SINCE)}, "t"),
        ({"n": 3, "x": 4}, {"clock": (["n"], {"standard_name": "time"})}, "n"),
        ({"n": 3, "x": 4}, {"clock": (["n"], {"axis": "T"})}, "n"),
        ({"n": 3, "x": None}, {"when": (["n"], SINCE)}, "x"),
        (
            {"reftime": 2, "t": 3},
            {
                "reftime": (["reftime"], {**SINCE, "standard_name": "forecast_reference_time"}),
                "t": (["t"], SINCE),
            },
            "t",
        ),
        ({"x": 4}, {"field": (["x"], {})}, None),
        ({"x": 4}, {"time": ([], SINCE)}, None),
        ({"x": None}, {"when": ([], {**SINCE, "standard_name": "time"})}, None),
        ({"record": None, "x": 4}, {"dstart": ([], SINCE)}, "record"),
        ({"Time": 1, "west_east": None}, {}, "Time"),
    ],
)
def test_records_lie_along_the_dimension_of_the_time(
    written: Any, sizes: Any, variables: Any, found: str | None
):
    with netCDF4.Dataset(os.fspath(written(sizes, **variables))) as data:
        assert time_dimension(data) == found


def test_the_models_own_time_variable_comes_first(written: Any):
    path = written({"t": 2, "step": 3}, t=(["t"], SINCE), clock=(["step"], {}))
    with netCDF4.Dataset(os.fspath(path)) as data:
        assert time_dimension(data, "clock") == "step"
        assert time_dimension(data, "absent") == "t"
    with open_frame([path], 2, time_variable="clock") as frame:
        assert frame.read("clock") == 2
        assert frame.dimensions == {"t": 2}


def test_time_may_be_any_dimension_of_a_variable(written: Any):
    path = written({"x": 4, "time": 3, "y": 2}, time=(["time"], SINCE), v=(["x", "time", "y"], {}))
    with open_frame([path], 1) as frame:
        assert frame.variable("v").dimensions == ("x", "y")
        whole = np.arange(24).reshape(4, 3, 2)
        assert np.array_equal(frame.read("v", {"x": slice(1, 3)}), whole[1:3, 1])


@pytest.mark.parametrize("form", ["NETCDF4", "NETCDF3_CLASSIC"])
def test_a_file_without_a_time_is_one_frame(written: Any, form: str):
    path = written({"y": 3, "x": 4}, form, topo=(["y", "x"], {}))
    with open_frame([path]) as frame:
        assert frame.read("topo").shape == (3, 4)
    with pytest.raises(FrameError, match="holds 1 frames, not frame 1"), open_frame([path], 1):
        pass


@pytest.mark.parametrize("size", [3, None])
def test_a_short_classic_file_is_an_error_whichever_dimension_is_unlimited(
    written: Any, size: int | None
):
    sizes = {"time": size, "station": None if size else 3}
    order = ["time", "station"] if size is None else ["station", "time"]
    path = written(sizes, "NETCDF3_CLASSIC", time=(["time"], SINCE), level=(order, {}))
    for record in range(3):
        with open_frame([path], record) as frame:
            assert frame.read("level").shape == (3,)
    os.truncate(path, path.stat().st_size - 8)
    with pytest.raises(FrameError, match=r"is short: \d+ bytes of "), open_frame([path], 2):
        pass
    if size:  # each frame has a part of the last record of the format
        with pytest.raises(FrameError, match="is short"), open_frame([path], 0):
            pass
