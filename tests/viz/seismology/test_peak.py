"""The product kind ``peak``: chains over frames, what pictures and files hold, what is refused."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from pydantic import TypeAdapter, ValidationError

from burstlens.core import valid_time
from burstlens.core.allowance import MEMORY_VARIABLE
from burstlens.core.errors import FrameError
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.diagnostics.seismology.intensity import intensity
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.kinds.peak.kind import PeakKind
from burstlens.viz.kinds.peak.options import PeakOptions
from burstlens.viz.kinds.peak.read import read_peaks
from burstlens.viz.product import Context
from burstlens.viz.registry import product_kind

pytestmark = pytest.mark.integration

STEP_S = 0.5
FRAMES = 8
SHAPE = 21, 31


def velocities() -> Any:
    """Frame by frame vx and vy, a pulse that runs along x and grows weaker."""
    x = np.arange(SHAPE[1])
    for n in range(FRAMES):
        pulse = 0.4 * 0.9**n * np.exp(-(((x - 4 * n) / 3.0) ** 2))
        yield np.broadcast_to(pulse, SHAPE), np.broadcast_to(-0.5 * pulse, SHAPE)


@pytest.fixture
def frames(surface: Callable[..., Path]) -> list[tuple[Path | None, float]]:
    return [
        (surface(n * STEP_S, {"vx": vx, "vy": vy}, source_x_m=2e3, source_y_m=5e3), n * STEP_S)
        for n, (vx, vy) in enumerate(velocities())
    ]


def test_it_is_a_chained_kind_that_a_recipe_may_name():
    kind = product_kind("peak")
    options = PeakOptions()
    assert kind.wants(options).chained
    assert kind.extensions(options) == ("png",)


def test_the_map_shows_the_greatest_length_of_the_velocity_so_far(chain: Any, frames: Any):
    made = chain(PeakKind(), frames)
    lengths = [np.hypot(vx, vy) for vx, vy in velocities()]
    for n, (product, out) in enumerate(made):
        expected = 100 * np.max(lengths[: n + 1], axis=0)
        assert product.facts["max"] == pytest.approx(expected.max(), rel=1e-5)
        assert product.facts["min"] == pytest.approx(expected.min(), rel=1e-4, abs=1e-12)
        assert product.facts["units"] == "cm s-1"
        assert product.facts["frames"] == n + 1
        with Image.open(out) as picture:
            assert picture.size == tuple(product.facts["size"])


def test_colours_begin_at_zero_and_end_at_a_round_number_that_seldom_grows(chain: Any, frames: Any):
    limits = [tuple(product.facts["limits"]) for product, _ in chain(PeakKind(), frames)]
    assert {low for low, _ in limits} == {0.0}
    assert {high for _, high in limits} == {50.0}  # of 44.7 cm/s, which the first frame holds


def test_netcdf_holds_peak_time_and_intensity_at_the_points_of_the_frame(chain: Any, frames: Any):
    *_, (product, out) = chain(PeakKind(), frames, format="netcdf", combine="larger", units="m s-1")
    assert product.extension == "nc"
    expected = np.max([np.abs(vx) for vx, _ in velocities()], axis=0)
    when = STEP_S * np.argmax([np.abs(vx) for vx, _ in velocities()], axis=0)
    with netCDF4.Dataset(str(out)) as data:
        assert data["pgv"].units == "m s-1"
        assert data["pgv"].dimensions == ("time", "y", "x")
        np.testing.assert_allclose(data["pgv"][0], expected, rtol=1e-5)
        np.testing.assert_allclose(data["time_of_peak"][0], when)
        np.testing.assert_allclose(data["intensity"][0], intensity(expected, "pgv"), atol=1e-4)
        assert data["x"][1] == 500.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "vector of vx and vy"),
        ({"combine": "geometric-mean"}, "geometric mean of vx and vy"),
        ({"components": ["vx"]}, "east"),
    ],
)
def test_the_component_or_combination_is_named_in_picture_and_file(
    chain: Any, surface: Any, options: Any, expected: str
):
    velocity = dict(zip(("vx", "vy"), next(velocities()), strict=True))
    path = surface(1.0, velocity)
    with netCDF4.Dataset(str(path), "a") as data:
        data["vx"].long_name = "ground velocity, east"
    for quantity in ("pgv", "pga", "intensity"):
        asked = options | {"quantity": quantity}
        if quantity == "intensity":
            asked = {"combine": "vector"} | asked
        [(product, out)] = chain(PeakKind(), [(path, 1.0)], **asked)
        assert product.facts["components"] == expected
        with Image.open(out) as picture:
            assert picture.info["Description"].endswith(f", {expected}")
        [(_, out)] = chain(PeakKind(), [(path, 1.0)], **asked, format="netcdf")
        with netCDF4.Dataset(str(out)) as data:
            assert data["time_of_peak"].long_name == f"time of the peak, {expected}"
            name = "pgv" if quantity == "intensity" else quantity
            assert data[name].long_name.endswith(f", {expected}")


def test_lines_over_an_intensity_are_of_the_peak_that_its_colours_are_of(chain: Any, surface: Any):
    # A file with two peaks: the model's vector is not what the intensity follows from.
    larger, vector = np.full(SHAPE, 0.1), np.full(SHAPE, 0.1)
    vector[:, 15:] = larger[:, 15:] = 0.3
    vector[:, :8] = 0.3
    path = surface(1.0, {"pgv": vector, "pgv_larger": larger})
    asked = {
        "quantity": "intensity", "components": ["pgv_larger"], "coast": False, "smooth": False,
        "contours": {"variable": "pgv", "levels": [20], "labels": False},
    }  # fmt: skip
    [(product, out)] = chain(PeakKind(), [(path, 1.0)], **asked)
    left, top, right, bottom = product.facts["box"]
    with Image.open(out) as picture:
        row = np.asarray(picture.convert("L"))[(top + bottom) // 2, left + 3 : right - 3]
    dark = np.flatnonzero(row < 90) / row.size
    assert dark.size
    assert np.abs(dark - 15 / 31).max() < 0.03


def test_a_resume_from_a_state_gives_the_same_bytes(chain: Any, frames: Any, tmp_path: Path):
    straight = [out.read_bytes() for _, out in chain(PeakKind(), frames, quantity="pga")]
    (tmp_path / "peak_3.state").rename(tmp_path / "kept")
    resumed = chain(PeakKind(), frames[4:], quantity="pga", previous=tmp_path / "kept")
    assert [out.read_bytes() for _, out in resumed] == straight[4:]


def test_a_frame_that_never_came_is_a_longer_step(chain: Any, frames: Any):
    frames[3] = None, frames[3][1]
    *_, (product, _) = chain(PeakKind(), frames)
    lengths = [np.hypot(vx, vy) for n, (vx, vy) in enumerate(velocities()) if n != 3]
    assert product.facts["max"] == pytest.approx(100 * np.max(lengths), rel=1e-5)
    assert product.facts["frames"] == FRAMES - 1


def test_acceleration_is_differenced_and_displacement_summed(chain: Any, frames: Any):
    motion = np.array(list(velocities()))
    slope = np.hypot(*np.moveaxis(np.diff(motion, axis=0) / STEP_S, 1, 0)).max()
    (*_, (pga, _)) = chain(PeakKind(), frames, quantity="pga")
    assert pga.facts["max"] == pytest.approx(slope / 0.0980665, rel=1e-5)
    sums = np.cumsum((motion[1:] + motion[:-1]) * STEP_S / 2, axis=0)
    (*_, (pgd, _)) = chain(PeakKind(), frames, quantity="pgd")
    assert pgd.facts["max"] == pytest.approx(100 * np.hypot(sums[:, 0], sums[:, 1]).max(), rel=1e-5)


def test_a_model_s_accelerations_are_taken_as_they_are(chain: Any, surface: Any):
    frames = [
        (surface(n * STEP_S, {"ax": vx, "ay": vy}, units="cm/s2"), n * STEP_S)
        for n, (vx, vy) in enumerate(velocities())
    ]
    options = {"quantity": "pga", "components": ["ax", "ay"], "units": "cm s-2"}
    *_, (product, _) = chain(PeakKind(), frames, **options)
    assert product.facts["max"] == pytest.approx(0.4 * 1.25**0.5, rel=1e-5)


def test_a_model_s_own_running_peak_stays_what_it_is(chain: Any, surface: Any):
    peaks = np.maximum.accumulate([np.hypot(vx, vy) for vx, vy in velocities()])
    frames = [(surface(n * STEP_S, {"pgv": p}), n * STEP_S) for n, p in enumerate(peaks)]
    for n, (product, _) in enumerate(chain(PeakKind(), frames, components=["pgv"])):
        assert product.facts["max"] == pytest.approx(100 * peaks[n].max(), rel=1e-5)


def test_intensity_has_shakemap_s_steps_and_takes_the_larger_component(chain: Any, frames: Any):
    *_, (product, out) = chain(PeakKind(), frames, quantity="intensity", smooth=False, coast=False)
    assert product.facts["colormap"] == "shakemap"
    assert product.facts["max"] == pytest.approx(intensity(np.array(0.4), "pgv"), abs=1e-4)
    left, top, right, bottom = product.facts["box"]
    with Image.open(out) as picture:
        pixels = np.asarray(picture.convert("RGB"))[top + 3 : bottom - 3, left + 3 : right - 3]
    found = {tuple(pixel) for pixel in pixels.reshape(-1, 3).tolist()}
    felt = intensity(np.max([np.abs(vx) for vx, _ in velocities()], axis=0), "pgv")
    colours = {6: (255, 255, 0), 7: (255, 200, 0), 8: (255, 145, 0)}
    assert (
        {colours[round(value)] for value in felt.ravel().tolist()} == found == {*colours.values()}
    )


def test_magnitude_and_distance_change_an_intensity_by_their_terms(chain: Any, frames: Any):
    def made(**options: Any) -> Any:
        *_, (_, out) = chain(
            PeakKind(), frames, quantity="intensity", by="pga", format="netcdf", **options
        )
        with netCDF4.Dataset(str(out)) as data:
            return np.asarray(data["intensity"][0])

    difference = made(magnitude=6.0, source={"depth_m": 8000.0}) - made()
    x, y = np.meshgrid(np.arange(31) * 500.0 - 2e3, np.arange(21) * 500.0 - 5e3)
    away = np.clip(np.sqrt(x**2 + y**2 + 8000.0**2) / 1e3, 10, 300)
    np.testing.assert_allclose(difference, -0.91 + 1.02 * np.log10(away) - 1.02, atol=1e-4)


@pytest.mark.slow
def test_the_time_of_the_peak_is_a_map_too(chain: Any, frames: Any):
    *_, (product, _) = chain(PeakKind(), frames, show="time")
    assert (product.facts["units"], product.facts["max"]) == ("s", pytest.approx(3.5))


def test_colours_of_times_do_not_go_over_into_each_other():
    asked = TypeAdapter(PeakOptions).validate_python({"quantity": "pgv", "show": "time"})
    assert not asked.as_map(asked.shown, None).smooth
    assert asked.as_map("pgv", None).smooth


def test_a_crop_shows_a_part_and_the_chain_follows_the_whole(chain: Any, frames: Any):
    crop = {"index": {"x": [20, 31]}}
    *_, (product, _) = chain(PeakKind(), frames, crop=crop)
    lengths = np.max([np.hypot(vx, vy) for vx, vy in velocities()], axis=0)
    assert product.facts["shape"] == [21, 11]
    assert product.facts["max"] == pytest.approx(100 * lengths[:, 20:].max(), rel=1e-5)


def test_degrees_and_contours_of_the_peak_and_relief_go_together(chain: Any, surface: Any):
    y, x = np.mgrid[:21, :31]
    hill = 1500 * np.exp(-((x - 15) ** 2 + (y - 10) ** 2) / 40.0)
    frames = [
        (surface(n * STEP_S, {"vx": vx, "vy": vy, "topography": hill}, geographic=True), n * STEP_S)
        for n, (vx, vy) in enumerate(velocities())
    ]
    options = {
        "quantity": "intensity", "relief": "topography", "magnitude": 6.0,
        "contours": {"variable": "pgv", "levels": [20, 30]},
        "source": {"lat": 35.05, "lon": -117.9, "depth_m": 5000.0},
        "stations": [{"name": "A", "lat": 35.1, "lon": -117.8}],
    }  # fmt: skip
    *_, (product, _) = chain(PeakKind(), frames[:2], **options)
    assert product.facts["projection"]


@pytest.mark.parametrize(
    ("fields", "options", "message"),
    [
        ({"vx": 1}, {}, "no variable 'vy'"),
        ({"T2": 1, "vy": 1}, {"components": ["T2"], "units": None}, "is in K: a ground motion is"),
        ({"vx": 1}, {"components": ["vx"], "source": {}}, "source_x_m and source_y_m"),
    ],
)
def test_what_a_frame_lacks_is_reported(
    chain: Any, surface: Any, fields: Any, options: Any, message: str
):
    filled = {name: np.ones(SHAPE) for name in fields}
    path = surface(1.0, filled, units="K" if "T2" in fields else "m s-1")
    with pytest.raises(FrameError, match=message):
        chain(PeakKind(), [(path, 1.0)], **options)


def test_two_integrations_are_refused_with_the_way_out(chain: Any, surface: Any):
    path = surface(1.0, {"ax": np.ones(SHAPE)}, units="m s-2")
    with pytest.raises(FrameError, match="name components of the velocity"):
        chain(PeakKind(), [(path, 1.0)], quantity="pgd", components=["ax"])


def test_a_frame_of_another_grid_is_refused_and_leaves_nothing(
    chain: Any, surface: Any, frames: Any, tmp_path: Path
):
    other = surface(9.0, {"vx": np.ones((5, 7)), "vy": np.ones((5, 7))})
    with pytest.raises(FrameError, match=r"\(21, 31\) points .* \(5, 7\)"):
        chain(PeakKind(), [*frames[:1], (other, 9.0)])
    assert not (tmp_path / "peak_1.png").exists()
    assert not (tmp_path / "peak_1.state").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"components": []}, "one, two or three"),
        ({"magnitude": 6.0}, "goes with quantity"),
        ({"quantity": "intensity", "units": "m"}, "its own steps"),
        ({"limits": [2, 1]}, "below the second"),
        ({"quantity": "intensity", "show": "time", "limits": [5, 1]}, "below the second"),
        ({"width_px": 7}, "width_px must be"),
        ({"quantity": "pgx"}, "pgv"),
        ({"source": {"x": 3.0}}, "lat and lon, or x and y"),
        ({"source": {"depth_m": -3.0}}, "negative"),
    ],
)
def test_options_that_mean_nothing_are_refused_before_the_run(
    options: dict[str, Any], message: str
):
    with pytest.raises(ValidationError, match=message):
        TypeAdapter(PeakOptions).validate_python(options)


@pytest.mark.slow
@pytest.mark.parametrize("components", [("vx", "vy"), ("vx", "vy", "vz")])
def test_components_are_read_some_rows_at_a_time(
    components: tuple[str, ...], surface: Callable[..., Path], context: Context,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    dice = np.random.default_rng(5)
    ground = {name: dice.normal(size=(2500, 2000)).astype(np.float32) for name in components}
    options = PeakOptions(components=components)
    here = replace(context, stream="surface", time=valid_time.elapsed_key(1.0))

    def read() -> tuple[Any, int]:
        with open_frame([surface(1.0, ground)], stream="surface", time=here.time) as frame:
            tracemalloc.start()
            peaks = read_peaks(options, frame, here)
            _, most = tracemalloc.get_traced_memory()
            tracemalloc.stop()
        return peaks.state.values, most

    at_once, _ = read()
    monkeypatch.setenv(MEMORY_VARIABLE, "100000000")
    in_parts, most = read()
    np.testing.assert_array_equal(in_parts, at_once)
    np.testing.assert_allclose(at_once, np.sqrt(sum(v * v for v in ground.values())), rtol=1e-6)
    # The peak and its unit's, the time of it and the intensity in float64; temporaries of parts.
    assert most < 7.2 * ground["vx"].nbytes
