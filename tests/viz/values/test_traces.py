"""Traces of stations in a script: what comes back, what is thinned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from traces_file import TracesFile

from burstlens.core.errors import ValuesError
from burstlens.viz.values.script import ValuesFile, read_payload
from burstlens.viz.values.traces import LEAST, SAMPLES, traces_script

STEP_S = 0.008


def written(path: Path, times: Any, values: Any) -> TracesFile:
    stations = [{"name": f"S{n}"} for n in range(np.shape(values)[1])]
    path.write_bytes(traces_script({"product": "s"}, stations, np.asarray(times, float), values))
    return TracesFile.read(path)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s.values.js"


def waves(samples: int, stations: int = 3, components: int = 2) -> Any:
    at = np.arange(samples) / 50
    sizes = 10.0 ** -np.arange(components * stations).reshape(components, stations, 1)
    return sizes * np.sin(at)


def test_each_sample_comes_back_within_half_a_step_of_its_own_trace(path: Path):
    values = waves(1000)
    times = 0.5 + np.arange(1000) * STEP_S
    found = written(path, times, values)
    np.testing.assert_allclose(found.times, times, atol=1e-9)
    assert set(found.traces) == {(n, m) for n in range(2) for m in range(3)}
    for (n, m), (low, high) in found.traces.items():
        step = found.header["scales"][n][m]
        assert step == pytest.approx(np.abs(values[n, m]).max() / 32767)
        assert np.abs(low - values[n, m]).max() <= step / 2 * 1.0001
        assert low is not high
        np.testing.assert_array_equal(low, high)


def test_holes_stay_and_stations_without_values_have_no_samples(path: Path):
    values = waves(200)
    values[0, 0, 20:30] = np.nan
    values[1, 1, 7] = np.inf
    values[:, 2] = np.nan
    values[0, 1] = 0.0
    found = written(path, np.arange(200) * STEP_S, values)
    assert {station for _, station in found.traces} == {0, 1}
    assert np.flatnonzero(np.isnan(found.traces[0, 0][0])).tolist() == list(range(20, 30))
    assert np.flatnonzero(np.isnan(found.traces[1, 1][0])).tolist() == [7]
    assert (found.traces[0, 1][0] == 0).all()
    assert found.header["scales"][0][2] is None


def test_samples_that_never_came_are_holes_in_even_times(path: Path):
    kept = np.r_[0:50, 80:150]
    values = waves(150)[..., kept]
    found = written(path, kept * STEP_S, values)
    low = found.traces[0, 0][0]
    assert (low.size, found.header["samples"]) == (150, 120)
    assert np.isnan(low[50:80]).all()
    assert np.isfinite(np.delete(low, slice(50, 80))).all()


def test_uneven_times_are_kept_as_they_are(path: Path):
    times = np.array([0.0, 1.0, 2.5, 2.75, 60.0, 61.0])
    values = waves(6)
    found = written(path, times, values)
    assert found.header["step"] == 0
    np.testing.assert_array_equal(found.times, times)
    np.testing.assert_allclose(found.traces[0, 0][0], values[0, 0], atol=1e-4)


def test_a_single_sample_is_a_trace(path: Path):
    found = written(path, [0.4], waves(1))
    assert (found.times.tolist(), found.traces[0, 0][0].size) == ([0.4], 1)


@pytest.mark.parametrize("stations", [30, 1000])
def test_long_traces_are_kept_as_the_smallest_and_largest_of_each_interval(
    path: Path, stations: int
):
    samples = 20_011
    values = np.random.default_rng(1).normal(size=(1, stations, samples)).astype("f4")
    values[0, 3, 12_345], values[0, 3, 12_400] = 50.0, -60.0  # peaks of one sample
    values[0, 4, 0:5000] = np.nan
    found = written(path, np.arange(samples) * STEP_S, values)
    each, points = found.header["each"], found.header["points"]
    assert points == -(-samples // each)
    assert 2 * points >= LEAST * 0.9
    assert 2 * points * stations <= max(SAMPLES, LEAST * stations)
    low, high = found.traces[0, 3]
    assert (high[12_345 // each], low[12_400 // each]) == pytest.approx((50.0, -60.0), abs=1e-3)
    part = values[0, 7, 5 * each : 6 * each]
    assert found.traces[0, 7][0][5] == pytest.approx(part.min(), abs=1e-4)
    assert found.traces[0, 7][1][5] == pytest.approx(part.max(), abs=1e-4)
    assert np.isnan(found.traces[0, 4][0]).sum() == 5000 // each
    np.testing.assert_allclose(found.times, np.arange(points) * each * STEP_S, atol=1e-6)


def test_a_reader_of_values_says_what_it_found(path: Path):
    written(path, [0.0, 1.0], waves(2))
    with pytest.raises(ValuesError, match="holds traces of stations, not the values of a field"):
        ValuesFile(path)


def test_a_script_that_is_not_there_is_reported(path: Path):
    with pytest.raises(ValuesError, match="cannot be read: No such file"):
        read_payload(path)
