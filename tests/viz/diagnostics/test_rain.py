"""Rain since the start, and between two frames."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from burstlens.core.errors import FrameError, OptionsError
from burstlens.viz.diagnostics.derived import SharedFrame, open_frame
from burstlens.viz.diagnostics.rain import Totals, between, read_totals, totals
from burstlens.viz.drawing.maps.layers import Contours
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.geometry.grid import Plane
from burstlens.viz.kinds.map.kind import MapKind
from burstlens.viz.kinds.map.options import MapOptions
from burstlens.viz.kinds.netcdf.kind import NetcdfKind
from burstlens.viz.kinds.netcdf.options import NetcdfOptions
from burstlens.viz.kinds.scene.options import SceneOptions
from burstlens.viz.kinds.vtk.options import VtkOptions
from burstlens.viz.product import Context
from burstlens.viz.registry import product_kind
from burstlens.workflows.guards.guard import Guard

pytestmark = pytest.mark.integration


def test_cumulus_and_grid_scale_rain_add_up(cyclone: Path):
    with open_frame([cyclone]) as frame:
        total = frame.read("rain")
        assert np.array_equal(total, frame.read("RAINNC") + frame.read("RAINC"))
        assert frame.variable("rain").units == "mm"


def test_full_buckets_count(cyclone: Path, add_variables: Callable[..., Path]):
    buckets = np.zeros((48, 48), "i4")
    buckets[3, 4] = 7
    path = add_variables(cyclone, I_RAINNC=buckets, I_RAINC=2 * buckets)
    with open_frame([path]) as frame:
        without = frame.read("rain")
    with netCDF4.Dataset(os.fspath(path), "a") as data:
        assert data.BUCKET_MM == -1
        data.BUCKET_MM = np.float32(100)
    with open_frame([path]) as frame:
        more = frame.read("rain") - without
    assert more[3, 4] == 2100
    assert np.count_nonzero(more) == 1


def test_rain_between_frames_is_their_difference():
    assert between(np.array([1.0, 2.5]), np.array([1.5, 2.5])).tolist() == [0.5, 0]


def test_a_bucket_that_tips_between_frames_changes_nothing(
    cyclone: Path, add_variables: Callable[..., Path]
):
    totals = []
    for amount, tipped in ((98.0, 0), (3.0, 1)):
        rain = np.full((48, 48), amount, "f4")
        counts = np.full((48, 48), tipped, "i4")
        path = add_variables(cyclone, RAINNC=rain, RAINC=0 * rain, I_RAINNC=counts)
        with netCDF4.Dataset(os.fspath(path), "a") as data:
            data.BUCKET_MM = np.float32(100)
        with open_frame([path]) as frame:
            totals.append(frame.read("rain"))
    assert (between(*totals) == 5).all()


def test_a_total_that_began_anew_gives_what_fell_since():
    assert between(np.array([120.0, 0.5]), np.array([3.0, 0.0])).tolist() == [3, 0]


def test_a_total_that_sank_by_rounding_gives_no_rain_instead_of_all_of_it():
    before = np.array([300.0], "f4")
    assert between(before, np.nextafter(before, np.float32(0))).tolist() == [0]


def test_a_frame_that_is_opened_by_hand_knows_its_own_time(katrina: Path):
    with open_frame([katrina], 3) as frame:
        assert frame.variable("rain_rate").long_name.endswith("mean of the last 21 h")
        assert np.allclose(frame.read("rain_rate"), frame.read("RAINNC") / 21)


def test_a_nan_of_either_frame_stays():
    found = between(np.array([np.nan, 1, 1]), np.array([1, np.nan, 2]))
    assert np.array_equal(np.isnan(found), [True, True, False])


@pytest.fixture
def rainy(cyclone: Path, tmp_path: Path) -> Callable[..., Path]:
    """Writes the cyclone's frame of another hour, with so many mm everywhere, and buckets."""

    def write(hour: int, amount: float, buckets: int | None = None) -> Path:
        path = tmp_path / f"wrfout_d01_2005-08-28_{hour:02d}_00_00_{amount:g}"
        path.write_bytes(cyclone.read_bytes())
        with netCDF4.Dataset(os.fspath(path), "a") as data:
            data["Times"][0] = np.frombuffer(f"2005-08-28_{hour:02d}:00:00".encode(), "S1")
            data["RAINNC"][0] = np.float32(amount)
            data["RAINC"][0] = np.float32(0)
            if buckets is not None:
                data.BUCKET_MM = np.float32(100)
                name = data.createVariable("I_RAINNC", "i4", data["RAINNC"].dimensions)
                name[0] = buckets
        return path

    return write


@pytest.fixture
def chain(context: Context) -> Callable[..., dict[str, Any]]:
    """Makes a product of a frame with the state of the one before, and writes its own state."""

    def make(options: Any, path: Path, hour: int, previous: Path | None, state: Path) -> Any:
        kinds = {MapOptions: "map", NetcdfOptions: "netcdf", VtkOptions: "vtk"}
        kinds |= {SceneOptions: "scene"}
        kind = product_kind(kinds[type(options)])
        assert kind.wants(options).chained
        time = f"20050828T{hour:02d}0000"
        at_time = dataclasses.replace(context, time=time, state=state)
        with open_frame([path], time=time, previous=previous) as frame:
            return kind.make(options, frame, context.files.parent / "product", at_time)

    return make


