"""Frames of the real WRF that were computed twice: by a run, and by the one that continued from its
restart file of 00:02 (``tests/data/wrf/restart``; a part of their variables)."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter

from burstlens.core.run.product_record import States
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.frames.times import lead, start
from burstlens.viz.product import Context
from burstlens.viz.registry import product_kind

pytestmark = pytest.mark.integration
RUNS = Path(__file__).parents[1] / "data" / "wrf" / "restart"
FIRST, AGAIN = (RUNS / run / "wrfout_d01_0001-01-01_00_02_30" for run in ("A1", "A2"))
POORER = RUNS / "B2" / "wrfout_d01_0001-01-01_00_02_00"
TIME = "00010101T000230"


def context(folder: Path, name: str = "p") -> Context:
    return Context("storm", "Storm", name, "d01", TIME, folder, values=folder, state=folder / "s")


def test_the_file_differs_by_the_start_of_its_run_alone():
    with netCDF4.Dataset(FIRST) as one, netCDF4.Dataset(AGAIN) as other:
        assert one.START_DATE != other.START_DATE
        assert one.SIMULATION_START_DATE == other.SIMULATION_START_DATE
        for name in one.variables:
            assert np.array_equal(one[name][:], other[name][:])
    digests = {hashlib.sha256(path.read_bytes()).digest() for path in (FIRST, AGAIN)}
    assert len(digests) == 2


def test_the_time_since_the_start_counts_from_the_first_run(tmp_path: Path):
    leads = set()
    for path in (FIRST, AGAIN):
        with open_frame([path], stream="d01", time=TIME) as frame:
            assert start(frame) == "00010101T000000"
            leads.add(lead(frame, context(tmp_path)))
    (text,) = leads
    assert "2" in text


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("netcdf", {"variables": ["MU", "RAINNC"]}),
        ("netcdf", {"variables": ["MU"], "format": "classic"}),
        ("map", {"variable": "MU", "coast": False}),
    ],
)
def test_a_product_of_it_has_the_same_bytes(tmp_path: Path, kind: str, options: dict[str, Any]):
    maker = product_kind(kind)
    checked = TypeAdapter(maker.options).validate_python(options)
    made = []
    for number, path in enumerate((FIRST, AGAIN)):
        folder = tmp_path / str(number)
        folder.mkdir()
        with open_frame([path], stream="d01", time=TIME) as frame:
            maker.make(checked, frame, folder / "product", context(folder))
        made.append({one.name: one.read_bytes() for one in folder.rglob("*") if one.is_file()})
    assert made[0] == made[1] != {}


def test_a_frame_written_again_at_the_restart_s_own_time_lacks_what_is_computed_in_a_step():
    """Why the one of the attempt before counts: REFL_10CM is 0, where no echo is -35 dBZ."""
    before = RUNS / "A1" / POORER.name
    with netCDF4.Dataset(before) as one, netCDF4.Dataset(POORER) as other:
        names = {name for name in one.variables if not np.array_equal(one[name][:], other[name][:])}
        assert names == {"REFL_10CM"}
        assert not np.any(other["REFL_10CM"][:])
        assert np.all(one["REFL_10CM"][:] == -35)


RAINY, FELL, FELL_AGAIN = (
    RUNS / run / f"wrfout_d01_0001-01-01_00_{minute}_00"
    for run, minute in (("U1", 24), ("U1", 26), ("U2", 26))
)
"""A storm that rains, and a restart from 00:24."""


def rain(path: Path, state: Path, previous: str = "") -> tuple[bytes, float]:
    """The rain since the frame before, whose state is ``previous``: the product, and its most."""
    maker = product_kind("netcdf")
    options = TypeAdapter(maker.options).validate_python({"variables": ["rain_interval"]})
    time = f"00010101T00{path.name[-5:-3]}00"
    about = Context("storm", "Storm", "rain", "d01", time, state.parent, state=state)
    with open_frame(
        [path], stream="d01", time=time, previous=Path(previous) if previous else None
    ) as frame:
        maker.make(options, frame, product := state.with_suffix(".nc"), about)
    with netCDF4.Dataset(product) as data:
        return product.read_bytes(), float(data["rain_interval"][:].max())


def test_the_rain_of_an_interval_joins_up_over_the_restart(tmp_path: Path):
    """It counts from the state at the restart's time, not from the newest one, which is that of the
    same time of the branch that was given up: then nothing would have fallen."""
    states = States()

    def fallen(path: Path, name: str) -> tuple[bytes, float]:
        state, time = tmp_path / name, f"00010101T00{path.name[-5:-3]}00"
        newest = states.before("rain", "d01", time)
        made = rain(path, state, newest[0] if newest else "")
        states.note("rain", "d01", time, str(state), 1)
        return made

    fallen(RAINY, "one")
    first = fallen(FELL, "two")
    assert rain(FELL_AGAIN, tmp_path / "wrong", str(tmp_path / "two"))[1] == 0.0
    assert states.before("rain", "d01", "00010101T002800")[0] == str(tmp_path / "two")
    states.begin_after("00010101T002400")
    assert states.before("rain", "d01", "00010101T002800")[0] == str(tmp_path / "one")
    assert fallen(FELL_AGAIN, "again") == first
    assert first[1] > 1.0
