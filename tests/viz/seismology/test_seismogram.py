"""The product kind ``seismogram``: samples gathered, order, arrivals, what is refused."""

from __future__ import annotations

import builtins
import re
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import obspy
import pytest
from PIL import Image
from pydantic import TypeAdapter, ValidationError
from traces_file import TracesFile

from burstlens.core import valid_time
from burstlens.core.errors import FrameError, RecipeError, StagingError
from burstlens.core.extras import install_command
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.kinds.seismogram.draw import COLOURS
from burstlens.viz.kinds.seismogram.file import station_codes
from burstlens.viz.kinds.seismogram.kind import SeismogramKind
from burstlens.viz.kinds.seismogram.options import SeismogramOptions
from burstlens.viz.product import Context
from burstlens.viz.registry import product_kind
from burstlens.viz.values.names import VALUES

pytestmark = pytest.mark.integration

STEP_S = 0.1
CHUNK = 20
LAYERS = [{"vp_m_s": 5000, "vs_m_s": 2500}]


def motion(times: Any, station: int) -> Any:
    """A sine that starts at 1 s, ``station + 1`` times a tenth of a m/s."""
    return np.where(times > 1, 0.1 * (station + 1) * np.sin(3 * (times - 1)), 0.0)


@pytest.fixture
def frames(recorded_at: Callable[..., Path]) -> list[tuple[Path | None, float]]:
    """Four frames of twenty samples of three stations."""
    made: list[tuple[Path | None, float]] = []
    for n in range(4):
        times = (np.arange(CHUNK) + n * CHUNK + 1) * STEP_S
        series = np.stack([motion(times, station) for station in range(3)], axis=-1)
        path = recorded_at(times, {"vx": series, "vy": 0.5 * series, "vz": 0.0 * series})
        made.append((path, float(times[-1])))
    return made


def test_it_is_a_chained_kind_that_a_recipe_may_name():
    assert product_kind("seismogram").wants(SeismogramOptions()).chained


def test_samples_of_all_frames_so_far_are_gathered(chain: Any, frames: Any):
    for n, (product, out) in enumerate(chain(SeismogramKind(), frames, units="cm s-1")):
        times = (np.arange((n + 1) * CHUNK) + 1) * STEP_S
        assert product.facts["samples"] == times.size
        assert product.facts["step_s"] == STEP_S
        largest = 100 * np.abs(motion(times, 2)).max()
        expected = {"vx": largest, "vy": largest / 2, "vz": 0.0}
        assert product.facts["max"] == pytest.approx(expected, rel=1e-5, abs=1e-6)
        with Image.open(out) as picture:
            assert picture.size == tuple(product.facts["size"])


def test_stations_stand_in_order_of_distance_and_arrivals_where_rays_bring_them(
    chain: Any, frames: Any
):
    plain = chain(SeismogramKind(), frames, duration_s=10.0, width_px=900)[-1]
    marked = chain(SeismogramKind(), frames, duration_s=10.0, width_px=900, layers=LAYERS)[-1]
    # Bars of P and S are dark, traces coloured: NEAR, MIDDLE and FAR from above.
    with Image.open(marked[1]) as picture:
        pixels = np.asarray(picture.convert("RGB")).astype(int)
    with Image.open(plain[1]) as picture:
        assert picture.size == pixels.shape[1::-1]
    dark = (pixels.max(axis=2) < 140)[110:-95, 140:300]
    columns = np.flatnonzero(dark.sum(axis=0) > 18)
    away = np.hypot([0.0, 4000.0, 30000.0], 3000.0)
    # Across 0 to 10 s of the first panel; its frame's left edge is at 103 pixels.
    wide = (900 - (74 + 58 + 2 * 36) * 100 / 72) / 3
    for seconds in (*(away / 5000), *(away / 2500)[:2]):
        at = 74 * 100 / 72 + seconds / 10 * wide - 140
        if at > 3:
            assert np.abs(columns - at).min() <= 1.5, seconds


def test_traces_have_the_colour_of_their_component(chain: Any, frames: Any):
    _, out = chain(SeismogramKind(), frames, width_px=900)[-1]
    with Image.open(out) as picture:
        pixels = np.asarray(picture.convert("RGB"))
    thirds = np.array_split(pixels, 3, axis=1)
    for third, colour in zip(thirds, COLOURS, strict=True):
        rgb = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
        assert (np.abs(third.astype(int) - rgb).max(axis=2) < 8).sum() > 60


