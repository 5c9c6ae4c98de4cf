"""The index of a run's products, as readers see it: published products and their files, and which
of the pictures stands for the run: after the end, the newest with something in it."""

from __future__ import annotations

import contextlib
import copy
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from burstlens.core.errors import RunError
from burstlens.core.run.event import Key
from burstlens.core.run.follow import Followed, Line, number, uncollected

PIECES = "pieces"
"""The folder, in a product's own, with the pieces of large volumes."""
_SHARE = 2 / 3
"""The part of the largest picture's bytes that a picture with something in it has: what a PNG takes
beyond letters and lines is what is shown."""


class _Names(msgspec.Struct):
    """What every line of the index has, and the model's start."""

    product: str
    stream: str
    time: str
    name: str
    attempt: Any = None


class Published:
    """One published product of one frame: a line of the index, which :func:`published` checked.
    ``product`` is its name, ``stream`` and ``time`` its frame's stream and valid-time key, ``name``
    its path relative to ``products/``, ``attempt`` the model's start that wrote the frame.
    ``stale``: that attempt no longer owns this time (:class:`.Segments`), as far as its reader
    has looked."""

    __slots__ = ("_given", "attempt", "name", "product", "stale", "stream", "time")

    def __init__(self, line: Line | bytes, names: _Names | None = None) -> None:
        """The line, or its text with the names in it: then the rest is only parsed when it is asked
        for, as a long run has many."""
        self._given = line
        if names is None:
            names = msgspec.convert(self.line, _Names)
        self.product, self.stream, self.time = names.product, names.stream, names.time
        self.name = names.name
        self.attempt = int(number(names.attempt) or 0)
        self.stale = False

    @property
    def line(self) -> Line:
        """All of the line."""
        if isinstance(self._given, dict):
            return self._given
        try:
            found: Line = json.loads(self._given)
        except (ValueError, RecursionError):  # foreign
            found = {name: getattr(self, name) for name in ("product", "stream", "time", "name")}
        return found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Published):
            return False
        return self.stale == other.stale and self.line == other.line

    __hash__ = None  # type: ignore[assignment]  # as that of a line

    def __repr__(self) -> str:
        return f"Published({self.line!r})"

    def as_stale(self) -> Published:
        """The same entry, marked as stale."""
        found = copy.copy(self)
        found.stale = True
        return found

    @property
    def bytes(self) -> int:
        """Its size, with its pieces."""
        files = [self.line, *self.pieces]
        return sum(int(number(file.get("bytes")) or 0) for file in files)

    @property
    def pieces(self) -> Sequence[Mapping[str, Any]]:
        """The files of a volume in pieces: ``name`` below ``products/``, ``bytes``, ``crc32``."""
        found = self.line.get("pieces")
        found = found if isinstance(found, list) else []
        return [one for one in found if isinstance(one, dict) and isinstance(one.get("name"), str)]

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
        """Seconds from the frame's last byte to the product's publication. None where it is
        unknown, or would be negative since clocks differ."""
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
    def calendar(self) -> str:
        """The calendar in which its time counts, empty where that is Gregorian."""
        return str(self.facts.get("calendar", ""))

    @property
    def placeholder(self) -> str:
        """Why this is only a placeholder in the series; empty for a real product."""
        if isinstance(self._given, bytes) and b'"placeholder"' not in self._given:
            return ""
        facts = self.facts
        return str(facts.get("reason", "no reason")) if facts.get("placeholder") else ""


class Index:
    """``products/index.jsonl``, read incrementally. ``entries`` holds the newest line of each
    product, stream and time, in order of publication."""

    def __init__(self, path: Path) -> None:
        self.entries: dict[Key, Published] = {}
        self._followed = Followed(path, parse=parse_entries)

    def look(self) -> None:
        """Read new lines. A line that is not an index line is skipped. Raises OSError."""
        stretch = self._followed.look()
        if stretch.fresh:
            self.entries = {}
        entries = self.entries
        with uncollected():
            for found in stretch.lines:
                key = (found.product, found.stream, found.time)
                if key in entries:
                    del entries[key]  # what replaces it comes last
                entries[key] = found


def parse_entries(lines: list[bytes]) -> list[Published]:
    """The entries in these lines; a line that is not an index line is skipped."""
    decode = msgspec.json.Decoder(_Names).decode
    entries: list[Published | None] = []
    for line in lines:
        try:
            entries.append(Published(line, decode(line)))
        except (ValueError, RecursionError):  # foreign, or not strictly JSON
            with contextlib.suppress(ValueError, RecursionError):
                entries.append(published(json.loads(line)))
    return [entry for entry in entries if entry is not None]


def published(line: Any) -> Published | None:
    """The line as an entry of the index; None when it is not one."""
    try:
        return Published(line) if isinstance(line, dict) else None
    except msgspec.ValidationError:
        return None


def fullest(*series: Sequence[Published]) -> Published | None:
    """Of pictures in order of valid time, the newest that is not nearly empty beside the others; of
    several series that of the first one whose values are not the same everywhere at all times.

    The last frames of an earthquake are still ground, and those of a storm that left the domain
    calm air; an ideal run has T2 = 0. Placeholders only where there is nothing else; None without
    pictures.
    """
    constant: list[Published] = []
    placeholders: list[Published] = []
    for entries in series:
        pictures = [entry for entry in entries if not entry.placeholder]
        if drawn := [entry for entry in pictures if not _is_constant(entry)]:
            return _newest(drawn)
        constant = constant or pictures
        placeholders = placeholders or list(entries)
    return _newest(constant or placeholders)


def _is_constant(entry: Published) -> bool:
    least, most = (entry.facts.get(name) for name in ("min", "max"))
    return isinstance(least, int | float) and least == most


def _newest(pictures: Sequence[Published]) -> Published | None:
    most = max((entry.bytes for entry in pictures), default=0)
    full = (entry for entry in reversed(pictures) if entry.bytes >= _SHARE * most)
    return next(full, None)


def values_path(product: Path) -> Path:
    """The file with the values of a picture, beside it."""
    return product.with_suffix(".values.js")


def grid_path(products: Path, hash_: str) -> Path:
    """The file with the grid of that hash."""
    return products / "live" / f"grid-{hash_}.js"


def product_path(products: Path, name: str) -> Path:
    """The file that an index line names. Raises RunError when it is missing, or when the name or a
    link leads out of ``products``: the run's owner writes the index, and other users read it with
    their own rights."""
    path = products / name
    try:
        inside = path.resolve(strict=True).is_relative_to(products.resolve())
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise RunError(f"{path} is in the index and cannot be found: {reason}") from None
    if not inside:
        raise RunError(f"{name!r} in the index leads out of {products}")
    return path
