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
    ],
)  # fmt: skip
def test_values_are_missing_and_unpacked_by_attributes_of_any_type(
    tmp_path: Path, form: Any, kind: str, stored: list[float], attributes: Any, values: list[float]
):
    path = tmp_path / "odd.nc"
    with netCDF4.Dataset(os.fspath(path), "w", format=form) as data:
        data.createDimension("x", 2)
        variable = data.createVariable("a", kind, ("x",))
        variable.set_auto_maskandscale(False)
        variable.setncatts(attributes)
        variable[:] = stored
    with open_frame([path]) as frame:
        np.testing.assert_allclose(frame.read("a"), values, rtol=1e-6)
        np.testing.assert_allclose(frame.read("a", {"x": slice(1, 2)}), values[1:], rtol=1e-6)
