"""Diagnostics put together from slabs: equal to those of the whole domain, whatever is cut."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from burstlens.core.allowance import CORES_VARIABLE, DEFAULT_MEMORY, MEMORY_VARIABLE
from burstlens.core.errors import FrameError, RecipeError
from burstlens.viz.diagnostics import boxes, slabs
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.diagnostics.diagnostic import VOLUME
from burstlens.viz.diagnostics.levels import interpolate
from burstlens.viz.diagnostics.table import DIAGNOSTICS
from burstlens.viz.frames.reader import FrameReader, netCDF4

NAMES = (
    *DIAGNOSTICS, "wind@850hPa", "temperature@1500m", "U@80m agl", "theta_e@900-700hPa",
    "vorticity@850hPa", "W@5", "hypot(U10, V10) [m s-1]", "theta_e@850hPa - T [K]",
    "QVAPOR * W + vorticity", "U + V", "T@850hPa - T@700hPa [K]",
)  # fmt: skip


def copied(path, source, chunk=None):
    """A copy in netCDF-4, its fields deflated in chunks of at most so many points; classic
    without."""
    form = "NETCDF4" if chunk else "NETCDF3_64BIT_OFFSET"
    with netCDF4.Dataset(source) as old, netCDF4.Dataset(path, "w", format=form) as new:
        new.setncatts({name: old.getncattr(name) for name in old.ncattrs()})
        for name, dimension in old.dimensions.items():
            new.createDimension(name, None if dimension.isunlimited() else len(dimension))
        for name, variable in old.variables.items():
            shape = [min(chunk or 1, max(1, size)) for size in variable.shape]
            deflated = {"zlib": True, "complevel": 1, "shuffle": True, "chunksizes": shape or None}
            how = deflated if chunk and variable.dtype.kind != "S" else {}
            made = new.createVariable(name, variable.dtype, variable.dimensions, **how)
            made.setncatts({key: variable.getncattr(key) for key in variable.ncattrs()})
            made[...] = variable[...]
    return path


@pytest.fixture(scope="module")
def whole():
    """Fields of frames by path and name, computed at once."""
    known = {}

    def field(paths, name, window):
        key = (tuple(map(str, paths)), name, str(window))
        if key not in known:
            with pytest.MonkeyPatch.context() as patch, open_frame(paths) as frame:
                patch.setattr(slabs, "SHARE", 1000.0)
                try:
                    known[key] = frame.read(name, window)
                except FrameError:
                    known[key] = None  # this frame lacks what it needs
        return known[key]

    return field


def cut(paths, name, window, slab_bytes, cores=1):
    with pytest.MonkeyPatch.context() as patch, open_frame(paths) as frame:
        patch.setenv(CORES_VARIABLE, str(cores))
        patch.setattr(slabs, "SHARE", slab_bytes / DEFAULT_MEMORY)
        return frame.read(name, window)


CUTS = [(1, 1), (200_000, 1), (200_000, 3)]
"""The largest bytes of a slab, and the cores."""


@pytest.mark.parametrize(
    ("frame", "slab_bytes", "cores"),
    [(frame, 200_000, 3) for frame in ("cyclone", "nest", "tiles")]
    + [
        pytest.param(frame, *cut, marks=pytest.mark.slow)
        for frame in ("cyclone", "nest", "tiles", "supercell")
        for cut in CUTS
        if frame == "supercell" or cut != (200_000, 3)
    ],
)
def test_every_diagnostic_is_the_same_in_slabs(frame, slab_bytes, cores, whole, request):
    found = request.getfixturevalue(frame)
    paths = found if isinstance(found, list) else [found]
    for name in NAMES:
        expected = whole(paths, name, None)
        if expected is not None:
            values = cut(paths, name, None, slab_bytes, cores)
            assert values.dtype == expected.dtype, name
            assert np.array_equal(values, expected, equal_nan=True), name


@pytest.mark.slow
@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@example("precipitable_water", 1, 0, 2, 0, 1, 1, 1)  # a column alone
@given(
    st.sampled_from(NAMES), st.integers(1, 10**6), st.integers(0, 20), st.integers(1, 40),
    st.integers(0, 20), st.integers(1, 40), st.integers(1, 3), st.integers(1, 3),
)  # fmt: skip
def test_windows_and_strides_are_those_of_the_whole(
    supercell, whole, name, slab_bytes, south, rows, west, columns, down, across
):
    window = {
        "south_north": slice(south, south + rows, down),
        "west_east": slice(west, west + columns, across),
    }
    expected = whole([supercell], name, window)
    if expected is not None:
        values = cut([supercell], name, window, slab_bytes)
        assert np.array_equal(values, expected, equal_nan=True)


@pytest.mark.slow
@pytest.mark.parametrize(("chunk", "cores"), [(25, 1), (None, 1), (7, 1), (16, 2)])
def test_classic_and_compressed_files_give_the_same(supercell, whole, tmp_path, chunk, cores):
    path = copied(tmp_path / "deflated.nc", supercell, chunk)
    # Of some chunks each way, with the last ones, which are not full.
    window = {"south_north": slice(15, None), "west_east": slice(20, None)}
    for name in NAMES:
        expected = whole([supercell], name, window)
        if expected is not None:
            values = cut([path], name, window, 100_000, cores)
            assert np.array_equal(values, expected, equal_nan=True), name


@pytest.fixture
def times(monkeypatch):
    """The names of variables that are read from files, once per reading."""
    names, read = [], FrameReader.read

    def noted(self, name, window=None):
        names.append(name)
        return read(self, name, window)

    monkeypatch.setattr(FrameReader, "read", noted)
    return names


def chunks_in(variable, window):
    """The chunks of a variable that a window meets, by their numbers along each dimension."""
    parts = [
        sorted({at // chunk for at in range(*window.get(dimension, slice(None)).indices(size))})
        for dimension, size, chunk in zip(
            variable.dimensions, variable.shape, variable.chunks, strict=True
        )
    ]
    return [(variable.name, *at) for at in itertools.product(*parts)]


@pytest.mark.slow
@pytest.mark.parametrize("chunk", [7, 16])
@pytest.mark.parametrize(
    "name", ["reflectivity_max", "wind@500hPa", "vorticity", "updraft_helicity", "divergence"]
)
def test_no_chunk_is_inflated_twice(supercell, tmp_path, monkeypatch, name, chunk):
    path = copied(tmp_path / "deflated.nc", supercell, chunk)
    inflated = []
    read = FrameReader.read

    def counted(self, name, window=None):
        variable = self.variable(name)
        if variable.chunks:
            inflated.extend(chunks_in(variable, window or {}))
        return read(self, name, window)

    monkeypatch.setattr(FrameReader, "read", counted)
    cut([path], name, None, 100_000)
    inflated = [chunk for chunk in inflated if len(chunk) > 3]  # planes are read by netCDF4
    assert len(inflated) > 20
    assert len(inflated) == len(set(inflated))


@pytest.mark.slow
def test_small_chunks_are_read_together(supercell, tmp_path, times):
    path = copied(tmp_path / "deflated.nc", supercell, 4)
    with open_frame([path]) as frame:
        sizes = frame.dimensions
    column = 4 * sizes["bottom_top"] * len(DIAGNOSTICS["reflectivity_max"].needs)
    cut([path], "reflectivity_max", None, 16 * column * sizes["west_east"])
    pieces = -(-sizes["bottom_top"] // 8)
    assert times.count("QRAIN") <= -(-sizes["south_north"] // 12) * pieces


def test_compressed_tiles_are_read_once_and_give_the_same(tiles, whole, tmp_path, times):
    paths = [copied(tmp_path / path.name, path, 9) for path in tiles]
    values = cut(paths, "theta", None, 1000)
    assert times.count("T") == 1
    assert np.array_equal(values, whole(tiles, "theta", None), equal_nan=True)


def test_large_compressed_tiles_are_read_tile_by_tile(tiles, whole, tmp_path, monkeypatch):
    paths = [copied(tmp_path / path.name, path, 9) for path in tiles]
    rows, read = [], FrameReader.read
    expected = {name: whole(tiles, name, None) for name in ("theta", "U + V")}

    def noted(self, name, window=None):
        rows.extend(len(range(*part.indices(99))) for d, part in window.items() if d[0] == "s")
        return read(self, name, window)

    monkeypatch.setattr(FrameReader, "read", noted)
    monkeypatch.setattr("burstlens.viz.frames.reader.room", lambda: 0)
    for name, values in expected.items():
        assert np.array_equal(cut(paths, name, None, 1000), values, equal_nan=True)
    assert len(rows) == 6  # T, U and V, of both tiles
    assert max(rows) == 21


def test_temporaries_do_not_grow_with_the_domain(supercell, tmp_path, monkeypatch):
    """Each slab holds as many rows as fit, one at least."""
    path = copied(tmp_path / "classic.nc", supercell)
    rows = []
    read = FrameReader.read

    def noted(self, name, window=None):
        if name == "QRAIN":
            rows.append(len(range(*window["south_north"].indices(10**6))))
        return read(self, name, window)

    monkeypatch.setattr(FrameReader, "read", noted)
    with open_frame([path]) as frame:
        size, names = frame.dimensions, DIAGNOSTICS["reflectivity_max"].reads(frame)
    each = len(names) * size["west_east"] * size["bottom_top"] * 4 * 4
    for fits, expected in ((0, 1), (1, 1), (5, 5), (10**6, size["south_north"])):
        rows.clear()
        cut([path], "reflectivity_max", None, max(1, fits * each))
        assert max(rows) == expected
        assert sum(rows) == size["south_north"]


def test_a_box_holds_the_halo_of_its_columns(supercell, tmp_path, times):
    path = copied(tmp_path / "deflated.nc", supercell, 25)
    cut([path], "vorticity@850hPa", None, 1000)
    assert 1 < times.count("U") <= 4  # one per box


@pytest.mark.slow
def test_what_is_held_of_compressed_chunks_does_not_grow_with_the_domain(
    supercell, tmp_path, monkeypatch
):
    path = copied(tmp_path / "deflated.nc", supercell, 10)
    held, cut_out = [], boxes.Boxed._cut

    def noted(self, *arguments):
        values = cut_out(self, *arguments)
        held.append(sum(array.nbytes for array in self._held.values()))
        return values

    monkeypatch.setattr(boxes.Boxed, "_cut", noted)
    most = []
    for rows in (10, 20, 40):
        held.clear()
        cut([path], "reflectivity_max", {"south_north": slice(0, rows)}, 100_000)
        most.append(max(held))
    assert most[0] == most[1] == most[2] == 5 * 40 * 10 * 10 * 4


@pytest.mark.slow
def test_only_the_levels_around_a_level_are_read(supercell, tmp_path, monkeypatch):
    read, levels = FrameReader.read, {"classic": [], "deflated": []}
    for form, chunk in (("classic", None), ("deflated", 8)):
        path = copied(tmp_path / f"{form}.nc", supercell, chunk)

        def noted(self, name, window=None, seen=levels[form]):
            if name == "U":
                seen.append(range(*window["bottom_top"].indices(40)))
            return read(self, name, window)

        monkeypatch.setattr(FrameReader, "read", noted)
        cut([path], "wind@500hPa", None, 200_000)
    assert max(map(len, levels["classic"])) <= 4
    assert max(map(len, levels["deflated"])) == 8
    assert len(levels["deflated"]) < len(levels["classic"])  # held for several slabs


@pytest.mark.parametrize(
    "name", [d.name for d in DIAGNOSTICS.values() if d.dimensions == VOLUME and not d.parts]
)
def test_quantities_of_levels_are_local_to_their_level(supercell, cyclone, name):
    """At a level they are computed on those around it alone."""
    for path in (supercell, cyclone):
        with open_frame([path]) as frame:
            try:
                whole, pressure = frame.read(name), frame.read("pressure")
            except FrameError:
                continue  # this frame lacks what it needs
            expected = interpolate(whole, pressure, 85000.0, log=True)
            assert np.array_equal(frame.read(f"{name}@850hPa"), expected, equal_nan=True)


def test_a_row_that_takes_more_than_the_memory_is_refused(supercell, monkeypatch):
    monkeypatch.setenv(MEMORY_VARIABLE, "50000")
    with open_frame([supercell]) as frame, pytest.raises(RecipeError) as refused:
        frame.read("reflectivity_max")
    assert "reflectivity_max: one row of 41 columns takes 128 KiB" in str(refused.value)
    assert "a worker may use 48.8 KiB" in str(refused.value)
    assert "allow more, or crop" in str(refused.value)


def test_threads_that_each_take_a_row_share_the_memory(supercell, monkeypatch):
    monkeypatch.setenv(MEMORY_VARIABLE, str(1 << 20))
    with open_frame([supercell]) as frame:
        frame.read("reflectivity_max")
        monkeypatch.setenv(CORES_VARIABLE, "8")
        with pytest.raises(RecipeError, match="one row of 41 columns takes 128 KiB"):
            frame.read("reflectivity_max")
