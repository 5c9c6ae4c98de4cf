"""Namelists of WRF with notes outside of groups, and output that was moved beside its namelist."""

from __future__ import annotations

from pathlib import Path

import netCDF4
import numpy as np
from cases.looked import Case, Looked

NOTES = """Settings of the storm: max_dom = 9 was too many
&time_control
 run_days = 0, run_hours = 2!short one
 start_year = 2*2005, start_month = 2*08, start_day = 2*28, start_hour = 2*00
 history_interval = 60, 60,!minutes
 restart = .false., io_form_history = 2 {name}
/
&domains
 max_dom = 1, e_we(1) = 11 e_sn(1) = 9, e_vert = 2
 dx = 12.d3, dy = 12.D3
/

Old ones, not read any more:
 history_outname = '/old/run/wrfout_d<domain>_<date>'
 run_hours = 72
"""


def write(folder: Path, name: str = "") -> None:
    """Three frames beside a namelist."""
    (folder / "namelist.input").write_text(NOTES.format(name=name))
    for hour in range(3):
        time = f"2005-08-28_{hour:02d}:00:00"
        with netCDF4.Dataset(folder / f"wrfout_d01_{time}", "w") as data:
            data.setncatts({"TITLE": " OUTPUT FROM WRF V4.3.3 MODEL", "MAP_PROJ": np.int32(0)})
            data.setncatts({"DX": np.float32(12000), "DY": np.float32(12000)})
            data.START_DATE = "2005-08-28_00:00:00"
            data.createDimension("Time", None)
            for dimension, size in (("DateStrLen", 19), ("south_north", 8), ("west_east", 10)):
                data.createDimension(dimension, size)
            times = data.createVariable("Times", "S1", ("Time", "DateStrLen"))
            times[0] = netCDF4.stringtochar(np.array([time], "S19"))[0]
            field = data.createVariable("T2", "f4", ("Time", "south_north", "west_east"))
            field.units = "K"
            field[0] = 280 + hour + np.arange(80).reshape(8, 10) / 80


def moved(folder: Path) -> None:
    write(folder, "history_outname = '/old/run/wrfout_d<domain>_<date>'")


def check(look: Looked) -> None:
    """Three frames of one domain, and a picture of each."""
    assert look.code == 0, look.said
    assert look.times() == [f"20050828T{hour:02d}0000" for hour in range(3)]
    pictures = {event["time"] for event in look.events("product.published")}
    assert pictures == set(look.times())
    assert "d03" not in look.said


CASES = [Case("notes outside of groups", write, check), Case("moved output", moved, check)]
