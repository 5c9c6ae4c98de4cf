"""A report's pictures: the newest of each product large, evenly spaced ones small, embedded."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from burstlens.errors import RunError
from burstlens.index import Published, product_path
from burstlens.opened.picture import is_picture, picture_type, read_picture

BUDGET_BYTES = 6 * 2**20
"""Of all pictures, as they lie in the file."""
THUMBNAILS = 8
THUMBNAIL_PX = 320
LARGE_PX = 1200
"""The longer side of a newest picture that had to be made smaller."""
_BASE64 = 4 / 3


@dataclass(frozen=True, slots=True)
class Shown:
    """A picture in the report: where it is from, and the ``data:`` URI that holds it."""

    entry: Published
    uri: str
    size: tuple[int, int]


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
    share = BUDGET_BYTES / max(1, len(series))
    made = []
    for name, pictures in series.items():
        real = [entry for entry in pictures if not entry.placeholder] or pictures
        newest = _first(products, reversed(real), share * 0.7)
        if newest is not None:
            chosen = _spread(pictures, THUMBNAILS) if len(pictures) > 1 else []
            small = [shown for entry in chosen if (shown := _small(products, entry))]
            made.append(Series(name, newest, tuple(small)))
    return made


def _first(products: Path, entries: object, most_bytes: float) -> Shown | None:
    for entry in entries:  # type: ignore[attr-defined]
        shown = _large(products, entry, most_bytes)
        if shown is not None:
            return shown
    return None


def _spread(entries: Sequence[Published], count: int) -> list[Published]:
    """Evenly spaced ones, the first and the last among them."""
    last = len(entries) - 1
    count = min(count, len(entries))
    return [entries[round(last * it / (count - 1))] for it in range(count)]


def _large(products: Path, entry: Published, most_bytes: float) -> Shown | None:
    """The file as it is where it fits, else smaller and with losses."""
    try:
        path = product_path(products, entry.name)
        data = read_picture(path)
        with Image.open(io.BytesIO(data)) as image:
            image.load()
            if len(data) * _BASE64 <= most_bytes:
                return Shown(entry, _uri(data, picture_type(path)), image.size)
            return _encoded(entry, image, LARGE_PX, quality=85)
    except (RunError, OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None


def _small(products: Path, entry: Published) -> Shown | None:
    try:
        data = read_picture(product_path(products, entry.name))
        with Image.open(io.BytesIO(data)) as image:
            return _encoded(entry, image, THUMBNAIL_PX, quality=80)
    except (RunError, OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None


def _encoded(entry: Published, image: Image.Image, longest_px: int, *, quality: int) -> Shown:
    small = image.convert("RGB")
    small.thumbnail((longest_px, longest_px), Image.Resampling.LANCZOS)
    held = io.BytesIO()
    small.save(held, "WEBP", quality=quality, method=4)
    return Shown(entry, _uri(held.getvalue(), "image/webp"), small.size)


def _uri(data: bytes, media_type: str) -> str:
    return f"data:{media_type};base64,{base64.b64encode(data).decode('ascii')}"
