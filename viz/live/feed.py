"""The feed of pages that are opened straight from a file share: data as script files.

Under ``file://`` a page cannot fetch anything, but it may insert classic scripts repeatedly. So
``products/live/`` holds ``status.js`` (the content of status.json), ``frames-NNNN.js`` (the index,
1000 lines per file), ``count.js`` (the number of lines, and the byte of the index at which they
end), ``log.js`` (the last lines of the logs) and ``recipe.js`` (the recipe and ``run.json``); each
passes one value to ``burstlensFeed``. A feed never stops a run: what cannot be written now is
written later.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from burstlens.core.durable import open_regular, write_whole
from burstlens.core.lines import lines_before
from burstlens.core.run.directory import RunDir

CHUNK = 1000
"""Index lines per file; pages.js relies on it."""
_END = ");\n"
PERIOD_S = 1.0
LOG_BYTES = 48 * 1024
"""Of the end of each log."""
OTHER_LOGS = 4
ABOUT = ("recipe.toml", "run.json")
"""What was run, in the run directory."""


class FrameFeed:
    """The index as script files. Driver's thread only."""

    def __init__(self, run: RunDir) -> None:
        self._run = run
        self._chunks: dict[int, list[str]] = {}
        self.lines = 0
        """How many lines of the index it has."""
        self._written = -1
        self._next = 0.0

    def resume(self, end: int, lines: int) -> int:
        """Go on from an index of so many ``lines``, which end at byte ``end``, if the files of
        former drivers have them; returns the byte from which lines are to be added. Raises OSError.
        """
        count = lines % CHUNK
        live = self._run.products / "live"
        try:
            tail = lines_before(self._run.index, end, count)
            if tail is None or not all(
                _is_whole(live / f"{_chunk(number)}.js") for number in range(lines // CHUNK)
            ):
                return 0
        except FileNotFoundError:
            return 0
        self.lines = lines - count
        return end - sum(map(len, tail))

    def add(self, line: Mapping[str, object]) -> None:
        """Add a line of the index; the next :meth:`write` that is due writes it."""
        self._chunks.setdefault(self.lines // CHUNK, []).append(_safe(line))
        self.lines += 1

    @property
    def is_written(self) -> bool:
        """Whether the files have all lines."""
        return self._written == self.lines

    def write(self, *, force: bool = False, end: int | None = None) -> None:
        """Write the files that changed, at most once a second; ``end`` is the byte at which the
        lines end in the index."""
        last = self.lines // CHUNK
        begin = time.monotonic()
        if self.is_written or (begin < self._next and not force):
            return
        self._next = begin + PERIOD_S
        with contextlib.suppress(OSError):
            for number, lines in sorted(self._chunks.items()):
                # A full one is not written again: a crash of the machine must not take it.
                text = "[\n" + ",\n".join(lines) + "\n]"
                _write(self._run, _chunk(number), text, sync=number < last)
            count = {"lines": self.lines} | ({"bytes": end} if end else {})
            _write(self._run, "count", _safe(count))
            self._written = self.lines
            self._chunks = {n: lines for n, lines in self._chunks.items() if n == last}


def _chunk(number: int) -> str:
    return f"frames-{number:04d}"


class LogFeed:
    """The ends of the run's logs as one script file. Driver's thread only."""

    def __init__(self, run: RunDir) -> None:
        self._run = run
        self._state: object = None
        self._next = 0.0

    def write(self, names: Sequence[str], *, force: bool = False) -> None:
        """Write the file if one of these logs, relative to ``logs/``, has changed, at most once a
        second. The live log and the driver's come first and are always in it; of the others at most
        ``OTHER_LOGS``."""
        begin = time.monotonic()
        if begin < self._next and not force:
            return
        self._next = begin + PERIOD_S
        with contextlib.suppress(OSError):
            state = [(name, _state(self._run, name)) for name in names[: 2 + OTHER_LOGS]]
            if state == self._state or not names:
                return
            logs = {name: part for name, _ in state if (part := _end(self._run, name))}
            _write(self._run, "log", _safe(logs))
            self._state = state


def write_recipe(run: RunDir) -> None:
    """Write the recipe and the run's facts for pages that cannot read them. Raises OSError."""
    _write(run, "recipe", _safe({name: _text(run.path / name) for name in ABOUT}))


def _state(run: RunDir, name: str) -> object:
    try:
        found = (run.logs / name).stat()
    except FileNotFoundError:
        return None
    return found.st_size, found.st_mtime_ns, found.st_ino


def _end(run: RunDir, name: str) -> dict[str, object] | None:
    """The log's last lines with the whole log's size, in bytes; None where it is missing."""
    try:
        stream = open_regular(run.logs / name, follow=False)
    except FileNotFoundError:
        return None
    with stream:
        size = os.fstat(stream.fileno()).st_size
        stream.seek(max(0, size - LOG_BYTES))
        data = stream.read(LOG_BYTES)
    if size > LOG_BYTES:
        data = data.partition(b"\n")[2] or data
    return {"size": size, "text": data.decode(errors="replace")}


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return ""


def write_status(run: RunDir, status: Mapping[str, Any]) -> None:
    """Write the status for pages that cannot read ``status.json``. Raises OSError."""
    _write(run, "status", _safe(status))


def _write(run: RunDir, name: str, value: str, *, sync: bool = False) -> None:
    folder = run.products / "live"
    folder.mkdir(exist_ok=True)
    write_whole(folder / f"{name}.js", f"burstlensFeed({value}{_END}", sync=sync)


def _is_whole(path: Path) -> bool:
    """Whether a file has its end: after a crash of the machine it may be empty."""
    with path.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - len(_END)))
        return stream.read() == _END.encode()


def _safe(value: object) -> str:
    """JSON that may stand in a script: ASCII only, and nothing that ends the script's element."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")
