"""HDF5 files compressed by plugins of HDF5: read, or the filter named."""

from __future__ import annotations

from pathlib import Path

import netCDF4
import pytest
from packed_by_plugins import NOBODYS, write_packed

from burstlens.core.errors import TimesError
from burstlens.workflows.frames.contents import read_contents
from burstlens.workflows.frames.hdf5 import Prober
from burstlens.workflows.frames.structure import probe

pytestmark = pytest.mark.integration


@pytest.mark.skipif(not netCDF4.__has_zstandard_support__, reason="netCDF4 without zstd")
@pytest.mark.parametrize("compression", ["zstd", "bzip2", "blosc_lz4"])
def test_times_compressed_by_plugins_of_netcdf4_are_read(
    compression: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("HDF5_PLUGIN_PATH", raising=False)  # as in a driver, without netCDF4
    path = tmp_path / "out.nc"
    with netCDF4.Dataset(path, "w") as data:
        data.createDimension("time", None)
        time = data.createVariable("time", "f8", ("time",), compression=compression)
        time.units = "hours since 2001-01-01"
        time[:] = [0, 1, 2]
    prober = Prober()
    try:
        assert prober.ask(str(path), 1, "time").times == ("20010101T010000", "20010101T020000")
        assert read_contents(str(path), prober).variables["time"].ends == (0, 2)
    finally:
        prober.close()


def test_a_filter_that_is_missing_ends_the_wait_for_times(tmp_path: Path, prober: Prober):
    path = str(tmp_path / "out.nc")
    write_packed(Path(path), time_too=True)
    found = probe(path, 0, "time", prober, thorough=True)
    assert found.undecoded
    assert f"HDF5 filter {NOBODYS}" in found.reason
    assert found.reason.startswith("time is compressed")
    with pytest.raises(TimesError, match=f"time is compressed by .* filter {NOBODYS}"):
        read_contents(path, prober)


def test_a_compressed_field_is_no_obstacle_to_times(tmp_path: Path, prober: Prober):
    path = str(tmp_path / "out.nc")
    write_packed(Path(path))
    assert len(probe(path, 0, "time", prober, thorough=True).times) == 3
    assert read_contents(path, prober).variables["tas"].shape == (3, 13, 21)
