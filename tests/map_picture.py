"""A map for tests: its pixels, and the pixel positions of places."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from pydantic import TypeAdapter

from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.geometry.projection import Projection
from burstlens.viz.kinds.map.kind import MapKind
from burstlens.viz.kinds.map.options import MapOptions
from burstlens.viz.product import Context

LIGHT = {"variable": "T2", "limits": (-1000.0, 200.0), "colormap": "matplotlib.Greys_r"}
"""All of the field is the lightest colour, so that whatever is dark is a layer."""


class Picture:
    """The pixels of a map, and the pixel positions of its plane's places."""

    def __init__(self, path: Path, context: Context, **options: Any) -> None:
        out = context.files.parent / "map.png"
        asked = TypeAdapter(MapOptions).validate_python(options)
        with open_frame([path]) as frame:
            made = MapKind().make(asked, frame, out, context)
        self.facts = dict(made.facts)
        with Image.open(out) as image:
            self.pixels = np.asarray(image.convert("RGB")).astype(int)

    def at(self, x: float, y: float) -> tuple[int, int]:
        left, top, right, bottom = self.facts["box"]
        low_x, high_x, low_y, high_y = self.facts["extent"]
        column = left + (x - low_x) / (high_x - low_x) * (right - left)
        row = bottom - (y - low_y) / (high_y - low_y) * (bottom - top)
        return round(row), round(column)

    def place(self, lat: float, lon: float) -> tuple[int, int]:
        x, y = Projection(self.facts["projection"]).forward([lon], [lat])
        return self.at(float(x[0]), float(y[0]))

    def darkest(self, row: int, column: int, reach: int) -> int:
        part = self.pixels[row - reach : row + reach + 1, column - reach : column + reach + 1].max(
            axis=2
        )
        return int(part.min())
