"""Cray's libdatawarp, called through cffi without a compiler; loaded at the first call.

A stage moves a file, a directory or a list of files between a DataWarp buffer and the parallel
file system. It outlives the call and the process that started it. Every call gives up the GIL
for as long as it lasts. All raise StagingError with the positive errno, and SiteError where the
library is missing or has no such function. The library's behaviour: "XC Series DataWarp User
Guide" (S-2558), and its public clients AXL, libhio and Ioss.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from burstlens.core.errors import StagingError
from burstlens.stagers.shared_library import ffi, libc, load, symbol

FILE_SYSTEM = 0x3E3F
"""``f_type`` of a DataWarp mount, as statfs(2) returns it."""
_PATH_BYTES = 4096

AnyPath = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class Counts:
    """How many of the queried stages are in each state; for one file, one count is not zero."""

    complete: int
    pending: int
    deferred: int
    failed: int


@dataclass(frozen=True, slots=True)
class FailedStage:
    """A failed stage on record: the file on the buffer, as the library names it, and its errno."""

    path: str
    errno: int


@dataclass(frozen=True, slots=True)
class Stripes:
    """How a file is striped: bytes per stripe, servers, and the first server's index."""

    size_bytes: int
    width: int
    starting_index: int


class _Staged:
    """The calls that file, directory and list have in common; ``noun`` is part of their names."""

    __slots__ = ()
    noun: ClassVar[str]

    def stage_out(self, target: AnyPath, *, at_job_end: bool = False) -> None:
        """Start staging out to ``target``, or only when the job has ended (deferred).

        A directory goes with all that is in it; its target, as that of a list, is a directory
        that exists. What is staged must not be written meanwhile.
        """
        self._out(target, "DW_STAGE_AT_JOB_END" if at_job_end else "DW_STAGE_IMMEDIATE")

    def revoke(self) -> None:
        """Take back a deferred stage-out."""
        self._out(None, "DW_REVOKE_STAGE_AT_JOB_END")

    def activate(self) -> None:
        """Start a deferred stage-out now."""
        self._out(None, "DW_ACTIVATE_DEFERRED_STAGE")

    def query(self) -> Counts:
        """The states of the stages. EINVAL for a file never staged, ENOENT for a missing one."""
        counts = ffi().new("int[4]")
        _call(f"dw_query_{self.noun}_stage", self, self, *(counts + at for at in range(4)))
        return Counts(*counts)

    def wait(self) -> None:
        """Return when no stage is pending. No signal interrupts it, and it proves nothing: call
        the query afterwards."""
        _call(f"dw_wait_{self.noun}_stage", self, self)

    def terminate(self) -> None:
        """Give up the stages; what was written by then is undefined. EINVAL: there are none."""
        _call(f"dw_terminate_{self.noun}_stage", self, self)

    def _out(self, target: AnyPath | None, moment: str) -> None:
        place = ffi().NULL if target is None else target
        _call(f"dw_stage_{self.noun}_out", self, self, place, symbol(moment))


@dataclass(frozen=True, slots=True)
class File(_Staged):
    """One file on the buffer."""

    path: AnyPath
    noun: ClassVar[str] = "file"

    def __str__(self) -> str:
        return os.fspath(self.path)

    def stage_in(self, source: AnyPath) -> None:
        """Start staging ``source`` in; the file is made, or emptied first."""
        _call("dw_stage_file_in", self, self, source)


@dataclass(frozen=True, slots=True)
class Directory(_Staged):
    """One directory on the buffer."""

    path: AnyPath
    noun: ClassVar[str] = "directory"

    def __str__(self) -> str:
        return os.fspath(self.path)

    def stage_in(self, source: AnyPath) -> None:
        """Start staging in all that is in the directory ``source``."""
        _call("dw_stage_directory_in", self, self, source)

    def stage_files_in(self, sources: Sequence[AnyPath]) -> None:
        """Start staging these files in (``dw_stage_list_in``)."""
        _call("dw_stage_list_in", self, self, FileList(tuple(sources)))


