"""The index of a run's products, as readers see it: what is published and where it lies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from burstlens.errors import RunError
from burstlens.follow import Followed, Line, number

Key = tuple[str, str, str]
"""Product, stream, valid-time key."""


@dataclass(frozen=True, slots=True)
class Published:
    """One published product of one frame. ``name`` is its path relative to ``products/``.

    ``written`` is when the model wrote the frame (by the file server's clock) and ``t`` when the
    product was published, both in Unix seconds; ``facts`` is what its kind tells of it.
    """

    product: str
    stream: str
    time: str
    attempt: int
    name: str
    bytes: int
    crc32: int
    t: float
    written: float | None
    facts: Mapping[str, Any]

    @property
    def placeholder(self) -> str:
        """Why this only marks a hole in the series; empty for a real product."""
        return str(self.facts.get("reason", "no reason")) if self.facts.get("placeholder") else ""

    @property
    def latency_s(self) -> float | None:
        """Seconds from the frame's last byte to the product's publication."""
        return None if self.written is None else self.t - self.written


class Index:
    """``products/index.jsonl``, read on from where the last look stopped.

    ``entries`` holds the newest line of each product, stream and time, in order of publication.
    """

    def __init__(self, path: Path) -> None:
        self.entries: dict[Key, Published] = {}
        self._followed = Followed(path)

    def look(self) -> None:
        """Read what has come. A line that is no index line is passed over. Raises OSError."""
        stretch = self._followed.look()
        if stretch.fresh:
            self.entries = {}
        for line in stretch.lines:
            found = published(line)
            if found is not None:
                key = (found.product, found.stream, found.time)
                self.entries.pop(key, None)  # what replaces it comes last
                self.entries[key] = found


def published(line: Line) -> Published | None:
    """A line of the index; None when it is none."""
    texts: list[Any] = [line.get(name) for name in ("product", "stream", "time", "name")]
    if not all(isinstance(text, str) for text in texts):
        return None
    product, stream, time, name = texts
    facts = line.get("facts")
    return Published(
        product=product,
        stream=stream,
        time=time,
        attempt=int(number(line.get("attempt")) or 0),
        name=name,
        bytes=int(number(line.get("bytes")) or 0),
        crc32=int(number(line.get("crc32")) or 0),
        t=number(line.get("t")) or 0.0,
        written=number(line.get("written")),
        facts=facts if isinstance(facts, dict) else {},
    )


def product_path(products: Path, name: str) -> Path:
    """The file that an index line names.

    Raises RunError when it is missing, or when the name or a link leads out of ``products``: an
    index is written by whoever owns the run, and read by others with their own rights.
    """
    relative = PurePosixPath(name)
    path = products / relative
    if relative.is_absolute() or ".." in relative.parts:
        raise RunError(f"{name!r} leads out of {products}")
    try:
        inside = path.resolve(strict=True).is_relative_to(products.resolve())
    except (OSError, RuntimeError, ValueError) as error:
        raise RunError(f"{path} is in the index and cannot be found: {_reason(error)}") from None
    if not inside:
        raise RunError(f"{path} is a link that leads out of {products}")
    return path


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
