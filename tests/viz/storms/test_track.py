"""Where a track leads, which state files are refused, and its files for other programs."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from pathlib import Path

import pyproj
import pytest

from burstlens.core.errors import FrameError, RecipeError, StagingError
from burstlens.viz.diagnostics.storms.track import Point, Status, Track, read_track
from burstlens.viz.geometry.place import read_places
from burstlens.viz.kinds.track.draw import write_track
from burstlens.viz.product import Context

EARTH = Track("slp", "sea-level pressure", "min", "hPa", "kn", "degrees")
PLANE = Track("W", "vertical wind", "max", "m s-1", "m s-1", "m")


def point(
    hour: float, x: float, y: float, value: float | None = 950.0, status: Status = "found"
) -> Point:
    minutes = round(hour * 60)
    time = f"200508{28 + minutes // 1440:02d}T{minutes // 60 % 24:02d}{minutes % 60:02d}00"
    return Point(time, x, y, status, (4, 5), value, 60.0 if value else None)


def track(*points: Point, of: Track = EARTH) -> Track:
    return dataclasses.replace(of, points=points)


def guess(known: Track, hour: float) -> tuple[float, float, float]:
    found = known.guess(point(hour, 0, 0).time)
    assert found is not None
    return found.x, found.y, found.intervals


def test_without_a_point_there_is_no_guess():
    assert EARTH.guess("20050828T000000") is None


def test_after_one_point_the_storm_is_looked_for_where_it_was():
    assert guess(track(point(0, -88, 25)), 6) == (-88, 25, 1.0)


def test_the_guess_continues_the_motion_of_the_storm():
    x, y, intervals = guess(track(point(0, 0, 0), point(1, 2e4, 1e4), of=PLANE), 2)
    assert (x, y, intervals) == pytest.approx((4e4, 2e4, 1.0))


def test_the_guess_crosses_180_degrees():
    x, y, _ = guess(track(point(0, 178.0, 10.0), point(3, 179.5, 10.0)), 6)
    assert x == pytest.approx(-179.0, abs=0.01)
    assert y == pytest.approx(10.0, abs=0.05)


def test_the_guess_follows_a_great_circle_over_the_pole():
    x, y, _ = guess(track(point(0, 20.0, 86.0), point(3, 20.0, 89.0)), 6)
    assert abs(x) == pytest.approx(160.0, abs=0.01)
    assert y == pytest.approx(88.0, abs=0.01)


def test_after_a_gap_the_search_is_wider_and_the_guess_farther():
    known = track(point(0, 0, 0), point(1, 1e4, 0), of=PLANE)
    assert guess(known, 3) == pytest.approx((3e4, 0, 2.0), abs=1e-6)
    # A storm that is long gone is not looked for in the whole domain.
    assert guess(known, 40) == pytest.approx((4e4, 0, 3.0), abs=1e-6)


def test_lost_points_do_not_count_for_the_guess():
    known = track(
        point(0, 0, 0), point(1, 1e4, 0), point(2, 9e5, 9e5, None, "lost"), of=PLANE
    )  # fmt: skip
    assert guess(known, 3) == pytest.approx((3e4, 0, 2.0), abs=1e-6)


def test_a_time_made_again_replaces_what_is_known_of_it_and_later():
    known = track(point(0, 1, 1), point(3, 2, 2), point(6, 3, 3)).with_point(point(3, 5, 5))
    assert [p.x for p in known.points] == [1, 5]


def test_speed_and_direction_are_those_of_the_sphere():
    known = track(point(0, 179.0, 15.0), point(6, -179.8, 16.0), point(12, -179.0, 17.5))
    geod = pyproj.Geod(a=6370000, b=6370000)
    legs = [
        geod.inv(a.x, a.y, b.x, b.y) for a, b in zip(known.points, known.points[1:], strict=False)
    ]
    first, middle, last = known.motion()
    assert first is not None
    assert middle is not None
    assert last is not None
    assert first == pytest.approx((legs[0][2] / 6e3, legs[0][0] % 360))
    assert middle[0] == pytest.approx((legs[0][2] + legs[1][2]) / 12e3)
    assert last == pytest.approx((legs[1][2] / 6e3, (legs[1][1] + 180) % 360))


def test_a_state_is_read_as_it_was_written(tmp_path: Path):
    known = track(point(0, -88, 25), point(3, -89, 26, None, "lost"))
    known.write(tmp_path / "state")
    assert read_track(tmp_path / "state") == known
    with pytest.raises(StagingError):
        known.write(tmp_path / "nowhere" / "state")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not the state of a track"),
        (b"\xff\xfe", "is not the state of a track"),
        (b"[]", "is not the state of a track"),
        (b'{"format": 1}', "is not the state of a track"),
        (b'{"format": 1, "track": {"variable": "slp"}}', "is not the state of a track"),
        (b'{"format": 2, "track": {}}', "format 2, where format 1 is read"),
    ],
)
def test_what_is_not_a_state_is_refused(content: bytes, message: str, tmp_path: Path):
    path = tmp_path / "state"
    path.write_bytes(content)
    with pytest.raises(FrameError, match=message):
        read_track(path)
    with pytest.raises(FrameError, match="No such file"):
        read_track(tmp_path / "none")


def test_a_state_cut_anywhere_is_refused(tmp_path: Path):
    path = tmp_path / "state"
    track(point(0, -88, 25)).write(path)
    whole = path.read_bytes()
    for size in range(0, len(whole), 7):
        path.write_bytes(whole[:size])
        with pytest.raises(FrameError):
            read_track(path)


def test_a_state_whose_times_are_none_or_go_back_is_refused(tmp_path: Path):
    path = tmp_path / "state"
    for points in (
        (point(3, 1, 1), point(0, 1, 1)),
        (dataclasses.replace(point(0, 1, 1), time=""),),
    ):
        track(*points).write(path)
        with pytest.raises(FrameError, match="is not the state of a track"):
            read_track(path)


def test_the_state_of_another_field_is_refused():
    with pytest.raises(FrameError, match="of the max of W in m s-1 on m, not of the min of slp"):
        EARTH.continued(track(point(0, 1, 1), of=PLANE))


def test_the_table_is_that_of_the_points(tmp_path: Path, context: Context):
    out = tmp_path / "track.csv"
    known = track(point(0, -88, 25), point(3, -89, 26), point(6, -90, 27, None, "lost"))
    write_track(known, out, "csv", context)
    rows = list(csv.DictReader(io.StringIO(out.read_text())))
    assert [row["iso_time"] for row in rows] == [f"2005-08-28 0{h}:00:00" for h in (0, 3, 6)]
    assert [float(row["lon"]) for row in rows] == [-88, -89, -90]
    assert [row["slp [hPa]"] for row in rows] == ["950.0", "950.0", ""]
    assert [row["max_wind [kn]"] for row in rows] == ["60.0", "60.0", ""]
    geod = pyproj.Geod(a=6370000, b=6370000)
    azimuth, _, metres = geod.inv(-88, 25, -89, 26)
    assert float(rows[0]["storm_speed [kn]"]) == pytest.approx(metres / 1852 / 3, abs=0.06)
    assert float(rows[0]["storm_dir [degrees]"]) == pytest.approx(azimuth % 360, abs=0.6)
    assert rows[2]["storm_speed [kn]"] == ""
    assert [row["status"] for row in rows] == ["found", "found", "lost"]


def test_a_map_takes_the_table_as_a_list_of_points(tmp_path: Path, context: Context):
    for known in (track(point(0, -88, 25)), track(point(0, 2e4, 1e4), of=PLANE)):
        write_track(known, context.files / "track.csv", "csv", context)
        (place,) = read_places("track.csv", context.files)
        assert (place.lon, place.lat) in ((-88, 25), (None, None))
        assert (place.x, place.y) in ((2e4, 1e4), (None, None))


def test_without_a_calendar_times_are_seconds(tmp_path: Path, context: Context):
    out = tmp_path / "track.csv"
    known = track(Point("t00000012.500", 1.0, 2.0, "found", (0, 0), 3.0), of=PLANE)
    write_track(known, out, "csv", context)
    assert out.read_text().startswith("elapsed_s,x,y,W [m s-1],")
    assert "\n12.5,1.0,2.0,3.0," in out.read_text()


def test_a_line_of_geojson_is_cut_at_180_degrees(tmp_path: Path, context: Context):
    out = tmp_path / "track.geojson"
    known = track(point(0, 178, 10), point(3, 179, 11), point(6, -179, 13), point(9, -178, 14))
    write_track(known, out, "geojson", context)
    line, *points = json.loads(out.read_text())["features"]
    west, east = line["geometry"]["coordinates"]
    assert west == [[178, 10], [179, 11], [180, 12]]
    assert east == [[-180, 12], [-179, 13], [-178, 14]]
    assert [p["geometry"]["coordinates"] for p in points] == [[p.x, p.y] for p in known.points]
    assert points[0]["properties"]["slp [hPa]"] == 950.0
    assert line["properties"]["units"] == "hPa"


def test_geojson_of_one_point_has_no_line_and_of_a_plane_is_refused(
    tmp_path: Path, context: Context
):
    out = tmp_path / "track.geojson"
    write_track(track(point(0, 178, 10)), out, "geojson", context)
    assert [f["geometry"]["type"] for f in json.loads(out.read_text())["features"]] == ["Point"]
    with pytest.raises(RecipeError, match="GeoJSON needs longitude and latitude; use csv"):
        write_track(track(point(0, 1, 1), of=PLANE), tmp_path / "none", "geojson", context)
    assert not (tmp_path / "none").exists()