def test_a_frame_that_never_came_leaves_a_hole_and_not_a_line(
    chain: Any, frames: Any, tmp_path: Path
):
    frames[1] = None, frames[1][1]
    *_, (product, out) = chain(SeismogramKind(), frames, format="mseed")
    assert product.facts["samples"] == 3 * CHUNK
    stream = obspy.read(str(out)).select(station="NEAR", channel="*E")
    assert [trace.stats.npts for trace in stream] == [CHUNK, 2 * CHUNK]
    assert stream[1].stats.starttime - stream[0].stats.endtime == pytest.approx(2.1)


def test_samples_that_come_again_count_once(chain: Any, frames: Any):
    again = [*frames[:2], (frames[1][0], frames[1][1] + 1e-3), frames[2]]
    *_, (product, _) = chain(SeismogramKind(), again)
    assert product.facts["samples"] == 3 * CHUNK


def test_miniseed_holds_what_the_stations_recorded(chain: Any, frames: Any):
    *_, (product, out) = chain(
        SeismogramKind(), frames, format="mseed", reference_time="2026-01-31T12:00:00"
    )
    assert product.extension == "mseed"
    stream = obspy.read(str(out))
    assert len(stream) == product.facts["traces"] == 9
    assert {trace.id for trace in stream} >= {"SY.FAR..BXE", "SY.NEAR..BXN", "SY.MIDDL..BXZ"}
    (trace,) = stream.select(station="FAR", channel="BXE")
    times = (np.arange(4 * CHUNK) + 1) * STEP_S
    np.testing.assert_allclose(trace.data, motion(times, 0), atol=1e-7)
    assert trace.stats.sampling_rate == pytest.approx(10.0)
    assert trace.stats.starttime == obspy.UTCDateTime("2026-01-31T12:00:00.1")


def test_codes_of_stations_are_their_own():
    assert station_codes(["S0002", "AB", "AB"]) == ["S0002", "AB", "S0003"]
    assert station_codes(["ab", "A-B", "S0001", ""]) == ["AB", "S0002", "S0001", "S0003"]
    many = station_codes(["SAME"] * 10_003)
    assert len(set(many)) == len(many)
    assert max(map(len, many)) == 5


def test_sac_files_hold_the_distance(chain: Any, frames: Any, tmp_path: Path):
    *_, (product, out) = chain(SeismogramKind(), frames, format="sac")
    assert product.extension == "zip"
    with zipfile.ZipFile(out) as archive:
        names = archive.namelist()
        assert len(names) == 9
        archive.extract(next(n for n in names if n.startswith("SY.FAR..BXE")), tmp_path)
    (trace,) = obspy.read(str(next(tmp_path.glob("SY.FAR*"))))
    assert trace.stats.sac.dist == pytest.approx(30.0)
    assert trace.stats.npts == 4 * CHUNK


def test_without_obspy_the_extra_is_named(chain: Any, frames: Any, monkeypatch: pytest.MonkeyPatch):
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith("obspy"):
            raise ImportError("No module named 'obspy'")
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(RecipeError, match=re.escape(install_command("seismology"))):
        chain(SeismogramKind(), frames[:1], format="mseed")


@pytest.mark.parametrize("format", ["png", "mseed", "sac"])
def test_one_sample_is_enough_to_begin(chain: Any, surface: Any, format: str):
    x = np.arange(31.0) * np.ones((21, 1))
    path = surface(0.4, {"vx": x, "vy": x, "vz": x})
    stations = [{"name": "A", "x": 250.0, "y": 0.0}]
    ((product, out),) = chain(SeismogramKind(), [(path, 0.4)], stations=stations, format=format)
    assert product.facts["samples"] == 1
    assert out.stat().st_size > 0


def test_frames_of_the_surface_are_sampled_between_their_points(chain: Any, surface: Any):
    y, x = np.mgrid[:21, :31]
    frames = [
        (surface(t, {"vx": t * (x + 10.0 * y), "vy": t * y, "vz": t * x}), t)
        for t in (0.5, 1.0, 1.5)
    ]
    stations = [
        {"name": "MID", "x": 1250.0, "y": 2100.0}, {"name": "EDGE", "x": 15000.0, "y": 10000.0},
        {"name": "OUT", "x": 15001.0, "y": 0.0},
    ]  # fmt: skip
    *_, (product, out) = chain(
        SeismogramKind(), frames, stations=stations, source={"x": 0, "y": 0}, format="mseed"
    )
    stream = obspy.read(str(out))
    # A plane is exact: 2.5 + 10 * 4.2 at the first station; nothing is known outside.
    middle = stream.select(station="MID")
    assert {trace.stats.channel[-1] for trace in middle} == {"1", "2", "3"}
    np.testing.assert_allclose(middle.select(channel="*1")[0].data, 44.5 * np.array([0.5, 1, 1.5]))
    np.testing.assert_allclose(stream.select(station="EDGE", channel="*1")[0].data[-1], 345.0)
    assert not stream.select(station="OUT")
    assert product.facts["stations"] == ["MID", "EDGE", "OUT"]


