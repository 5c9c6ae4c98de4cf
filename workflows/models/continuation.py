"""How a model continues from a checkpoint and stops at one: the types of its adapter's answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from burstlens.core.errors import RecipeError
from burstlens.core.valid_time import label


class NothingLeftError(RecipeError):
    """The checkpoint is at the end of the run, or after it: the run is done. Whoever starts
    attempts takes this for a good end, not for a refusal."""

    @classmethod
    def at(cls, time: str) -> NothingLeftError:
        """The error for the checkpoint of that time."""
        text = f"the checkpoint of {label(time)} is at the end of the run"
        return cls(f"{text}: nothing is left to compute")


class Proof(StrEnum):
    """What proves that the files of a checkpoint are whole.

    ``NAME``: the model gives a file its name when it is whole. ``FILE``: the file's own bytes, as
    those of a frame. ``LOG``: only the model's log, as of files that several processes write.
    ``FLAG``: the file that the model writes after them (:meth:`.Model.flag_of`).
    """

    NAME = "name"
    FILE = "file"
    LOG = "log"
    FLAG = "flag"


@dataclass(frozen=True, slots=True)
class CheckpointName:
    """What the name of a checkpoint's file says: the valid ``time`` of the state in it, the
    ``part`` of that state in the file (a domain; "" for all of it), and the number of its tile.
    ``common`` names all tiles of the part; "" for what stands before the last ``_``."""

    time: str
    part: str = ""
    tile: int | None = None
    common: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StopBy:
    """How a running model is asked to write a checkpoint and stop: by a ``signal`` or by a
    ``file``, relative to its folder, that is made; the other one is empty. Stopped so it ends with
    status 0, or by that signal."""

    signal: str = ""
    file: str = ""

    def job(self) -> dict[str, str]:
        """As the supervisor's job file has it."""
        return {"signal": self.signal} if self.signal else {"file": self.file}


@dataclass(frozen=True, slots=True)
class Continuation:
    """How an attempt is to start and to end.

    ``time`` and ``files`` are those of the checkpoint that it continues from; without them it
    starts afresh. It stops, with a checkpoint, at ``until_s`` seconds of the run. ``every_s``:
    model time from one checkpoint to the next, as the recipe gives it for all attempts.
    ``settings`` are changes that a person wants, by name (``namelist.domains.time_step``).
    """

    time: str | None = None
    files: tuple[str, ...] = ()
    until_s: float | None = None
    every_s: float | None = None
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Start:
    """How the model is started: its ``command``, and the texts of ``files`` that replace inputs of
    these names. ``changes`` are the differences from the inputs, one line each. ``ranks`` is the
    only number of MPI ranks with which it can be started so; None: any."""

    command: list[str]
    files: Mapping[str, str] = field(default_factory=dict)
    changes: tuple[str, ...] = ()
    ranks: int | None = None

    def rank_fault(self, ranks: int) -> str:
        """Why a model of so many ranks cannot be started so; "" where it can."""
        if self.ranks in (None, ranks):
            return ""
        return (
            f"the checkpoint has a file of each of {self.ranks} ranks, and the simulation has "
            f"{ranks}: give it as many (nodes, ranks_per_node)"
        )
