"""Compiled loops that are kept on disk."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import add
print(add.more(41))
print(add.more.stats.cache_hits.total() if hasattr(add.more.stats.cache_hits, "total")
      else sum(add.more.stats.cache_hits.values()))
"""
MODULE = """
from burstlens.core.loops import compiled

@compiled
def more(x):
    return x + {by}
"""

pytestmark = pytest.mark.integration


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "add.py").write_text(MODULE.format(by=1))
    return folder


def run(sources: Path, tmp_path: Path, **environment: str) -> tuple[int, int]:
    """What the function gives, and how often it was found on disk."""
    words = [sys.executable, "-c", PROGRAM, str(sources)]
    given = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), **environment}
    done = subprocess.run(words, env=given, capture_output=True, text=True, check=True)
    assert not done.stderr
    value, hits = done.stdout.split()
    return int(value), int(hits)


def folders(sources: Path) -> list[Path]:
    return sorted((sources / "__pycache__").glob("loops-*"))


def test_loops_are_compiled_once(sources: Path, tmp_path: Path) -> None:
    assert run(sources, tmp_path) == (42, 0)
    assert run(sources, tmp_path) == (42, 1)


@pytest.mark.slow
def test_each_kind_of_processor_has_a_folder_of_its_own(sources: Path, tmp_path: Path) -> None:
    assert run(sources, tmp_path) == (42, 0)
    assert run(sources, tmp_path, NUMBA_CPU_NAME="generic") == (42, 0)
    assert len(folders(sources)) == 2
    assert run(sources, tmp_path) == (42, 1)


@pytest.mark.slow
def test_a_change_in_any_module_beside_it_compiles_anew(sources: Path, tmp_path: Path) -> None:
    (sources / "other.py").write_text("by = 1")
    assert run(sources, tmp_path) == (42, 0)
    (sources / "other.py").write_text("by = 10")
    assert run(sources, tmp_path) == (42, 0)


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.slow
def test_damaged_files_cost_the_time_to_compile(sources: Path, tmp_path: Path, suffix: str) -> None:
    run(sources, tmp_path)
    for path in folders(sources)[0].glob(f"*.{suffix}"):
        path.write_bytes(b"\x80\x05damaged")
    assert run(sources, tmp_path) == (42, 0)
    assert run(sources, tmp_path) == (42, 1)


@pytest.mark.slow
def test_without_a_folder_that_can_be_written_nothing_is_kept(
    sources: Path, tmp_path: Path
) -> None:
    (sources / "__pycache__").write_text("a file where the folder should be")
    (tmp_path / "cache").write_text("here as well")
    assert run(sources, tmp_path) == (42, 0)
    assert run(sources, tmp_path) == (42, 0)


@pytest.mark.slow
def test_the_users_folder_is_taken_where_the_sources_cannot_be_written(
    sources: Path, tmp_path: Path
) -> None:
    (sources / "__pycache__").write_text("a file where the folder should be")
    assert run(sources, tmp_path) == (42, 0)
    assert run(sources, tmp_path) == (42, 1)


BITS = """
import sys, zlib
from pathlib import Path
from burstlens.workflows.awm import parameters
from burstlens.workflows.awm.executing import Threads
from burstlens.workflows.awm.solver import Solver
solver = Solver(parameters.read(Path(sys.argv[1])), Path(sys.argv[1]).parent, Threads(1))
for _ in range(12):
    solver.advance()
print([zlib.crc32(values.tobytes()) for values in solver.state().values()])
"""
MODEL = """
[grid]
nx = 24
ny = 24
nz = 24
spacing_m = 60.0
[time]
step_s = 0.005
steps = 40
[material]
layers = [{ top_m = 0, vp_m_s = 4000, vs_m_s = 2300, rho_kg_m3 = 2400 }]
[source]
x_m = 700.0
y_m = 700.0
depth_m = 600.0
mxx_n_m = 1e15
mxy_n_m = 4e14
function = "bell"
duration_s = 0.5
[output]
surface_every = 10
"""


@pytest.mark.slow  # it compiles all of awm's loops
def test_a_process_that_compiles_computes_the_same_bits_as_one_that_reads_what_it_compiled(
    tmp_path: Path,
) -> None:
    (tmp_path / "awm.toml").write_text(MODEL)
    words = [sys.executable, "-c", BITS, tmp_path / "awm.toml"]
    given = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    compiled, read = (
        subprocess.run(words, env=given, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    )
    assert compiled == read
