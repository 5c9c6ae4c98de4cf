"""The recipe for cyclones, run whole: Katrina's four frames, one without what is followed."""

from __future__ import annotations

import csv
import os
import shutil
import sys
from pathlib import Path

import netCDF4
import numpy as np
import pytest
from PIL import Image
from vtkmodules.vtkIOXML import vtkXMLStructuredGridReader

from burstlens.viz.geometry.position import distance_km

pytestmark = pytest.mark.slow

DATA = Path(__file__).parents[1] / "data"
KATRINA = DATA / "wrf" / "wrfout_d01_2005-08-28_12_00_00"
TIMES = [f"20050828T{hour}0000" for hour in (12, 15, 18, 21)]
LACKING = TIMES[1]
# One file per frame, as WRF writes them; the second without the perturbation pressure.
MODEL = """\
import sys, time
import netCDF4

log = open("rsl.error.0000", "w", buffering=1)
old = netCDF4.Dataset(sys.argv[0] + ".nc")
for record in range(4):
    date = netCDF4.chartostring(old["Times"][record]).item()
    with netCDF4.Dataset(f"wrfout_d01_{date}", "w") as new:
        new.setncatts({key: old.getncattr(key) for key in old.ncattrs()})
        for name, size in old.dimensions.items():
            new.createDimension(name, None if name == "Time" else len(size))
        for name, stored in old.variables.items():
            if name == "P" and record == 1:
                continue
            copy = new.createVariable(name, stored.dtype, stored.dimensions)
            copy.setncatts({key: stored.getncattr(key) for key in stored.ncattrs()})
            copy[0] = stored[record]
    words = f"Timing for Writing wrfout_d01_{date} for domain        1:    0.1 elapsed seconds"
    print(words, file=log)
    time.sleep(0.5)
print("d01 2005-08-28_21:00:00 wrf: SUCCESS COMPLETE WRF", file=log)
"""


@pytest.fixture(scope="module")
def cyclone(scene):
    made = scene("cyclone")
    inputs = made.folder / "inputs"
    shutil.copy(DATA / "traces" / "namelist.input", inputs)
    shutil.copy(KATRINA, inputs / "wrf.exe.nc")
    model = inputs / "wrf.exe"
    model.write_text(f"#!{sys.executable}\n{MODEL}")
    model.chmod(0o755)
    settings = ("inputs=inputs", "half_width_km=120", "width_px=500", "capacity=100 MiB")
    words = [word for setting in settings for word in ("--set", setting)]
    process = made.start(*words, recipe="wrf-cyclone")
    output, _ = process.communicate(timeout=200)
    assert process.returncode == 0, output
    return made


def products(cyclone, name: str) -> dict[str, Path]:
    """The files of one product, by valid time."""
    folder = cyclone.run_dir / "products"
    return {
        line["time"]: folder / line["name"]
        for line in cyclone.index()
        if line["product"] == name and not line["facts"].get("placeholder")
    }


def lowest(record: int) -> tuple[float, float]:
    """Longitude and latitude of the lowest surface pressure, which over the sea is the storm's."""
    with netCDF4.Dataset(os.fspath(KATRINA)) as data:
        at = np.unravel_index(data["PSFC"][record].argmin(), data["PSFC"][record].shape)
        return float(data["XLONG"][record][at]), float(data["XLAT"][record][at])


def test_the_track_follows_the_pressure_minimum_across_a_frame_that_lacks_it(cyclone):
    tables = products(cyclone, "track")
    assert sorted(tables) == [time for time in TIMES if time != LACKING]
    with tables[TIMES[3]].open() as file:
        rows = list(csv.DictReader(file))
    assert [row["iso_time"][11:13] for row in rows] == ["12", "18", "21"]
    for row, record in zip(rows, (0, 2, 3), strict=True):
        away = distance_km("degrees", float(row["lon"]), float(row["lat"]), *lowest(record))
        assert float(away) < 15
        assert 937 < float(row["slp [hPa]"]) < 944
        assert 80 < float(row["max_wind [kn]"]) < 95
    failed = [e for e in cyclone.events("product.failed") if e["product"] == "track"]
    assert [e["time"] for e in failed] == [LACKING]
    assert "slp needs P, PB" in failed[0]["reason"]


def test_pictures_go_with_the_storm(cyclone):
    ways = products(cyclone, "storm")
    # Where the storm was last seen is known of each frame.
    assert sorted(ways) == TIMES
    eyes = products(cyclone, "eye")
    assert sorted(eyes) == [time for time in TIMES if time != LACKING]  # theta_e needs P
    for path in (*ways.values(), *eyes.values(), *products(cyclone, "wind").values()):
        with Image.open(path) as picture:
            picture.verify()
    extents = [
        line["facts"]["extent"]
        for line in sorted(cyclone.index(), key=lambda line: line["time"])
        if line["product"] == "wind" and not line["facts"].get("placeholder")
    ]
    assert len(extents) == 3
    wests, souths = [e[0] for e in extents], [e[2] for e in extents]
    assert wests == sorted(wests, reverse=True)
    assert souths == sorted(souths)


def test_the_volume_of_each_window_opens_at_the_storm_and_at_its_heights(cyclone):
    files = products(cyclone, "core")
    for record in (0, 2, 3):
        path = files[TIMES[record]]
        assert path.suffix == ".vts"
        reader = vtkXMLStructuredGridReader()
        reader.SetFileName(str(path))
        reader.Update()
        volume = reader.GetOutput()
        arrays = volume.GetPointData()
        names = {arrays.GetArrayName(n) for n in range(arrays.GetNumberOfArrays())}
        assert {"pressure", "theta_e", "QVAPOR", "wind"} <= names
        assert arrays.GetArray("wind").GetNumberOfComponents() == 3
        *_, bottom, top = volume.GetBounds()
        with netCDF4.Dataset(os.fspath(KATRINA)) as data:
            faces = (data["PH"][record] + data["PHB"][record]) / 9.81
        centres = (faces[1:] + faces[:-1]) / 2
        assert 0 < bottom < 60
        assert centres[-1].min() - 1 < top < centres[-1].max() + 1
