"""Times of peaks and samples count from the model's start, whatever its calendar."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import obspy
import pytest

from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.frames.times import elapsed_s
from burstlens.viz.geometry.place import Place
from burstlens.viz.kinds.peak.kind import PeakKind
from burstlens.viz.kinds.peak.options import PeakOptions
from burstlens.viz.kinds.seismogram.kind import SeismogramKind
from burstlens.viz.kinds.seismogram.options import SeismogramOptions
from burstlens.viz.product import Context


@pytest.mark.parametrize(
    ("time", "start", "expected"),
    [
        ("t00000012.500", None, 12.5),
        ("t00000012.500", "t00000002.000", 10.5),
        ("t00000012.500", "20050828T000000", 12.5),
        ("20050828T000130", "20050828T000000", 90.0),
        ("00010101T000130", "00010101T000000", 90.0),
        ("19700101T000100", None, 60.0),
    ],
)
def test_seconds_since_the_start(
    surface: Callable[..., Path], context: Context, time: str, start: str | None, expected: float
):
    path = surface(1.0, {"vx": np.ones((4, 5))})
    with open_frame([path], time=time) as frame:
        assert elapsed_s(frame, replace(context, time=time, start=start)) == expected


def test_the_time_of_a_peak_on_a_calendar_is_true_to_the_second(
    surface: Callable[..., Path], context: Context, tmp_path: Path
):
    """Seconds since year 1 would be 64 s apart in float32."""
    previous = None
    for second in (0, 7, 13):
        path = surface(second, {"vx": np.full((4, 5), 1.0 + second), "vy": np.zeros((4, 5))})
        here = replace(
            context, time=f"20260131T1200{second:02d}", start="20260131T115959",
            state=tmp_path / f"state{second}",
        )  # fmt: skip
        with open_frame([path], time=here.time, previous=previous) as frame:
            PeakKind().make(PeakOptions(format="netcdf"), frame, tmp_path / "out.nc", here)
        previous = here.state
    with netCDF4.Dataset(str(tmp_path / "out.nc")) as data:
        assert (data["time_of_peak"][:] == 14.0).all()


@pytest.mark.parametrize(
    ("time", "start", "began"),
    [
        ("20260131T120005", "20260131T120000", "2026-01-31T12:00:05"),
        # Idealized runs: MiniSEED has no year 1.
        ("00010101T000005", "00010101T000000", "1970-01-01T00:00:05"),
    ],
)
def test_traces_begin_at_their_true_time_where_their_calendar_has_one(
    surface: Callable[..., Path],
    context: Context,
    tmp_path: Path,
    time: str,
    start: str,
    began: str,
):
    path = surface(5.0, {"vx": np.ones((4, 5))})
    options = SeismogramOptions(("vx",), (Place("A", x=500.0, y=500.0),), format="mseed")
    with open_frame([path], time=time) as frame:
        here = replace(context, time=time, start=start)
        SeismogramKind().make(options, frame, tmp_path / "out.mseed", here)
    (trace,) = obspy.read(str(tmp_path / "out.mseed"))
    assert trace.stats.starttime == obspy.UTCDateTime(began)
