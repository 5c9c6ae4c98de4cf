"""The products of a run by name, and the files of each by valid time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from numbers import Real
from pathlib import Path

from burstlens.clients.opened.picture import Picture, is_picture
from burstlens.clients.opened.table import html_table, time_label
from burstlens.core import valid_time
from burstlens.core.errors import RunError
from burstlens.core.nearness import did_you_mean
from burstlens.core.run.index import Published, product_path

Time = str | float | datetime
"""``"latest"``, a valid-time key, a time as people write it, or elapsed seconds."""


@dataclass(frozen=True, slots=True)
class ProductView:
    """A product of a run: its published files, one entry per frame, in order of valid time. Entries
    that are ``stale`` are among them."""

    name: str
    kind: str
    folder: Path
    entries: tuple[Published, ...]

    @property
    def times(self) -> list[str]:
        """The valid-time keys."""
        return [entry.time for entry in self.entries]

    @property
    def series(self) -> Path | None:
        """The ``.pvd`` or ``.vtkhdf`` that ParaView opens, also while frames arrive; None for other
        products."""
        paths = (self.folder / f"{self.name}{suffix}" for suffix in (".pvd", ".vtkhdf"))
        return next((path for path in paths if path.is_file()), None)

    def __len__(self) -> int:
        return len(self.entries)

    def entry(self, time: Time = "latest", stream: str | None = None) -> Published:
        """What is published for a valid time; ``"latest"`` is the latest that is not stale, where
        there is one.

        Raises RunError with near times, also when several streams have that time and ``stream`` is
        None.
        """
        entries = [entry for entry in self.entries if stream in (None, entry.stream)]
        if not entries:
            of = "" if stream is None else f" of the stream {stream}"
            raise RunError(f"{self.name} has nothing published{of} yet")
        if time == "latest":
            return next((entry for entry in reversed(entries) if not entry.stale), entries[-1])
        key = time_key(time)
        found = [entry for entry in entries if key in (entry.time, time_label(entry.time))]
        if len(found) > 1:
            streams = ", ".join(entry.stream for entry in found)
            raise RunError(f"{self.name} has {time_label(key)} of several streams: {streams}")
        if not found:
            raise RunError(f"{self.name} has nothing at {time!r}{_nearest(key, entries)}")
        return found[0]

    def path(self, time: Time = "latest", stream: str | None = None) -> Path:
        """The file of a valid time. Raises RunError."""
        return product_path(self.folder, self.entry(time, stream).name)

    def image(self, time: Time = "latest", stream: str | None = None) -> Picture:
        """The picture of a valid time. Raises RunError when the product is not a picture."""
        entry = self.entry(time, stream)
        path = product_path(self.folder, entry.name)
        if not is_picture(entry.name):
            raise RunError(
                f"{self.name} is not a picture but {path.suffix or 'a file'}: "
                f'path("{self.name}") names it for the program that reads it'
            )
        return Picture(path, entry)


class Products(dict[str, ProductView]):
    """The products by name, in the recipe's order. An unknown name raises RunError."""

    def __missing__(self, name: str) -> ProductView:
        raise RunError(f'there is no product "{name}"{did_you_mean(str(name), self)}')

    def __repr__(self) -> str:
        return "\n".join("  ".join(row) for row in map(_cells, self.values()))

    def _repr_html_(self) -> str:
        heads = ("product", "kind", "published", "first", "latest")
        return html_table(heads, map(_cells, self.values()), "")


def _cells(product: ProductView) -> tuple[str, ...]:
    ends = [time_label(product.entries[at].time) for at in (0, -1)] if product.entries else ["", ""]
    return product.name, product.kind, str(len(product)), *ends


def time_key(time: Time) -> str:
    """A valid time as its key; other text unchanged. Without a time zone it is UTC."""
    if isinstance(time, datetime):
        at = time.astimezone(UTC) if time.tzinfo else time
        return valid_time.calendar_key(*at.timetuple()[:6], at.microsecond)
    if isinstance(time, Real):
        return valid_time.elapsed_key(float(time))
    try:
        key = valid_time.parse_key(str(time).replace("_", " "))
    except ValueError:
        return str(time)
    return key if valid_time.is_calendar(key) else str(time)


def _nearest(key: str, entries: Sequence[Published]) -> str:
    """The end of a message: the published times nearest to a missing one."""
    try:
        at = valid_time.seconds(key, entries[-1].calendar)
        entry = min(entries, key=lambda one: abs(valid_time.seconds(one.time, one.calendar) - at))
    except ValueError:
        entry = entries[-1]
        return f'; its latest is "{entry.time}"'
    return f'; the nearest is "{entry.time}"'
