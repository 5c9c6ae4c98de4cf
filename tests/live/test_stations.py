"""Stations on the page, in a real browser: the trace that one recorded, at a place kept near it."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect
from valued_run import ground, publish

from burstlens.core.run.index import values_path
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.values.options import Values

STEP_S, SAMPLES = 0.008, 250
STATIONS = {"L01": (4000.0, 3000.0), "<b>far": (200.0, 200.0)}
FIRST, LAST = "t00000002.000", "t00000004.000"


def record(path: Path, begin: int, end: int, lost: slice = slice(0)) -> Path:
    """What two stations recorded from one sample to another, as the model's file has it; without
    the samples that were ``lost``."""
    times = np.arange(begin, end) * STEP_S
    with netCDF4.Dataset(path, "w") as data:
        data.featureType = "timeSeries"
        for name, size in (("time", None), ("station", 2), ("sample", times.size), ("letters", 8)):
            data.createDimension(name, size)
        data.createVariable("time", "f8", ("time",)).units = "s"
        data["time"][0] = times[-1]
        data.createVariable("sample_time", "f8", ("sample",)).units = "s"
        data["sample_time"][:] = times
        data.createVariable("name", "S1", ("station", "letters")).cf_role = "timeseries_id"
        data["name"][:] = netCDF4.stringtochar(np.array([n.encode() for n in STATIONS], "S8"))
        for axis, number in (("x", 0), ("y", 1)):
            data.createVariable(axis, "f8", ("station",)).units = "m"
            data[axis][:] = [place[number] for place in STATIONS.values()]
        for name, size in (("vx", 0.2), ("vz", 0.05)):
            variable = data.createVariable(name, "f4", ("sample", "station"))
            variable.setncatts({"units": "m s-1", "long_name": f"ground velocity, {name[1]}"})
            wave = size * np.exp(-(((times - 1.5) / 0.6) ** 2)) * np.sin(9 * times)
            wave[lost] = np.nan
            variable[:] = np.stack([wave, -wave], axis=-1)
    return path


def seismograms(run, tmp_path, begin, end, key, **options):
    path = record(tmp_path / f"stations_{end}.nc", begin, end)
    asked = {"components": ("vx", "vz"), **options}
    return path, publish(run, "seismogram", "shaking", path, key, **asked)


@pytest.fixture
def shaken(made, tmp_path):
    """A run with a map of the ground and seismograms of two stations; with the record's path."""
    run = made()
    publish(run, "map", "ground", ground(tmp_path / "a.nc", 2.0), FIRST, variable="vx")
    path, _ = seismograms(run, tmp_path, 0, SAMPLES, FIRST)
    return run, path


@pytest.fixture
def opened(new_page, ways_to, tmp_path):
    def open_(way="file", pins="x4010;3040"):
        page = new_page()
        page.page.goto(f"{getattr(ways_to(tmp_path / 'runs'), way)('made')}#pins={pins}")
        return page

    return open_


def table(page):
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    return list(csv.reader(download.value.path().read_text().splitlines()))


@pytest.mark.parametrize("way", ["file", "serve", "plain"])
def test_a_place_near_a_station_shows_the_trace_that_the_model_s_file_has(shaken, opened, way):
    _, path = shaken
    page = opened(way).page
    places = page.get_by_label("Kept places")
    expect(places.locator("ul.places li")).to_contain_text("station L01, 41 m away")
    expect(places.locator(".station")).to_have_text("Station L01, recorded every 8 ms")
    captions = places.locator("figcaption", has_text="ground velocity")
    expect(captions).to_have_count(2)
    expect(captions.first).to_have_text("ground velocity, x m s⁻¹")
    rows = table(page)
    assert "station L01, 41 m away" in ",".join(rows[0])
    with netCDF4.Dataset(path) as data:
        for component in ("vx", "vz"):
            found = [row for row in rows if row[1:2] == [f"shaking {component}"]]
            assert {tuple(row[2:5]) for row in found} == {("m s-1", "d01", "L01")}
            times, values = (np.array([float(row[at]) for row in found]) for at in (5, 6))
            true = np.asarray(data[component][:, 0], "f8")
            np.testing.assert_allclose(times, data["sample_time"][:], atol=1e-9)
            assert np.abs(values - true).max() <= np.abs(true).max() / 32767 / 2 * 1.001