def test_each_frame_has_what_fell_since_the_one_before(rainy: Any, chain: Any, tmp_path: Path):
    options = MapOptions("rain_interval")
    states = [tmp_path / f"state-{n}" for n in range(3)]
    for n, (hour, amount, fell) in enumerate(((3, 5.0, 5.0), (6, 12.5, 7.5), (12, 12.5, 0.0))):
        made = chain(options, rainy(hour, amount), hour, states[n - 1] if n else None, states[n])
        assert (made.facts["min"], made.facts["max"]) == (fell, fell)
        assert made.facts["colormap"] == "nws_rain"
    assert read_totals(states[2]).time == "20050828T120000"


def test_products_of_one_frame_have_the_rain_since_the_frame_before_of_their_own(
    rainy: Any, chain: Any, tmp_path: Path
):
    early, late = tmp_path / "early", tmp_path / "late"
    chain(MapOptions("rain_interval"), rainy(3, 4.0), 3, None, early)
    chain(MapOptions("rain_interval"), rainy(6, 10.0), 6, None, late)
    about = {"stream": "", "time": "20050828T090000", "time_variable": ""}
    frame = SharedFrame([rainy(9, 12.0)], 0, **about)
    fell = [
        float(frame.view(keeps=True, previous=state).read("rain_interval").max())
        for state in (late, early, late)
    ]
    frame.close()
    assert fell == [2.0, 8.0, 2.0]


def test_a_rate_is_by_the_hour_and_says_of_which_time(rainy: Any, chain: Any, tmp_path: Path):
    state = tmp_path / "state"
    chain(MapOptions("rain_rate"), rainy(6, 12.0), 6, None, state)
    with open_frame([rainy(9, 21.0)], time="20050828T090000", previous=state) as frame:
        assert np.allclose(frame.read("rain_rate"), 3.0)
        about = frame.variable("rain_rate")
    assert about.units == "mm h-1"
    assert about.long_name == "precipitation rate, mean of the last 3 h"
    with open_frame([rainy(6, 12.0)], time="20050828T060000") as frame:
        # No frame before: since the model's start, at 0 UTC.
        assert np.allclose(frame.read("rain_rate"), 2.0)
        assert frame.variable("rain_rate").long_name.endswith("the last 6 h")
    with open_frame([rainy(0, 0.0)], time="20050828T000000") as frame:
        assert not frame.read("rain_rate").any()


def test_the_first_frame_of_a_model_that_has_just_begun_starts_the_chain(
    rainy: Any, chain: Any, tmp_path: Path
):
    options = MapOptions("rain_rate", contours=Contours("rain_rate", levels=(1.0,)))
    first = chain(options, rainy(0, 0.0), 0, None, tmp_path / "a")
    assert first.facts["max"] == 0
    then = chain(options, rainy(1, 4.0), 1, tmp_path / "a", tmp_path / "b")
    assert then.facts["max"] == 4
    assert then.facts["colormap"] == "rain_rate"


def test_buckets_that_fill_in_between_count(rainy: Any, chain: Any, tmp_path: Path):
    options = NetcdfOptions(("rain_interval", "rain_rate"), crop=Crop(index={"west_east": (3, 9)}))
    chain(options, rainy(6, 98.0, 0), 6, None, tmp_path / "a")
    made = chain(options, rainy(12, 4.0, 1), 12, tmp_path / "a", tmp_path / "b")
    assert made.facts["variables"]["rain_interval"] == {"min": 6.0, "max": 6.0}
    assert made.facts["variables"]["rain_rate"] == {"min": 1.0, "max": 1.0}
    # The state holds the whole domain, wherever the next crop lies.
    assert read_totals(tmp_path / "b").rain.shape == (48, 48)


def test_a_restart_that_repeats_or_skips_a_time_continues_from_the_frame_before(
    rainy: Any, chain: Any, tmp_path: Path
):
    options = MapOptions("rain_interval")
    chain(options, rainy(6, 10.0), 6, None, tmp_path / "six")
    chain(options, rainy(9, 16.0), 9, tmp_path / "six", tmp_path / "nine")
    again = chain(options, rainy(9, 17.0), 9, tmp_path / "six", tmp_path / "nine")
    assert again.facts["max"] == 7
    skipped = chain(options, rainy(15, 20.0), 15, tmp_path / "nine", tmp_path / "fifteen")
    assert skipped.facts["max"] == 3
    afresh = chain(options, rainy(18, 2.0), 18, tmp_path / "fifteen", tmp_path / "x")
    assert afresh.facts["max"] == 2


def test_a_volume_may_hold_the_rain_of_an_interval(rainy: Any, chain: Any, tmp_path: Path):
    options = VtkOptions(("rain_interval",))
    chain(options, rainy(6, 10.0), 6, None, tmp_path / "a")
    chain(options, rainy(9, 16.0), 9, tmp_path / "a", tmp_path / "b")
    assert (read_totals(tmp_path / "b").rain == 16).all()


