"""Running peaks: against motions whose peaks are known, across restarts, holes and NaN."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from burstlens.core.allowance import MEMORY_VARIABLE
from burstlens.core.errors import FrameError
from burstlens.viz.diagnostics.seismology.running_peak import RunningPeak, advanced, read_peak

FREQUENCY_HZ = 0.5
SIZE = 0.3


def swung(
    step_s: float, order: int, *, combine: Any = "larger", until_s: float = 8.0
) -> RunningPeak:
    """A sine along x and its half along y, seen every ``step_s``."""
    peak = None
    omega = 2 * np.pi * FREQUENCY_HZ
    for time in np.arange(0, until_s, step_s):
        x = SIZE * np.sin(omega * time)
        motion = np.array([x, -x / 2]).reshape(2, 1, 1)
        peak = advanced(peak, motion, float(time), order=order, combine=combine)
    assert peak is not None
    return peak


def test_the_peak_of_a_sine_is_its_amplitude_and_its_time_a_quarter_period():
    peak = swung(0.01, 0)
    assert peak.values == pytest.approx(SIZE, rel=1e-3)
    assert peak.when == pytest.approx(0.5, abs=0.011)


def test_the_peak_of_its_derivative_is_omega_times_that():
    assert swung(0.01, 1).values == pytest.approx(2 * np.pi * FREQUENCY_HZ * SIZE, rel=1e-3)


def test_the_integral_from_rest_swings_between_zero_and_twice_the_amplitude():
    expected = 2 * SIZE / (2 * np.pi * FREQUENCY_HZ)
    assert swung(0.01, -1).values == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("order", [0, 1])
def test_twelve_frames_a_period_lose_less_than_five_percent(order: int):
    true = SIZE * (2 * np.pi * FREQUENCY_HZ) ** order
    for shift in (1.0, 1.03, 1.07):  # wherever the frames fall within the period
        found = float(swung(shift * 1 / FREQUENCY_HZ / 12.5, order, until_s=200).values.squeeze())
        assert 0.95 * true < found <= true * (1 + 1e-5)


def test_components_are_combined_as_was_asked():
    assert swung(0.01, 0, combine="vector").values == pytest.approx(SIZE * 1.25**0.5, rel=1e-3)
    mean = swung(0.01, 0, combine="geometric-mean")
    assert mean.values == pytest.approx(SIZE * 0.5**0.5, rel=1e-3)


def test_a_geometric_mean_is_one_of_peaks_that_came_at_different_times():
    first = np.array([4.0, 0.1]).reshape(2, 1, 1)
    peak = advanced(None, first, 0.0, order=0, combine="geometric-mean")
    second = np.array([0.1, -9.0]).reshape(2, 1, 1)
    peak = advanced(peak, second, 1.0, order=0, combine="geometric-mean")
    assert peak.values == pytest.approx(6.0)
    assert peak.when == pytest.approx(1.0)


@pytest.mark.parametrize("order", [-1, 0, 1])
def test_a_state_read_back_gives_the_same_as_an_unbroken_run(order: int, tmp_path: Path):
    generator = np.random.default_rng(5)
    frames = generator.normal(size=(6, 2, 3, 4)).astype("f4")
    straight = None
    restarted = None
    for n, motion in enumerate(frames):
        straight = advanced(straight, motion, 0.5 * n, order=order, combine="vector")
        restarted = advanced(restarted, motion, 0.5 * n, order=order, combine="vector")
        restarted.write(tmp_path / f"state{n}")
        restarted = read_peak(tmp_path / f"state{n}")
    assert straight is not None
    assert restarted is not None
    assert restarted.frames == 6
    np.testing.assert_array_equal(restarted.values, straight.values)
    np.testing.assert_array_equal(restarted.when, straight.when)


def test_the_time_of_a_peak_is_as_exact_as_that_of_its_frame(tmp_path: Path):
    time_s = 86_400.125 + 0.001
    peak = advanced(None, np.zeros((1, 1, 1)), time_s - 1, order=0, combine="larger")
    advanced(peak, np.ones((1, 1, 1)), time_s, order=0, combine="larger").write(tmp_path / "state")
    found = read_peak(tmp_path / "state")
    assert found is not None
    assert found.when.item() == time_s


@pytest.mark.parametrize("order", [-1, 0, 1])
def test_points_without_a_value_have_none_and_those_that_lose_theirs_keep_their_peak(order: int):
    steady = np.array([[[1.0, 2.0, np.nan]]])
    gone = np.array([[[1.0, np.nan, np.nan]]])
    back = np.array([[[1.0, 3.0, np.nan]]])
    peak = None
    for time, motion in enumerate((steady, gone, back, back)):
        peak = advanced(peak, motion, float(time), order=order, combine="vector")
    assert peak is not None
    assert np.isfinite(peak.values[0, :2]).all()
    assert np.isnan(peak.values[0, 2])
    assert np.isnan(peak.when[0, 2])
    if order == 0:
        assert peak.values[0, :2].tolist() == [1.0, 3.0]
        assert peak.when[0, :2].tolist() == [0.0, 2.0]


def test_what_a_peak_does_not_need_again_is_not_in_its_state(tmp_path: Path):
    motion = np.ones((2, 100, 100))
    # In float32: a peak, its time twice as wide, and what derivative or integral continue from.
    for order, fields in ((0, 3), (1, 5), (-1, 7)):
        advanced(None, motion, 0.0, order=order, combine="vector").write(tmp_path / "state")
        size = (tmp_path / "state").stat().st_size
        assert fields * 40_000 <= size < fields * 40_000 + 4096


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x03\x04 cut"])
def test_a_damaged_state_is_reported(content: bytes, tmp_path: Path):
    path = tmp_path / "state"
    path.write_bytes(content)
    with pytest.raises(FrameError, match="state cannot be read"):
        read_peak(path)


def test_half_a_state_is_reported(tmp_path: Path):
    path = tmp_path / "state"
    advanced(None, np.ones((1, 8, 8)), 0.0, order=0, combine="vector").write(path)
    path.write_bytes(path.read_bytes()[:-60])
    with pytest.raises(FrameError, match="state cannot be read"):
        read_peak(path)


def test_a_state_of_another_format_is_refused(tmp_path: Path):
    path = tmp_path / "state"
    with path.open("wb") as file:
        np.savez(file, kind=np.array("peak 2"), peaks=np.zeros((1, 2, 2)))
    with pytest.raises(FrameError, match="format 'peak 2', not 'peak 1'"):
        read_peak(path)


def test_another_grid_and_an_earlier_time_are_refused():
    peak = advanced(None, np.ones((1, 4, 5)), 2.0, order=0, combine="vector")
    with pytest.raises(FrameError, match=r"\(4, 5\) points .* \(4, 6\)"):
        advanced(peak, np.ones((1, 4, 6)), 3.0, order=0, combine="vector")
    with pytest.raises(FrameError, match="at 2 s, the frame at 2 s"):
        advanced(peak, np.ones((1, 4, 5)), 2.0, order=0, combine="vector")


@pytest.mark.slow
@pytest.mark.parametrize("order", [-1, 0, 1])
def test_a_large_grid_takes_little_more_memory_than_its_peaks(
    order: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(MEMORY_VARIABLE, "300000000")
    motion = np.random.default_rng(4).normal(size=(1, 2500, 2000)).astype(np.float32)
    before = advanced(None, motion, 0.0, order=order, combine="vector")
    tracemalloc.start()
    peak = advanced(before, 2 * motion, 1.0, order=order, combine="vector")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 6 * motion.nbytes  # the next motion, its peaks, their times, its integral
    few = slice(1000, 1003)
    alone = advanced(before.of_rows(few), 2 * motion[:, few], 1.0, order=order, combine="vector")
    np.testing.assert_array_equal(peak.peaks[:, few], alone.peaks)
    np.testing.assert_array_equal(peak.when[few], alone.when)
