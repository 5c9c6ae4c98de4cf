"""The disk of a driver that publishes, which fails it at any call, and what must hold of it."""

from __future__ import annotations

import contextlib
import errno
import os
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from burstlens.core.decode import decoder
from burstlens.core.run import events as ev
from burstlens.core.run.directory import RunDir
from burstlens.core.run.events import AnyEvent, Event, Key
from burstlens.core.run.history import History

QUARTERS = 4
"""A write, or what was not flushed, is cut after so many quarters."""


Line = tuple[Key, float]
"""A published event, and its line in the index: product, stream, valid time, and when."""


class Killed(BaseException):
    """The driver was killed at one of its calls."""


class Disk:
    """The file system as the driver uses it.

    After ``kill_in`` calls the next one kills it; after ``full_in`` calls the next ``full`` ones
    are refused. A write that ends so takes ``torn`` quarters of its bytes. A power cut loses what
    was not flushed.
    """

    CALLS = ("open", "close", "write", "ftruncate", "fsync", "replace", "unlink", "mkdir")

    def __init__(self, run: RunDir) -> None:
        self.run = run
        self.on = False
        """Whether it is the driver that calls."""
        self.kill_in: int | None = None
        self.full_in = self.full = self.torn = 0
        self.refused = 0
        self.renamed: Counter[str] = Counter()
        """How often a file got its final name, by that name."""
        self._dead = False
        self._open: dict[int, str] = {}
        self._flushed: Counter[str] = Counter()
        """Bytes of each file that are on disk."""
        self._moves: list[tuple[str, str, bytes | None]] = []
        """Renames that are not: from, to, and what was there before."""
        self._fresh: set[str] = set()
        """Folders whose names are not."""
        self._real = {name: getattr(os, name) for name in self.CALLS}

    def install(self) -> None:
        """Take the place of these functions of ``os``."""
        for name in self.CALLS:
            setattr(os, name, getattr(self, name))

    def remove(self) -> None:
        """Restore them."""
        for name in self.CALLS:
            setattr(os, name, self._real[name])

    @contextlib.contextmanager
    def off(self) -> Iterator[None]:
        """The test itself looks at the files."""
        self.on = False
        yield
        self.on = True

    def calm(self) -> None:
        """Nothing happens to the driver from now on."""
        self.kill_in, self.full = None, 0

    def end(self) -> None:
        """The driver's process ends."""
        for descriptor in self._open:
            self._real["close"](descriptor)
        self._open.clear()
        self._dead = False
        self.calm()

    def cut_power(self, journal: int, index: int, moves: int) -> None:
        """Lose what was not flushed, but so many quarters of it, beginning with the earliest."""
        for path, kept in ((self.run.journal, journal), (self.run.index, index)):
            if path.exists():
                size, flushed = path.stat().st_size, self._flushed[str(path)]
                os.truncate(path, flushed + (size - flushed) * kept // QUARTERS)
        kept = len(self._moves) * moves // QUARTERS
        for source, final, before in reversed(self._moves[kept:]):
            self._real["replace"](final, source)
            self.renamed[self._name(final)] -= 1
            if before is not None:
                Path(final).write_bytes(before)
        self._moves.clear()
        self._fresh.clear()

    def open(self, path: Any, flags: int, *args: Any, **named: Any) -> int:
        descriptor: int = self._real["open"](path, flags, *args, **named)
        if self.on and flags & (os.O_RDWR | os.O_DIRECTORY):  # what is only read is closed in C
            self._open[descriptor] = str(path)
        return descriptor

    def close(self, descriptor: int) -> None:
        self._open.pop(descriptor, None)
        self._real["close"](descriptor)

    def write(self, descriptor: int, data: bytes) -> int:
        part = data[: len(data) * self.torn // QUARTERS]
        try:
            self._strike("write")
        except (Killed, OSError) as error:
            if part:
                self._real["write"](descriptor, part)
            if part and isinstance(error, OSError):
                return len(part)
            raise
        written: int = self._real["write"](descriptor, data)
        return written

    def ftruncate(self, descriptor: int, size: int) -> None:
        self._strike("ftruncate")
        self._real["ftruncate"](descriptor, size)
        path = self._open.get(descriptor, "")
        self._flushed[path] = min(self._flushed[path], size)

    def fsync(self, descriptor: int) -> None:
        self._strike("fsync")
        path = self._open.get(descriptor, "")
        if os.path.isdir(path):
            if path not in self._fresh:  # else the folder itself may be lost
                self._moves = [move for move in self._moves if os.path.dirname(move[1]) != path]
            self._fresh = {folder for folder in self._fresh if os.path.dirname(folder) != path}
        elif path:
            self._flushed[path] = os.fstat(descriptor).st_size

    def replace(self, source: Any, final: Any) -> None:
        self._strike("replace")
        if not self.on or not str(source).startswith(str(self.run.incoming)):
            return self._real["replace"](source, final)
        before = Path(final).read_bytes() if os.path.exists(final) else None
        self._real["replace"](source, final)
        self._moves.append((str(source), str(final), before))
        self.renamed[self._name(final)] += 1

    def unlink(self, path: Any, **named: Any) -> None:
        self._strike("unlink")
        self._real["unlink"](path, **named)

    def mkdir(self, path: Any, *args: Any, **named: Any) -> None:
        self._strike("mkdir")
        self._real["mkdir"](path, *args, **named)
        if self.on:
            self._fresh.add(str(path))

    def _name(self, final: Any) -> str:
        return os.path.relpath(final, self.run.products)

    def _strike(self, call: str) -> None:
        if not self.on:
            return
        if self.kill_in is not None:
            self.kill_in -= 1
            self._dead = self._dead or self.kill_in < 0
        if self._dead:
            raise Killed(call)
        if self.full and call != "unlink":
            self.full_in -= 1
            if self.full_in < 0:
                self.full -= 1
                self.refused += 1
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), call)


