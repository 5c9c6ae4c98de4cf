"""What goes wrong in the middle of a slab is one clear error, and the next field is computed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

from burstlens.core.allowance import CORES_VARIABLE, DEFAULT_MEMORY
from burstlens.core.errors import FrameError
from burstlens.viz.diagnostics import slabs
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.frames.reader import netCDF4

SUPERCELL = Path(__file__).parents[2] / "data" / "wrf" / "wrfout_d01_0001-01-01_00_08_00"
ROWS, COLUMNS, LEVELS = 400, 800, 40

LIMITED = """
import resource, sys
from burstlens.core.errors import FrameError
from burstlens.viz.diagnostics import slabs
from burstlens.viz.diagnostics.derived import open_frame

def used():
    return 1024 * int(next(l for l in open("/proc/self/status") if "VmSize" in l).split()[1])

with open_frame([sys.argv[1]]) as frame:
    few = {"south_north": slice(0, 4)}
    frame.read("rh@900-200hPa", few), frame.read("reflectivity_max", few)  # loads what it needs
    resource.setrlimit(resource.RLIMIT_AS, (used() + 80_000_000,) * 2)
    for name in ("theta", "reflectivity_max", "rh@900-200hPa"):
        slabs.SHARE = 1.0  # slabs as large as the memory that is not there
        try:
            frame.read(name)
            print("read")
        except FrameError as error:
            print(error)
        slabs.SHARE = 0.01
        if name != "theta":  # whose field alone is too large
            print(frame.read(name).shape)
"""


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The storm's columns side by side in chunks that are deflated."""
    path = tmp_path_factory.mktemp("large") / "large.nc"
    with netCDF4.Dataset(SUPERCELL) as old, netCDF4.Dataset(path, "w") as new:
        sizes = {"Time": 1, "bottom_top": LEVELS, "south_north": ROWS, "west_east": COLUMNS}
        for name, size in sizes.items():
            new.createDimension(name, size)
        rows, columns = np.arange(ROWS) % 41, np.arange(COLUMNS) % 41
        for name in ("T", "P", "PB", "QVAPOR", "QRAIN"):
            made = new.createVariable(
                name, "f4", tuple(sizes), zlib=True, complevel=1, fletcher32=True,
                chunksizes=(1, LEVELS, 50, 100),
            )  # fmt: skip
            made[...] = old[name][:, :LEVELS][..., rows[:, None], columns]
    return path


@pytest.mark.integration
@pytest.mark.slow
def test_memory_that_is_not_there_fails_one_field_and_not_the_worker(large: Path):
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(large)], capture_output=True, text=True, timeout=120,
        env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    theta, strongest, again, humid, once_more = done.stdout.splitlines()
    for said, name in ((theta, "theta"), (strongest, "reflectivity_max"), (humid, "rh@900-200hPa")):
        assert said.startswith(f"large.nc: there is not enough memory for {name}"), said
        assert "a crop" in said
    assert again == once_more == f"({ROWS}, {COLUMNS})"


@pytest.mark.slow
@pytest.mark.parametrize("cores", [1, 2])
def test_a_damaged_chunk_fails_the_field_and_not_what_lies_beside_it(
    large: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cores: int
):
    path = tmp_path / "damaged.nc"
    path.write_bytes(large.read_bytes())
    with h5py.File(path) as file:
        chunk = file["QRAIN"].id.get_chunk_info_by_coord((0, 0, 100, 200))
    with path.open("r+b") as file:
        file.seek(chunk.byte_offset + chunk.size // 2)
        file.write(b"\xff" * 64)
    monkeypatch.setenv(CORES_VARIABLE, str(cores))
    monkeypatch.setattr(slabs, "SHARE", 2e6 / DEFAULT_MEMORY)
    with open_frame([path]) as frame:
        with pytest.raises(FrameError, match=r"QRAIN of damaged\.nc cannot be read"):
            frame.read("reflectivity_max")
        north = {"south_north": slice(150, 200)}
        with open_frame([large]) as whole:
            assert np.array_equal(
                frame.read("reflectivity_max", north), whole.read("reflectivity_max", north)
            )
            assert np.array_equal(frame.read("theta@850hPa"), whole.read("theta@850hPa"))
