"""Staging through libdatawarp: what the binding costs, and from the call to a verified picture."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from bench.pipeline import Scratch
from bench.report import Figure, median, percentile, spread

EMULATOR = Path(__file__).resolve().parents[1] / "emulator"
# Answers at once, so that the time of a call is that of the binding.
INSTANT = """
int dw_query_file_stage(const char *f, int *c, int *p, int *d, int *x) {
    *c = 1; *p = *d = *x = 0; return 0;
}
int dw_wait_list_stage(const char **list) { return 0; }
"""


def measure(scratch: Scratch, *, quick: bool) -> list[Figure]:
    """The binding against a library that does nothing, the stager against the emulator."""
    return [*_binding(scratch, 500 if quick else 20000), *_stager(scratch, 5 if quick else 60)]


def _binding(scratch: Scratch, calls: int) -> list[Figure]:
    from burstlens.stagers import shared_library
    from burstlens.stagers.libdatawarp import File, FileList

    source = scratch.runs / "instant.c"
    source.write_text(INSTANT)
    built = scratch.runs / "libinstant.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", built, source], check=True)
    _use(built)
    frame = scratch.buffer / "frame.nc"
    files = FileList(tuple(scratch.buffer / f"{number}.nc" for number in range(100)))
    begin = time.perf_counter()
    File(frame).query()
    first = time.perf_counter() - begin
    figures = [
        _cost("query of a file", lambda: File(frame).query(), calls, limit=50),
        _cost("wait for a list of 100 files", files.wait, calls // 20, limit=None),
        Figure("binding, first call (loads cffi and the library)", 1000 * first, "ms"),
    ]
    shared_library.load.cache_clear()
    return figures


def _cost(name: str, call: Callable[[], object], calls: int, *, limit: float | None) -> Figure:
    taken = []
    for _ in range(5):
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        taken.append(1e6 * (time.perf_counter() - begin) / calls)
    note = f"{spread(taken)} of {calls} calls each"
    return Figure(f"binding, {name}", median(taken), "µs", limit=limit, note=note)


def _stager(scratch: Scratch, repeats: int) -> list[Figure]:
    from burstlens.stagers.base import bring, bring_all
    from burstlens.stagers.datawarp import DataWarpStager

    prefix = scratch.runs / "emulator"
    subprocess.run(["make", "-C", EMULATOR, f"PREFIX={prefix}"], check=True, capture_output=True)
    _use(prefix / "lib" / "libdatawarp.so.1")
    buffer, target = scratch.buffer / "instance", scratch.runs / "pfs"
    buffer.mkdir()
    target.mkdir()
    os.environ["DW_JOB_STRIPED"] = f"{buffer}/"
    picture = os.urandom(1_000_000)
    stager = DataWarpStager()
    taken = []
    for number in range(repeats):
        source = _written(buffer / f"{number}.png", picture)
        begin = time.perf_counter()
        bring(stager, source, target / source.name)
        taken.append(1000 * (time.perf_counter() - begin))
    pairs = [
        (_written(buffer / f"many-{number}.png", picture), target / f"many-{number}.png")
        for number in range(2 * repeats)
    ]
    begin = time.perf_counter()
    count = len(list(bring_all(stager, pairs)))
    rate = count / (time.perf_counter() - begin)
    return [
        Figure(
            "1 MB picture, call to verified, emulator", median(taken), "ms", limit=50,
            note=f"{spread(taken)}, 95 %: {percentile(taken, 0.95):.3g}",
        ),
        Figure(f"{count} pictures of 1 MB, 8 in flight, emulator", rate, "files/s"),
    ]  # fmt: skip


def _written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def _use(built: Path) -> None:
    from burstlens.stagers import shared_library

    os.environ[shared_library.VARIABLE] = str(built)
    shared_library.load.cache_clear()
