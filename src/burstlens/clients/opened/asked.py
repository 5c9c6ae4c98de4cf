"""Series as a page asks for them, over HTTP or of a kernel: the newest frames first, in pieces."""

from __future__ import annotations

import threading
import time
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from burstlens.clients.opened.pictured import Pictured
from burstlens.clients.opened.points import Files, Grids
from burstlens.clients.opened.series import Gap, Read, Sample, heading, reader, samples
from burstlens.clients.opened.spot import Spot
from burstlens.core.errors import ValuesError
from burstlens.core.run.index import Published

TIMES = 400
"""Frames that one request may name: so many keys fit the line of an HTTP request."""
PIECE_S = 0.05
PIECE_FRAMES = 256
SAMPLES = 50_000
"""Samples that are held in all: about 20 MB."""
_PASSING = (Gap.FOREIGN, Gap.UNREADABLE)
"""Gaps that may be filled at the next reading."""


class Asked:
    """One request for a series: ``product``, ``stream`` (where there are several), ``lat`` and
    ``lon`` or ``x`` and ``y`` (with ``plane``: on such planes only); ``since`` and ``before``
    (valid-time keys) or ``times`` (several, separated by commas) choose frames.

    Raises ValuesError where the request itself is wrong.
    """

    def __init__(self, asked: Mapping[str, Any]) -> None:
        self.product = _text(asked, "product")
        if not self.product:
            raise ValuesError("name a product: product=slp")
        self.stream = _text(asked, "stream") or None
        place = {name: _place(asked, name) for name in ("lat", "lon", "x", "y")}
        self.spot = Spot.of(**place, plane=_text(asked, "plane"))
        self.since, self.before = _text(asked, "since"), _text(asked, "before")
        self.times = frozenset(filter(None, _text(asked, "times").split(",")))
        if len(self.times) > TIMES:
            raise ValuesError(f"a request may name {TIMES} times, not {len(self.times)}")

    def pieces(self, pictured: Pictured, memory: Memory) -> Iterator[tuple[list[Any], int]]:
        """Pieces of at most about ``PIECE_S``, and how many frames are left after each: first the
        heading, an object, and one row; then rows ``[time, value]``.

        Raises RunError as :meth:`.Pictured.entries`.
        """
        entries = pictured.entries(
            self.stream, since=self.since, before=self.before, times=self.times
        )[::-1]
        memory.keep(pictured)
        files = Files(pictured.run.products)
        where = (str(pictured.run.path), self.product, self.spot)
        read = memory.recalled.reading(where, reader(files, self.spot, memory.grids))
        found = samples(read, entries, pictured.newest)
        left, first = len(entries), list[Sample]()
        end = time.monotonic() + PIECE_S
        while left > len(first) and time.monotonic() < end and not (first and first[-1].facts):
            first.append(next(found))  # gaps at the end have no units
        stream = self.stream or (entries[0].stream if entries else "")
        head = heading(self.product, stream, entries, first, self.spot)
        left -= len(first)
        yield [head, *(one.row() for one in first)], left
        while left:
            end, piece = time.monotonic() + PIECE_S, list[Any]()
            while len(piece) < min(left, PIECE_FRAMES) and (not piece or time.monotonic() < end):
                piece.append(next(found).row())
            left -= len(piece)
            yield piece, left


class Recalled:
    """Samples that were read for one client, by place and published picture, a bounded number, for
    the next one that asks at the same place: a link to a page with kept places makes all its
    readers ask the same. Any thread may call it."""

    def __init__(self, most: int = SAMPLES) -> None:
        self._most = most
        self._held: dict[Hashable, dict[Hashable, Sample]] = {}
        self._count = 0
        self._lock = threading.Lock()

    def reading(self, where: Hashable, read: Read) -> Read:
        """``read`` for the place ``where`` of a run's product, which reads each picture once."""

        def recall(entry: Published) -> Sample:
            picture = (entry.time, entry.name, entry.line.get("crc32"), entry.attempt)
            with self._lock:
                found = self._held.get(where, {}).get(picture)
            if found is None:
                found = read(entry)
                if found.gap not in _PASSING:
                    self._hold(where, picture, found)
            return found

        return recall

    def _hold(self, where: Hashable, picture: Hashable, sample: Sample) -> None:
        with self._lock:
            place = self._held.pop(where, {})
            self._held[where] = place  # the latest is the last to be forgotten
            self._count += picture not in place
            last = next(reversed(place.values()), sample)
            if last.facts == sample.facts:
                sample = replace(sample, facts=last.facts)  # held once
            place[picture] = sample
            while self._count > self._most:
                oldest: dict[Any, Sample] = self._held[next(iter(self._held))]
                oldest.pop(next(iter(oldest)))
                self._count -= 1
                if not oldest:
                    del self._held[next(iter(self._held))]


class Memory:
    """What was read for series of several runs, for the next request: indexes, grids and samples, a
    bounded number. Any thread may call it."""

    def __init__(self, most: int = 32) -> None:
        self.grids, self.recalled = Grids(), Recalled()
        self._most = most
        self._pictured: dict[tuple[str, str], Pictured] = {}

    def pictured(self, made: Pictured) -> Pictured:
        """The one of that run and product that was used before, else ``made``."""
        return self._pictured.get(_key(made), made)

    def keep(self, used: Pictured) -> None:
        """Hold one that has pictures for the next request, and forget the longest unused."""
        self._pictured.pop(_key(used), None)
        self._pictured[_key(used)] = used
        for old in list(self._pictured)[: -self._most]:
            self._pictured.pop(old, None)


def _key(pictured: Pictured) -> tuple[str, str]:
    return str(pictured.run.path), pictured.product


def _text(asked: Mapping[str, Any], name: str) -> str:
    found = asked.get(name)
    if found is None:
        return ""
    if not isinstance(found, str):
        raise ValuesError(f"{name} must be a text")
    return found


def _place(asked: Mapping[str, Any], name: str) -> str | float | None:
    found = asked.get(name)
    if found is None or isinstance(found, str):
        return found
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise ValuesError(f"{name} must be a number")
    return float(found)
