"""The seam of simulation codes: the interface of a model's adapter to Burstlens.

An adapter is a frozen dataclass whose fields are the keys that its ``[simulation]`` table takes
beside the common ones. It is made on the login node and travels to the viewing block, so it
holds plain values only. It never touches the model's files for writing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import translate
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from burstlens.core import valid_time
from burstlens.core.errors import RecipeError
from burstlens.core.renamed import moved
from burstlens.workflows.models.checkpoint_names import CheckpointNames
from burstlens.workflows.models.continuation import (
    CheckpointName,
    Continuation,
    Proof,
    Start,
    StopBy,
)

if TYPE_CHECKING:
    from burstlens.viz.frames.outline import Known

QUIET_S = 0.5
"""A file that one process writes counts as complete when it is unchanged for so long."""
SAME_S = 1e-3
"""Model times that differ by less are the same: keys of elapsed times have milliseconds."""
SIMULATION_LOG = "model.log"
"""The model's standard output, in its folder."""
Kind = Literal[
    "progress", "written", "output", "checkpoint", "asynchronous", "trouble", "end", "cut", "phase"
]

BANNER, SIGNAL, TROUBLE, ERROR, CAUSE = range(5)
"""How much a line of trouble says about why a model ended.

``BANNER``: only that it ended, as MPI and launchers print it after everything else; ``SIGNAL``:
by which signal; ``TROUBLE``: something that a model may survive; ``ERROR``: what the model calls
an error before it gives up; ``CAUSE``: why it gives up or is ended.
"""


@dataclass(frozen=True, slots=True)
class OutputName:
    """What the name of an output file says: its stream, and its time and tile where it has them."""

    stream: str
    time: str | None = None
    tile: int | None = None


@dataclass(frozen=True, slots=True)
class LogLine:
    """What one line of the model's log means.

    ``written``: a frame of ``stream`` at ``time`` (a valid-time key) or in ``file`` is written.
    With ``cut`` the line shows so little of the time that several frames may match it. With
    ``record``, from 1, it is that record of ``file``, without a file of the newest of ``stream``.
    ``took_s``: how long the model was at it, where the line has it. ``output``: it wrote what holds
    no frame in ``took_s``. ``checkpoint``: it wrote one, or the part of it that ``stream`` names;
    without ``time`` that of the model's latest progress.
    ``progress``: the model has reached ``time`` / ``elapsed_s``; ``rate_mpps`` if the line has it.
    ``asynchronous``: later ``written`` lines come before the data, so they prove nothing.
    ``trouble``: users should see ``text``, of that ``weight``; with ``file``, that frame is
    lost; at the model's ``time``, where the line has it. The lines after it that match ``more``
    belong to it. ``end``: the model says that it is done; ``cut``: that it stops before its end, as
    it was asked to, with a checkpoint.
    ``phase``: what the model does now, in one word (``text``).
    """

    kind: Kind
    text: str
    stream: str | None = None
    time: str | None = None
    file: str | None = None
    elapsed_s: float | None = None
    total_s: float | None = None
    rate_mpps: float | None = None
    weight: int = TROUBLE
    more: str = ""
    cut: bool = False
    record: int | None = None
    took_s: float | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """What the model's own settings say about its output, where they can be read.

    ``start`` is the valid-time key of the start, ``total_s`` the simulated seconds asked for.
    ``end`` is the key of the end where these follow from it: ``total_s`` counts Gregorian days.
    ``serial_classic``: CDF files are certainly not written through PnetCDF. ``io_groups`` > 1:
    frames may come out of order, so a later frame proves nothing. ``ready_flags``: the model
    writes flag files. ``output_bytes`` estimates the size of all output of the run without its
    checkpoints, ``checkpoint_bytes`` that of one checkpoint, None if unknown; ``frames`` is the
    number of frames. ``checkpoint_unit_s`` is the model time of which that between checkpoints
    should be a multiple, in whole seconds; None: any. ``tells_end``: the log says when the model
    ends well; without that line the end is a failure. ``folders`` hold output, relative to the
    model's (``""`` is its own). ``streams`` are all possible streams, empty if not known.
    """

    start: str | None = None
    end: str | None = None
    total_s: float | None = None
    serial_classic: bool = False
    io_groups: int = 1
    ready_flags: bool = False
    output_bytes: int | None = None
    frames: int | None = None
    tells_end: bool = True
    folders: tuple[str, ...] = ("",)
    streams: tuple[str, ...] = ()
    checkpoint_bytes: int | None = None
    checkpoint_unit_s: float | None = None

    def is_end(self, time: str) -> bool:
        """Whether that valid time is the run's end or later, where the end is known."""
        if self.end is not None:
            return (
                valid_time.is_calendar(time) == valid_time.is_calendar(self.end)
                and time >= self.end
            )
        begin = self.start if valid_time.is_calendar(time) else valid_time.elapsed_key(0.0)
        if self.total_s is None or begin is None or not valid_time.has_time(time):
            return False
        return valid_time.seconds(time) - valid_time.seconds(begin) >= self.total_s - SAME_S


