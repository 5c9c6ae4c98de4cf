"""Publication: from a receipt to a file under its final name, exactly once.

The journal says ``product.publishing`` (on disk) before the rename and ``product.published``
after it, so that a look at the files settles whatever a crash leaves between the two.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from msgspec import structs

from burstlens.core.durable import sync_folder
from burstlens.core.lines import HeldLines, read_lines
from burstlens.core.model import Receipt, State
from burstlens.core.run.directory import RunDir
from burstlens.core.run.events import (
    Key,
    ProductKept,
    ProductPublished,
    ProductPublishing,
    ProductSuperseded,
    StagedFile,
)
from burstlens.core.run.follow import Line, read_stretch
from burstlens.core.run.history import History
from burstlens.core.run.index import PIECES, values_path
from burstlens.core.run.journal import Journal, read_only
from burstlens.core.run.segments import Segments
from burstlens.core.run.snapshot import segment_parts
from burstlens.stagers.base import checksum, remove
from burstlens.viz.live.feed import FrameFeed
from burstlens.workflows.publishing.context import RunContext
from burstlens.workflows.publishing.phases import phases
from burstlens.workflows.publishing.series import SUFFIXES, Series, has_series

COMPARED_BYTES = 1 << 30
"""Larger files are replaced, not compared with what an earlier attempt has published."""
_KEY = ("product", "stream", "time")
_RECEIPT = tuple(Receipt.__dataclass_fields__)


class Publisher:
    """Renames what was staged, writes the index and the ParaView series. Driver's thread only.

    ``start`` is the key of the model's start: ParaView's times are seconds after it. ``fill``
    returns the fraction of the buffer that is used, ``speed`` the model's in seconds per second.
    """

    def __init__(
        self,
        run: RunDir,
        journal: Journal,
        history: History,
        start: str | None = None,
        fill: Callable[[], float] | None = None,
        speed: Callable[[], float | None] | None = None,
    ) -> None:
        self._run = run
        self._journal = journal
        self._history = history
        self._fill = fill
        self._speed = speed
        self._index = HeldLines(run.index)
        self._feed = FrameFeed(run)
        self._series = Series(run.products, start, self._segments)
        self._folders: set[Path] = set()
        """The products' folders whose names are on disk."""

    @classmethod
    def of(cls, context: RunContext) -> Publisher:
        """That of a driver."""
        snapshot = context.snapshot
        return cls(
            context.run, context.journal, context.history, context.facts.start,
            lambda: snapshot.fill, lambda: snapshot.speed,
        )  # fmt: skip

    def _segments(self) -> Segments:
        return Segments(tuple(segment_parts(self._history)))

    def settle(self) -> None:
        """After a restart: finish each publication that was cut, and mend the index. What is not
        there as it was staged is made again.

        Raises OSError when ``products/`` cannot be read or written.
        """
        listed = set()
        indexed = self._feed.resume(*self._history.indexed)
        for line in self._series_before(indexed) if indexed else ():
            self._series.add(line)
        for line in read_lines(self._run.index, indexed):
            listed.add((*(line[name] for name in _KEY), line["t"]))
            self._enter(line)
        # Again: the history keeps no file names.
        after = self._history.volume if indexed else 0
        events: Iterator[ProductPublished | ProductKept] = read_only(
            self._run.journal, ProductPublished, ProductKept, after=after
        )
        for event in events:
            if (*event.key, event.t) not in listed:
                self._list(event, mended=True)
        # Last: the newest line of a product in the index is that of the file that stands.
        for cut in list(self._history.publishing.values()):
            receipt = _receipt(cut)
            parts = _parts(receipt)
            if all(self._stands(part) or self._waits(part) for part in parts):
                self._put_all(parts)
                self._note(receipt)
        self.flush(force=True)

    def _series_before(self, end: int) -> list[Line]:
        """The lines of the index for ParaView up to that byte."""
        marks = tuple(f'{suffix}"'.encode() for suffix in SUFFIXES)
        if not any(has_series(self._run.products / name) for name in self._history.standing):
            return []
        return read_stretch(self._run.index, limit=end, marks=marks).lines

    def mark(self) -> None:
        """Bring the index to disk, and note in the history how far it and the page's feed are
        complete. Raises OSError."""
        self._index.sync()
        self._feed.write(force=True, end=self._index.bytes)
        if self._feed.is_written:
            self._history.indexed = self._index.bytes, self._feed.lines

    def clean_incoming(self) -> None:
        """Delete files that no receipt names; only when no worker of this run lives."""
        for path in self._run.incoming.iterdir():
            remove(path)

    def publish(self, receipts: Iterable[Receipt]) -> list[ProductPublished]:
        """Publish these products, in one group; returns their ``product.published`` events.

        A receipt for what stands already (a retried task, a zombie worker) is dropped with its
        file, unless it has the colour limits that the standing one lacks. What an earlier attempt
        has published, and this one has computed to the same bytes, is kept. Raises OSError when
        the target is full or away: then the same receipts can be given again.
        """
        fresh: list[Receipt] = []
        given: dict[Key, int] = {}
        once = {receipt.uuid: receipt for receipt in receipts}.values()
        for receipt in sorted(once, key=lambda receipt: -receipt.attempt):
            key = receipt.key
            if given.get(key, 0) >= receipt.attempt or self._is_superfluous(key, receipt):
                self.discard(receipt)
            else:
                given[key] = receipt.attempt
                if self._is_same(receipt):
                    self._keep(receipt)
                else:
                    fresh.append(receipt)
        for receipt in fresh:
            self._journal.append(ProductPublishing(**_fields(receipt)))
        self._journal.sync()
        self._put_all([part for receipt in fresh for part in _parts(receipt)])
        return [self._note(receipt) for receipt in fresh]

    def discard(self, receipt: Receipt) -> None:
        """Delete what was staged for a product that is not published."""
        for part in _parts(receipt):
            remove(self._run.products / part.incoming)

    def _is_superfluous(self, key: Key, receipt: Receipt) -> bool:
        stands = self._history.published.get(key, 0)
        if key in self._history.outdated:
            return stands > receipt.attempt
        if key in self._history.retried and not _is_placeholder(receipt):
            return stands > receipt.attempt
        if stands != receipt.attempt or not self._history.outgrown(key):
            return stands >= receipt.attempt
        return receipt.limits != self._history.limits[receipt.product]

    def _is_same(self, receipt: Receipt) -> bool:
        """Whether the product of an earlier attempt stands with the same bytes. Where a publication
        was cut, the file may be the later one, which is not journalled. The pieces of a volume have
        the attempt in their names; of a model that others have started again each product is shown
        as a new one."""
        before = self._history.published.get(receipt.key)
        if before in (None, receipt.attempt) or self._history.attached is not None:
            return False
        if receipt.key in self._history.publishing:
            return False
        if receipt.pieces or receipt.bytes > COMPARED_BYTES or _is_placeholder(receipt):
            return False
        if not receipt.values and values_path(self._run.products / receipt.name).exists():
            return False
        return self._stands(receipt) and all(map(self._stands, receipt.values))

    def _keep(self, receipt: Receipt) -> None:
        """Let the file that stands be that of the receipt's attempt. Its state is the attempt's
        own, with a name of its own."""
        if receipt.state is not None:
            self._put_all([receipt.state])
        self._list(self._journal.append(ProductKept(**_fields(receipt))))
        self.discard(receipt)

    def _stands(self, part: Receipt | State) -> bool:
        return _is(self._run.products / part.name, part)

    def _waits(self, part: Receipt | State) -> bool:
        return _is(self._run.products / part.incoming, part)

    def _put_all(self, parts: Sequence[Receipt | State]) -> None:
        """Rename these files, and bring the renames to disk."""
        for part in parts:
            self._put(part)
        for folder in {(self._run.products / part.name).parent for part in parts}:
            sync_folder(folder)

    def _put(self, part: Receipt | State) -> None:
        incoming = self._run.products / part.incoming
        final = self._run.products / part.name
        if final.parent not in self._folders:
            self._make(final.parent)
        try:
            os.replace(incoming, final)
        except FileNotFoundError:
            if not _is(final, part):  # else an earlier try, or a former driver, has renamed it
                self._make(final.parent)
                os.replace(incoming, final)

    def _make(self, folder: Path) -> None:
        """Make a product's folder, if need be, and bring its name to disk."""
        if folder.parent != self._run.products and not folder.parent.exists():
            self._make(folder.parent)
        folder.mkdir(exist_ok=True)
        sync_folder(folder.parent)
        self._folders.add(folder)

    def _note(self, receipt: Receipt) -> ProductPublished:
        key = receipt.key
        before = self._history.published.get(key)
        if not receipt.values:  # those of a product that is replaced would be stale
            values_path(self._run.products / receipt.name).unlink(missing_ok=True)
        if before is not None:
            self._journal.append(
                ProductSuperseded(product=key[0], stream=key[1], time=key[2], attempt=before)
            )
        event = self._journal.append(ProductPublished(**_fields(receipt)))
        if before not in (None, receipt.attempt):
            self._drop_earlier(key, before, receipt.name)
        held = [one.time for one in self._history.checkpoints.records]
        for name in self._history.states.surplus(receipt.product, receipt.stream, held):
            (self._run.products / name).unlink(missing_ok=True)
        self._list(event)
        return event

    def _drop_earlier(self, key: Key, attempt: int, name: str) -> None:
        """Delete the pieces of a volume's earlier attempt, and its file if that had another
        extension."""
        final, place = self._run.products / name, f"{key[1]}_{key[2]}_{attempt}"
        if final.suffix not in SUFFIXES:
            return
        for suffix in SUFFIXES:  # by their names: a folder of 100,000 files is slow to search
            if suffix != final.suffix:
                final.with_suffix(suffix).unlink(missing_ok=True)
            with contextlib.suppress(FileNotFoundError):
                for number in itertools.count():
                    (final.parent / PIECES / f"{place}_{number:04d}{suffix}").unlink()

    def _list(self, event: ProductPublished | ProductKept, *, mended: bool = False) -> None:
        entry: dict[str, Any] = {
            name: getattr(event, name) for name in (*_KEY, "attempt", "name", "bytes", "crc32", "t")
        }
        entry["written"] = (event.clock or {}).get("written")
        # The present values are not those of a product that a former driver has published.
        entry["raw_bytes"] = None if mended else self._history.raw_bytes
        entry["fill"] = None if mended or self._fill is None else round(self._fill(), 4)
        entry["speed"] = None if mended or self._speed is None else self._speed()
        entry["clock"] = phases(event)
        if event.pieces:
            entry["pieces"] = [_listed(part) for part in event.pieces]
        if event.values:
            entry["values"] = _listed(event.values[-1])  # its header names the grids
        entry["facts"] = event.facts
        self._index.append(entry)
        self._enter(entry)

    def _enter(self, line: Mapping[str, object]) -> None:
        self._feed.add(line)
        self._series.add(line)

    def flush(self, *, force: bool = False) -> None:
        """Write what the index still lacks and, at most once a second, the page's feed and the
        ParaView series that have grown. Raises OSError."""
        self._index.write_held()
        self._feed.write(force=force, end=self._index.bytes)
        self._series.write(force=force)

    def close(self) -> None:
        """Write what is outstanding."""
        with contextlib.suppress(OSError):
            self.flush(force=True)
        self._index.close()


