"""Files that are there whole or not at all, also after a power cut."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def sync_folder(folder: Path) -> None:
    """Flush a folder's entries to disk, so that a rename in it survives a crash."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_whole(path: Path, text: str, *, sync: bool = True) -> None:
    """Put ``text`` under ``path``: a reader finds the old content or the new, never a part.

    With ``sync`` the content and the name are on disk on return. Raises OSError, and then
    leaves the old file as it was and no temporary one.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("w", encoding="utf-8") as stream:
            stream.write(text)
            if sync:
                stream.flush()
                os.fsync(stream.fileno())
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise
    if sync:
        sync_folder(path.parent)


def write_json(path: Path, value: Mapping[str, Any], *, sync: bool = True) -> None:
    """:func:`write_whole` of ``value`` as JSON."""
    write_whole(path, json.dumps(value, ensure_ascii=False) + "\n", sync=sync)


def read_json(path: Path) -> dict[str, Any] | None:
    """The JSON object in ``path``; None when there is no such file or it is not (yet) JSON."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    return value if isinstance(value, dict) else None
