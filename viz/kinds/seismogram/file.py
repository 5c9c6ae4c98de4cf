"""Seismograms for seismologists' programs: MiniSEED, or SAC files in a zip archive, by ObsPy.

ObsPy: Krischer et al. (2015), Computational Science & Discovery 8(1), 014003.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from burstlens.core.errors import FrameError, RecipeError
from burstlens.core.extras import install_command
from burstlens.viz.kinds.seismogram.options import EXTENSIONS, SeismogramOptions
from burstlens.viz.kinds.seismogram.read import RecordSection
from burstlens.viz.product import Made, whole_file

if TYPE_CHECKING:
    from obspy import Stream

_ORIENTATIONS = {"east": "E", "north": "N", "up": "Z", "vertical": "Z"}
_BANDS = ((1000.0, "F"), (250.0, "C"), (80.0, "H"), (10.0, "B"), (1.0, "M"), (0.1, "L"))
"""The band code of a sampling rate in Hz and above (SEED manual 2.4, appendix A)."""


def write_traces(section: RecordSection, options: SeismogramOptions, out: Path) -> Made:
    """Write the traces as ``options.format``, in the shown units, as float32.

    A single sample is written at 1 Hz. RecipeError when ObsPy is not installed, FrameError
    when no station has a value.
    """
    stream = _stream(section, options)
    if not len(stream):
        raise FrameError("no station has a value: they lie outside of the frame")
    content = io.BytesIO()
    if options.format == "mseed":
        stream.write(content, format="MSEED", encoding="FLOAT32")
    else:
        _write_sac(content, stream, section)
    with whole_file(out):
        out.write_bytes(content.getvalue())
    return Made(EXTENSIONS[options.format], {"traces": len(stream)})


def _stream(section: RecordSection, options: SeismogramOptions) -> Stream:
    """A trace for each component, station and piece without a hole."""
    try:
        from obspy import Stream, Trace, UTCDateTime
    except ImportError as error:
        raise RecipeError(
            f"format {options.format!r} needs ObsPy ({error}): {install_command('seismology')}"
        ) from error
    traces, step = section.traces, section.traces.step_s or 1.0
    codes = station_codes(traces.names.tolist())
    # Idealized runs begin in year 1, which seismologists' formats do not have.
    known = section.began and not section.began.startswith("0")
    reference = UTCDateTime(section.began if known else options.reference_time)
    found = Stream()
    for number, title in enumerate(section.titles):
        channel = channel_code(title, number, step)
        for station, values in zip(codes, traces.values[number], strict=True):
            for part in _whole(traces.pieces(), values):
                began = reference + float(traces.times[part.start])
                about = {"network": options.network, "station": station, "channel": channel}
                data = np.ascontiguousarray(values[part], np.float32)
                found += Trace(data, {**about, "delta": step, "starttime": began})
    return found


def _whole(pieces: list[slice], values: NDArray[Any]) -> Iterator[slice]:
    """The parts in which there are values."""
    for piece in pieces:
        finite = np.isfinite(values[piece])
        edges = np.flatnonzero(np.diff(np.concatenate([[False], finite, [False]]).astype(int)))
        for first, end in edges.reshape(-1, 2) + piece.start:
            yield slice(int(first), int(end))


def channel_code(title: str, number: int, step_s: float) -> str:
    """The SEED code of a component: band, X for what is computed, orientation, which follows from
    the title's words, else it is the component's number (1, 2, 3)."""
    band = next((code for rate, code in _BANDS if step_s * rate < 1.000001), "V")
    codes = (code for word, code in _ORIENTATIONS.items() if word in title.lower())
    return f"{band}X{next(codes, str(number + 1))}"


def station_codes(names: list[str]) -> list[str]:
    """Codes of five capital letters and digits at most, different from each other.

    A station whose name gives no code, or one that is taken, gets a number that is not another
    station's code.
    """
    wanted = [re.sub(r"[^A-Z0-9]", "", name.upper())[:5] for name in names]
    taken = set(wanted)
    given: set[str] = set()
    for number, code in enumerate(wanted):
        if not code or code in given:
            free = (f"S{n:04d}" if n < 10_000 else f"{n:05d}" for n in count(number))
            wanted[number] = code = next(code for code in free if code not in taken)
        taken.add(code)
        given.add(code)
    return wanted


def _write_sac(content: io.BytesIO, stream: Stream, section: RecordSection) -> None:
    """A zip archive of SAC files, named network.station..channel.number.sac; headers are given the
    station's place and its distance from the source (dist, in km)."""
    codes = station_codes(section.traces.names.tolist())
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, trace in enumerate(stream):
            at = codes.index(trace.stats.station)
            header: dict[str, float] = {}
            if section.traces.geographic:
                header |= {"stlo": float(section.traces.x[at]), "stla": float(section.traces.y[at])}
            if section.distances_m is not None:
                header["dist"] = float(section.distances_m[at]) / 1e3
            trace.stats.sac = header
            one = io.BytesIO()
            trace.write(one, format="SAC")
            # A fixed date, so that the same traces give the same bytes.
            name = zipfile.ZipInfo(f"{trace.id}.{number:03d}.sac")
            archive.writestr(name, one.getvalue(), zipfile.ZIP_DEFLATED)