def test_a_scene_shows_the_rain_of_an_interval_on_the_ground(
    rainy: Any, chain: Any, tmp_path: Path
):
    options = SceneOptions(variable="rain_rate", limits=(0.0, 5.0), width_px=300, height_px=300)
    chain(options, rainy(6, 10.0), 6, None, tmp_path / "a")
    made = chain(options, rainy(9, 16.0), 9, tmp_path / "a", tmp_path / "b")
    assert (made.facts["min"], made.facts["max"]) == (2, 2)
    assert (read_totals(tmp_path / "b").rain == 16).all()


def test_a_domain_that_moves_is_compared_where_both_lie():
    rain = np.arange(30.0).reshape(5, 6)
    x, y = np.arange(6) * 4000.0, np.arange(5) * 4000.0
    before = Totals("20050828T000000", rain, (0.0, 0.0))
    # Three cells eastwards, one to the south: its point (1, 0) was (0, 3) before.
    moved = before.on(Plane(x + 12000, y - 4000, "m"), (5, 6))
    assert np.isnan(moved[0]).all()
    assert np.isnan(moved[:, 3:]).all()
    assert np.array_equal(moved[1:, :3], rain[:4, 3:])
    assert np.isnan(before.on(Plane(x + 4e6, y, "m"), (5, 6))).all()
    assert np.array_equal(before.on(Plane(x, y, "m"), (5, 6)), rain)


def test_katrinas_domain_moves_with_her_and_her_rain_stays_where_it_fell(
    katrina: Path, chain: Any, tmp_path: Path
):
    with netCDF4.Dataset(os.fspath(katrina)) as data:
        lat, lon = (np.asarray(data[name][:2]) for name in ("XLAT", "XLONG"))
        rain = np.asarray(data["RAINNC"][:2])
    state = tmp_path / "state"
    with open_frame([katrina], 0, time="20050828T120000") as frame:
        totals(frame).write(state)
    with open_frame([katrina], 1, time="20050828T150000", previous=state) as frame:
        fell = frame.read("rain_interval")
        assert frame.variable("rain_interval").long_name == "precipitation of the last 3 h"
    # For each point now, the nearest point of the earlier frame by its degrees.
    off = np.hypot(lat[1][..., None] - lat[0].ravel(), lon[1][..., None] - lon[0].ravel())
    there = off.min(axis=-1) < 0.02
    assert 0.3 < there.mean() < 1
    before = rain[0].ravel()[off.argmin(axis=-1)]
    assert np.array_equal(np.isfinite(fell), there)
    assert np.allclose(fell[there], np.maximum(rain[1] - before, 0)[there], atol=1e-3)


def test_a_state_of_another_size_or_kind_is_refused(
    rainy: Any, chain: Any, tmp_path: Path, cyclone: Path
):
    state = tmp_path / "state"
    Totals("20050828T000000", np.zeros((3, 4)), (0.0, 0.0)).write(state)
    message = r"the state has \(3, 4\) points"
    for broken in (None, b"", b"PK nothing", state.read_bytes()[:200]):
        if broken is not None:
            state.write_bytes(broken)
            message = "the state state cannot be read"
        with pytest.raises(FrameError, match=message):
            chain(MapOptions("rain_interval"), rainy(3, 1.0), 3, state, tmp_path / "next")
        assert not (tmp_path / "next").exists()


def test_a_state_of_a_later_frame_is_refused(rainy: Any, chain: Any, tmp_path: Path):
    Totals("20050829T000000", np.zeros((48, 48)), (0.0, 0.0)).write(tmp_path / "late")
    with pytest.raises(FrameError, match="time since the frame before is not known"):
        chain(MapOptions("rain_rate"), rainy(3, 1.0), 3, tmp_path / "late", tmp_path / "next")


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"variable": "rain_rate"}, False),
        ({"variable": "rain_interval", "limits": [0, 20]}, False),
        ({"variable": "rain_rate", "log": True}, True),
        ({"variable": "rain_interval", "units": "in"}, True),
        ({"variable": "T2", "contours": {"variable": "rain_rate"}}, True),
    ],
)
def test_limits_widen_only_where_colours_have_no_steps(options: dict[str, Any], wanted: bool):
    kind = MapKind()
    given = TypeAdapter(MapOptions).validate_python(options)
    assert kind.chained(given)
    # A chain whose limits would widen is refused when the recipe is checked.
    assert kind.widens(given) == wanted


def test_products_without_a_frame_before_refuse_such_names():
    with pytest.raises(OptionsError, match="sees one frame only"):
        Guard(variable="rain_rate", max=3.0)
    with pytest.raises(ValidationError, match="of the product's own stream alone"):
        TypeAdapter(MapOptions).validate_python(
            {"variable": "rain_rate", "nests": ["d02"], "nest_fields": True}
        )
    assert not MapKind().chained(MapOptions("RAINNC"))
    assert not NetcdfKind().chained(NetcdfOptions(("rain",)))
