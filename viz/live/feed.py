"""The feed of pages that are opened straight from a file share: data as script files.

Under ``file://`` a page cannot fetch anything, but it may insert classic scripts repeatedly. So
``products/live/`` holds ``status.js`` (the content of status.json), ``frames-NNNN.js`` (the index,
1000 lines per file) and ``count.js`` (the number of lines); each passes one value to
``burstlensFeed``. A feed never stops a run: what cannot be written now is written later.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Mapping
from typing import Any

from burstlens.core.durable import write_whole
from burstlens.core.run.directory import RunDir

CHUNK = 1000
"""Index lines per file; file_source.js relies on it."""
PERIOD_S = 1.0


class FrameFeed:
    """The index as script files. Driver's thread only."""

    def __init__(self, run: RunDir) -> None:
        self._run = run
        self._chunks: dict[int, list[str]] = {}
        self._lines = 0
        self._written = -1
        self._next = 0.0

    def add(self, line: Mapping[str, object]) -> None:
        """Add a line of the index; the next :meth:`write` that is due writes it."""
        self._chunks.setdefault(self._lines // CHUNK, []).append(_safe(line))
        self._lines += 1

    def write(self, *, force: bool = False) -> None:
        """Write the files that changed, at most once a second."""
        last = self._lines // CHUNK
        begin = time.monotonic()
        if self._written == self._lines or (begin < self._next and not force):
            return
        self._next = begin + PERIOD_S
        with contextlib.suppress(OSError):
            for number, lines in sorted(self._chunks.items()):
                _write(self._run, f"frames-{number:04d}", "[\n" + ",\n".join(lines) + "\n]")
            _write(self._run, "count", _safe({"lines": self._lines}))
            self._written = self._lines
            self._chunks = {n: lines for n, lines in self._chunks.items() if n == last}


def write_status(run: RunDir, status: Mapping[str, Any]) -> None:
    """Write the status for pages that cannot read ``status.json``. Raises OSError."""
    _write(run, "status", _safe(status))


def _write(run: RunDir, name: str, value: str) -> None:
    folder = run.products / "live"
    folder.mkdir(exist_ok=True)
    write_whole(folder / f"{name}.js", f"burstlensFeed({value});\n", sync=False)


def _safe(value: object) -> str:
    """JSON that may stand in a script: ASCII only, and nothing that ends the script's element."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")
