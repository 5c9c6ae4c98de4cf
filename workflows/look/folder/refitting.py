"""Products that were chosen before a stream had files, held against its first frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burstlens.workflows.look.folder.fitting import Fitting
from burstlens.workflows.look.folder.found import Found, StreamFound
from burstlens.workflows.look.folder.sampling import Sampler
from burstlens.workflows.look.folder.source import of_tables
from burstlens.workflows.look.folder.streams import Streams


@dataclass(frozen=True, slots=True)
class Refitted:
    """``products`` and ``guards`` are the tables that fit, perhaps without some layers;
    ``left_out`` has one sentence for each that does not, and for each layer."""

    products: tuple[dict[str, Any], ...]
    guards: tuple[dict[str, Any], ...]
    left_out: tuple[str, ...]


def refitted(
    path: str, files: str, table: Mapping[str, Any], newest: Mapping[str, str]
) -> Refitted:
    """The products and guards of a run's recipe ``table`` that fit the frames of its folder.

    ``files`` is the folder of what travels with the run, ``newest`` a whole file of each stream.
    Reads headers: for a worker. Raises BurstlensError.
    """
    folder, simulation = Path(path), dict(table["simulation"])
    model = simulation.pop("model")
    settings = {key: simulation[key] for key in simulation if key not in ("inputs", "command")}
    there = tuple(StreamFound(stream, file, 1, file) for stream, file in newest.items())
    found = Found(model, settings, "", there, ())
    with Sampler(folder) as sampler:
        streams = Streams(folder, found, sampler)
        fitting = Fitting(streams, of_tables(folder, found, table, Path(files)))
        products, guards = fitting.products(), fitting.guards()
    return Refitted(tuple(products), tuple(guards), tuple(fitting.left_out))
