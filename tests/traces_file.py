"""The traces beside a picture of seismograms, read as the page reads them."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.viz.values.script import TRACES, read_payload
from burstlens.viz.values.traces import HOLE

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class TracesFile:
    """By component and station the smallest and the largest values (point) from ``times`` (point)
    in s on; both are the same where nothing is thinned, and NaN in holes. Stations without samples
    are missing."""

    header: dict[str, Any]
    times: Array
    traces: dict[tuple[int, int], tuple[Array, Array]]

    @classmethod
    def read(cls, path: Path) -> TracesFile:
        payload = read_payload(path)
        assert payload[:4] == TRACES
        begin = 8 + int.from_bytes(payload[4:8], "little")
        header = json.loads(payload[8:begin])
        stream = zlib.decompressobj(-15).decompress(payload[begin:])
        points, each, step = header["points"], header["each"], header["step"]
        times, at = header["first"] + step * each * np.arange(points), 0
        if not step:
            times, at = np.frombuffer(stream, "<f8", points), 8 * points
        width, traces = points * (1 if each == 1 else 2), {}
        for n, row in enumerate(header["scales"]):
            for m, scale in enumerate(row):
                if scale is None:
                    continue
                halves = np.frombuffer(stream, np.uint8, 2 * width, at).reshape(2, width)
                at += 2 * width
                folded = halves[0].astype(np.uint16) | (halves[1].astype(np.uint16) << 8)
                change = (folded >> 1) ^ -(folded & 1)
                codes = np.cumsum(change, dtype=np.uint16).view(np.int16)
                found = np.where(codes == HOLE, np.nan, codes * scale).reshape(points, -1)
                traces[n, m] = found[:, 0], found[:, -1]
        assert at == len(stream)
        return cls(header, times, traces)
