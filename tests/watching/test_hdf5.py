"""Superblocks of HDF5 files, byte by byte."""

from __future__ import annotations

import os

import pytest

from burstlens.workflows.frames import hdf5
from burstlens.workflows.frames.hdf5 import SIGNATURE, Superblock

END = 0x0102


def block(version, *, width=8, flags=0, size=96):
    """A superblock with different addresses; the end of the file is ``END``."""
    old = version in (0, 1)
    start = {0: 24, 1: 28}.get(version, 12)
    data = bytearray(b"\xee" * size)
    data[:9] = SIGNATURE + bytes([version])
    data[13 if old else 9] = width
    data[20 if old else 11] = flags
    data[start + 2 * width : start + 3 * width] = END.to_bytes(width, "little")
    return bytes(data[:size])


@pytest.fixture
def read(tmp_path):
    """Reads the superblock of a file with these bytes."""

    def make(data):
        (tmp_path / "file").write_bytes(data)
        descriptor = os.open(tmp_path / "file", os.O_RDONLY)
        try:
            return hdf5.superblock(descriptor)
        finally:
            os.close(descriptor)

    return make


@pytest.mark.parametrize("version", [0, 1, 2, 3])
@pytest.mark.parametrize("width", [2, 4, 8])
def test_the_end_of_the_file_is_found_in_each_version_and_width(read, version, width):
    assert read(block(version, width=width)) == Superblock(END, False)


@pytest.mark.parametrize("version", [0, 1, 2, 3])
@pytest.mark.parametrize(("flags", "writer"), [(0, False), (1, True), (2, False), (3, True)])
def test_the_first_flag_says_that_a_program_has_the_file_open(read, version, flags, writer):
    assert read(block(version, flags=flags)) == Superblock(END, writer)


@pytest.mark.parametrize("data", [block(4), block(0, width=3), block(2, width=16), block(0)[:63]])
def test_a_truncated_or_unknown_superblock_gives_none(read, data):
    assert read(data) is None


def test_a_superblock_of_64_bytes_is_read(read):
    assert read(block(0, size=64)) == Superblock(END, False)


@pytest.mark.parametrize("size", [512, 1024, 2048, 1 << 16])
def test_a_user_block_is_skipped(read, size):
    assert read(b"\0" * size + block(0)) == Superblock(END, False)


@pytest.mark.parametrize("size", [256, 768, 1 << 17])
def test_a_superblock_is_searched_only_at_valid_offsets(read, size):
    assert read(b"\0" * size + block(0)) is None
