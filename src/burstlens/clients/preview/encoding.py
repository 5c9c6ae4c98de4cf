"""A picture as bytes for a terminal: kitty's graphics, sixels, or coloured half-blocks.

Sources: kitty's terminal graphics protocol; DEC STD 070, chapter on sixels; ECMA-48 SGR.
"""

from __future__ import annotations

import base64
import io
from functools import cache
from itertools import groupby, product

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from rich.color import Color, ColorSystem

MOST_PX = 300_000
"""Largest size of a picture sent as pixels: more is slow over ssh and hardly shows more."""
COLOURS = 128
_CHUNK = 4096
_ID = 7303
_CUBE = (0, 95, 135, 175, 215, 255)
_EIGHT_BIT = np.array(
    [*product(_CUBE, repeat=3), *((8 + 10 * grey,) * 3 for grey in range(24))], dtype=int
)
"""Colours 16 to 255 of terminals that know 256."""
_SHADES = 31
"""Levels of each colour less one: equal areas stay equal from frame to frame, so that rows that do
not change are not sent again."""


def fitted(picture: Image.Image, width: int, height: int, *, aspect: float = 1.0) -> Image.Image:
    """The whole picture, as RGB on white, as large as fits; ``aspect`` is a pixel's height by its
    width."""
    scale = min(width / picture.width, height * aspect / picture.height)
    size = (max(1, round(picture.width * scale)), max(1, round(picture.height * scale / aspect)))
    flat = Image.new("RGB", picture.size, "white")
    flat.paste(picture, mask=picture.getchannel("A") if "A" in picture.getbands() else None)
    return flat.resize(size, Image.Resampling.LANCZOS, reducing_gap=2.0)


def kitty(picture: Image.Image, columns: int, rows: int) -> bytes:
    """The escape sequences that put a picture at the cursor, scaled to ``columns`` by ``rows``
    cells, and remove the one before."""
    held = io.BytesIO()
    _reduced(picture).save(held, "PNG", optimize=True)
    text = base64.b64encode(held.getvalue())
    parts = [text[at : at + _CHUNK] for at in range(0, len(text), _CHUNK)]
    out = bytearray(f"\x1b_Ga=d,d=I,i={_ID},q=2\x1b\\".encode())
    keys = f"a=T,f=100,i={_ID},q=2,C=1,c={columns},r={rows},"
    for number, part in enumerate(parts, 1):
        out += f"\x1b_G{keys}m={int(number < len(parts))};".encode() + part + b"\x1b\\"
        keys = ""  # of the first part alone
    return bytes(out)


def sixels(picture: Image.Image) -> bytes:
    """The picture as a sixel sequence of at most ``COLOURS`` colours."""
    reduced = _reduced(picture)
    pixels = np.asarray(reduced)
    height, width = pixels.shape
    palette = np.asarray(reduced.getpalette(), dtype=int).reshape(-1, 3)
    out = bytearray(f'\x1bP0;1;0q"1;1;{width};{height}'.encode())
    for number in np.unique(pixels):
        red, green, blue = (palette[number] * 100 + 127) // 255
        out += f"#{number};2;{red};{green};{blue}".encode()
    for top in range(0, height, 6):
        band = pixels[top : top + 6]
        weights = (1 << np.arange(len(band), dtype=np.uint8))[:, None]
        lines = []
        for number in np.unique(band):
            bits = ((band == number) * weights).sum(axis=0)
            lines.append(f"#{number}".encode() + _runs(bits + 63))
        out += b"$".join(lines) + b"-"
    return bytes(out + b"\x1b\\")


def _reduced(picture: Image.Image) -> Image.Image:
    # Not the median cut: it gives the ends of a diverging colour map one colour, the most used one.
    return picture.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)


def _runs(signs: NDArray[np.integer]) -> bytes:
    """Run-length encoded signs (runs of more than three), without empty ones at the end."""
    used = np.flatnonzero(signs != 63)
    out = bytearray()
    for sign, run in groupby(signs[: used[-1] + 1 if len(used) else 0].tolist()):
        count = sum(1 for _ in run)
        out += b"!%d%c" % (count, sign) if count > 3 else bytes([sign]) * count
    return bytes(out)


def half_blocks(picture: Image.Image, system: ColorSystem) -> list[str]:
    """The picture, two pixels per cell, one text per row of cells, in the colours of ``system``."""
    levels = np.asarray(picture, dtype=np.uint16)
    pixels = (levels * _SHADES + 127) // 255 * 255 // _SHADES
    if len(pixels) % 2:
        pixels = np.concatenate([pixels, pixels[-1:]])
    rows = []
    for above, below in zip(pixels[::2].tolist(), pixels[1::2].tolist(), strict=True):
        row, now = [], ("", "")
        for top, bottom in zip(above, below, strict=True):
            front, back = _code(*top, True, system), _code(*bottom, False, system)
            sign = "▀"
            if top == bottom:
                front, sign = now[0], " "  # the foreground colour is not visible
            change = [new for new, old in zip((front, back), now, strict=True) if new != old]
            if change:
                row.append(f"\x1b[{';'.join(change)}m")
                now = (front, back)
            row.append(sign)
        rows.append("".join(row) + "\x1b[0m")
    return rows


@cache
def _code(red: int, green: int, blue: int, front: bool, system: ColorSystem) -> str:
    if system is ColorSystem.EIGHT_BIT:
        # Rich chooses by hue, and turns greys that are nearly white into yellow.
        near = np.abs(_EIGHT_BIT - (red, green, blue)).sum(axis=1).argmin() + 16
        return f"{38 if front else 48};5;{near}"
    colour = Color.from_rgb(red, green, blue).downgrade(system)
    return ";".join(colour.get_ansi_codes(foreground=front))
