"""The structure of a unit: of its one file, or of its tiles together."""

from __future__ import annotations

import os
from collections.abc import Sequence

from msgspec.structs import replace

from burstlens.workflows.frames.cursor import Open
from burstlens.workflows.frames.hdf5 import Prober
from burstlens.workflows.frames.structure import Structure, probe, together


def structure_of(
    entry: Open,
    paths: Sequence[str],
    time_variable: str,
    prober: Prober,
    *,
    ranks: Sequence[int],
    thorough: bool,
    settled: bool,
) -> Structure:
    """One structure for the files of a unit; the first one without a new record decides.

    ``ranks`` are those that wrote the files. Raises OSError if the file system cannot read one.
    """
    found: list[Structure] = []
    tiled = entry.unit.tiled
    for path in paths:
        tile = probe(
            path, entry.declared, time_variable, prober, is_tile=tiled, thorough=thorough,
            settled=settled, time=entry.unit.time,
        )  # fmt: skip
        if not tile.times:
            which = f"the tile {os.path.basename(path)}: " if tiled and tile.reason else ""
            return replace(tile, reason=which + tile.reason)
        found.append(tile)
    return together(found, entry.declared, entry.unit.time, ranks)
