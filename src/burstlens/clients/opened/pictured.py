"""The published pictures of one product and stream, read from the index without the others."""

from __future__ import annotations

import threading
from collections.abc import Collection

from burstlens.clients.opened.file_errors import reading
from burstlens.clients.opened.series import has_values, without_values
from burstlens.core.errors import RunError
from burstlens.core.nearness import did_you_mean
from burstlens.core.run.directory import RunDir
from burstlens.core.run.follow import Followed, Line, uncollected
from burstlens.core.run.index import Index, Published, published

_KEYS = ("product", "stream", "time", "attempt", "name", "crc32", "t", "values")
_FACTS = ("placeholder", "reason", "traces", "variable", "units")


class Pictured:
    """What is published of one product; each look reads the new lines of the index alone, and
    parses none of other products. Any thread may call it."""

    def __init__(self, run: RunDir, product: str) -> None:
        self.run = run
        self.product = product
        # Only a plain name stands in the index as it is.
        plain = product.isascii() and product.isprintable() and not {'"', "\\"} & set(product)
        self._followed = Followed(run.index, marks=(f'"{product}"'.encode(),) if plain else ())
        self._entries: dict[tuple[str, str], Published] = {}
        self._lock = threading.Lock()

    def entries(
        self,
        stream: str | None = None,
        *,
        since: str = "",
        before: str = "",
        times: Collection[str] = (),
    ) -> list[Published]:
        """What is published of a stream, in the order of valid times: those after ``since``, before
        ``before``, and of ``times`` alone, where given.

        Raises RunError: where the product has nothing published, or has several streams and none is
        named, or has no values at all; and where the index cannot be read.
        """
        found = self._of_stream(stream)
        if not any(map(has_values, found)):
            raise without_values(self.product, found)
        return [
            entry
            for entry in found
            if since < entry.time
            and (not before or entry.time < before)
            and (not times or entry.time in times)
        ]

    def is_empty(self) -> bool:
        """Whether nothing but placeholders is published of it yet. Raises RunError."""
        self._refresh()
        with self._lock:
            return all(entry.placeholder for entry in self._entries.values())

    def newest(self, entry: Published) -> Published | None:
        """What the index has now for the frame of an entry."""
        try:
            self._look()
        except OSError:
            return None
        with self._lock:
            return self._entries.get((entry.stream, entry.time))

    def _of_stream(self, stream: str | None) -> list[Published]:
        self._refresh()
        with self._lock:
            found = sorted(self._entries.values(), key=lambda entry: entry.time)
        streams = sorted({entry.stream for entry in found})
        if not streams:
            index = Index(self.run.index)
            index.look()
            names = {entry.product for entry in index.entries.values()}
            near = did_you_mean(self.product, names) if names else ""
            raise RunError(f"nothing is published of a product {self.product!r}{near}")
        if stream is None and len(streams) > 1:
            named = ", ".join(streams[:12])
            raise RunError(f"{self.product} has several streams, name one of them: {named}")
        wanted = streams[0] if stream is None else stream
        if wanted not in streams:
            near = did_you_mean(wanted, streams)
            raise RunError(f"{self.product} has nothing of a stream {wanted!r}{near}")
        return [entry for entry in found if entry.stream == wanted]

    def _refresh(self) -> None:
        with reading(self.run.index):
            self._look()

    def _look(self) -> None:
        with self._lock, uncollected():
            stretch = self._followed.look()
            if stretch.fresh:
                self._entries = {}
            for line in stretch.lines:
                entry = published(_lean(line)) if line.get("product") == self.product else None
                if entry is not None:
                    self._entries[entry.stream, entry.time] = entry


def _lean(line: Line) -> Line:
    """What series need of a line: a server holds those of many runs."""
    facts = line.get("facts")
    found = {name: line[name] for name in _KEYS if name in line}
    if isinstance(facts, dict):
        found["facts"] = {name: facts[name] for name in _FACTS if name in facts}
    return found
