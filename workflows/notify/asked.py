"""The ways of ``--notify``: kept in ``notify.json`` of the run, readable by its user alone.

They may hold keys (the path of a webhook), and are the user's own: a driver obeys the file only if
it belongs to the user and nobody else may read or write it.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

from burstlens.core.durable import open_regular
from burstlens.core.errors import RunError
from burstlens.core.run.directory import RunDir
from burstlens.workflows.notify.way import Way, parse_way, require_here

MOST_BYTES = 1 << 16


def valid_ways(ways: str | Sequence[str]) -> tuple[str, ...]:
    """One way of ``--notify``, or several. Raises RunError for one that there is not, or not on
    this machine."""
    several = (ways,) if isinstance(ways, str) else tuple(ways)
    try:
        for way in [parse_way(text) for text in several]:
            require_here(way)
    except ValueError as error:
        raise RunError(f"notify: {error}") from None
    return several


def ask(run: RunDir, ways: Iterable[str]) -> None:
    """Add ways, as ``--notify`` takes them, to those of the run. Raises RunError."""
    known = _read(run.notify)
    wanted = list(dict.fromkeys([*known, *ways]))
    if wanted == known:
        return
    part = run.notify.with_name(f".{run.notify.name}.{os.getpid()}.part")
    try:
        with contextlib.suppress(FileNotFoundError):
            part.unlink()
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w") as stream:
            stream.write(json.dumps({"ways": wanted}) + "\n")
            stream.flush()
            os.fsync(handle)
        os.replace(part, run.notify)
    except OSError as error:
        raise RunError(f"cannot write {run.notify}: {error.strerror}") from error


def asked(run: RunDir) -> tuple[Way, ...]:
    """The ways of ``--notify``. Raises RunError when the file cannot be used."""
    try:
        return tuple(parse_way(text) for text in _read(run.notify))
    except ValueError as error:
        raise RunError(f"{run.notify}: {error}") from error


def _read(path: Path) -> list[str]:
    try:
        with open_regular(path, follow=False) as stream:
            found = os.fstat(stream.fileno())
            if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
                raise RunError(f"{path} is not obeyed: it must be yours alone (chmod 600)")
            value = json.loads(stream.read(MOST_BYTES))
    except FileNotFoundError:
        return []
    except (OSError, ValueError, RecursionError) as error:
        raise RunError(f"{path} cannot be used: {error}") from error
    ways = value.get("ways") if isinstance(value, dict) else None
    if not isinstance(ways, list) or not all(isinstance(way, str) for way in ways):
        raise RunError(f"{path} is damaged: delete it, and no way of --notify is used")
    return ways
