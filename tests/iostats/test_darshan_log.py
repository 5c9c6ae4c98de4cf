"""Darshan logs: totals as PyDarshan's own, older formats, what is missing, damage."""

from __future__ import annotations

import functools
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from burstlens.core.errors import IOLogError
from burstlens.workflows.iostats import darshan_log
from burstlens.workflows.iostats.darshan_records import COUNTED, TIMES, any_names
from burstlens.workflows.iostats.logs import read_log
from burstlens.workflows.iostats.summary import Summary

darshan = pytest.importorskip("darshan", reason="pip install 'burstlens[tuning]'")

import pandas as pd  # noqa: E402
from darshan.backend import cffi_backend  # noqa: E402

DATA = Path(__file__).parents[1] / "data" / "io"
OURS = sorted(DATA.glob("*.darshan"))
FOUND = {one.name: one for one in Path(darshan.__file__).parent.rglob("*.darshan")}
THEIRS = sorted({path.read_bytes(): path for path in FOUND.values()}.values())
LOGS = [*OURS, *(path for path in THEIRS if "app_write" not in path.name)]
"""Also PyDarshan's own examples: formats from 3.1 on, Lustre, HDF5, DXT, many ranks, no POSIX."""
NAMES = {"POSIX": "POSIX", "MPI-IO": "MPI-IO", "STDIO": "STDIO", "HDF5 datasets": "H5D",
         "PnetCDF variables": "PNETCDF_VAR"}  # fmt: skip

pytestmark = pytest.mark.integration


@functools.cache
def summary_of(path: Path) -> Summary:
    return read_log(path)


def opened(path: Path) -> Any:
    """PyDarshan's report, for ``with``: left to the garbage collector, it may close its log while
    cffi holds its lock, and waits for that lock for ever.
    """
    return darshan.DarshanReport(str(path), read_all=False)


def reported(path: Path, module: str) -> tuple[pd.DataFrame, pd.DataFrame, object]:
    with opened(path) as report:
        report.mod_read_all_records(module)
        frames = report.records[module].to_df()
        ranks = report.metadata["job"]["nprocs"]
    derived = None
    if module in darshan_log._NAMES and module in ("POSIX", "MPI-IO", "STDIO"):
        derived = cffi_backend.accumulate_records(frames, module, ranks).derived_metrics
    return frames["counters"], frames["fcounters"], derived


@pytest.mark.slow
@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.name[:40])
def test_totals_are_those_of_pydarshan(path, monkeypatch):
    # It refuses a log with a file name that is not UTF-8; the records are what counts here.
    monkeypatch.setattr(
        cffi_backend, "log_get_name_records", lambda log: any_names(cffi_backend, log)
    )
    summary = summary_of(path)
    with opened(path) as report:
        assert summary.ranks == report.metadata["job"]["nprocs"]
        assert summary.run_s == report.metadata["job"]["run_time"]
        known = {layer.name for layer in summary.layers}
        assert known == {name for name, module in NAMES.items() if module in report.modules}
    for layer in summary.layers:
        module = NAMES[layer.name]
        prefix = module.replace("-", "") + "_"
        counters, _, derived = reported(path, module)
        assert layer.records == len(counters)
        assert layer.bytes_read == counters[f"{prefix}BYTES_READ"].sum()
        assert layer.bytes_written == counters[f"{prefix}BYTES_WRITTEN"].sum()
        if derived is not None:
            assert layer.bytes_read + layer.bytes_written == derived.total_bytes
            assert layer.seconds == pytest.approx(derived.agg_time_by_slowest)
            assert layer.bandwidth == pytest.approx(derived.agg_perf_by_slowest * 2**20)


@pytest.mark.slow
@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.name[:40])
def test_files_add_up_to_the_layers(path):
    summary = summary_of(path)
    written = {layer.name: layer.bytes_written for layer in summary.layers}
    system = summary.total.write.system_bytes or 0
    assert system == written.get("POSIX", 0)
    assert sum(file.write.bytes for file in summary.files) == summary.total.write.bytes
    sizes = summary.total.write.sizes
    if sizes is not None:
        assert sum(sizes) == summary.total.write.system_calls


def test_the_share_of_exchange_is_that_of_the_two_times():
    full, simple = (
        summary_of(DATA / f"btio_{one}.darshan").total.write for one in ("full", "simple")
    )
    _, times, _ = reported(DATA / "btio_full.darshan", "MPI-IO")
    _, inside, _ = reported(DATA / "btio_full.darshan", "POSIX")
    spent = times["MPIIO_F_WRITE_TIME"].sum()
    assert full.exchange_share == pytest.approx(
        (spent - inside["POSIX_F_WRITE_TIME"].sum()) / spent
    )
    assert full.exchange_share > 0.95
    assert simple.exchange_share < 0.2
    assert (full.collective_share, simple.collective_share) == (1.0, 0.0)


def test_the_hints_of_darshan_itself_are_not_shown_as_those_of_the_program():
    with opened(OURS[0]) as report:
        assert "cb_nodes=4" in report.metadata["job"]["metadata"]["h"]
    summary = summary_of(OURS[0])
    assert not summary.hints
    assert "cb_nodes" not in repr(summary)


