"""Anomalies of temperatures in K, with the standard name of the quantity, as CF 1.10 and older
files have them."""

from __future__ import annotations

from pathlib import Path

import pytest
from cases.fields import LATITUDES, LONGITUDES, add_degrees
from cases.looked import Case, Looked
from netCDF4 import Dataset

FILES = {
    "anomalies_200001.nc": {
        "SST": ("sea_surface_temperature", {"long_name": "PMIP2 Average Anomaly"}),
        "tas": ("air_temperature", {"cell_methods": "time: standard_deviation"}),
    },
    # It says nothing of its zero, but no ground is at 0 K.
    "ground_200001.nc": {"ts": ("surface_temperature", {})},
}


def monthly(folder: Path) -> None:
    for file, variables in FILES.items():
        with Dataset(folder / file, "w") as data:
            data.createDimension("time", None)
            data.createVariable("time", "f8", ("time",)).units = "days since 2000-01-01"
            data["time"][0] = 0
            add_degrees(data)
            for name, (standard, more) in variables.items():
                field = data.createVariable(name, "f4", ("time", "lat", "lon"))
                field.setncatts({"standard_name": standard, "units": "K", **more})
                field[0] = 0.1 * (LATITUDES[:, None] - 46) + 0 * LONGITUDES


def check(look: Looked) -> None:
    assert look.code == 0, look.said
    assert look.products() == {"SST", "tas", "ts"}
    for product in look.products():
        (value,) = look.series(product, "--at", "50,0").values()
        assert value == pytest.approx(0.4, abs=0.01), product


CASES = [Case("monthly", monthly, check)]
