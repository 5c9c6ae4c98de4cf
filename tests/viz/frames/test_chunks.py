"""Finding chunks, and reading their bytes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import pytest

from burstlens.viz.frames import chunks
from burstlens.viz.frames.chunks import ChunkCache, ChunkFile, identity_of

Write = Callable[..., Path]


@pytest.fixture
def opened(deflated_file: Write):
    path = deflated_file()
    file = ChunkFile(path, identity_of(path.stat()))
    yield file
    file.close()


def test_the_chunks_of_one_record_are_found_with_their_bytes(opened: ChunkFile, tmp_path: Path):
    layout = opened.layout("W", 0, 1)
    assert layout is not None
    assert (layout.shape, layout.chunk) == ((2, 9, 20, 30), (1, 4, 10, 16))
    assert (layout.kind.str, layout.is_shuffled, layout.chunk_bytes) == ("<f4", True, 2560)
    assert set(layout.chunks) == {
        (1, z, y, x) for z in (0, 4, 8) for y in (0, 10) for x in (0, 16)
    }  # fmt: skip
    with h5py.File(tmp_path / "frame.nc", "r", locking=False) as file:
        for first, chunk in layout.chunks.items():
            skipped, stored = file["W"].id.read_direct_chunk(first)
            assert (chunk.skipped, opened.stored(chunk).tobytes()) == (skipped, stored)


def test_bytes_that_come_in_halves_are_put_together(
    opened: ChunkFile, monkeypatch: pytest.MonkeyPatch
):
    layout, real = opened.layout("W", 0, 0), os.preadv
    assert layout is not None
    chunk = layout.chunks[0, 0, 0, 0]
    whole = opened.stored(chunk).tobytes()

    def half(descriptor: int, buffers: Any, at: int) -> int:
        return real(descriptor, [buffers[0][: max(1, len(buffers[0]) // 2)]], at)

    monkeypatch.setattr(os, "preadv", half)
    assert opened.stored(chunk).tobytes() == whole


def test_a_file_that_ends_within_a_chunk_is_an_error(opened: ChunkFile, tmp_path: Path):
    layout = opened.layout("W", 0, 0)
    assert layout is not None
    chunk = layout.chunks[0, 4, 10, 0]
    os.truncate(tmp_path / "frame.nc", chunk.position + 100)
    with pytest.raises(OSError, match=rf"the file ends after 100 of its {chunk.size} bytes"):
        opened.stored(chunk)


def test_another_file_of_that_path_is_refused(deflated_file: Write):
    path, other = deflated_file(), deflated_file("other.nc")
    identity = identity_of(path.stat())
    os.replace(other, path)
    with pytest.raises(OSError, match="was replaced"):
        ChunkFile(path, identity)


@pytest.mark.parametrize(
    ("how", "has_layout"),
    [
        ({}, True),
        ({"shuffle": False}, True),
        ({"zlib": False}, False),
        ({"fletcher32": True}, False),
        ({"zlib": False, "compression": "zstd"}, False),
        ({"endian": "big"}, False),
    ],
)
def test_only_deflate_and_shuffle_of_native_floats_have_a_layout(
    deflated_file: Write, how: dict[str, Any], has_layout: bool
):
    path = deflated_file(**how)
    file = ChunkFile(path, identity_of(path.stat()))
    assert (file.layout("W", 0, 0) is not None) == has_layout
    assert file.layout("x") is None
    assert file.layout("no such variable") is None
    file.close()


def test_a_user_block_is_left_to_netcdf4(tmp_path: Path):
    path = tmp_path / "block.nc"
    with h5py.File(path, "w", userblock_size=512) as file:
        file.create_dataset("W", data=[[1.0, 2.0]], compression="gzip", dtype="f4")
    file = ChunkFile(path, identity_of(path.stat()))
    assert file.layout("W") is None
    file.close()


def test_the_cache_keeps_the_latest_chunks(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(chunks, "CACHE_BYTES", 100)
    cache = ChunkCache()
    for number in range(4):
        cache.add(number, bytearray(40), whole=False)
    cache.add("large", bytearray(101), whole=False)
    assert [cache.get(number) is not None for number in (*range(4), "large")] == [
        False, False, True, True, False,
    ]  # fmt: skip
    cache.clear()
    assert cache.get(3) is None


def test_a_shared_cache_keeps_the_first_chunks_and_drops_none(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(chunks, "CACHE_BYTES", 40)
    cache = ChunkCache()
    cache.shared = 100
    for number in range(4):
        cache.add(number, bytearray(40), whole=True)
    assert [cache.get(number) is not None for number in range(4)] == [True, True, False, False]
    cache.add(3, bytearray(40), whole=False)
    assert cache.get(3) is not None
    cache.clear()
    assert cache.get(0) is None
    assert cache.shared == 100


READER = """
import os, sys
from pathlib import Path
from burstlens.viz.frames import deflated
from burstlens.viz.diagnostics.derived import open_frame
deflated.LEAST_BYTES = deflated._MET_BYTES = deflated._STORED_BYTES = 0
path = Path(sys.argv[1])
with open_frame([path]) as frame:
    frame.read("W")
    for fd in os.listdir("/proc/self/fd"):
        if os.path.realpath(f"/proc/self/fd/{fd}") == str(path):
            flags = Path(f"/proc/self/fdinfo/{fd}").read_text().split("flags:")[1].split()[0]
            print("mode", int(flags, 8) & os.O_ACCMODE)
    mine, file = f" {os.getpid()} ", f":{path.stat().st_ino} "
    if any(mine in line and file in line for line in open("/proc/locks")):
        print("locked")
"""


@pytest.mark.integration
@pytest.mark.parametrize("asked", [None, "TRUE"])
def test_no_lock_is_asked_for_and_the_file_is_never_opened_for_writing(
    deflated_file: Write, asked: str | None
):
    environment = {k: v for k, v in os.environ.items() if k != "HDF5_USE_FILE_LOCKING"}
    if asked:
        environment["HDF5_USE_FILE_LOCKING"] = asked
    words = [sys.executable, "-c", READER, str(deflated_file().resolve())]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:-1] == [f"mode {os.O_RDONLY}"] * 2