@dataclass(frozen=True, slots=True)
class OutputNames:
    """Where a model writes, relative to its folder.

    ``folders`` must exist before it starts (it makes none itself), parents first. ``written`` are
    globs of the files that it may write, with or without frames: an input of such a name is copied
    to the model's folder, so that nothing is written through a link to the staged inputs.
    ``read`` are globs of those among them that it only reads: these are still linked.
    """

    folders: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    read: tuple[str, ...] = ()

    @property
    def copied(self) -> str:
        """The inputs to copy, as one regular expression of their relative names."""
        written, read = ("|".join(map(translate, globs)) for globs in (self.written, self.read))
        return f"(?!{read})(?:{written})" if read else written


@dataclass(frozen=True, slots=True)
class Lack:
    """``text`` says what is missing among the inputs or does not fit the settings.

    ``file`` is the name of the file, relative to the inputs; ``sure`` means that the model
    certainly cannot start. A step before the simulation may make the file; with ``named`` only one
    that has its name in its words.
    """

    text: str
    file: str
    sure: bool = True
    named: bool = False


class Model(ABC):
    """One simulation code. Only ``name``, ``command`` and ``identify`` have no default."""

    __slots__ = ()

    name: ClassVar[str]

    time_variable: str = "time"
    """The variable that holds the times of a file's records (``Times``, ``time``); "" where files
    have none: each is one frame, at the time of its :class:`OutputName`, else named by its name."""

    log_patterns: tuple[str, ...] = (SIMULATION_LOG,)
    """Globs, in the model's folder, of the logs to follow; ``model.log`` is its standard output."""

    @property
    def keep_patterns(self) -> tuple[str, ...]:
        """Globs of the small files that are always brought home: logs and settings."""
        return (SIMULATION_LOG,)

    @property
    def settings_files(self) -> tuple[str, ...]:
        """Small files among the inputs that say how the model runs, and that :meth:`start` and
        :meth:`cuts` read; a run keeps copies of them."""
        return ()

    @property
    def mpi(self) -> bool:
        """Whether the site's MPI launcher starts it (``srun``, ``mpiexec``)."""
        return False

    def configured(self, folder: Path) -> Model:
        """The adapter as the settings in that folder make it, where file names depend on them;
        never raises for odd ones."""
        return self

    @abstractmethod
    def command(self) -> list[str]:
        """The argument list that starts the model in its folder, without the MPI launcher."""

    def checkpoint_of(self, name: str) -> CheckpointName | None:
        """The time, part and tile of a checkpoint's file; None for any other file."""
        return None

    def checkpoint_proof(self, name: str) -> Proof:
        """What proves that the checkpoint's file of that name is whole."""
        return Proof.FILE

    def checkpoint_parts(self, inputs: Path, time: str) -> Sequence[str]:
        """The parts that make the checkpoint of that valid-time key whole, as
        :attr:`.CheckpointName.part` names them. Empty where they are not known; never raises."""
        return ("",)

    @property
    def checkpoint_tiles(self) -> int:
        """How many tiles each part in tiles has; 0 where only the files show it."""
        return 0

    @property
    def checkpoints_unasked(self) -> bool:
        """Whether it may write checkpoints although no setting that is known asks for any."""
        return False

    @property
    def rewrites_checkpoint(self) -> bool:
        """Whether it may write to the files of the checkpoint that it continues from: it gets
        copies of them then."""
        return False

    def with_checkpoints(self, names: CheckpointNames | None) -> Model:
        """The adapter for checkpoints of these names, as the recipe gives them; None: it gives
        none. Raises RecipeError, whose message begins with the key in the recipe."""
        if names is not None:
            raise RecipeError(f"checkpoint.files: {self.name} has names of its own for them")
        return self

    def checkpoint_faults(self, inputs: Path, every_s: float | None = None) -> Sequence[str]:
        """Why no attempt could continue from checkpoints that are made with the settings in that
        folder, one message each; never raises for odd settings. ``every_s``: model time between
        checkpoints, as the recipe gives it."""
        return ()

    def checkpoint_warnings(self, inputs: Path, every_s: float | None = None) -> Sequence[str]:
        """What is different in a run that continues from these checkpoints, such as the times of
        its frames, one message each; never raises for odd settings."""
        return ()

    @property
    def checkpoint_fields(self) -> tuple[str, ...]:
        """The prognostic fields, as netCDF and HDF5 files of checkpoints name them: their values
        must be finite. Empty: all floating-point fields of these files."""
        return ()

    @property
    def prognostic(self) -> tuple[str, ...]:
        """The prognostic fields, as frames name them: a guard that reads one of them, and stops the
        model, judges the checkpoints up to its frame as well. Empty: any field is one."""
        return ()

    def checkpoint_fault(self, path: Path) -> str | None:
        """What is wrong with the values in a checkpoint's file of the model's own format: the first
        field with one that is not finite, and where; empty if nothing is. None for a file of
        netCDF or HDF5, or of a format that nobody reads. Called on the viewing block. Raises
        OSError, RecipeError."""
        return None

    def checkpoint_interval_s(self, inputs: Path) -> float | None:
        """Model time from one checkpoint to the next by the settings in that folder; None where
        they ask for none. Never raises for odd settings."""
        return None

    def cuts(self, inputs: Path, count: int, every_s: float | None = None) -> Sequence[float]:
        """Seconds of the run at which it is cut into so many stretches of about equal length; one
        less than these. ``every_s``: model time between checkpoints, as the recipe gives it. Raises
        RecipeError where it cannot be cut."""
        total_s = self.facts(inputs).total_s
        if total_s is None:
            raise RecipeError(f"the length of a {self.name} run is not known: it cannot be cut")
        return [total_s * number / count for number in range(1, count)]

    def start(self, inputs: Path, wanted: Continuation) -> Start:
        """How it is started so. Raises NothingLeftError where the checkpoint is at the end of the
        run, RecipeError where it cannot continue from that checkpoint or stop there."""
        if wanted != Continuation():
            raise RecipeError(f"{self.name} cannot continue from checkpoints")
        return Start(self.command())

    @property
    def stop_by(self) -> StopBy | None:
        """How it is asked, while it runs, to write a checkpoint and stop; None where it cannot be.
        ``stop_by`` of ``[checkpoint]`` takes precedence where :attr:`obeys_recipe`."""
        return None

    obeys_recipe: ClassVar[bool] = False
    """Whether the recipe says how it is asked to stop: it may be any program."""

    def runs(self) -> str:
        """The program that the recipe names, and its arguments, as ``check`` shows them; empty for
        the model's own program."""
        return ""

    def environment(self) -> dict[str, str]:
        """Variables to add to the model's environment."""
        return {}

    @abstractmethod
    def identify(self, name: str) -> OutputName | None:
        """What the file of that name holds, or None when it does not hold frames."""

    def is_leftover(self, name: str) -> bool:
        """Whether a file of that name among the inputs, relative to them, is output of an earlier
        run."""
        return self.identify(name) is not None

    def ready_flag(self, name: str) -> OutputName | None:
        """The frame whose completion the appearance of that (empty) file announces, or None."""
        return None

    def flag_of(self, name: str) -> str | None:
        """The flag without whose appearance the file of that name is not complete, however quiet
        it is; None for a file that no flag announces. Both names are relative to the model's
        folder."""
        return None

    def main_stream(self, inputs: Path) -> str | None:
        """The stream of products that name none; None for the first that appears."""
        return None

    def read_line(self, line: str) -> LogLine | None:
        """What a log line means, or None when it means nothing to Burstlens.

        Messages of compilers, MPI, launchers and Slurm are known without the adapter
        (:mod:`burstlens.workflows.models.ends`); the adapter's answer takes precedence.
        """
        return None

    def log_guards(self) -> Mapping[str, str]:
        """Regular expressions, by name, that a guard may look for in the model's logs; a group
        ``points`` is the number of grid points concerned, as in ``cfl``."""
        return {}

    def given_up(self) -> list[str]:
        """Which expressions of the recipe are not searched for in logs any more in this process,
        and why."""
        return []

    def facts(self, folder: Path) -> Facts:
        """What the settings in that folder say; never raises for a missing or odd file."""
        return Facts()

    def output_names(self, inputs: Path) -> OutputNames:
        """Where the model will write, by the settings in that folder; never raises for odd ones."""
        return OutputNames()

    def other_writers(self, inputs: Path) -> Sequence[str] | None:
        """The settings that make processes other than the first write frames or restart files,
        one message each, with the value that changes this; None where it is not known which
        processes write. Never raises for odd settings."""
        return None

    def output_advice(self, inputs: Path, ranks: int) -> Sequence[str]:
        """Settings to change by hand so that output is written faster, one message each; never
        raises for odd settings."""
        return ()

    def outline(self, inputs: Path, stream: str) -> Known | None:
        """What is known beforehand about the frames of a stream; None if nothing is.

        Raises RecipeError if the model cannot have a stream of that name. Reads headers of files,
        so it may take long on a file system that does not answer."""
        return None

    def check(self, inputs: Path) -> list[str]:
        """What is wrong or risky in the inputs, one message each, worst first; empty if nothing.

        A message that starts with ``error: `` stops the run before it starts, the others warn.
        """
        return []

    def lacks(self, inputs: Path) -> Sequence[Lack]:
        """Files that the model reads at its start and that are missing or do not fit, worst first;
        never raises for odd settings."""
        return ()


def __getattr__(name: str) -> object:
    return moved(__name__, name)
