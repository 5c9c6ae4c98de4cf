"""The newest picture of a run, to be sent with its word."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burstlens.core.durable import open_regular
from burstlens.core.errors import RunError
from burstlens.core.quantity import show_bytes
from burstlens.core.run.directory import RunDir
from burstlens.core.run.index import Index, Published, fullest, product_path
from burstlens.core.run.segments import segments_of

LARGEST = 8 << 20
"""Bytes of the largest picture that is sent: mail servers take messages of 10 MB or more."""
CHANCES = 3
"""Newest pictures of a product that are tried: one may be replaced at this moment."""
_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
)
_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp")


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture with its content, which is None if it is larger than ``LARGEST``."""

    path: Path
    product: str
    time: str
    size: int
    media_type: str
    content: bytes | None

    @property
    def missing(self) -> str:
        """Why it is not sent; empty if it is."""
        if self.content is not None:
            return ""
        return f"the newest picture has {show_bytes(self.size)} and is not sent: {self.path}"

    def value(self, most: int) -> dict[str, Any]:
        """As JSON values; ``data`` is base64, left out if the picture has more than ``most``
        bytes."""
        facts: dict[str, Any] = {
            "name": self.path.name,
            "product": self.product,
            "time": self.time,
            "media_type": self.media_type,
            "bytes": self.size,
        }
        if self.content is None or self.size > most:
            return facts
        return facts | {"data": base64.b64encode(self.content).decode()}


def newest_picture(run: RunDir, products: Sequence[str], *, over: bool = False) -> Picture | None:
    """The newest picture of the first of these products that has one; None without any. Of a run
    that is ``over``, the newest that is not nearly empty, of the first with something in it.

    It reads the whole index: not for the driver's own thread. A picture that is missing, or no
    picture by its content, is passed over.
    """
    index = Index(run.index)
    try:
        index.look()
    except OSError:
        return None
    by_product: dict[str, list[Published]] = {}
    for entry in segments_of(run).mark(index.entries.values()):
        if entry.stale:
            continue
        if entry.name.lower().endswith(_SUFFIXES) and not entry.placeholder:
            by_product.setdefault(entry.product, []).append(entry)
    in_order = [
        sorted(by_product.get(product, ()), key=lambda entry: entry.time, reverse=True)
        for product in dict.fromkeys([*products, *by_product])
    ]
    if over and (best := fullest(*(_of_newest_stream(entries) for entries in in_order))):
        in_order.insert(0, [best])
    for entries in in_order:
        for entry in entries[:CHANCES]:
            if (picture := _read(run, entry)) is not None:
                return picture
    return None


def _of_newest_stream(entries: Sequence[Published]) -> list[Published]:
    return [one for one in entries[::-1] if one.stream == entries[0].stream]


def _read(run: RunDir, entry: Published) -> Picture | None:
    try:
        path = product_path(run.products, entry.name)
        with open_regular(path) as stream:
            content = stream.read(LARGEST + 1)
            size = path.stat().st_size if len(content) > LARGEST else len(content)
    except (OSError, RunError):
        return None
    kind = next((kind for magic, kind in _MAGIC if content.startswith(magic)), None)
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        kind = "image/webp"
    if kind is None:
        return None
    kept = content if size <= LARGEST else None
    return Picture(path, entry.product, entry.time, size, kind, kept)
