"""What a run will take, from its parameters alone: memory, and bytes of output by kind."""

from __future__ import annotations

import math
import os
import resource
from pathlib import Path

from burstlens.workflows.awm.grid import PaddedGrid
from burstlens.workflows.awm.parameters import Parameters

FIELDS = 12
"""Velocities, stresses and three numbers of material, float32."""
_MEMORIES = 6
_COMPONENTS, _PEAKS = 3, 5
_HEADER_BYTES = 16384
_CGROUPS = Path("/sys/fs/cgroup")


def memory_bytes(given: Parameters) -> int:
    """What the fields of a run take: all but the interpreter and frames being written."""
    grid = PaddedGrid.of(given)
    layers = sum(math.prod(slab.extent) for slab in grid.slabs())
    return 4 * (FIELDS * math.prod(grid.shape) + _MEMORIES * layers)


def output_bytes(given: Parameters) -> dict[str, int]:
    """Size of all output without compression: ``surface``, ``volume``, ``stations``."""
    grid, output, steps = given.grid, given.output, given.time.count
    stride = output.volume_stride
    plane = grid.nx * grid.ny
    block = math.prod(-(-n // stride) for n in (grid.nx, grid.ny, grid.nz))
    found = {}
    for name, every, values in (
        ("surface", output.surface_every, plane * (_COMPONENTS + _PEAKS * output.peaks)),
        ("volume", output.volume_every, block * _COMPONENTS),
    ):
        if every and steps >= every:
            found[name] = steps // every * (4 * values + _HEADER_BYTES)
    if given.station:
        copies = 2 if output.station_frames else 1
        found["stations"] = copies * steps * (8 + _COMPONENTS * 4 * len(given.station))
    return found


def frames(given: Parameters) -> int:
    """Frames of the surface and of volumes."""
    output, steps = given.output, given.time.count
    return sum(steps // every for every in (output.surface_every, output.volume_every) if every)


def available_bytes() -> int:
    """Memory that this process can still have: of the machine, of its control group (a Slurm job
    has one) and of ``ulimit -v``."""
    found = [_machine(), *_groups()]
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        found.append(limit - pages * os.sysconf("SC_PAGE_SIZE"))
    return max(0, min(found))


def _machine() -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _groups() -> list[int]:
    """What each control group of version 2 around this process has left; file pages that can be
    dropped count as free."""
    found = []
    lines = Path("/proc/self/cgroup").read_text().splitlines()
    inside = next((line[3:] for line in lines if line.startswith("0::")), "/")
    at = _CGROUPS / inside.lstrip("/")
    for group in (at, *at.parents):
        if group == _CGROUPS.parent:
            break
        try:
            limit = (group / "memory.max").read_text().strip()
            if limit != "max":
                stat = dict(
                    line.split() for line in (group / "memory.stat").read_text().splitlines()
                )
                used = int((group / "memory.current").read_text()) - int(stat["inactive_file"])
                found.append(int(limit) - used)
        except (OSError, ValueError, KeyError):
            continue  # this group has no controller of memory, or hides it
    return found
