"""The checkpoints of a run, as Python and ``burstlens status`` show them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest

from msgspec import UNSET

from burstlens.clients.opened.table import time_label
from burstlens.core.printable import printable
from burstlens.core.quantity import show_bytes
from burstlens.core.run.directory import RunDir
from burstlens.core.run.status_file import CheckpointPart, StatusFile

MOST_SHOWN = 3
"""How many of the newest a status names."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A whole checkpoint of a run: its valid ``time`` as a key, the ``attempt`` that wrote it, its
    ``files``, relative to the model's folder of that attempt, and their ``bytes`` together.
    ``state`` is ``good``, ``unjudged`` while guards have not read every frame up to its time, or
    ``suspect``, and then ``why``. ``home``: the files are in the run directory as well, in
    ``checkpoints/<attempt>/<time>/``; there alone once the buffer is given back."""

    time: str
    attempt: int
    state: str
    files: tuple[str, ...]
    bytes: int
    why: str = ""
    home: bool = False

    @property
    def label(self) -> str:
        """Its time as people write it."""
        return time_label(self.time)


def checkpoints_of(run: RunDir, status: StatusFile) -> tuple[Checkpoint, ...]:
    """The checkpoints in a run's status, with the files that its journal names. Raises RunError."""
    parts = _parts(status)
    if not parts:
        return ()
    from burstlens.core.run.history_file import history_of

    known = history_of(run.journal).checkpoints
    found = []
    for part in parts:
        # The status may be a second older than the journal: then its files are deleted.
        if record := known.find(part.attempt, part.time):
            about = part.time, part.attempt, part.state, tuple(record.files), part.bytes
            found.append(Checkpoint(*about, part.why, part.home))
    return tuple(found)


def checkpoint_text(status: StatusFile) -> str:
    """The newest checkpoints in words; empty where there is none. A reason of several that follow
    each other is given once, after the last of them."""
    shown = []
    parts = _parts(status)[-MOST_SHOWN:]
    for part, following in zip_longest(parts, parts[1:]):
        last = following is None or following.why != part.why
        why = f": {printable(part.why)}" if part.why and last else ""
        home = ", at home" * part.home
        shown.append(f"{time_label(part.time)} {part.state} ({show_bytes(part.bytes)}{home}){why}")
    return ", ".join(shown)


def _parts(status: StatusFile) -> list[CheckpointPart]:
    return [] if status.checkpoints is UNSET else list(status.checkpoints)
