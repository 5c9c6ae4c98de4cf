"""The index of a run's products, as readers see it: published products and their files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burstlens.core.errors import RunError
from burstlens.core.run.follow import Followed, Line, number, uncollected

PIECES = "pieces"
"""The folder, in a product's own, with the pieces of large volumes."""
Key = tuple[str, str, str]
"""Product, stream, valid-time key."""


@dataclass(frozen=True, slots=True)
class Published:
    """One published product of one frame: a line of the index, which :func:`published` checked."""

    line: Line

    @property
    def product(self) -> str:
        """The product's name."""
        return str(self.line["product"])

    @property
    def stream(self) -> str:
        """The stream of its frame."""
        return str(self.line["stream"])

    @property
    def time(self) -> str:
        """The valid-time key of its frame."""
        return str(self.line["time"])

    @property
    def attempt(self) -> int:
        """The model's start that wrote the frame."""
        return int(number(self.line.get("attempt")) or 0)

    @property
    def name(self) -> str:
        """Its path relative to ``products/``."""
        return str(self.line["name"])

    @property
    def bytes(self) -> int:
        """Its size."""
        return int(number(self.line.get("bytes")) or 0)

    @property
    def t(self) -> float:
        """When it was published, in Unix seconds."""
        return number(self.line.get("t")) or 0.0

    @property
    def written(self) -> float | None:
        """When the model wrote the frame, in Unix seconds by the file server's clock."""
        return number(self.line.get("written"))

    @property
    def latency_s(self) -> float | None:
        """Seconds from the frame's last byte to the product's publication.

        None where it is unknown, or would be negative since clocks differ.
        """
        return None if self.written is None or self.t < self.written else self.t - self.written

    @property
    def facts(self) -> Mapping[str, Any]:
        """Facts from its kind, such as ``min``, ``max`` and ``units`` of a map."""
        facts = self.line.get("facts")
        return facts if isinstance(facts, dict) else {}

    @property
    def unproven(self) -> bool:
        """Whether no witness has confirmed that its frame is whole."""
        return self.facts.get("signal") == "unproven"

    @property
    def placeholder(self) -> str:
        """Why this is only a placeholder in the series; empty for a real product."""
        facts = self.facts
        return str(facts.get("reason", "no reason")) if facts.get("placeholder") else ""


class Index:
    """``products/index.jsonl``, read incrementally.

    ``entries`` holds the newest line of each product, stream and time, in order of publication.
    """

    def __init__(self, path: Path) -> None:
        self.entries: dict[Key, Published] = {}
        self._followed = Followed(path)

    def look(self) -> None:
        """Read new lines. A line that is not an index line is skipped. Raises OSError."""
        stretch = self._followed.look()
        if stretch.fresh:
            self.entries = {}
        entries = self.entries
        with uncollected():
            for line in stretch.lines:
                found = published(line)
                if found is not None:
                    key = (line["product"], line["stream"], line["time"])
                    if key in entries:
                        del entries[key]  # what replaces it comes last
                    entries[key] = found


def published(line: Line) -> Published | None:
    """The line as an entry of the index; None when it is not one."""
    for name in ("product", "stream", "time", "name"):
        if not isinstance(line.get(name), str):
            return None
    return Published(line)


def values_path(product: Path) -> Path:
    """The file with the values of a picture, beside it."""
    return product.with_suffix(".values.js")


def grid_path(products: Path, hash_: str) -> Path:
    """The file with the grid of that hash."""
    return products / "live" / f"grid-{hash_}.js"


def product_path(products: Path, name: str) -> Path:
    """The file that an index line names.

    Raises RunError when it is missing, or when the name or a link leads out of ``products``: the
    run's owner writes the index, and other users read it with their own rights.
    """
    path = products / name
    try:
        inside = path.resolve(strict=True).is_relative_to(products.resolve())
    except (OSError, RuntimeError, ValueError) as error:
        raise RunError(f"{path} is in the index and cannot be found: {_reason(error)}") from None
    if not inside:
        raise RunError(f"{name!r} in the index leads out of {products}")
    return path


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
