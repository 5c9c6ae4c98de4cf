"""Blocks of lines that libraries print into a model's log, each kind read by a room of its own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

from burstlens.core.plugins import leaf

if TYPE_CHECKING:
    from burstlens.core.run.events import OutputReported

READERS = ("burstlens.workflows.iostats.mpiio_blocks:Blocks",)
"""The classes of readers, one per library."""


class LogBlock(Protocol):
    """What a library reported at one time."""

    def output_reported(self, attempt: int) -> OutputReported | None:
        """The journal's event; None if it says nothing about writing a file."""


class BlockReader(Protocol):
    """Reads the blocks of one log. Small, picklable, equal to a new one while no block is open: it
    is carried from one piece of a log to the next, on another host."""

    def take_all(self, lines: Iterable[str]) -> Iterable[LogBlock]:
        """The blocks that these lines complete."""

    def finish(self) -> Iterable[LogBlock]:
        """What is open at the end of the log, as far as it goes."""


def block_readers() -> tuple[BlockReader, ...]:
    """A new reader for each library whose room this copy has."""
    return tuple(reader() for reader in map(leaf, READERS) if reader is not None)