def state_of(history: History) -> dict[str, Any]:
    """All that a history holds, to be compared."""
    return {field.name: getattr(history, field.name) for field in fields(history)}


class Ledger:
    """What the journal's file says, read as it grows, and what must hold of each line."""

    def __init__(self, path: Path, products: dict[str, int], known: dict[object, int]) -> None:
        self.path = path
        self.known = known
        """The CRC-32 of files by inode: not each look has to read them."""
        self.products = products
        """Each product, and of which frames it is made: every one, every second one."""
        self.history = History()
        self.newest: dict[Key, ev.ProductPublished] = {}
        self.states: dict[str, int] = {}
        """The CRC-32 of each state by its name."""
        self.counts: Counter[str] = Counter()
        """How many events there are of each final name."""
        self.published: set[Line] = set()
        self._drawn: defaultdict[Key, set[Any]] = defaultdict(set)
        self._superseded: dict[Key, int] = {}
        self._times: set[str] = set()
        self._offset = 0
        self._decode = decoder(AnyEvent).decode

    def look(self) -> None:
        """Read what was written since, but a line that is not whole."""
        with self.path.open("rb") as stream:
            stream.seek(self._offset)
            for line in stream:
                if not line.endswith(b"\n"):
                    break
                self._offset += len(line)
                self._take(self._decode(line))

    def _take(self, event: Event) -> None:
        if isinstance(event, ev.ProductSuperseded):
            self._superseded[event.key] = event.attempt
        elif isinstance(event, ev.ProductPublished):
            self._publish(event)
        elif isinstance(event, ev.ProductKept):
            self._keep(event)
        elif isinstance(event, ev.ProductFailed):
            stands = self.history.published.get(event.key, 0) >= event.attempt
            hole = event.key in self.history.holes
            assert hole or not stands, f"{event.key} stands and is called failed"
        elif isinstance(event, ev.FrameReleased):
            for name in self.wanted(event.time):
                key = name, event.stream, event.time
                assert self.history.settled(key, event.attempt), f"released before {key}"
        elif isinstance(event, (ev.FrameReady, ev.FrameDamaged)) and event.time:
            self._times.add(event.time)
            if isinstance(event, ev.FrameReady) and event.repeated:  # all of it is made again
                for key in [key for key in self._drawn if key[1:] == (event.stream, event.time)]:
                    del self._drawn[key]
        self.history.apply(event)

    def _publish(self, event: ev.ProductPublished) -> None:
        key, before = event.key, self.newest.get(event.key)
        # A run that is resumed after its end makes what had failed: in the placeholder's place.
        hole = bool((event.facts or {}).get("placeholder"))
        again = before is not None and before.attempt == event.attempt
        is_outdated = key in self.history.outdated
        assert not hole or not again or is_outdated, f"{key} becomes a hole"
        narrowed = self.history.narrowed.get(key[0])  # then wider pictures are made again
        drawn = event.attempt, event.limits, hole, narrowed
        assert drawn not in self._drawn[key], f"{key} is published twice as {drawn}"
        self._drawn[key].add(drawn)
        assert self._superseded.pop(key, None) == (before and before.attempt)
        assert before is None or before.attempt <= event.attempt, f"{key}: an earlier attempt"
        self.newest[key] = event
        self.published.add((key, event.t))
        self.counts[event.name] += 1
        if event.state is not None:
            self.states[event.state.name] = event.state.crc32
            self.counts[event.state.name] += 1
        self.counts.update(part.name for part in event.pieces or ())

    def _keep(self, event: ev.ProductKept) -> None:
        before = self.newest[event.key]
        assert (before.name, before.crc32) == (event.name, event.crc32)
        assert before.attempt < event.attempt
        self.newest[event.key] = replace(before, attempt=event.attempt)
        self._drawn[event.key].add((event.attempt, event.limits, False))
        self.published.add((event.key, event.t))
        if event.state is not None:
            self.states[event.state.name] = event.state.crc32
            self.counts[event.state.name] += 1

    def wanted(self, time: str) -> list[str]:
        """The products that are to be made of a frame of that valid time."""
        place = sorted(self._times).index(time)
        return [name for name, every in self.products.items() if place % every == 0]

    def check(self, run: RunDir, renamed: Counter[str], lost: set[Line]) -> None:
        """Files and index are those of the published events, each renamed once.

        Of ``lost`` events, which the disk has not kept, the index may still have lines.
        """
        files = {event.name: event.crc32 for event in self.newest.values()} | self.states
        files |= {p.name: p.crc32 for event in self.newest.values() for p in event.pieces or ()}
        assert self._standing(run.products) == files
        assert +renamed == self.counts
        lines = run.index.read_bytes().split(b"\n")[:-1] if run.index.exists() else []
        values = [msgspec.json.decode(line) for line in lines]
        keys = [(value["product"], value["stream"], value["time"]) for value in values]
        own = [(key, value["t"]) for key, value in zip(keys, values, strict=True)]
        assert len(own) == len(set(own)), "a line of the index stands twice"
        assert self.published <= set(own) <= self.published | lost
        newest = dict(zip(keys, [value["crc32"] for value in values], strict=True))
        assert newest == {key: event.crc32 for key, event in self.newest.items()}

    def _standing(self, products: Path) -> dict[str, int]:
        """The final names that stand, with the CRC-32 of their content."""
        found = {}
        folders = [
            folder.path for folder in os.scandir(products)
            if folder.is_dir() and folder.name not in {".incoming", "live"}
        ]  # fmt: skip
        while folders:
            for file in os.scandir(folders.pop()):
                if file.is_dir():
                    folders.append(file.path)
                    continue
                status = file.stat()
                this = status.st_ino, status.st_mtime_ns
                if this not in self.known:
                    self.known[this] = zlib.crc32(Path(file.path).read_bytes())
                found[os.path.relpath(file.path, products)] = self.known[this]
        return found
