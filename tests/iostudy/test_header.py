"""The headers of the study's files, read by netCDF's library and by the watcher's own reader."""

from __future__ import annotations

import netCDF4
import pytest

from burstlens.core import cdf
from burstlens.workflows.iostudy.build import header
from burstlens.workflows.iostudy.profile import Profile

PROFILES = {
    "cells": Profile(title="cells", pattern="cells", shape=(4, 4, 4), words=10),
    "blocks": Profile(title="blocks é", pattern="blocks", shape=(2, 3, 5), variables=3),
    "plane": Profile(title="", pattern="blocks", shape=(3, 5), words=2),
    "segments": Profile(title="s", pattern="segments", block=4096, segments=2, align=2**20),
    "many": Profile(title="many", pattern="blocks", shape=(2,), variables=200, align=512),
}
DIMENSIONS = {
    "cells": ("z", "y", "x", "word"), "blocks": ("z", "y", "x"), "plane": ("y", "x", "word"),
    "segments": ("word",), "many": ("x",),
}  # fmt: skip


@pytest.mark.parametrize("name", PROFILES)
def test_the_library_reads_a_file_with_this_header(tmp_path, name):
    profile = PROFILES[name]
    head = header(profile, 2)
    path = tmp_path / "f.nc"
    data = bytes(range(256)) * (profile.frame_bytes(2) // 256 + 1)
    path.write_bytes(head + data[: profile.frame_bytes(2)])
    assert len(head) % profile.align == 0
    with netCDF4.Dataset(path) as nc:
        assert nc.data_model == "NETCDF3_64BIT_DATA"
        assert getattr(nc, "title", "") == profile.title
        assert len(nc.variables) == profile.variables
        last = nc[f"v{profile.variables - 1:02d}"]
        assert last.dimensions == DIMENSIONS[name]
        assert last.shape == profile.dimensions(2)
        size = last.size * 4
        assert last[:].astype(">i4").tobytes() == path.read_bytes()[-size:]


@pytest.mark.parametrize("name", PROFILES)
def test_the_watcher_s_reader_knows_where_the_data_end(tmp_path, name):
    profile = PROFILES[name]
    head = header(profile, 2)
    path = tmp_path / "f.nc"
    path.write_bytes(head)
    with path.open("rb") as file:
        found = cdf.read_header(file.fileno())
    ends = [variable.begin + variable.bytes for variable in found.variables.values()]
    assert max(ends) == len(head) + profile.frame_bytes(2)
