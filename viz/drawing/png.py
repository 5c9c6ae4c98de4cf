"""PNG files of maps: rows that repeat the one above cost almost no time or space.

A general encoder tries all of PNG's five filters on each row, and takes half of the time of
a map. The cells of a map are several pixels tall, so that most rows equal the row above: the
filter Up alone makes files as small in less than half of the time (`bench` part ``cost`` measures
its share of the whole).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from burstlens.viz.product import whole_file

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_UP = 2
_LEVEL = 1
"""Higher zlib levels take two thirds more time and save a twentieth of the bytes."""
_INCH_M = 0.0254


def write_png(pixels: NDArray[np.uint8], out: Path, texts: Mapping[str, str], dpi: float) -> None:
    """Write (height, width, 3 or 4) bytes, red first, as an opaque PNG of 8 bits per colour.

    ``texts`` become iTXt chunks. The same input gives the same bytes. Raises StagingError when
    the file cannot be written whole. Source: PNG specification, third edition, sections 5 to 11.
    """
    with whole_file(out), out.open("wb") as file:
        file.write(_SIGNATURE)
        for name, data in _chunks(pixels, texts, dpi):
            check = zlib.crc32(data, zlib.crc32(name))
            file.write(struct.pack(">I", len(data)) + name + data + struct.pack(">I", check))


def _chunks(
    pixels: NDArray[np.uint8], texts: Mapping[str, str], dpi: float
) -> Iterator[tuple[bytes, bytes]]:
    height, width, _ = pixels.shape
    eight_bits, rgb = 8, 2
    yield b"IHDR", struct.pack(">IIBBBBB", width, height, eight_bits, rgb, 0, 0, 0)
    per_metre = round(dpi / _INCH_M)
    yield b"pHYs", struct.pack(">IIB", per_metre, per_metre, 1)
    for keyword, text in texts.items():
        yield b"iTXt", keyword.encode("latin-1") + b"\0\0\0\0\0" + text.encode()
    yield b"IDAT", zlib.compress(_filtered(pixels[..., :3]), _LEVEL)
    yield b"IEND", b""


def _filtered(pixels: NDArray[np.uint8]) -> bytes:
    """Each row minus the one above, modulo 256, with the filter's number before it."""
    height, width, colours = pixels.shape
    plain = np.ascontiguousarray(pixels).reshape(height, width * colours)
    rows = np.empty((height, 1 + width * colours), np.uint8)
    rows[:, 0] = _UP
    rows[0, 1:] = plain[0]
    np.subtract(plain[1:], plain[:-1], out=rows[1:, 1:])
    return rows.tobytes()
