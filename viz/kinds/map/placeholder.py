"""The picture that stands in a series for a damaged frame or a failed product."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import numpy as np

from burstlens.core import valid_time
from burstlens.viz.drawing import heading, style
from burstlens.viz.drawing.picture import blank, letters_dpi
from burstlens.viz.drawing.png import write_png
from burstlens.viz.kinds.map.draw import picture_size
from burstlens.viz.kinds.map.options import MapOptions
from burstlens.viz.product import Context, Made


def draw_placeholder(options: Any, out: Path, context: Context, reason: str) -> Made:
    """Write a calm grey PNG that says what is missing and why.

    It has the size of the series' pictures (``context.size``), else the one that a map's
    ``options`` ask for. Its facts are ``placeholder`` (true), ``reason`` and ``size``.
    StagingError when ``out`` cannot be written.
    """
    asked = options if isinstance(options, MapOptions) else MapOptions("placeholder")
    width, height = context.size or picture_size(asked)
    dpi = letters_dpi(width, height, asked.dpi)
    figure = blank(width, height, dpi, style.CALM)
    canvas: Any = figure.canvas
    columns = max(20, int(width / dpi * 72 / 6.4))
    lines = textwrap.wrap(reason, columns, max_lines=8, placeholder=" …")
    series = "  ·  ".join(part for part in (context.title, context.stream) if part)
    point = dpi / 72 / height
    middle = 0.5 + 8 * len(lines) * point
    rows: list[tuple[float, str, float, str]] = [
        (middle + 46 * point, f"No picture: {context.product}", 14, style.INK),
        (middle + 24 * point, valid_time.label(context.time), 11, style.INK),
        *((middle - 15 * n * point, line, 10, style.FAINT) for n, line in enumerate(lines)),
        (10 * point, series, 8, style.FAINT),
    ]
    for y, text, points, colour in rows:
        figure.text(
            0.5, y, text, fontsize=points, color=colour, ha="center", va="baseline",
            family=style.FONT, parse_math=False,
        )  # fmt: skip
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())
    texts = heading.texts(f"placeholder for {context.product}", context, reason)
    write_png(pixels, out, texts, asked.dpi)
    return Made("png", {"placeholder": True, "reason": reason, "size": [width, height]})
