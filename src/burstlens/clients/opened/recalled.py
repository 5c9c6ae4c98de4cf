"""Samples that were read for one client, for the next one that asks at the same place: a link to a
page with kept places makes all its readers ask the same."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from dataclasses import replace
from typing import Any

from burstlens.clients.opened.series import Gap, Read, Sample
from burstlens.core.run.index import Published

MOST = 50_000
"""Samples that are held in all: about 20 MB."""
_PASSING = (Gap.FOREIGN, Gap.UNREADABLE)
"""Gaps that may be filled at the next reading."""


class Recalled:
    """A bounded number of samples, by place and published picture. Any thread may call it."""

    def __init__(self, most: int = MOST) -> None:
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
