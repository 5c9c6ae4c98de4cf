"""Large arrays are read in parts: where they are cut, and how much memory they take."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from burstlens.core.allowance import MEMORY_VARIABLE
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.frames.joining import JoinedArray, cut, part_bytes, parts
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.geometry.field import read_field

SIDE = 3300


@pytest.mark.parametrize("unit", [1, 7, 60, 500])
@pytest.mark.parametrize("count", [1, 13, 64, 1000])
@pytest.mark.parametrize("along", [range(300), range(5, 290, 3), range(299, 300), range(4, 4)])
def test_a_range_is_cut_at_the_borders_of_chunks(along: range, count: int, unit: int):
    found = cut(along, count, unit)
    assert [n for part in found for n in along[part]] == list(along)
    chunks = [{n // unit for n in along[part]} for part in found]
    if unit > 1 and len(along) > count:
        assert sum(map(len, chunks)) == len(set().union(*chunks))
    for part, met in zip(found, chunks, strict=True):
        assert len(along[part]) <= count or len(met) == 1


@pytest.mark.parametrize("chunk", [(1, 1, 1, 1), (1, 3, 1000, 900)])
def test_parts_are_small_and_cover_a_window(chunk: tuple[int, ...], small_worker: None):
    data = np.arange(2 * 5 * 700 * 900, dtype=np.float32).reshape(2, 5, 700, 900)
    index = (1, slice(0, 5, 2), slice(3, 700, 1), slice(0, 900, 1))
    window = data[index]
    joined = JoinedArray(window.shape)
    sizes = []
    for place, one in parts(index, 4, chunk):
        joined.put(place, data[one])
        sizes.append(data[one].nbytes)
    assert np.array_equal(joined.values(), window)
    assert max(sizes) <= max(part_bytes(), 4 * 2 * 700 * 900)
    assert len(sizes) > 1


def test_integers_become_floats_with_the_first_part_that_has_missing_values():
    joined = JoinedArray((4,))
    joined.put((slice(0, 2),), np.array([1, 2], np.int16))
    joined.put((slice(2, 4),), np.array([np.nan, 4.0]))
    assert joined.values().dtype == np.float64
    np.testing.assert_array_equal(joined.values(), [1, 2, np.nan, 4])


@pytest.fixture
def small_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker with so little memory that a field of a few megabytes is a large one."""
    monkeypatch.setenv(MEMORY_VARIABLE, "300000000")


@pytest.fixture
def large_file(tmp_path: Path) -> Callable[..., Path]:
    """Writes a field of SIDE x SIDE points with holes."""

    def write(kind: str, fill: float, **how: Any) -> Path:
        path = tmp_path / "out.nc"
        with netCDF4.Dataset(path, "w") as data:
            for name in ("y", "x"):
                data.createDimension(name, SIDE)
            field = data.createVariable("tas", kind, ("y", "x"), fill_value=fill, **how)
            field.units = "K"
            values = np.arange(SIDE * SIDE, dtype=np.float32).reshape(SIDE, SIDE) % 997
            values[::7, ::5] = fill
            field[:] = values
        return path

    return write


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "how", "units", "times"),
    [
        ("f4", {}, None, 1.5),
        ("f4", {}, "degC", 1.5),
        ("f4", {"compression": "zlib", "chunksizes": (200, SIDE)}, "degC", 1.5),
        ("i2", {}, None, 2.5),  # they become float64
    ],
)
def test_reading_a_large_field_takes_less_memory_than_two_of_it(
    kind: str, how: dict[str, Any], units: str | None, times: float,
    large_file: Callable[..., Path], small_worker: None,
):  # fmt: skip
    path = large_file(kind, -999, **how)
    with open_frame([path]) as frame:
        frame.variable("tas")
        tracemalloc.start()
        field = read_field(frame, "tas", level=None, crop=Crop(), units=units)
        facts = field.facts()
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < times * 4 * SIDE * SIDE
    shift = -273.15 if units else 0
    assert facts["min"] == pytest.approx(shift, abs=1e-3)
    assert facts["nan"] == -(-SIDE // 7) * -(-SIDE // 5)
    assert field.values[1, :3] == pytest.approx(np.arange(SIDE, SIDE + 3) % 997 + shift, abs=1e-3)
    assert facts["mean"] == pytest.approx(np.nanmean(field.values, dtype=np.float64))
    assert field.values[field.position("max")] == facts["max"]
