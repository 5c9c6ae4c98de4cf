"""A run's history from disk: kept beside each volume of its journal, and the events after it.

``journal-000001.history`` has the history up to the end of that volume. It only saves time: where
it is missing, torn, foreign or of another version, the volumes are replayed.
"""

from __future__ import annotations

import contextlib
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_origin

import msgspec

from burstlens.core.decode import Count
from burstlens.core.durable import open_regular, write_whole
from burstlens.core.existence import check_existence
from burstlens.core.run.checkpoint_record import CheckpointRecord, Checkpoints
from burstlens.core.run.columns import Columns
from burstlens.core.run.events import EVENTS
from burstlens.core.run.follow import uncollected
from burstlens.core.run.history import History
from burstlens.core.run.job_record import JobRecord, TrialRecord
from burstlens.core.run.journal import Journal, read
from burstlens.core.run.lineage import Lineage, Segment
from burstlens.core.run.noticed import Noticed, Pending
from burstlens.core.run.output import Output, StreamOutput, Written
from burstlens.core.run.product_record import SeriesStates, States
from burstlens.core.run.record import FORMAT
from burstlens.core.run.volumes import newest_volume, volume_path
from burstlens.core.version import __version__

KEPT = 2
"""Histories on disk: the newest, and the one before in case it is damaged."""


class _Head(msgspec.Struct, frozen=True):
    """The first line: what wrote the history, after which volume, and the check of its bytes."""

    format: int
    burstlens: str
    layout: int
    volume: Count
    volume_bytes: Count
    bytes: Count
    crc32: Count


def history_of(path: Path) -> History:
    """The history of the journal ``path``. Raises RunError when it is damaged, OSError."""
    with uncollected():
        history = _newest(path)
        for event in read(path, after=history.volume):
            history.apply(event)
    return history


def turn(journal: Journal, history: History, superseded: Path) -> bool:
    """Continue a journal of many events in a new file; returns whether that was done. The history
    as it stands is kept beside the old one. No-op for a driver that another one has ``superseded``:
    that file exists then. Raises OSError: the journal then goes on as before."""
    if not journal.is_long or check_existence(superseded):
        return False
    done = journal.turn(lambda volume, size: _keep(journal.path, history, volume, size))
    if done:
        _forget(journal.path, history.volume - KEPT)
    return done


def history_path(path: Path, volume: int) -> Path:
    """The file of the history after that volume of the journal ``path``."""
    return volume_path(path, volume).with_suffix(".history")


def _newest(path: Path) -> History:
    """The newest usable history on disk, else an empty one. Raises OSError."""
    loaded = (_load(path, volume) for volume in range(newest_volume(path) - 1, 0, -1))
    return next(filter(None, loaded), None) or History()


def _load(path: Path, volume: int) -> History | None:
    try:
        with open_regular(history_path(path, volume)) as stream:
            head = msgspec.json.decode(stream.readline(4096), type=_Head)
            body = stream.read() if _fits(head, path, volume) else b""
        if len(body) != head.bytes or zlib.crc32(body) != head.crc32:
            return None
        found = _DECODER.decode(body)
    except (OSError, ValueError, TypeError, zlib.error):
        return None
    return found if found.volume == volume else None


def _fits(head: _Head, path: Path, volume: int) -> bool:
    """Whether this version wrote it, after that volume as it is now; a volume that is missing is
    not needed."""
    written_by = head.format, head.burstlens, head.layout
    if written_by != (FORMAT, __version__, _LAYOUT) or head.volume != volume:
        return False
    with contextlib.suppress(FileNotFoundError):
        # A driver that was suspended while the next one went on may still have written to it.
        return volume_path(path, volume).stat().st_size == head.volume_bytes
    return True


def _keep(path: Path, history: History, volume: int, size: int) -> None:
    history.volume = volume
    body = msgspec.msgpack.encode(history, enc_hook=_dumped)
    head = _Head(FORMAT, __version__, _LAYOUT, volume, size, len(body), zlib.crc32(body))
    write_whole(history_path(path, volume), msgspec.json.encode(head) + b"\n" + body)


def _forget(path: Path, last: int) -> None:
    """Delete the histories up to that volume."""
    for volume in range(last, 0, -1):
        try:
            history_path(path, volume).unlink()
        except OSError:
            return


def _dumped(value: object) -> Any:
    if isinstance(value, Columns):
        return value.dump()
    raise NotImplementedError(type(value))


def _loaded(kind: Any, value: Any) -> Any:
    if get_origin(kind) is Counter:
        return Counter(value)
    return kind.load(value)


def _layout() -> Iterator[str]:
    states = (States, SeriesStates, Output, StreamOutput, Written)
    attempts = (JobRecord, TrialRecord, Lineage, Segment, Checkpoints, CheckpointRecord)
    parts = (*attempts, Noticed, Pending, *states, *EVENTS.values())
    for kind in (*History.__mro__[:-1], *parts):
        yield f"{kind.__name__}\n"
        yield from (f"{name}: {of}\n" for name, of in sorted(kind.__annotations__.items()))


_LAYOUT = zlib.crc32("".join(_layout()).encode())
"""Another one while Burstlens is developed, where the version stays."""
_DECODER = msgspec.msgpack.Decoder(History, dec_hook=_loaded)
