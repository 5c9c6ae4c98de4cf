"""Variables compressed by a filter that netCDF4 has not: the filter is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from packed_by_plugins import NOBODYS, write_packed

from burstlens.core.errors import FrameError
from burstlens.viz.diagnostics.derived import open_frame

LZF = 32000
"""h5py alone has it."""


@pytest.mark.parametrize("number", [NOBODYS, LZF])
def test_the_filter_of_a_variable_is_named_and_others_are_read(number: int, tmp_path: Path):
    path = tmp_path / "out.nc"
    write_packed(path, number=number)
    with open_frame([path]) as frame:
        with pytest.raises(FrameError, match=f"out.nc: tas is compressed by .* filter {number}"):
            frame.read("tas")
        assert frame.read("good").max() == 1
