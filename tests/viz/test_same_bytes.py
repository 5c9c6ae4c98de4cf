"""A product of the same frame has the same bytes, whenever and in whatever process it is made.

Else a frame that was written again with equal values would not be known as the same.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from every_kind import KINDS

PROGRAM = Path(__file__).parents[1] / "every_kind.py"
QUICK = ["netcdf4", "classic", "peak netcdf", "vtkhdf", "vtk", "track"]


def files(folder: Path) -> dict[str, bytes]:
    """The content of each file, without the frames that lie there as well."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "ground.nc"
    }


def made_twice(names: list[str], folder: Path) -> None:
    """Make these products in two processes, seconds apart, and compare all that they wrote."""
    for seed in "12":
        subprocess.run(
            [sys.executable, PROGRAM, folder / seed, *names],
            check=True,
            env=os.environ | {"PYTHONHASHSEED": seed, "TZ": f"UTC{seed}"},
        )
        time.sleep(1.1)  # times in files are of whole seconds
    first, second = files(folder / "1"), files(folder / "2")
    assert sorted(first) == sorted(second)
    assert [name for name in first if first[name] != second[name]] == []
    assert {name.partition("/")[0] for name in first} == set(names)


@pytest.mark.slow
@pytest.mark.integration
def test_files_of_data_are_the_same_bytes(tmp_path: Path) -> None:
    made_twice(QUICK, tmp_path)


@pytest.mark.slow
def test_products_of_each_kind_are_the_same_bytes(tmp_path: Path) -> None:
    made_twice(list(KINDS), tmp_path)
