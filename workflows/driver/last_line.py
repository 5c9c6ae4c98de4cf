"""The last line of a job's log: mostly it says why the job failed."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from burstlens.core.fault import shorten
from burstlens.core.printable import printable

LOG_BYTES = 4096
MOST_SHOWN = 300


def last_line(log: Path) -> str:
    """The last line with text; empty where there is none."""
    with contextlib.suppress(OSError), log.open("rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - LOG_BYTES))
        text = file.read(LOG_BYTES).decode(errors="replace")
        lines = [line for line in text.splitlines() if line.strip()]
        return shorten(printable(lines[-1]), MOST_SHOWN) if lines else ""
    return ""
