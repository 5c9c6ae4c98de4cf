"""Missing values and packing in attributes of another type than the values."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.frames.reader import netCDF4

NAN = float("nan")


@pytest.mark.filterwarnings("ignore")  # netCDF4's, of what it passes over
@pytest.mark.parametrize("form", ["NETCDF4", "NETCDF3_CLASSIC"])
@pytest.mark.parametrize(
    ("kind", "stored", "attributes", "values"),
    [
        ("f4", [1, -9999.9], {"missing_value": np.float64(-9999.9)}, [1, NAN]),
        ("f4", [1, 1e20], {"missing_value": np.float64(1e20)}, [1, NAN]),
        ("f4", [1, -9.99e33], {"missing_value": np.float64(-9.99e33)}, [1, NAN]),
        ("f4", [1, 2], {"missing_value": np.float64(1e300)}, [1, 2]),
        ("f4", [1, -9999], {"missing_value": "-9999"}, [1, NAN]),
        ("f4", [-888, -9999], {"missing_value": "-888., -9999.f"}, [NAN, NAN]),
        ("f4", [1, -9999], {"missing_value": "none"}, [1, -9999]),
        ("i4", [1, -9999], {"missing_value": "-9999"}, [1, NAN]),
        ("i2", [10, -9999], {"missing_value": "-9999", "scale_factor": 0.1}, [1, NAN]),
        ("i2", [10, -9999], {"missing_value": -999.9, "scale_factor": 0.1}, [1, NAN]),
        ("i2", [10, -99], {"missing_value": "-99", "scale_factor": "0.1", "add_offset": "5"},
         [6, NAN]),
        ("i2", [10, 20], {"scale_factor": "0.1"}, [1, 2]),
        ("f4", [1, 9999], {"valid_max": np.float64(200.1)}, [1, NAN]),
        ("f4", [-99, 9999], {"valid_range": np.array([-1.1, 200.1])}, [NAN, NAN]),
        ("f4", [-99, 2], {"valid_min": "-9.5"}, [NAN, 2]),
        ("f4", [1, -9999], {"fill_value": np.float32(-9999)}, [1, NAN]),
        ("f4", [1, -9999], {"FillValue": "-9999"}, [1, NAN]),
        ("i2", [10, 255], {"nodata": np.int16(255), "scale_factor": 0.1}, [1, NAN]),
        ("i2", [1, 2], {"missing_value": np.float64(1e20)}, [1, 2]),
        ("i2", [1, 2], {"missing_value": NAN}, [1, 2]),
        ("i2", [1, 2], {"missing_value": np.int32(99999)}, [1, 2]),
        ("i2", [1, 2], {"missing_value": "NaN"}, [1, 2]),
        ("i2", [1, 2], {"missing_value": "1.5"}, [1, 2]),
        ("i2", [1, -32767], {"missing_value": "99999"}, [1, NAN]),
        ("i2", [10, 20], {"missing_value": "99999", "scale_factor": 0.1}, [1, 2]),
        ("i2", [1, 2], {"valid_max": "99999"}, [1, 2]),
        ("i1", [1, 2], {"missing_value": "255"}, [1, 2]),
        ("i1", [1, -1], {"missing_value": "255", "_Unsigned": "true"}, [1, NAN]),
        ("i2", [1, -99], {"missing_value": np.array([1e20, -99])}, [1, NAN]),
        ("i4", [1, 2], {"nodata": NAN}, [1, 2]),
        ("f4", [1, -99], {"missing_value": np.array([1e300, -99])}, [1, NAN]),
        ("f4", [1, np.inf], {"nodata": np.float64(1e39)}, [1, np.inf]),
        ("f4", [1, np.inf], {"missing_value": "1e39"}, [1, np.inf]),
        ("i1", [1, -1], {"missing_value": "-1", "_Unsigned": "true"}, [1, NAN]),
        ("f4", [0, 1], {"fill_value": np.float32(0)}, [0, 1]),
        ("f4", [-5, -999], {"fill_value": np.float32(-5), "missing_value": np.float32(-999)},
         [-5, NAN]),
    ],
)  # fmt: skip
def test_values_are_missing_and_unpacked_by_attributes_of_any_type(
    tmp_path: Path, form: Any, kind: str, stored: list[float], attributes: Any, values: list[float]
):
    path = tmp_path / "odd.nc"
    with netCDF4.Dataset(os.fspath(path), "w", format=form) as data:
        data.createDimension("x", 2)
        variable = data.createVariable("a", kind, ("x",), zlib=form == "NETCDF4")
        variable.set_auto_maskandscale(False)
        variable.setncatts(attributes)
        variable[:] = stored
    with open_frame([path]) as frame:
        np.testing.assert_allclose(frame.read("a"), values, rtol=1e-6)
        np.testing.assert_allclose(frame.read("a", {"x": slice(1, 2)}), values[1:], rtol=1e-6)


@pytest.mark.filterwarnings("ignore")  # netCDF4's, of what it passes over
@pytest.mark.parametrize(
    ("kind", "missing", "fills"),
    [
        ("f4", "-9999.f", {-9999.0}),
        ("f4", "-888, -9999", {-888.0, -9999.0}),
        ("f4", np.float64(1e39), set()),
        ("i2", np.float64(1e20), set()),
        ("i2", "NaN", set()),
        ("i2", "-9999", {-9999.0}),
    ],
)
def test_guards_know_the_same_missing_values_as_maps(
    tmp_path: Path, kind: str, missing: Any, fills: set[float]
):
    path = tmp_path / "odd.nc"
    with netCDF4.Dataset(os.fspath(path), "w") as data:
        data.createDimension("x", 2)
        variable = data.createVariable("a", kind, ("x",))
        variable.set_auto_maskandscale(False)
        variable.setncatts({"missing_value": missing})
        variable[:] = [1, 2]
    with open_frame([path]) as frame:
        stored = frame.stored("a")
    default = float(np.dtype(kind).type(netCDF4.default_fillvals[kind]))
    assert set(stored.fills) == fills | {default}
