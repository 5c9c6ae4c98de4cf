"""Deflated chunks, inflated at once by the cores that this process may use, into one array.

libdeflate inflates without Python's lock and checks each chunk's Adler-32. Each thread holds one
chunk, stored and inflated, so memory is that of the result and a few chunks.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import product
from math import prod
from threading import Thread
from typing import Any

import numpy as np
from deflate import DeflateError, zlib_decompress
from numpy.typing import NDArray

from burstlens.core.allowance import CORES_VARIABLE, allowance
from burstlens.viz.frames.chunks import Chunk, ChunkCache, ChunkFile, Layout, Plain, Point

MOST_THREADS = 8
"""So many inflate faster than most file systems give a node their bytes."""
IN_FLIGHT = 0.3
"""The part of a worker's memory for chunks at work, stored and inflated, if there are several."""
BYTES_PER_THREAD = 4 << 20
"""A thread that inflates less, for 4 ms, may begin after the others have done its part."""
_BLOCK_BYTES = 1 << 18
"""Bytes put together at once: so many stay in a core's cache."""
Slices = tuple[slice, ...]
Met = tuple[Point, Slices, Slices]
"""A chunk that a window meets: its first point, the part of it, where that lies in the window."""


class ChunkError(OSError):
    """A chunk cannot be inflated; the message names it."""


def met(wanted: Slices, chunk: Point) -> list[Met]:
    """The chunks of this shape that hold points of a window: slices with start, stop and step."""
    each = [list(_along(part, size)) for part, size in zip(wanted, chunk, strict=True)]
    found = []
    for parts in product(*each):
        firsts, sources, targets = zip(*parts, strict=True)
        found.append((firsts, sources, targets))
    return found


def count_met(wanted: Slices, chunk: Point) -> int:
    """How many chunks :func:`met` finds."""
    pairs = zip(wanted, chunk, strict=True)
    return prod(sum(1 for _ in _along(part, size)) for part, size in pairs)


def inflate(
    file: ChunkFile, layout: Layout, wanted: Slices, fills: Sequence[Any], kept: ChunkCache
) -> NDArray[Any] | None:
    """The values of a window, those equal to one of ``fills`` as NaN. Each chunk is inflated once.

    ``kept`` has chunks that were inflated before, and gets those of which the window has a part
    only. None if a chunk was never written. Raises ChunkError; OSError if the file is short.
    """
    pieces = met(wanted, layout.chunk)
    if any(first not in layout.chunks for first, *_ in pieces):
        return None
    shape = tuple(len(range(s.start, s.stop, s.step)) for s in wanted)
    values = np.empty(shape, layout.kind)
    todo = iter(pieces)
    failures: list[BaseException] = []

    def work() -> None:
        for first, source, target in todo:
            if failures:
                return
            try:
                chunk, part = layout.chunks[first], values[target]
                whole = part.size >= layout.count_points(chunk)
                plain = _inflated(file, layout, chunk, kept, whole=whole)
                _place(plain, layout, chunk, source, part, fills)
                del plain  # the next chunk takes its memory
            except BaseException as error:
                failures.append(error)

    helpers: list[Thread] = []
    for _ in range(_threads(len(pieces), layout.chunk_bytes) - 1):
        helper = Thread(target=work, name="inflate")
        with suppress(RuntimeError):  # no more threads are allowed
            helper.start()
            helpers.append(helper)
    work()
    for helper in helpers:  # they write to ``values`` and read the file
        helper.join()
    if failures:
        raise failures[0]
    return values


def _along(wanted: slice, size: int) -> Iterator[tuple[int, slice, slice]]:
    points = range(wanted.start, wanted.stop, wanted.step)
    for first in range(points[0] // size * size, points[-1] + 1, size) if points else ():
        begin = max(0, -((points.start - first) // points.step))
        end = min(len(points), -((points.start - first - size) // points.step))
        if begin < end:
            source = slice(points[begin] - first, points[end - 1] - first + 1, points.step)
            yield first, source, slice(begin, end)


def _inflated(
    file: ChunkFile, layout: Layout, chunk: Chunk, kept: ChunkCache, *, whole: bool
) -> Plain:
    """The bytes of a chunk, shuffled if they are; ``whole``: all of them are used now."""
    plain = kept.get((file.identity, layout.name, chunk.first))
    if plain is not None:
        return plain
    size = layout.chunk_bytes
    if chunk.size > 2 * size + 64:  # zlib adds a thousandth at most
        raise ChunkError(f"{layout.name_chunk(chunk)} is damaged: {chunk.size} bytes for {size}")
    try:
        stored = file.stored(chunk)
        is_deflated = not chunk.skipped >> layout.is_shuffled & 1
        plain = zlib_decompress(stored, size) if is_deflated else stored
    except DeflateError as error:
        raise ChunkError(f"{layout.name_chunk(chunk)} is damaged: {error}") from error
    except OSError as error:
        raise OSError(f"{layout.name_chunk(chunk)}: {error}") from error
    if len(plain) != size:
        raise ChunkError(f"{layout.name_chunk(chunk)} is damaged: {len(plain)} bytes of {size}")
    kept.add((file.identity, layout.name, chunk.first), plain, whole=whole)
    return plain


def _place(
    plain: Plain, layout: Layout, chunk: Chunk, source: Slices, target: NDArray[Any],
    fills: Sequence[Any],
) -> None:  # fmt: skip
    """Copy a part of an inflated chunk to its place, block by block."""
    is_shuffled = layout.is_shuffled and not chunk.skipped & 1
    kind = np.dtype(f"u{layout.kind.itemsize}")
    planes = np.frombuffer(plain, np.uint8 if is_shuffled else kind).reshape(-1, *layout.chunk)
    parts = [plane[source] for plane in planes]
    # The first dimensions are often of one point: time, a level.
    axis = next((n for n, size in enumerate(target.shape) if size > 1), 0)
    rows = max(1, _BLOCK_BYTES * target.shape[axis] // target.nbytes)
    for start in range(0, target.shape[axis], rows):
        block = (slice(None),) * axis + (slice(start, start + rows),)
        part = target[block]
        part.view(kind)[...] = _joined([piece[block] for piece in parts])
        for fill in fills:
            hit = np.isnan(part) if np.isnan(fill) else part == fill
            if hit.any():
                part[hit] = np.nan


def _joined(planes: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Values as unsigned numbers, of their bytes from the lowest to the highest."""
    if len(planes) == 1:
        return planes[0]
    half = len(planes) // 2
    values = _joined(planes[half:]).astype(f"u{len(planes)}")
    values <<= 8 * half
    values |= _joined(planes[:half])
    return values


def _threads(chunks: int, chunk_bytes: int) -> int:
    cores = len(os.sched_getaffinity(0))
    if CORES_VARIABLE in os.environ:  # the site says what a worker may use
        cores = min(cores, allowance().cores)
    useful = min(chunks, chunks * chunk_bytes // BYTES_PER_THREAD)
    fitting = int(IN_FLIGHT * allowance().memory) // (2 * chunk_bytes)
    return max(1, min(cores, MOST_THREADS, useful, fitting))
