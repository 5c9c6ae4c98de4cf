"""A report's pictures, embedded: the newest of each product large, evenly spaced ones small."""

from __future__ import annotations

import base64
import contextlib
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from burstlens.clients.opened.picture import is_picture, picture_type, read_picture
from burstlens.core.errors import RunError
from burstlens.core.run.directory import RunDir
from burstlens.core.run.index import Published, product_path

BUDGET_BYTES = 6 * 2**20
"""Of all pictures together, as encoded in the file."""
THUMBNAILS = 8
THUMBNAIL_PX = 320
LARGE_PX = 1200
"""The longer side of a newest picture that had to be made smaller."""
QUALITY = 82
_BASE64 = 4 / 3
_DAMAGED = (RunError, OSError, ValueError, SyntaxError, Image.DecompressionBombError)
"""What reading a file raises that is not a whole picture."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A picture in the report: the ``data:`` URI that holds it, its width and height in pixels, and
    of a product what is published."""

    uri: str
    size: tuple[int, int]
    entry: Published | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """A product's pictures: the newest, and some of all, by valid time."""

    product: str
    newest: Shown
    small: tuple[Shown, ...]


def gallery(products: Path, entries: Sequence[Published]) -> list[Series]:
    """The series of each product that is a picture, in ``BUDGET_BYTES`` altogether.

    ``entries`` are in order of valid time. A picture that cannot be read is passed over.
    """
    series: dict[str, list[Published]] = {}
    for entry in entries:
        if is_picture(entry.name):
            series.setdefault(entry.product, []).append(entry)
    share = 0.7 * BUDGET_BYTES / max(1, len(series))
    made = []
    for name, pictures in series.items():
        real = [entry for entry in pictures if not entry.placeholder] or pictures
        large = (_shown(products, entry, LARGE_PX, share) for entry in reversed(real))
        newest = next(filter(None, large), None)
        if newest is not None:
            small = (_shown(products, entry, THUMBNAIL_PX) for entry in _spread(pictures))
            made.append(Series(name, newest, tuple(filter(None, small))))
    return made


def _spread(entries: Sequence[Published]) -> list[Published]:
    """At most ``THUMBNAILS``, evenly spaced, with the first and the last; of one entry none."""
    last = len(entries) - 1
    gaps = min(THUMBNAILS - 1, last)
    return [entries[round(last * it / gaps)] for it in range(gaps + 1)] if gaps else []


def _shown(
    products: Path, entry: Published, longest_px: int, most_bytes: float = 0
) -> Shown | None:
    """The file as it is where it fits in ``most_bytes``, else smaller and with losses."""
    with contextlib.suppress(*_DAMAGED):
        path = product_path(products, entry.name)
        data = read_picture(path)
        with Image.open(io.BytesIO(data)) as image:
            image.load()
            if len(data) * _BASE64 <= most_bytes:
                return Shown(data_uri(data, picture_type(path)), image.size, entry)
            small = image.convert("RGB")
        small.thumbnail((longest_px, longest_px), Image.Resampling.LANCZOS)
        held = io.BytesIO()
        small.save(held, "WEBP", quality=QUALITY, method=4)
        return Shown(data_uri(held.getvalue(), "image/webp"), small.size, entry)
    return None


def tuning_picture(run: RunDir) -> Shown | None:
    """The picture that a tuning has drawn; None where there is none that can be read."""
    with contextlib.suppress(*_DAMAGED):
        data = read_picture(run.path / "tuning" / "tuning.png")
        with Image.open(io.BytesIO(data)) as image:
            image.load()
            return Shown(data_uri(data, "image/png"), image.size)
    return None


def data_uri(data: bytes, media_type: str) -> str:
    """The bytes in a URI, as a page that loads nothing needs them."""
    return f"data:{media_type};base64,{base64.b64encode(data).decode('ascii')}"
