"""Frames read chunk by chunk: the bits that netCDF4 gives, for all that a file may hold."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from burstlens.core.errors import FrameError
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.frames import deflated
from burstlens.viz.frames.reader import FrameReader, netCDF4
from burstlens.viz.frames.reading_time import Spent, measured
from burstlens.viz.frames.tile import Tiles

WRF = Path(__file__).parents[2] / "data" / "wrf"
NAN = float("nan")


@pytest.fixture(autouse=True)
def of_any_size(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(deflated, "LEAST_BYTES", 0)
    monkeypatch.setattr(deflated, "_MET_BYTES", 0)
    monkeypatch.setattr(deflated, "_STORED_BYTES", 0)


def by_netcdf4(paths: list[Path], record: int, name: str, window: Any, *, bare: bool) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deflated, "LEAST_BYTES", 1 << 60)
        return read(paths, record, name, window, bare=bare)


def read(paths: list[Path], record: int, name: str, window: Any, *, bare: bool) -> Any:
    reader = FrameReader(paths, record, "d01", "")
    try:
        return reader.stored(name, window).values if bare else reader.read(name, window)
    finally:
        reader.close()


def is_read_chunk_by_chunk(path: Path, name: str, record: int = 0) -> bool:
    tiles = Tiles([path], record, "")
    shape = tiles.first.variables[name].shape
    ((_, _, tile),) = tiles.parts(name, ("",), [slice(0, 1, 1)])
    index = [
        record if dimension == "Time" else slice(0, size, 1)
        for dimension, size in zip(tiles.first.variables[name].dimensions, shape, strict=True)
    ]
    try:
        return deflated.read(tile, name, index, bare=False) is not None
    finally:
        tiles.close()


FILTERS = (
    {"zlib": True}, {"zlib": True}, {"zlib": True, "shuffle": False},
    {"zlib": True, "shuffle": False}, {"zlib": True, "complevel": 9},
    {"zlib": True, "fletcher32": True}, {"fletcher32": True}, {"zlib": False, "shuffle": True},
    {"compression": "zstd"}, {"compression": "bzip2"}, {},
)  # fmt: skip
ATTRIBUTES = (
    {}, {}, {"missing_value": 5}, {"missing_value": [5, 6]}, {"missing_value": NAN},
    {"missing_value": np.float64(5.1)}, {"valid_range": [0, 9]}, {"valid_min": 3},
    {"scale_factor": np.float64(0.5), "add_offset": np.float64(3)}, {"_Unsigned": "true"},
)  # fmt: skip


@st.composite
def variables(draw: Any) -> dict[str, Any]:
    """A variable ``v`` along Time and up to 3 other dimensions, and the window to read."""
    sizes = draw(st.lists(st.integers(1, 13), min_size=1, max_size=3))
    records = draw(st.integers(1, 3))
    ends = st.tuples(*(st.tuples(st.integers(0, n), st.integers(0, n)) for n in sizes))
    return {
        "sizes": sizes,
        "records": records,
        "record": draw(st.integers(0, records - 1)),
        "axis": draw(st.sampled_from([0, 0, len(sizes)])),  # of Time
        "chunk": [draw(st.integers(1, size)) for size in sizes],
        "chunk_records": draw(st.integers(1, records)),
        "kind": draw(st.sampled_from(["f4", "f4", "f4", "f4", "f8", "f8", ">f4", "i2", "u1"])),
        "filters": draw(st.sampled_from(FILTERS)),
        "fill": draw(st.sampled_from([None, None, 7, NAN, False])),
        "attributes": draw(st.sampled_from(ATTRIBUTES)),
        "is_unlimited": draw(st.booleans()),
        "unwritten": draw(st.sampled_from([0, 0, 1])),
        "window": [
            slice(min(pair), max(pair), draw(st.integers(1, 4))) for pair in draw(ends)
        ],
        "seed": draw(st.integers(0, 9)),
    }  # fmt: skip


def write(path: Path, how: dict[str, Any]) -> None:
    kind = np.dtype(how["kind"]).newbyteorder("=")
    names, chunk, shape = [f"d{n}" for n in range(len(how["sizes"]))], how["chunk"], how["sizes"]
    names, chunk, shape = (
        [*before[: how["axis"]], own, *before[how["axis"] :]]
        for before, own in (
            (names, "Time"), (chunk, how["chunk_records"]), (shape, how["records"])
        )
    )  # fmt: skip
    rng = np.random.default_rng(how["seed"])
    values = np.floor(rng.uniform(0, 12, shape)).astype(kind)
    if kind.kind == "f":
        for special in (np.nan, -np.float32(np.nan), netCDF4.default_fillvals[kind.str[1:]]):
            values[rng.uniform(size=shape) < 0.1] = special
    takes_nan = kind.kind == "f"
    with netCDF4.Dataset(os.fspath(path), "w") as data:
        for name, size in zip(names, shape, strict=True):
            is_open = name == "Time" and how["is_unlimited"]
            data.createDimension(name, None if is_open else size)
        variable = data.createVariable(
            "v", kind, names, chunksizes=chunk, **how["filters"],
            fill_value=how["fill"] if takes_nan or how["fill"] == how["fill"] else None,
            endian="big" if how["kind"].startswith(">") else "native",
        )  # fmt: skip
        variable.set_auto_maskandscale(False)
        for name, value in how["attributes"].items():
            own = isinstance(value, str | np.float64)
            if takes_nan or own or value == value:
                variable.setncattr(name, value if own else np.asarray(value).astype(kind))
        # The last record may not have been written, or of one of its chunks a point only.
        written = [slice(None)] * len(shape)
        written[how["axis"]] = slice(0, how["records"] - how["unwritten"])
        variable[tuple(written)] = values[tuple(written)]
        if how["unwritten"] and how["seed"] % 2:
            point = [0] * len(shape)
            point[how["axis"]] = how["records"] - 1
            variable[tuple(point)] = values[tuple(point)]


@settings(
    max_examples=400, deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip
@given(how=variables(), bare=st.booleans())
def test_any_window_of_any_variable_has_the_bits_that_netcdf4_gives(
    how: dict[str, Any], bare: bool, tmp_path: Path
):
    assume(not (how["unwritten"] and how["fill"] is False))  # anything may stand there
    path = tmp_path / "any.nc"
    write(path, how)
    with netCDF4.Dataset(os.fspath(path)) as data:
        assume(how["record"] < len(data.dimensions["Time"]))
    window = {f"d{n}": part for n, part in enumerate(how["window"])}
    case = ([path], how["record"], "v", window)
    with np.errstate(invalid="ignore"):
        found, wanted = read(*case, bare=bare), by_netcdf4(*case, bare=bare)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    assert found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("source", sorted(WRF.glob("wrfout*")), ids=lambda path: path.name)
def test_every_variable_of_real_files_has_the_bits_that_netcdf4_gives(source: Path):
    windows = {}, {"south_north": slice(3, 20, 4), "west_east_stag": slice(7, 19)}

    def bits() -> list[bytes]:
        with netCDF4.Dataset(os.fspath(source)) as data:
            last = len(data.dimensions["Time"]) - 1
        with open_frame([source], last) as frame:
            return [
                values.tobytes()
                for name in frame.names if name in frame
                for window in windows
                for values in (frame.read(name, window), frame.stored(name, window).values)
            ]  # fmt: skip

    found = bits()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deflated, "LEAST_BYTES", 1 << 60)
        assert found == bits()


def test_fields_of_wrf_are_read_chunk_by_chunk_and_what_needs_netcdf4_is_not(
    supercell: Path, deflated_file: Any
):
    assert is_read_chunk_by_chunk(supercell, "W")
    assert not is_read_chunk_by_chunk(supercell, "Times")
    assert is_read_chunk_by_chunk(deflated_file(), "W", 1)
    assert is_read_chunk_by_chunk(deflated_file(fill_value=-1.0, shuffle=False), "W")
    for how in ({"fletcher32": True}, {"zlib": False}, {"endian": "big"}):
        assert not is_read_chunk_by_chunk(deflated_file(**how), "W"), how
    for name, value in (
        ("valid_min", 0), ("valid_max", 1), ("valid_range", [0, 1]), ("scale_factor", 2),
        ("add_offset", 1), ("_Unsigned", "true"), ("missing_value", np.float64(5)),
    ):  # fmt: skip
        path = deflated_file()
        with netCDF4.Dataset(os.fspath(path), "a") as data:
            own = isinstance(value, str | np.float64)
            data["W"].setncattr(name, value if own else np.asarray(value, "f4"))
        assert not is_read_chunk_by_chunk(path, "W"), name


def test_little_is_left_to_netcdf4(deflated_file: Any, monkeypatch: pytest.MonkeyPatch):
    path = deflated_file()
    inflated = 3 * 2 * 2 * (4 * 10 * 16 * 4)
    monkeypatch.setattr(deflated, "LEAST_BYTES", inflated)
    assert is_read_chunk_by_chunk(path, "W")
    monkeypatch.setattr(deflated, "LEAST_BYTES", inflated + 1)
    assert not is_read_chunk_by_chunk(path, "W")


def test_tiles_are_read_chunk_by_chunk_and_joined(tiles: list[Path]):
    for window in ({}, {"south_north": slice(15, 30, 2), "west_east": slice(5, 40, 3)}):
        found = read(tiles, 0, "W", window, bare=False)
        assert found.tobytes() == by_netcdf4(tiles, 0, "W", window, bare=False).tobytes()


def test_a_chunk_that_was_stored_without_its_filters_is_read(deflated_file: Any):
    path = deflated_file(shuffle=True)
    values = np.arange(4 * 10 * 16, dtype="f4").reshape(1, 4, 10, 16)
    shuffled = values.view("u1").reshape(-1, 4).T.tobytes()
    with h5py.File(path, "r+", locking=False) as file:
        file["W"].id.write_direct_chunk((0, 4, 10, 0), values.tobytes(), 0b11)
        file["W"].id.write_direct_chunk((0, 4, 0, 0), shuffled, 0b10)
    window = {"z": slice(4, 8), "y": slice(0, 20), "x": slice(0, 16)}
    found = read([path], 0, "W", window, bare=False)
    assert is_read_chunk_by_chunk(path, "W")
    assert np.array_equal(found[:, 10:], values[0])
    assert np.array_equal(found[:, :10], values[0])
    assert found.tobytes() == by_netcdf4([path], 0, "W", window, bare=False).tobytes()


def test_a_part_that_was_never_written_is_missing(tmp_path: Path):
    path = tmp_path / "growing.nc"
    with netCDF4.Dataset(os.fspath(path), "w") as data:
        data.createDimension("Time", None)
        data.createDimension("x", 64)
        for name in ("a", "b"):
            data.createVariable(name, "f4", ("Time", "x"), zlib=True, chunksizes=(1, 16))
        data["a"][:2, :16] = 1
        data["b"][0] = 1
    for name in ("a", "b"):
        for record in (0, 1):
            case = ([path], record, name, {})
            assert read(*case, bare=False).tobytes() == by_netcdf4(*case, bare=False).tobytes()
    assert np.isnan(read([path], 1, "a", {}, bare=False)[16:]).all()
    assert np.isnan(read([path], 1, "b", {}, bare=False)).all()


@pytest.mark.parametrize(
    "how", [{}, {"shuffle": False}, {"fletcher32": True}, {"fletcher32": True, "zlib": False}]
)
def test_a_damaged_chunk_is_named_and_the_rest_of_the_file_is_read(
    how: dict[str, Any], deflated_file: Any, damage: Any
):
    path = deflated_file(**how)
    position = damage(path, "W", (1, 4, 10, 16))
    with open_frame([path], 0) as frame:
        frame.read("W")
    with open_frame([path], 1) as frame:
        frame.read("W", {"z": slice(0, 4)})
        with pytest.raises(FrameError) as wrong:
            frame.read("W")
    text = f"W of frame.nc cannot be read: frame.nc: chunk (1, 1, 1, 1) at byte {position}"
    assert str(wrong.value).startswith(text)


def test_a_damaged_chunk_that_netcdf4_reads_is_named_too(
    deflated_file: Any, damage: Any, monkeypatch: pytest.MonkeyPatch
):
    path = deflated_file()
    position = damage(path, "W", (0, 8, 0, 0))
    monkeypatch.setattr(deflated, "LEAST_BYTES", 1 << 60)
    with (
        open_frame([path], 0) as frame,
        pytest.raises(FrameError, match=rf"chunk \(0, 2, 0, 0\) at byte {position}"),
    ):
        frame.read("W")


def test_a_damaged_chunk_of_a_tile_names_its_file(tiles: list[Path], tmp_path: Path, damage: Any):
    copies = [tmp_path / path.name for path in tiles]
    for path, copy in zip(tiles, copies, strict=True):
        copy.write_bytes(path.read_bytes())
    position = damage(copies[1], "W", (0, 0, 0, 0))
    with open_frame(copies) as frame, pytest.raises(FrameError) as wrong:
        frame.read("W")
    assert f"{copies[1].name}: chunk (0, 0, 0, 0) at byte {position}" in str(wrong.value)


def test_a_file_that_was_cut_while_it_is_open_is_an_error(deflated_file: Any):
    path = deflated_file()
    with open_frame([path], 1) as frame:
        frame.read("W", {"z": slice(0, 4)})
        os.truncate(path, path.stat().st_size - 9000)
        with pytest.raises(FrameError, match=r"frame\.nc"):
            frame.read("W")


def test_a_file_that_is_replaced_is_read_as_it_was_opened(deflated_file: Any):
    first, second = np.full((1, 9, 20, 30), 1, "f4"), np.full((1, 9, 20, 30), 2, "f4")
    path, other = deflated_file(values=first), deflated_file("other.nc", second)
    later = deflated_file("later.nc", second)
    with open_frame([path]) as before, open_frame([path]) as after:
        before.variable("W"), after.read("W", {"z": slice(0, 2)})
        os.replace(other, path)
        assert (before.read("W") == 1).all()
        os.replace(later, path)
        assert (after.read("W") == 1).all()
    with open_frame([path]) as frame:
        assert (frame.read("W") == 2).all()


def test_what_h5py_cannot_open_is_read_by_netcdf4(
    deflated_file: Any, monkeypatch: pytest.MonkeyPatch
):
    def refused(*_: Any, **__: Any) -> Any:
        raise OSError("Unable to open file (bad object header version number)")

    path = deflated_file()
    expected = read([path], 0, "W", {}, bare=False)
    monkeypatch.setattr(h5py, "File", refused)
    assert not is_read_chunk_by_chunk(path, "W")
    assert read([path], 0, "W", {}, bare=False).tobytes() == expected.tobytes()


def test_the_time_of_reading_is_counted(deflated_file: Any):
    spent, path = Spent(), deflated_file()
    with measured(spent), open_frame([path]) as frame:
        frame.read("W")
    assert spent.seconds > 0


def test_reading_resumes_after_an_error_that_passes(
    deflated_file: Any, monkeypatch: pytest.MonkeyPatch
):
    path, real, failures = deflated_file(), os.preadv, [OSError(5, "I/O error")]

    def flaky(descriptor: int, buffers: Any, at: int) -> int:
        if failures:
            raise failures.pop()
        return real(descriptor, buffers, at)

    monkeypatch.setattr(os, "preadv", flaky)
    found = read([path], 0, "W", {}, bare=False)
    assert not failures
    assert found.tobytes() == by_netcdf4([path], 0, "W", {}, bare=False).tobytes()


def test_a_chunk_that_cannot_be_read_is_named(deflated_file: Any, monkeypatch: pytest.MonkeyPatch):
    def failing(*_: Any) -> int:
        raise OSError(5, "Input/output error")

    path = deflated_file()
    monkeypatch.setattr(os, "preadv", failing)
    with pytest.raises(FrameError, match=r"W of .*: chunk \(0, \d, \d, \d\) at byte \d+: .*error"):
        read([path], 0, "W", {}, bare=False)


def test_a_file_is_opened_once_for_its_chunks_and_closed_with_the_frame(deflated_file: Any):
    path = deflated_file()

    def descriptors() -> int:
        links = (os.path.realpath(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd"))
        return sum(link == str(path.resolve()) for link in links)

    counts = [descriptors()]
    with open_frame([path]) as frame:
        counts.append(descriptors())
        for _ in range(3):
            frame.read("W")
            counts.append(descriptors())
    counts.append(descriptors())
    assert [b - a for a, b in pairwise(counts)] == [1, 1, 0, 0, -2]
