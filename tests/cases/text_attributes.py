"""Attributes as strings of netCDF-4 (NC_STRING), and in Latin-1, as older programs write them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import h5py
import netCDF4
import numpy as np
from cases.fields import LATITUDES, LONGITUDES, add_degrees, place_value, write_regular
from cases.looked import Case, Looked


def strings(folder: Path) -> None:
    with netCDF4.Dataset(folder / "model_out.nc", "w") as data:
        data.setncattr_string("Conventions", "CF-1.8")
        data.createDimension("time", None)
        add_degrees(data)
        time = data.createVariable("time", "f8", ("time",))
        field = data.createVariable("tas", "f4", ("time", "lat", "lon"))
        texts: dict[Any, dict[str, str]] = {
            time: {"units": "hours since 2001-01-01 00:00:00", "calendar": "gregorian"},
            field: {"units": "°C", "long_name": "Température"},
        }
        for variable, attributes in texts.items():
            for key, text in attributes.items():
                variable.setncattr_string(key, text)
        for record in range(2):
            time[record] = record
            field[record] = place_value(*np.meshgrid(LONGITUDES, LATITUDES), record)


def write_marks(path: Path, form: Any) -> None:
    data = write_regular(path, [0, 1], "hours since 2001-01-01", form=form)
    data.source, data["tas"].units, data["tas"].long_name = "MODELE_X", "QC", "TempZrature"
    data.close()


def latin_classic(folder: Path) -> None:
    write_marks(folder / "waves.nc", "NETCDF3_CLASSIC")
    raw = (folder / "waves.nc").read_bytes()
    for ascii_text, text in ((b"QC", "°C"), (b"MODELE", "MODÈLE"), (b"TempZ", "Tempé")):
        raw = raw.replace(ascii_text, text.encode("latin-1"), 1)
    (folder / "waves.nc").write_bytes(raw)


def latin_hdf5(folder: Path) -> None:
    write_marks(folder / "waves.nc", "NETCDF4")
    with h5py.File(folder / "waves.nc", "r+") as file:
        file.attrs["source"] = np.bytes_("MODÈLE_X".encode("latin-1"))
        file["tas"].attrs["units"] = np.bytes_("°C".encode("latin-1"))
        file["tas"].attrs["long_name"] = np.bytes_("Température".encode("latin-1"))


def check(look: Looked) -> None:
    assert look.code == 0, look.said
    assert look.times() == ["20010101T000000", "20010101T010000"]
    code, said = look.burstlens("series", look.run.name, "tas", "--at", "46,0", "--json")
    found = json.loads(said)
    assert (code, found["units"]) == (0, "degC")
    assert "\ufffd" not in look.said


CASES = [
    Case("strings", strings, check),
    Case("Latin-1, classic", latin_classic, check),
    Case("Latin-1, netCDF-4", latin_hdf5, check),
]
