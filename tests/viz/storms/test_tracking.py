"""The product kind track on frames: storms that move, come near each other, vanish; real ones."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter
from scipy.ndimage import gaussian_filter1d

from burstlens.core.errors import FrameError, RecipeError
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.diagnostics.storms.track import Point, read_track
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.geometry.position import distance_km
from burstlens.viz.kinds.track.kind import TrackKind
from burstlens.viz.kinds.track.options import TrackOptions
from burstlens.viz.product import Context
from burstlens.viz.registry import product_kind

pytestmark = pytest.mark.integration

Follow = Callable[..., list[tuple[dict[str, Any], Path]]]
Vortex = Callable[..., Callable[[Path], None]]
PRESSURE = {"variable": "PSFC", "units": "hPa"}
HOURS = [f"20050828T{hour:02d}0000" for hour in range(24)]


def places(made: list[tuple[dict[str, Any], Path]]) -> list[tuple[float, float]]:
    return [(facts["lon"], facts["lat"]) for facts, _ in made]


def off_km(
    made: list[tuple[dict[str, Any], Path]], truth: list[tuple[float, float]]
) -> list[float]:
    return [
        float(distance_km("degrees", lon, lat, *true))
        for (lon, lat), true in zip(places(made), truth, strict=True)
    ]


def points(made: list[tuple[dict[str, Any], Path]]) -> tuple[Point, ...]:
    return read_track(made[-1][1]).points


def test_katrina_is_followed_along_the_pressure_minimum(katrina: Path, follow_storm: Follow):
    times = [f"20050828T{hour}0000" for hour in (12, 15, 18, 21)]
    made = follow_storm(*((katrina, n) for n in range(4)), times=times, smoothing_km=10, **PRESSURE)
    with netCDF4.Dataset(str(katrina)) as data:
        pressure, lon, lat = (np.asarray(data[n][:], "f8") for n in ("PSFC", "XLONG", "XLAT"))
    for n, ((facts, _), point) in enumerate(zip(made, points(made), strict=True)):
        # The same smoothing by scipy: one point wide, with the field mirrored at the edge.
        wide = np.pad(pressure[n], 10, mode="reflect", reflect_type="odd")
        for axis in (0, 1):
            wide = gaussian_filter1d(wide, 1.0, axis=axis, truncate=3)
        smooth = wide[10:-10, 10:-10]
        row, column = np.unravel_index(smooth.argmin(), smooth.shape)
        assert abs(point.index[0] - row) + abs(point.index[1] - column) <= 1
        lowest = np.unravel_index(pressure[n].argmin(), pressure[n].shape)
        away = distance_km("degrees", lon[n][lowest], lat[n][lowest], facts["lon"], facts["lat"])
        assert float(away) < 12
        assert facts["value"] == pytest.approx(pressure[n].min() / 100)
        # The file ends in the eye, so that the minimum may lie beyond it.
        assert facts["status"] == "edge"
    # 28/1200Z 25.7N 87.7W: National Hurricane Center, Katrina special discussion 22.
    assert off_km(made[:1], [(-87.7, 25.7)])[0] < 20
    (first, *_, last) = places(made)
    assert last[0] < first[0]
    assert last[1] > first[1]


def test_the_strongest_wind_is_that_around_the_storm(cyclone: Path, follow_storm: Follow):
    made = follow_storm(cyclone, times=["20050828T210000"], variable="slp", wind_km=60)
    facts = made[0][0]
    with netCDF4.Dataset(str(cyclone)) as data:
        u, v, lon, lat = (np.asarray(data[n][0], "f8") for n in ("U10", "V10", "XLONG", "XLAT"))
    away = distance_km("degrees", lon, lat, facts["lon"], facts["lat"])
    strongest = np.hypot(u, v)[away <= 60].max() * 3600 / 1852
    assert facts["max_wind"] == pytest.approx(strongest, rel=1e-5)
    assert strongest < np.hypot(u, v).max() * 3600 / 1852
    assert facts["wind_units"] == "kn"


def test_a_storm_moves_across_180_degrees(
    wrf_file: Callable[..., Path], follow_storm: Follow, vortex: Vortex
):
    path = wrf_file(map_proj=3, TRUELAT1=0.0, STAND_LON=180.0, middle=(0.0, 1.6e6), size=(120, 70))
    positions = [(178.4 + 0.6 * n, 13.0 + 0.3 * n) for n in range(6)]
    frames = [(path, vortex((x, y, 5000))) for x, y in positions]
    made = follow_storm(*frames, times=HOURS[:6], search_km=100, **PRESSURE)
    assert max(off_km(made, positions)) < 3
    assert all(-180 <= lon <= 180 for lon, _ in places(made))
    assert [point.status for point in points(made)] == ["found"] * 6
    assert places(made)[-1][0] == pytest.approx(-178.6, abs=0.05)


def add_degrees(data: netCDF4.Dataset, lon: np.ndarray, lat: np.ndarray) -> None:
    """The coordinates of a grid of degrees."""
    for name, values, units in (("lat", lat, "degrees_north"), ("lon", lon, "degrees_east")):
        data.createDimension(name, values.size)
        data.createVariable(name, "f8", (name,)).units = units
        data[name][:] = values


def test_longitudes_to_360_and_latitudes_from_north_to_south(tmp_path: Path, follow_storm: Follow):
    lon, lat = np.arange(150.0, 220.0, 0.5), np.arange(40.0, 0.0, -0.5)
    positions = [(178.3 + n, 20.2 + 0.4 * n) for n in range(4)]
    paths = []
    for n, (x, y) in enumerate(positions):
        paths.append(tmp_path / f"{n}.nc")
        with netCDF4.Dataset(str(paths[-1]), "w") as data:
            add_degrees(data, lon, lat)
            pressure = data.createVariable("msl", "f4", ("lat", "lon"))
            pressure.units = "Pa"
            away = distance_km("degrees", *np.meshgrid(lon, lat), x, y)
            pressure[:] = 101300 - 4000 * np.exp(-0.5 * (away / 200) ** 2)
    made = follow_storm(*paths, times=HOURS[:4], variable="msl", units="hPa")
    assert max(off_km(made, positions)) < 3
    assert places(made)[-1][0] == pytest.approx(-178.7, abs=0.05)


@pytest.mark.parametrize(
    ("west", "columns", "positions"),
    [
        (0.0, 360, (354.0, 358.0, 2.0, 6.0)),
        (0.0, 361, (354.0, 358.0, 2.0, 6.0)),
        (-180.0, 360, (187.0, 183.0, 179.5, 176.0)),
        (0.0, 360, (0.2, 359.6, 355.0)),
    ],
)
def test_a_storm_moves_across_the_seam_of_a_grid_round_the_earth(
    west: float, columns: int, positions: tuple[float, ...], tmp_path: Path, follow_storm: Follow
):
    lon, lat = west + np.arange(columns), np.arange(-30.0, 31.0)
    paths, strongest = [], []
    for n, x in enumerate(positions):
        paths.append(tmp_path / f"{n}.nc")
        with netCDF4.Dataset(str(paths[-1]), "w") as data:
            add_degrees(data, lon, lat)
            away = distance_km("degrees", *np.meshgrid(lon, lat), x, 12.0)
            # On some frames the strongest wind and the low lie on two sides of the seam.
            east = distance_km("degrees", *np.meshgrid(lon, lat), x + 2, 12.0)
            wind = 50 * np.exp(-0.5 * (east / 100) ** 2)
            strongest.append(wind.max() * 3600 / 1852)
            for name, field, units in (
                ("msl", 101300 - 4000 * np.exp(-0.5 * (away / 300) ** 2), "Pa"),
                ("U10", wind, "m s-1"),
                ("V10", 0 * wind, "m s-1"),
            ):
                data.createVariable(name, "f4", ("lat", "lon")).units = units
                data[name][:] = field
    made = follow_storm(
        *paths, times=HOURS[: len(positions)], variable="msl", search_km=500, wind_km=400
    )
    assert [point.status for point in points(made)] == ["found"] * len(positions)
    assert max(off_km(made, [(x, 12.0) for x in positions])) < 6
    for x, point in zip(positions, points(made), strict=True):
        assert abs((lon[point.index[1]] - x + 180) % 360 - 180) <= 0.5
        assert lat[point.index[0]] == 12
    found = [facts["max_wind"] for facts, _ in made]
    assert found == pytest.approx(strongest, rel=1e-5)


def test_a_storm_moves_over_the_pole(
    wrf_file: Callable[..., Path], follow_storm: Follow, vortex: Vortex
):
    path = wrf_file(map_proj=2, TRUELAT1=70.0, STAND_LON=0.0, size=(90, 90))
    positions = [(30.0, 88.0), (30.0, 89.0), (-150.0, 89.9), (-150.0, 88.9)]
    frames = [(path, vortex((x, y, 5000))) for x, y in positions]
    made = follow_storm(*frames, times=HOURS[:4], search_km=150, **PRESSURE)
    assert max(off_km(made, positions)) < 3


def test_of_two_lows_the_one_that_was_followed_is_kept(
    gulf: Path, follow_storm: Follow, vortex: Vortex
):
    weak = [(-92.0 + 0.5 * n, 26.0) for n in range(5)]
    strong = [(-84.0 - 0.2 * n, 26.5) for n in range(5)]
    frames = [
        (gulf, vortex((*one, 2500), (*other, 6000)))
        for one, other in zip(weak, strong, strict=True)
    ]
    guess = {"lat": 26.1, "lon": -92.2}
    made = follow_storm(
        *frames, times=HOURS[:5], search_km=900, first_guess=guess, **PRESSURE
    )  # fmt: skip
    # Each low shifts the other a little.
    assert max(off_km(made, weak)) < 30
    assert off_km(follow_storm(frames[0], times=HOURS[:1], **PRESSURE), strong[:1])[0] < 10


def test_after_a_gap_the_storm_is_looked_for_farther_away(
    gulf: Path, follow_storm: Follow, vortex: Vortex
):
    # 30 km an hour, and 72 in the gap of three hours: 125 km from where it should be by then.
    positions = [(-94.0 + x, 26.0) for x in (0, 0.3, 0.6, 2.75)]
    frames = [(gulf, vortex((x, y, 5000))) for x, y in positions]
    times = [HOURS[n] for n in (0, 1, 2, 5)]
    made = follow_storm(*frames, times=times, search_km=45, **PRESSURE)
    assert max(off_km(made, positions)) < 5
    nearer = follow_storm(*frames, times=times, search_km=38, **PRESSURE)
    assert [point.status for point in points(nearer)] == ["found"] * 3 + ["lost"]
    at_once = follow_storm(*frames, times=HOURS[:4], search_km=45, **PRESSURE)
    assert [point.status for point in points(at_once)] == ["found"] * 3 + ["lost"]


def test_a_lost_storm_is_reported_its_track_continues_and_it_is_found_again(
    gulf: Path, follow_storm: Follow, vortex: Vortex
):
    positions = [(-92.0 + 0.5 * n, 26.0) for n in range(6)]
    frames = [
        (gulf, vortex((x, y, 5000) if n not in (3, 4) else (x, y, 0)))
        for n, (x, y) in enumerate(positions)
    ]
    made = follow_storm(*frames, times=HOURS[:6], search_km=100, **PRESSURE)
    found = points(made)
    assert [point.status for point in found] == ["found"] * 3 + ["lost"] * 2 + ["found"]
    assert [point.value is None for point in found] == [False] * 3 + [True] * 2 + [False]
    # Where it is not found, its position is extrapolated.
    assert max(off_km(made, positions)) < 8
    assert made[3][0]["status"] == "lost"
    assert made[3][0]["max_wind"] is None


def test_a_storm_that_leaves_the_domain_is_at_its_edge_and_then_lost(
    gulf: Path, follow_storm: Follow, vortex: Vortex
):
    with open_frame([gulf]) as frame:
        lon, lat = (float(frame.read(name)[40, -1]) for name in ("XLONG", "XLAT"))
    positions = [
        (lon - 1.0, lat),
        (lon - 0.4, lat),
        (lon + 0.2, lat),
        (lon + 0.8, lat),
        (lon + 9.0, lat),
    ]
    frames = [(gulf, vortex((x, y, 5000))) for x, y in positions]
    made = follow_storm(*frames, times=HOURS[:5], search_km=100, **PRESSURE)
    status = [point.status for point in points(made)]
    assert status[:2] == ["found", "found"]
    assert status[2:4] == ["edge", "edge"]
    assert status[4] == "lost"


def test_the_track_continues_from_the_state_file_alone(
    gulf: Path, follow_storm: Follow, vortex: Vortex
):
    positions = [(-92.0 + 0.5 * n, 26.0) for n in range(5)]
    frames = [(gulf, vortex((x, y, 5000), (-88.2, 28.5, 7000))) for x, y in positions]
    options = PRESSURE | {"search_km": 300, "first_guess": {"lat": 26, "lon": -92}}
    made = follow_storm(*frames, times=HOURS[:5], **options)
    again = follow_storm(*frames[2:], times=HOURS[2:5], previous=made[1][1], **options)
    assert points(again) == points(made)
    # A restart of the model makes a time again; what was known of it and later is dropped.
    repeated = follow_storm(frames[3], times=HOURS[3:4], previous=made[-1][1], **options)
    assert points(repeated) == points(made)[:4]


def test_the_state_of_another_variable_is_refused(gulf: Path, follow_storm: Follow, vortex: Vortex):
    made = follow_storm((gulf, vortex((-90, 26, 5000))), times=HOURS[:1], **PRESSURE)
    with pytest.raises(FrameError, match="is that of the min of PSFC in hPa on degrees, not of"):
        follow_storm(gulf, times=HOURS[1:2], previous=made[0][1], variable="PSFC")


def test_on_an_idealized_plane_positions_are_metres(supercell: Path, follow_storm: Follow):
    options = {"variable": "W", "level": 15, "extreme": "max", "smoothing_km": 0}
    made = follow_storm(supercell, times=["00010101T000800"], **options)
    facts = made[0][0]
    with open_frame([supercell]) as frame:
        w = frame.read("W")[15]
        spacing = float(frame.attributes["DX"])
    row, column = np.unravel_index(w.argmax(), w.shape)
    assert points(made)[0].index == (row, column)
    assert facts["x"] == pytest.approx((column + 0.5) * spacing, abs=spacing / 2)
    assert facts["y"] == pytest.approx((row + 0.5) * spacing, abs=spacing / 2)
    assert facts["value"] == pytest.approx(w.max())
    with pytest.raises(RecipeError, match="GeoJSON needs longitude and latitude"):
        follow_storm(supercell, times=["00010101T000800"], format="geojson", **options)
    with pytest.raises(RecipeError, match="first_guess: the frame's positions are x and y in m"):
        follow_storm(
            supercell, times=["00010101T000800"], first_guess={"lat": 1, "lon": 2}, **options
        )


def test_only_the_part_around_the_storm_is_read(
    tiles: list[Path], tmp_path: Path, context: Context
):
    # The second tile is damaged: opening it would fail.
    damaged = tmp_path / tiles[1].name
    damaged.write_bytes(b"\x89HDF\r\n\x1a\nnothing")
    options = TypeAdapter(TrackOptions).validate_python(
        {"variable": "W", "level": 8, "extreme": "max", "smoothing_km": 1, "search_km": 6,
         "wind_km": 4, "first_guess": {"x": 2.1e4, "y": 1.1e4}}
    )  # fmt: skip
    with open_frame([tiles[0], damaged], time="00010101T000400") as frame:
        made = TrackKind().make(options, frame, tmp_path / "out", context)
        assert made.facts["points"] == 1
        everywhere = TrackOptions("W", level=8, extreme="max")
        with pytest.raises(FrameError):
            TrackKind().make(everywhere, frame, tmp_path / "out", context)


def test_a_part_without_values_is_not_a_storm(gulf: Path, follow_storm: Follow, vortex: Vortex):
    def holed(path: Path) -> None:
        vortex((-90, 26, 5000))(path)
        with netCDF4.Dataset(str(path), "a") as data:
            data["PSFC"][0, :, 55:] = np.nan

    made = follow_storm((gulf, holed), times=HOURS[:1], **PRESSURE)
    assert off_km(made, [(-90, 26)])[0] < 5
    assert np.isfinite(made[0][0]["value"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"variable": "PSFCC"}, "has no variable 'PSFCC'; did you mean PSFC"),
        ({"variable": "T2", "level": 3}, "T2 has no levels"),
        ({"variable": "U"}, None),
        ({"variable": "XTIME"}, "has no variable 'XTIME'"),
    ],
)
def test_what_cannot_be_followed_is_reported(
    options: dict[str, Any], message: str | None, gulf: Path, follow_storm: Follow
):
    # U is the same everywhere.
    expected = message or "U is the same everywhere: there is no storm to follow"
    with pytest.raises(FrameError, match=expected):
        follow_storm(gulf, times=HOURS[:1], **options)


def test_numbered_points_have_no_distances(tmp_path: Path, follow_storm: Follow):
    path = tmp_path / "bare.nc"
    with netCDF4.Dataset(str(path), "w") as data:
        data.createDimension("y", 6)
        data.createDimension("x", 5)
        data.createVariable("t", "f4", ("y", "x"))[:] = np.arange(30).reshape(6, 5)
    with pytest.raises(FrameError, match="coordinates are neither lengths nor degrees"):
        follow_storm(path, times=HOURS[:1], variable="t")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"search_km": 0}, "search_km must be above 0"),
        ({"smoothing_km": -1}, "smoothing_km must be above 0"),
        ({"wind_units": "K"}, "wind_units: m s-1 cannot be shown as 'K'"),
        ({"variable": "rain_interval"}, "rain_interval is of the time since the frame before"),
        ({"extreme": "mean"}, "'min' or 'max'"),
        ({"first_guess": {"lat": 3}}, "needs lat and lon, or x and y"),
        ({"format": "kml"}, "'csv' or 'geojson'"),
    ],
)
def test_options_that_mean_nothing_are_refused(options: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=message):
        TypeAdapter(TrackOptions).validate_python({"variable": "slp"} | options)


def test_the_kind_is_chained_and_its_table_is_whole(
    gulf: Path, follow_storm: Follow, vortex: Vortex, context: Context
):
    kind = product_kind("track")
    assert kind.wants(TrackOptions("slp")).chained
    assert kind.extensions(TrackOptions("slp", format="geojson")) == ("geojson",)
    positions = [(-92.0 + 0.5 * n, 26.0) for n in range(3)]
    follow_storm(*((gulf, vortex((x, y, 5000))) for x, y in positions), times=HOURS[:3], **PRESSURE)
    with (context.files.parent / "track.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["iso_time"][11:13] for row in rows] == ["00", "01", "02"]
    assert float(rows[1]["storm_speed [kn]"]) == pytest.approx(49.9 / 1.852, abs=0.5)
    assert float(rows[1]["storm_dir [degrees]"]) == pytest.approx(90, abs=2)