def test_stations_on_lon_and_lat_stand_in_order_of_the_geodesic(chain: Any, surface: Any):
    ones = np.ones((21, 31))
    path = surface(1.0, {"vx": ones, "vy": ones, "vz": ones}, geographic=True)
    stations = [{"name": n, "lat": 35.1, "lon": lon} for n, lon in (("E", -117.7), ("W", -117.99))]
    source = {"lat": 35.1, "lon": -118.0, "depth_m": 1000.0}
    ((product, _),) = chain(
        SeismogramKind(), [(path, 1.0)], stations=stations, source=source, layers=LAYERS
    )
    assert product.facts["samples"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("show", ["spectra", "response"])
def test_spectra_are_drawn_from_the_first_frame_on(chain: Any, frames: Any, show: str):
    first, *_, last = chain(SeismogramKind(), frames, show=show)
    with Image.open(first[1]) as one, Image.open(last[1]) as other:
        assert one.size == other.size
        assert one.tobytes() != other.tobytes()


def test_a_flat_picture_names_the_stations_that_find_room(chain: Any, frames: Any):
    *_, (product, _) = chain(SeismogramKind(), frames[:1], height_px=150)
    assert product.facts["size"][1] == 150


def test_many_stations_and_no_source_still_make_a_picture(chain: Any, recorded_at: Any):
    count = 120
    times = np.arange(1, 30) * 0.1
    series = np.random.default_rng(3).normal(size=(times.size, count))
    series[:, 5] = np.nan
    path = recorded_at(
        times, {"vx": series, "vy": series, "vz": series},
        names=[f"S{n}" for n in range(count)], x=np.arange(count) * 100.0,
        attributes={"source_x_m": None, "source_y_m": None},
    )  # fmt: skip
    ((product, _),) = chain(SeismogramKind(), [(path, 2.9)], scale="own")
    assert product.facts["size"][1] < 2000
    assert np.isfinite(list(product.facts["max"].values())).all()


@pytest.mark.parametrize(
    ("changes", "options", "message"),
    [
        ({}, {"components": ["vq"]}, "no variable 'vq'"),
        ({"attributes": {"featureType": "point"}}, {}, "holds no time series of stations"),
        ({"attributes": {"source_x_m": None}}, {"layers": LAYERS}, "arrivals need a source"),
        ({"attributes": {"source_depth_m": None}}, {"layers": LAYERS}, "depth_m"),
        ({"attributes": {"source_x_m": None}}, {"source": {}}, "source_x_m"),
        ({}, {"source": {"lat": 1, "lon": 2}}, "give its x and y"),
        ({"units": "K"}, {"show": "response"}, "a ground motion is in"),
    ],
)
def test_what_a_frame_lacks_is_reported(
    chain: Any, recorded_at: Any, changes: Any, options: Any, message: str
):
    times = np.arange(1, 50) * 0.1
    path = recorded_at(times, dict.fromkeys(("vx", "vy", "vz"), np.zeros((49, 3))), **changes)
    with pytest.raises(FrameError, match=message):
        chain(SeismogramKind(), [(path, 4.9)], **options)


def test_other_stations_than_before_are_refused(chain: Any, recorded_at: Any, frames: Any):
    times = np.arange(1, 5) + 10.0
    zeros = dict.fromkeys(("vx", "vy", "vz"), np.zeros((4, 3)))
    other = recorded_at(times, zeros, names=["A", "B", "C"])
    with pytest.raises(FrameError, match="not those of the frames before"):
        chain(SeismogramKind(), [frames[0], (other, 14.0)])


def test_a_first_record_without_samples_is_reported_and_a_later_one_adds_none(
    chain: Any, recorded_at: Any, frames: Any
):
    nothing = dict.fromkeys(("vx", "vy", "vz"), np.zeros((0, 3)))
    empty = recorded_at([], nothing)
    with pytest.raises(FrameError, match="no samples"):
        chain(SeismogramKind(), [(empty, 0.1)])
    *_, (product, _) = chain(SeismogramKind(), [frames[0], (empty, 3.0)])
    assert product.facts["samples"] == CHUNK


def beside(frame: Any, context: Context, tmp_path: Path, time: float, **options: Any) -> Any:
    """Makes a picture of one frame; returns what it is and where its traces are."""
    folder = tmp_path / "values"
    asked = TypeAdapter(SeismogramOptions).validate_python({"width_px": 400, **options})
    here = replace(context, time=valid_time.elapsed_key(time), values=folder)
    out = tmp_path / f"out.{SeismogramKind().extensions(asked)[0]}"
    with open_frame([frame], stream="stations", time=here.time) as opened:
        return SeismogramKind().make(asked, opened, out, here), out, folder / VALUES


def test_the_traces_of_a_picture_stand_beside_it(frames: Any, context: Context, tmp_path: Path):
    made, out, path = beside(frames[1][0], context, tmp_path, 4.0, units="cm s-1")
    found = TracesFile.read(path)
    header = found.header
    times = (np.arange(CHUNK) + CHUNK + 1) * STEP_S
    np.testing.assert_allclose(found.times, times)
    assert made.facts["traces"] == 3
    assert header["picture"] == zlib.crc32(out.read_bytes())
    assert (header["recorded"], header["reference"], header["step_s"]) == (True, None, STEP_S)
    assert header["stations"][0] == {"name": "NEAR", "x": 1000.0, "y": 2000.0}
    assert header["components"][0]["title"] == "ground velocity, east"
    for number, name in enumerate(("NEAR", "MIDDLE", "FAR")):
        true = 100 * motion(times, {"FAR": 0, "NEAR": 1, "MIDDLE": 2}[name])
        low, _ = found.traces[0, number]
        step = header["scales"][0][number]
        assert np.abs(low - true).max() <= step / 2 + 1e-5


@pytest.mark.parametrize(
    "options", [{"values": False}, {"show": "spectra"}, {"format": "mseed"}], ids=str
)
def test_no_traces_stand_beside(
    frames: Any, context: Context, tmp_path: Path, options: dict[str, Any]
):
    made, _, path = beside(frames[1][0], context, tmp_path, 4.0, **options)
    assert not path.exists()
    assert ("traces" in made.facts) == ("format" in options)  # MiniSEED counts its own


def test_stations_sampled_outside_of_the_frame_have_no_samples(
    surface: Any, context: Context, tmp_path: Path
):
    path = surface(1.0, {"vx": np.full((21, 31), 0.5)})
    places = [{"name": "in", "x": 700, "y": 900}, {"name": "out", "x": -700, "y": 900}]
    _, _, kept = beside(path, context, tmp_path, 1.0, components=["vx"], stations=places)
    found = TracesFile.read(kept)
    assert (found.header["recorded"], found.header["scales"][0][1]) == (False, None)
    assert found.traces[0, 0][0] == pytest.approx([0.5], rel=1e-4)


def test_traces_that_cannot_be_written_are_reported(frames: Any, context: Context, tmp_path: Path):
    (tmp_path / "values").symlink_to(tmp_path / "away")
    (tmp_path / "away").mkdir()
    (tmp_path / "away" / VALUES).symlink_to("/dev/full")
    with pytest.raises(StagingError, match="cannot be written"):
        beside(frames[1][0], context, tmp_path, 4.0)
    assert not (tmp_path / "values" / VALUES).is_symlink()


def test_a_record_without_stations_is_reported(chain: Any, recorded_at: Any):
    times = np.arange(1, 5) * 0.1
    nothing = dict.fromkeys(("vx", "vy", "vz"), np.zeros((4, 0)))
    path = recorded_at(times, nothing, names=[], x=[])
    with pytest.raises(FrameError, match="no stations"):
        chain(SeismogramKind(), [(path, 0.4)])


def test_a_damaged_state_is_reported(chain: Any, frames: Any, context: Context, tmp_path: Path):
    (tmp_path / "bad").write_bytes(b"PK\x03\x04 nothing more")
    with pytest.raises(FrameError, match="state bad cannot be read"):
        chain(SeismogramKind(), frames[:1], previous=tmp_path / "bad")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"components": []}, "one, two or three"),
        ({"layers": [{"vp_m_s": 2, "vs_m_s": 3}]}, "below its vp_m_s"),
        ({"layers": [{"top_m": 5, "vp_m_s": 3, "vs_m_s": 2}]}, "begin with top_m = 0"),
        ({"duration_s": 0}, "above zero"),
        ({"show": "spectra", "format": "sac"}, "leave show out"),
        ({"network": "toolong"}, "one or two capital"),
        ({"reference_time": "yesterday"}, "a time such as"),
        ({"dpi": 3}, "dpi must be"),
    ],
)
def test_options_that_mean_nothing_are_refused_before_the_run(
    options: dict[str, Any], message: str
):
    with pytest.raises(ValidationError, match=message):
        TypeAdapter(SeismogramOptions).validate_python(options)
