"""Copies of 1 GiB as all of Burstlens's copies are made, beside a plain copy that is flushed.

In turn in one process, to a disk and to memory (tmpfs); each copy goes to a new file. The target
is for two idle cores: on busy ones the CRC, and reading the copy back to compare it, take the
model's time, and in memory there is no disk to wait for meanwhile.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from bench.pipeline import Scratch
from bench.report import Figure, median, spread
from burstlens.core.whole_copy import copy_whole
from burstlens.stagers.base import bring
from burstlens.stagers.posix import PosixStager

MOST = 1.05
BLOCK = 4 << 20


def measure(scratch: Scratch, *, quick: bool) -> list[Figure]:
    """Ratios of wall time, pair by pair."""
    size, repeats = (64 << 20, 3) if quick else (1 << 30, 7)
    disk = _figures(scratch.runs, size, repeats, "disk", MOST)
    return disk + _figures(scratch.buffer, size, repeats, "memory", None)


def _figures(
    folder: Path, size: int, repeats: int, where: str, limit: float | None
) -> list[Figure]:
    source, target = folder / "copied", folder / "copy"
    with source.open("wb") as stream:
        for _ in range(size // BLOCK):
            stream.write(os.urandom(BLOCK))
    ways: dict[str, Callable[[], object]] = {
        "plain": lambda: _plain(source, target),
        "whole": lambda: copy_whole(source, target),
        "bring": lambda: bring(PosixStager(), source, target, inward=True),
    }
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(repeats):
        for name, way in ways.items():
            begin = time.perf_counter()
            way()
            taken[name].append(time.perf_counter() - begin)
            target.unlink()
    source.unlink()
    plain = taken["plain"]
    figures = [
        Figure(f"plain copy of {size >> 20} MiB to {where}, flushed", median(plain), "s",
               note=f"copyfile and fsync; {spread(plain)}")
    ]  # fmt: skip
    told = {
        "whole": "with its CRC, compared with what was read, renamed: times that",
        "bring": "brought by the posix stager: times that",
    }
    for name, text in told.items():
        ratios = [one / other for one, other in zip(taken[name], plain, strict=True)]
        bound = limit if name == "whole" else None
        note = f"{spread(ratios)}; least times {min(taken[name]) / min(plain):.3g}"
        figures.append(Figure(f"{where}, {text}", median(ratios), "", limit=bound, note=note))
    return figures


def _plain(source: Path, target: Path) -> None:
    shutil.copyfile(source, target)
    descriptor = os.open(target, os.O_RDWR)
    os.fsync(descriptor)
    os.close(descriptor)
