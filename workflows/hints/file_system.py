"""Which file system a folder is on, by the kernel's table of mounts.

Standard library alone: the supervisor loads this file by its path.
"""

from __future__ import annotations

import os
from pathlib import Path

MOUNTS = Path("/proc/self/mounts")
_ESCAPES = {r"\040": " ", r"\011": "\t", r"\012": "\n", r"\134": "\\"}


def file_system(folder: str | Path, mounts: Path = MOUNTS) -> str:
    """The type of the mount that holds ``folder`` or would hold it: ``lustre``, ``ext4``.

    Empty where the table cannot be read.
    """
    path = os.path.realpath(folder)
    found, longest = "", -1
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ""
    for line in lines:
        words = line.split(" ")
        if len(words) < 3:
            continue
        point = words[1]
        for escape, mark in _ESCAPES.items():
            point = point.replace(escape, mark)
        inside = path == point or path.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= longest:  # of two at one place the later one is on top
            found, longest = words[2], len(point)
    return found