def _is_placeholder(receipt: Receipt) -> bool:
    return bool(receipt.facts.get("placeholder"))


def _parts(receipt: Receipt) -> list[Receipt | State]:
    """The files of a product in the order of their renaming: whoever sees the product finds the
    others."""
    state = () if receipt.state is None else (receipt.state,)
    return [*state, *receipt.values, *receipt.pieces, receipt]


def _listed(file: StagedFile) -> dict[str, Any]:
    """A file beside the product, for the index."""
    return {"name": file.name, "bytes": file.bytes, "crc32": file.crc32}


def _fields(receipt: Receipt) -> dict[str, Any]:
    fields: dict[str, Any] = {name: getattr(receipt, name) for name in _RECEIPT}
    state = receipt.state and StagedFile(**asdict(receipt.state))
    values = tuple(StagedFile(**asdict(part)) for part in receipt.values)
    fields["values"] = values or None
    fields["pieces"] = tuple(StagedFile(**asdict(part)) for part in receipt.pieces) or None
    return fields | {"state": state, "clock": dict(receipt.clock), "facts": dict(receipt.facts)}


def _receipt(event: ProductPublishing) -> Receipt:
    fields: dict[str, Any] = {name: getattr(event, name) for name in _RECEIPT}
    state = event.state and State(**structs.asdict(event.state))
    for name in ("values", "pieces"):
        parts = getattr(event, name) or ()
        fields[name] = tuple(State(**structs.asdict(part)) for part in parts)
    clock = {step: t for step, t in (event.clock or {}).items() if t is not None}
    return Receipt(**fields | {"state": state, "clock": clock, "facts": event.facts or {}})


def _is(path: Path, part: Receipt | State) -> bool:
    try:
        if path.stat().st_size != part.bytes:
            return False
        return checksum(path).crc32 == part.crc32
    except FileNotFoundError:
        return False
