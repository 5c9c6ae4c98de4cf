"""PNG files of pictures: rows that repeat the one above cost almost no time or space.

A general encoder tries all of PNG's five filters on each row, and takes half of the time of
a map. The cells of a map are several pixels wide and tall, and have few colours: rows that equal
the row above get the filter Up, which leaves zeros, and others none. ISA-L deflates that in a
fifth of zlib's time, to the same size (docs/decisions/0055-drawing.md).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from isal import isal_zlib
from numpy.typing import NDArray

from burstlens.viz.product import whole_file

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_UP = 2
_RGB, _PALETTE = 2, 3
_LEVEL = 2
"""Of ISA-L's four: level 1 saves a twentieth of the time, level 3 takes twice as long."""
_INCH_M = 0.0254


def write_png(pixels: NDArray[np.uint8], out: Path, texts: Mapping[str, str], dpi: float) -> int:
    """Write (height, width, 3 or 4) bytes, red first, as an opaque PNG; returns the file's CRC-32.

    ``texts`` become iTXt chunks. The same input gives the same bytes. Raises StagingError when
    the file cannot be written whole.
    """
    check = 0
    with whole_file(out), out.open("wb") as file:
        for part in _parts(pixels, texts, dpi):
            file.write(part)
            check = isal_zlib.crc32(part, check)
    return check


def overlay_png(where: NDArray[np.intp], colours: NDArray[np.uint8], width: int, height: int,
                ) -> bytes:  # fmt: skip
    """A PNG that is transparent but for the pixels ``where`` (flat indices), which have (n, 4)
    colours, red first, not premultiplied.

    It has a palette: colours and opacities keep 4 bits each, or 3 or 2 where more than 255 differ.
    """
    for bits in (4, 3, 2):
        shift = 8 - bits
        red, green, blue, cover = (colours >> shift).astype(np.uint32).T
        key = ((red << bits | green) << bits | blue) << bits | cover
        least = (1 << bits) - 1
        found = np.flatnonzero(np.bincount(key, minlength=1))
        found = found[found & least > 0]
        if found.size < 256:
            break
    number = np.zeros(1 << 4 * bits, np.uint8)
    number[found] = np.arange(1, found.size + 1)
    pixels = np.zeros(width * height, np.uint8)
    pixels[where] = number[key]
    parts = np.stack([found >> (bits * at) & least for at in (3, 2, 1, 0)], axis=-1)
    palette = np.vstack([[0, 0, 0, 0], parts * 255 // least]).astype(np.uint8)
    rows = np.zeros((height, 1 + width), np.uint8)
    rows[:, 1:] = pixels.reshape(height, width)
    chunks = [
        (b"PLTE", palette[:, :3].tobytes()),
        (b"tRNS", palette[:, 3].tobytes()),
        (b"IDAT", isal_zlib.compress(rows, _LEVEL)),
    ]
    return b"".join(_whole((width, height), _PALETTE, chunks))


def _parts(pixels: NDArray[np.uint8], texts: Mapping[str, str], dpi: float) -> Iterator[bytes]:
    height, width, _ = pixels.shape
    per_metre = round(dpi / _INCH_M)
    chunks = [(b"pHYs", struct.pack(">IIB", per_metre, per_metre, 1))]
    for keyword, text in texts.items():
        chunks.append((b"iTXt", keyword.encode("latin-1") + b"\0\0\0\0\0" + text.encode()))
    chunks.append((b"IDAT", isal_zlib.compress(_filtered(pixels), _LEVEL)))
    return _whole((width, height), _RGB, chunks)


def _whole(
    size: tuple[int, int], kind: int, chunks: Sequence[tuple[bytes, bytes]]
) -> Iterator[bytes]:
    """Source: PNG specification, third edition, sections 5 to 11."""
    yield _SIGNATURE
    eight_bits = 8
    begin = struct.pack(">IIBBBBB", *size, eight_bits, kind, 0, 0, 0)
    for name, data in ((b"IHDR", begin), *chunks, (b"IEND", b"")):
        check = isal_zlib.crc32(data, isal_zlib.crc32(name))
        yield struct.pack(">I", len(data)) + name + data + struct.pack(">I", check)


def _filtered(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Rows with their filter's number before them: zeros where a row equals the one above."""
    height, width, colours = pixels.shape
    rows = np.empty((height, 1 + 3 * width), np.uint8)
    flat = pixels.reshape(height, width * colours)
    for colour in range(3):  # three long strides take a quarter of the time of many short ones
        rows[:, 1 + colour :: 3] = flat[:, colour::colours]
    rows[:, 0] = 0
    above, below = rows[:-1, 1:], rows[1:, 1:]
    repeated = 1 + np.flatnonzero((above == below).all(axis=1))
    rows[repeated] = 0
    rows[repeated, 0] = _UP
    return rows