@pytest.mark.parametrize("module", COUNTED)
def test_every_counter_that_is_read_exists(module):
    prefix = module.replace("-", "") + "_"
    counters = set(cffi_backend.counter_names(module))
    assert {prefix + name for name in COUNTED[module]} <= counters
    assert {prefix + name for name in TIMES} <= set(cffi_backend.fcounter_names(module))


def example(name: str) -> Path:
    return FOUND[name]


def test_stripes_are_those_of_lustre():
    (file,) = [one for one in summary_of(example("sample.darshan")).files if one.stripe_count]
    assert (file.stripe_count, file.stripe_size) == (24, 2**20)


def test_the_slowest_rank_is_found_in_files_of_one_rank_each():
    total = summary_of(example("sample-badost.darshan")).total
    assert (total.slowest.rank, total.fastest.rank) == (1507, 959)
    assert total.slowest.seconds == pytest.approx(778.5, abs=0.1)


def test_a_log_without_posix_has_its_stdio():
    summary = summary_of(example("noposix.darshan"))
    assert [layer.name for layer in summary.layers] == ["STDIO"]
    assert summary.total.bytes == 1841971138


def test_a_log_of_a_buffer_in_dev_shm_says_why_it_has_no_records():
    summary = summary_of(DATA / "no_records.darshan")
    assert not summary.files
    assert "/dev/shm" in summary.notes[0]
    assert "NAME_INCLUDE" in summary.notes[0]


def test_a_partial_log_says_which_module_and_what_helps():
    summary = summary_of(DATA / "partial.darshan")
    assert [layer.name for layer in summary.layers if layer.partial] == ["POSIX"]
    assert "MAX_RECORDS<tab>5000<tab>POSIX" in summary.notes[0]


def test_standard_output_is_no_file_and_names_need_not_be_utf_8():
    summary = summary_of(DATA / "ranks16.darshan")
    names = {file.name for file in summary.files}
    assert len(names) == 18  # the shared one, one per rank, the serial one
    assert "/tmp/sample/out/caf\N{REPLACEMENT CHARACTER}_serial.bin" in names
    with_stdout = summary_of(DATA / "ior_coll.darshan")
    assert [layer.records for layer in with_stdout.layers] == [1, 1, 1]
    assert [file.name for file in with_stdout.files] == ["/tmp/sample/iorfile"]


def test_the_name_of_a_log_need_not_be_utf_8(tmp_path):
    path = tmp_path / os.fsdecode(b"caf\xe9.darshan")
    shutil.copy(OURS[0], path)
    assert read_log(path).ranks == 4


def damaged(data: bytes, how: str, rng: random.Random) -> bytes:
    if how == "cut":
        return data[: rng.randrange(16, len(data) - 1)]
    changed = bytearray(data)
    for _ in range(6):
        changed[rng.randrange(360 if how == "data" else 16, len(data))] ^= rng.randrange(1, 256)
    return bytes(changed)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["cut", "data", "anywhere"])
def test_damage_is_one_line_whatever_the_library_does(tmp_path, how):
    rng = random.Random(17)
    path, refusals = tmp_path / "d.darshan", []
    for _ in range(3):
        path.write_bytes(damaged(rng.choice(LOGS[:8]).read_bytes(), how, rng))
        try:
            read_log(path)  # damage in what is not read, as a heat map, does no harm
        except IOLogError as error:
            refusals.append(str(error))
    assert refusals
    assert all("\n" not in said and str(path) in said for said in refusals)


def test_a_crash_of_the_library_is_said(tmp_path, monkeypatch):
    path = shutil.copy(OURS[0], tmp_path / "a.darshan")
    crash = (sys.executable, "-c", "import os; os.kill(os.getpid(), 11)")
    monkeypatch.setattr(darshan_log, "PROGRAM", crash)
    with pytest.raises(IOLogError, match=r"damaged: Darshan's library ended with SIGSEGV"):
        read_log(path)


def test_a_reader_that_hangs_is_ended(tmp_path, monkeypatch):
    path = shutil.copy(OURS[0], tmp_path / "a.darshan")
    monkeypatch.setattr(
        darshan_log, "PROGRAM", (sys.executable, "-c", "import time; time.sleep(60)")
    )
    monkeypatch.setattr(darshan_log, "LIMIT_S", 0.5)
    with pytest.raises(IOLogError, match=r"could not be read in 0\.5 s"):
        read_log(path)


def test_without_pydarshan_one_message_says_what_to_install(tmp_path):
    (tmp_path / "darshan").mkdir()
    (tmp_path / "darshan" / "__init__.py").write_text("raise ImportError('no', name='darshan')")
    words = [*darshan_log.PROGRAM, str(OURS[0])]
    done = subprocess.run(
        words, env=_environment(tmp_path), capture_output=True, text=True, check=False
    )
    assert done.stdout == '{"missing": "darshan"}\n'
    assert done.stderr == ""


def _environment(first: Path) -> dict[str, str]:
    paths = [str(first), *filter(None, [os.environ.get("PYTHONPATH"), *sys.path])]
    return os.environ | {"PYTHONPATH": os.pathsep.join(paths)}


def test_reading_takes_little_time_after_the_import():
    found = darshan_log._records(example("sample-badost.darshan"))
    assert 0 < found["cpu_s"] < 5  # bench iolog measures it
