"""Quantities of other models put together from slabs: equal to those of the whole domain."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from burstlens.core.allowance import CORES_VARIABLE, DEFAULT_MEMORY
from burstlens.viz.diagnostics import slabs
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.frames.reader import FrameReader, netCDF4

NAMES = (
    "current", "current_east", "current_north", "height", "temp@-50m", "u@-12m", "current@-12m",
    "current_east@-12m", "temp@2", "current@-30--10m", "temp * 2 [K]", "hypot(u, v) [m s-1]",
    "temp@-10m - temp@-50m [K]",
)  # fmt: skip


def read(path: Path, name: str, window: Any, slab_bytes: float, cores: int = 1) -> Any:
    with pytest.MonkeyPatch.context() as patch, open_frame([path], 1) as frame:
        patch.setattr(slabs, "SHARE", slab_bytes / DEFAULT_MEMORY)
        patch.setenv(CORES_VARIABLE, str(cores))
        return frame.read(name, window)


def deflated(path: Path, out: Path, chunk: int) -> Path:
    """A copy whose fields are deflated in chunks of at most so many points."""
    with netCDF4.Dataset(path) as old, netCDF4.Dataset(out, "w") as new:
        for name, dimension in old.dimensions.items():
            new.createDimension(name, len(dimension))
        for name, variable in old.variables.items():
            about = {key: variable.getncattr(key) for key in variable.ncattrs()}
            chunks = [min(chunk, size) for size in variable.shape] or None
            made = new.createVariable(
                name, variable.dtype, variable.dimensions, zlib=bool(chunks), chunksizes=chunks,
                fill_value=about.pop("_FillValue", None),
            )  # fmt: skip
            made.setncatts(about)
            made[...] = variable[...]
    return out


@pytest.mark.slow
@pytest.mark.parametrize("without", [(), ("angle",)])
@pytest.mark.parametrize(("chunk", "cores"), [(7, 2), (0, 1), (0, 3), (7, 1)])
def test_every_quantity_is_the_same_in_slabs(
    roms: Callable[..., Path], tmp_path: Path, without: tuple[str, ...], chunk: int, cores: int
):
    path = roms(without=without)
    cut = deflated(path, tmp_path / "deflated.nc", chunk) if chunk else path
    for name in NAMES:
        expected = read(path, name, None, 1e12)
        for slab_bytes in (1, 40_000):
            values = read(cut, name, None, slab_bytes, cores)
            assert values.dtype == expected.dtype, name
            assert np.array_equal(values, expected, equal_nan=True), name


@pytest.mark.slow
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.sampled_from(NAMES), st.integers(1, 10**5), st.integers(0, 10), st.integers(1, 18),
    st.integers(0, 10), st.integers(1, 24), st.integers(1, 3), st.integers(1, 3),
)  # fmt: skip
def test_windows_and_strides_are_those_of_the_whole(
    roms: Callable[..., Path], name: str, slab_bytes: int, south: int, rows: int, west: int,
    columns: int, down: int, across: int,
):  # fmt: skip
    path = roms(without=("angle",))
    whole = read(path, name, None, 1e12)
    parts = (slice(south, south + rows, down), slice(west, west + columns, across))
    u = name.startswith("u@")
    window = dict(zip(("eta_u", "xi_u") if u else ("eta_rho", "xi_rho"), parts, strict=True))
    values = read(path, name, window, slab_bytes)
    assert np.array_equal(values, whole[(..., *parts)], equal_nan=True)


def test_rows_that_are_not_shown_are_not_read(
    roms: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
):
    seen: dict[str, int] = {}
    plain = FrameReader.read

    def noted(self: Any, name: str, window: Any = None) -> Any:
        values = plain(self, name, window)
        seen[name] = max(seen.get(name, 0), values.size)
        return values

    path = roms(without=("angle",))
    monkeypatch.setattr(FrameReader, "read", noted)
    read(path, "current_east@-12m", {"eta_rho": slice(4, 6), "xi_rho": slice(3, 9)}, 1e12)
    assert seen["u"] == 10 * 2 * 7
    assert seen["v"] == 10 * 3 * 6
    assert seen["h"] <= 4 * 8
