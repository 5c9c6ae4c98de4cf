"""``Run.values`` and ``Run.series``: xarray's DataArrays of what pictures show."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from values_case import LAMBERT, ROWS, ValuesRun, degrees_grid, plane_grid, ramp

import burstlens
from burstlens.core.errors import RunError, ValuesError
from burstlens.core.extras import install_command
from burstlens.viz.geometry.grid import Plane
from burstlens.viz.values.grid import Axis, axes_grid, pixel_grid


@pytest.fixture
def made(tmp_path):
    return ValuesRun(tmp_path)


@pytest.fixture
def run(made):
    return burstlens.open_run(made.run.path)


def test_values_have_their_coordinates_units_and_place_in_the_file(made, run):
    made.publish(0)
    made.publish(1)
    found = run.values("t2")
    assert (found.dims, found.shape, found.name) == (("lat", "lon"), (80, 100), "T2")
    assert found.attrs["units"] == "K"
    assert found.attrs["time"] == "20050828T010000"
    assert found.attrs["step"] > 0
    assert found.time.values == np.datetime64("2005-08-28T01:00:00")
    at = found.sel(lat=27.0, lon=-92.0, method="nearest")
    assert abs(float(at) - 1030.03) <= found.attrs["step"] / 2 * 1.0001
    assert int(at.south_north_index) == ROWS - 1 - 30
    assert int(at.west_east_index) == 30


def test_values_are_found_by_time_by_number_and_by_default_the_latest(made, run):
    for hour in range(3):
        made.publish(hour)
    hours = [
        int(run.values("t2", time)[0, 0] / 1000 + 0.01)
        for time in ("latest", "2005-08-28 01:00:00", "20050828T000000", 0, -2)
    ]
    assert hours == [2, 1, 0, 0, 1]
    with pytest.raises(RunError, match="3 frames, and none of number 3"):
        run.values("t2", 3)
    with pytest.raises(RunError, match="nearest"):
        run.values("t2", "2005-08-29 01:00:00")


def test_a_projected_plane_has_x_and_y_and_longitude_and_latitude_of_each_point(made, run):
    made.publish(0, (ramp(), plane_grid(LAMBERT)))
    found = run.values("t2")
    assert found.dims == ("y", "x")
    assert found.x.attrs["units"] == "m"
    x, y = np.meshgrid(found.x, found.y)
    lon, lat = LAMBERT.inverse(x, y)
    assert np.abs(found.lon.values - lon).max() < 0.01
    assert np.abs(found.lat.values - lat).max() < 0.01


def test_a_curvilinear_plane_has_longitude_and_latitude_where_its_pixels_are(made, run):
    rows, columns = np.mgrid[0:40, 0:50]
    lon, lat = -90 + 0.1 * columns + 0.02 * rows, 20 + 0.1 * rows + 0.01 * columns
    plane = Plane(lon, lat, "degrees", geographic=True)
    down, across = (Axis(np.arange(n), (0.0, 0.0), "", "", dimension=name)
                    for n, name in ((40, "eta"), (50, "xi")))  # fmt: skip
    reach = (lon.min() - 0.1, lon.max() + 0.1, lat.min() - 0.1, lat.max() + 0.1)
    grid = pixel_grid(plane, reach, (400, 350), 1, down, across)
    made.publish(0, (rows + columns / 100, grid))
    found = run.values("t2")
    assert found.dims == ("row", "column")
    assert np.nanmax(np.abs(found.lon.values - lon)) < 0.03
    assert np.nanmax(np.abs(found.lat.values - lat)) < 0.03
    assert found.eta_index.values.tolist() == list(range(40))


def test_a_section_has_distance_and_height_and_the_places_of_its_route(made, run):
    x = Axis(np.arange(100) * 5.0, (0.0, 495.0), "distance", "km")
    y = Axis(20.0 - 0.25 * np.arange(80), (20.1, 0.1), "height", "km")
    along = {"lon": np.linspace(-92, -89, 100), "lat": np.linspace(25, 26, 100)}
    made.publish(0, (ramp(), axes_grid(x, y, None, along)))
    found = run.values("t2")
    assert found.dims == ("height", "distance")
    assert found.height.attrs["units"] == "km"
    assert float(found.lon[-1]) == -89
    assert np.isfinite(run.series("t2", x="100km", y="5000m")).all()


def test_nests_are_fields_by_their_number_or_label(made, run):
    nest = degrees_grid(west=-92.2, north=27.2, step=0.01)
    made.publish(0, (ramp(), degrees_grid()), (ramp(5), nest))
    assert float(run.values("t2").max()) < 100
    assert float(run.values("t2", field="d02").min()) == pytest.approx(5000, abs=0.01)
    assert float(run.values("t2", field=1).lat[0]) == 27.2
    with pytest.raises(RunError, match="there is no field 'd03'"):
        run.values("t2", field="d03")


def test_a_series_is_over_time_with_nan_for_gaps(made, run):
    for hour in range(3):
        made.publish(hour)
    made.publish(3, (ramp(), degrees_grid(west=0.0)))
    made.publish(4).write_bytes(b"torn")
    found = run.series("t2", lat=27.0, lon=-92.0)
    assert found.dims == ("time",)
    assert found.time.values[2] == np.datetime64("2005-08-28T02:00:00")
    assert found.values[:3] == pytest.approx([30.03, 1030.03, 2030.03], abs=0.01)
    assert np.isnan(found.values[3:]).all()
    assert found.gap.values.tolist() == ["", "", "", "outside", "unreadable"]
    assert (found.attrs["units"], found.attrs["lat"]) == ("K", 27.0)


def test_a_series_of_a_thinned_field_says_so(made, run):
    made.publish(0, stride=3)
    found = run.series("t2", lat=27, lon=-92)
    assert found.stride == 3
    assert "1 of 3" in found.comment


def test_without_a_calendar_time_is_in_seconds_and_other_keys_stay_as_they_are(made, run):
    made.publish(0, time_="t00000012.500")
    made.publish(1, time_="t00000013.000")
    assert run.series("t2", lat=27, lon=-92).time.values.tolist() == [12.5, 13.0]
    assert run.values("t2", 12.5).attrs["time"] == "t00000012.500"
    made.publish(2, time_="20050230T000000", product="u")
    assert run.series("u", lat=27, lon=-92).time.values.tolist() == ["20050230T000000"]


def test_a_year_before_all_others_is_kept(made, run):
    made.publish(0, time_="00010101T000000")
    assert str(run.series("t2", lat=27, lon=-92).time.values[0]) == "0001-01-01T00:00:00"


def test_arrays_can_be_written_as_netcdf(made, run, tmp_path):
    made.publish(0)
    run.values("t2").to_netcdf(tmp_path / "values.nc", engine="netcdf4")
    run.series("t2", lat=27, lon=-92).to_netcdf(tmp_path / "series.nc", engine="netcdf4")


def test_values_that_are_missing_or_of_another_picture_are_one_clear_error(made, run):
    made.publish(0, values=False)
    with pytest.raises(RunError, match="values = false"):
        run.values("t2")
    made.publish(1, picture=3)
    with pytest.raises(ValuesError, match="another picture"):
        run.values("t2")
    made.publish(2).write_bytes(b"torn")
    with pytest.raises(ValuesError, match="not a file of values"):
        run.values("t2")
    with pytest.raises(ValuesError, match="lat and lon, or x and y"):
        run.series("t2")


@pytest.mark.integration
def test_without_xarray_the_error_says_how_to_install_it(made):
    made.publish(0)
    code = (
        "import sys; sys.modules['xarray'] = None; import burstlens;"
        f"burstlens.open_run({str(made.run.path)!r}).values('t2')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.splitlines()[-1].endswith(f"needs xarray: {install_command('jupyter')}")


@pytest.mark.integration
def test_the_values_and_the_series_of_a_real_run_are_those_of_its_frames(done):
    entries = done.products["w"].entries
    for number, entry in enumerate(entries):
        found = done.values("w", number)
        step = found.attrs["step"]
        assert float(found.max()) == pytest.approx(entry.facts["max"], abs=step)
        assert float(found.min()) == pytest.approx(entry.facts["min"], abs=step)
    row, column = 20, 10
    at = found[row, column]
    series = done.series("w", x=float(at.x), y=float(at.y))
    assert series.shape == (len(entries),)
    assert float(series[-1]) == float(at)
    assert not series.gap.values.any()