@dataclass(frozen=True, slots=True)
class FileList(_Staged):
    """Several files, whose stages are started and queried in one call."""

    paths: tuple[AnyPath, ...]
    noun: ClassVar[str] = "list"

    def __str__(self) -> str:
        first = os.fspath(self.paths[0]) if self.paths else "no file"
        return first + (f" and {len(self.paths) - 1} more" if len(self.paths) > 1 else "")


def failed_stages(instance: AnyPath) -> Iterator[FailedStage]:
    """The failed stages on record in the instance that is mounted at that path.

    The walk is closed when the iterator ends, fails or is dropped.
    """
    state = ffi().new("dw_failed_stage_t **")
    _call("dw_open_failed_stage", instance, instance, state)
    try:
        path, number = ffi().new("char[]", _PATH_BYTES), ffi().new("int *")
        while _call("dw_read_failed_stage", instance, state[0], path, _PATH_BYTES, number):
            # It is not documented whether the number is positive.
            yield FailedStage(os.fsdecode(ffi().string(path)), abs(number[0]))
    finally:
        _call("dw_close_failed_stage", instance, state[0])


def set_stage_concurrency(instance: AnyPath, stages: int) -> None:
    """Let at most that many stages of the instance run at once."""
    _call("dw_set_stage_concurrency", instance, instance, stages)


def stripes(descriptor: int) -> Stripes:
    """How an open file on the buffer is striped. ENODATA: it is not known."""
    numbers = ffi().new("int[3]")
    name = f"file descriptor {descriptor}"
    _call("dw_get_stripe_configuration", name, descriptor, *(numbers + at for at in range(3)))
    return Stripes(*numbers)


def set_stripes(descriptor: int, size_bytes: int, width: int) -> None:
    """Stripe an open file that is still empty. ``size_bytes`` is a multiple of 4096."""
    name = f"file descriptor {descriptor}"
    _call("dw_set_stripe_configuration", name, descriptor, size_bytes, width)


def emulated(path: AnyPath) -> bool:
    """Whether the library is Burstlens' emulator and plays the instance that holds ``path``."""
    owns = getattr(load()[0], "dw_emulator_owns", None)
    return owns is not None and owns(_encoded(path)) > 0


def file_system(path: AnyPath) -> int:
    """``f_type`` of the file system that holds ``path``. Needs no libdatawarp."""
    status = ffi().new("struct burstlens_statfs *")
    if libc().statfs(_encoded(path), status) != 0:
        raise StagingError("cannot look at the buffer", path=os.fspath(path), number=ffi().errno)
    return int(status.f_type)


def _call(name: str, subject: AnyPath | _Staged, *arguments: Any) -> int:
    """Call ``name`` with these arguments; ``subject`` is what an error's message names."""
    function = symbol(name)
    alive: list[Any] = []  # what cffi points into must live until the call is over
    result = function(*(_argument(each, alive) for each in arguments))
    return _check(int(result), name, subject)


def _check(result: int, name: str, subject: AnyPath | _Staged) -> int:
    if result < 0:
        raise StagingError(f"DataWarp: {name}", path=str(subject), number=-result)
    return result


def _argument(value: Any, alive: list[Any]) -> Any:
    if isinstance(value, FileList):
        alive += (ffi().new("char[]", _encoded(path)) for path in value.paths)
        return ffi().new("const char *[]", [*alive, ffi().NULL])
    if isinstance(value, File | Directory):
        return _encoded(value.path)
    return _encoded(value) if isinstance(value, str | os.PathLike) else value


def _encoded(path: AnyPath) -> bytes:
    encoded = os.fsencode(path)
    if b"\0" in encoded:  # C would take what precedes it for the path
        raise StagingError("a path holds no NUL", path=repr(path), number=errno.EINVAL)
    return encoded