def test_the_trace_grows_with_the_run(shaken, opened, tmp_path):
    run, _ = shaken
    page = opened("serve").page
    expect(page.locator("figcaption", has_text="ground velocity")).to_have_count(2)
    seismograms(run, tmp_path, 0, 2 * SAMPLES, LAST)
    for _ in range(20):
        page.wait_for_timeout(500)
        rows = [row for row in table(page) if row[1:2] == ["shaking vx"]]
        if len(rows) > SAMPLES:
            break
    assert float(rows[-1][5]) == pytest.approx((2 * SAMPLES - 1) * STEP_S)


def test_a_place_beyond_a_grid_step_of_the_model_has_no_trace(shaken, opened):
    page = opened(pins="x4000;3140").page
    places = page.get_by_label("Kept places")
    expect(places.locator("figcaption")).to_have_count(1)
    expect(places).not_to_contain_text("station")


def test_the_step_is_that_of_the_model_s_grid_not_of_the_thinned_one(made, opened, tmp_path):
    run = made()
    publish(run, "map", "ground", ground(tmp_path / "a.nc", 2.0), FIRST, variable="vx",
            values=Values(points=10))  # fmt: skip
    seismograms(run, tmp_path, 0, SAMPLES, FIRST)
    page = opened(pins="x4010;3040_x4000;3140").page
    lines = page.get_by_label("Kept places").locator("ul.places li")
    expect(lines.first).to_contain_text("station L01")
    expect(lines.nth(1)).not_to_contain_text("station")


def test_long_traces_are_drawn_from_their_smallest_and_largest_values(
    made, opened, tmp_path, monkeypatch
):
    monkeypatch.setattr("burstlens.viz.values.traces.SAMPLES", 0)
    run = made()
    publish(run, "map", "ground", ground(tmp_path / "a.nc", 2.0), FIRST, variable="vx")
    path, _ = seismograms(run, tmp_path, 0, 3000, FIRST)
    page = opened().page
    places = page.get_by_label("Kept places")
    expect(places).to_contain_text("Of each 15 samples the smallest and the largest are drawn")
    values = [float(row[6]) for row in table(page) if row[1:2] == ["shaking vx"]]
    with netCDF4.Dataset(path) as data:
        true = np.asarray(data["vx"][:, 0], "f8").reshape(-1, 15)
    assert np.array(values[::2]) == pytest.approx(true.min(axis=1), abs=1e-5)
    assert np.array(values[1::2]) == pytest.approx(true.max(axis=1), abs=1e-5)


FAULTS = {
    "torn": lambda path: path.write_bytes(path.read_bytes()[:-500]),
    "missing": lambda path: path.unlink(),
    "not ours": lambda path: path.write_text("burstlensFeed('<b>');\n"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_traces_that_cannot_be_read_leave_the_series(shaken, opened, fault):
    run, _ = shaken
    FAULTS[fault](values_path(run.run.products / "shaking" / f"shaking_d01_{FIRST}.png"))
    watched = opened("serve")
    places = watched.page.get_by_label("Kept places")
    expect(places.locator("figcaption")).to_have_count(1)
    watched.page.wait_for_timeout(1500)
    expect(places).not_to_contain_text("station")
    expect(places.locator(".curve").first).to_have_attribute("d", re.compile("^M"))
    watched.errors.clear()  # the browser logs a script that is missing or cannot be run


def test_samples_that_are_not_there_are_a_gap_of_the_line(made, opened, tmp_path):
    run = made()
    publish(run, "map", "ground", ground(tmp_path / "a.nc", 2.0), FIRST, variable="vx")
    path = record(tmp_path / "stations.nc", 0, SAMPLES, lost=slice(100, 150))
    publish(run, "seismogram", "shaking", path, FIRST, components=("vx",))
    trace = opened().page.locator("figure", has_text="ground velocity")
    expect(trace.locator(".curve")).to_have_attribute("d", re.compile("^M[^M]+M[^M]+$"))


def test_the_time_is_marked_in_traces_of_a_run_in_year_1(made, opened, tmp_path):
    run, key, begin = made(), "00010101T000002", "00010101T000000"
    path = ground(tmp_path / "a.nc", 2.0)
    publish(run, "map", "ground", path, key, start=begin, variable="vx")
    path = record(tmp_path / "stations.nc", 0, 2 * SAMPLES)
    publish(run, "seismogram", "shaking", path, key, start=begin, components=("vx",))
    trace = opened().page.locator("figure", has_text="ground velocity")
    expect(trace.locator("path.here")).to_have_attribute("d", re.compile("^M"))


def test_hostile_names_of_stations_stay_text(shaken, opened):
    page = opened(pins="x210;210").page
    places = page.get_by_label("Kept places")
    expect(places.locator("ul.places li")).to_contain_text("station <b>far, 14 m away")
    assert places.locator("b").count() == 0
