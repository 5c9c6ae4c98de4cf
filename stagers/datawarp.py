"""Stager for Cray DataWarp: the buffer's own servers copy, this process queries and verifies."""

from __future__ import annotations

import errno
import os
import time
import warnings
from pathlib import Path
from typing import ClassVar

from burstlens.core.errors import BurstlensError, StagingError
from burstlens.stagers import libdatawarp
from burstlens.stagers.base import Arrival, State
from burstlens.stagers.libdatawarp import File
from burstlens.stagers.posix import PosixStager

LIMIT_VARIABLE = "BURSTLENS_STAGE_LIMIT_S"
LIMIT_S = 300.0
"""A stage that makes no progress for so long is given up."""
_FIRST_PAUSE_S, _LAST_PAUSE_S = 0.001, 0.1
_END_S = 10.0
"""How long the end of a stage that was given up is waited for."""

Progress = tuple[int, int] | None


class DataWarpStager:
    """Stages through libdatawarp. This process copies paths that are not on a DataWarp buffer.

    A stage is waited for by queries with a growing pause, 1 ms to 100 ms, not by the library's
    own wait: no signal interrupts that, and it does not detect a stage that never ends.
    """

    name: ClassVar[str] = "datawarp"

    def __init__(self, limit_s: float | None = None) -> None:
        """``limit_s``: see LIMIT_S, which the variable BURSTLENS_STAGE_LIMIT_S overrides."""
        self.limit_s = (
            float(os.environ.get(LIMIT_VARIABLE) or LIMIT_S) if limit_s is None else limit_s
        )
        self._plain = PosixStager()
        self._warned: set[Path] = set()
        self._written: dict[Path, Path] = {}  # the end that a stage writes, to see it progress

    def start_out(self, source: Path, target: Path) -> None:
        """Start the stage-out of ``source``, after the end of one that is active."""
        _check_ends(source, target)
        if self._is_plain(source):
            return self._plain.start_out(source, target)
        self._settle(source)
        self._written[source] = target
        File(source).stage_out(target)

    def start_in(self, source: Path, target: Path) -> None:
        """Start the stage-in of ``target``, after the end of one that is active."""
        _check_ends(source, target)
        if self._is_plain(target):
            return self._plain.start_in(source, target)
        self._settle(target)
        self._written[target] = target
        # Links are lost on the way, so what they lead to is staged.
        real = os.path.realpath(source)
        try:
            File(target).stage_in(real)
        except StagingError as error:
            if os.access(real, os.R_OK):
                raise
            # The library's word is about the file on the buffer; the fault is the source's.
            raise StagingError.of(error, f"cannot stage in to {target.name}", source) from error

    def arrived(self, path: Path) -> Arrival | None:
        """What this process has copied of a file that is not on a DataWarp buffer."""
        return self._plain.arrived(path)

    def query(self, path: Path) -> State:
        """The state of that file's latest stage, whichever process started it."""
        if self._is_plain(path):
            return self._plain.query(path)
        return _state(path)

    def reason(self, path: Path) -> int:
        """The errno that DataWarp has on record for that file's failed stage."""
        if self._is_plain(path):
            return self._plain.reason(path)
        root = instance(path)
        real = os.path.realpath(path)
        for failed in libdatawarp.failed_stages(root):
            # It is not documented whether the library's name is relative to the instance's root.
            if os.path.realpath(root / failed.path) == real:
                return failed.errno
        return 0

    def wait(self, path: Path) -> None:
        """Return when the stage is over; one without progress is terminated: ETIMEDOUT."""
        if self._is_plain(path):
            return
        pause = _FIRST_PAUSE_S
        before, deadline = self._progress(path), time.monotonic() + self.limit_s
        while _state(path) is State.PENDING:
            if time.monotonic() > deadline:
                now = self._progress(path)
                if now == before:
                    self._give_up(path)
                before, deadline = now, time.monotonic() + self.limit_s
            time.sleep(pause)
            pause = min(1.5 * pause, _LAST_PAUSE_S)
        self._written.pop(path, None)

    def terminate(self, path: Path) -> None:
        """Give up the stage and wait for its end. EINVAL when there was none."""
        if self._is_plain(path):
            return self._plain.terminate(path)
        self._written.pop(path, None)
        File(path).terminate()
        deadline = time.monotonic() + _END_S
        while _state(path) is State.PENDING and time.monotonic() < deadline:
            time.sleep(_LAST_PAUSE_S)

    def _settle(self, path: Path) -> None:
        """Leave no active stage of that file: a worker that was killed may have started one.

        The library does not give its target, so it is not taken for the one to start.
        """
        try:
            self.wait(path)
        except StagingError as error:
            if error.errno != errno.ETIMEDOUT or _state(path) is State.PENDING:
                raise

    def _give_up(self, path: Path) -> None:
        ended = "terminated"
        try:
            self.terminate(path)
        except BurstlensError as error:
            ended = f"cannot be terminated: {error}"
        raise StagingError(
            f"no progress in {self.limit_s:g} s, the stage is given up and {ended}",
            path=str(path),
            number=errno.ETIMEDOUT,
        )

    def _progress(self, path: Path) -> Progress:
        """Size and blocks of the file that is written; None where it does not exist."""
        try:
            status = os.stat(self._written.get(path, path))
        except OSError:
            return None
        return status.st_size, status.st_blocks

    def _is_plain(self, path: Path) -> bool:
        """Whether the file is not on a DataWarp buffer; the first one of each mount warns."""
        folder = path.parent
        if libdatawarp.file_system(folder) == libdatawarp.FILE_SYSTEM:
            return False
        if _named_instance(path) is not None and libdatawarp.emulated(folder):
            return False
        mount = _mount(folder)
        if mount not in self._warned:
            self._warned.add(mount)
            warnings.warn(
                f"{folder} is not on a DataWarp buffer: files are copied by this process",
                stacklevel=4,
            )
        return True


def instance(path: Path) -> Path:
    """Where the instance that holds ``path`` is mounted, by the job's environment or by mounts."""
    return _named_instance(path) or _mount(path.parent)


def _named_instance(path: Path) -> Path | None:
    real = Path(os.path.realpath(path))
    roots = (
        Path(os.path.realpath(value))
        for name, value in os.environ.items()
        if name.startswith(("DW_JOB_", "DW_PERSISTENT_")) and value.startswith("/")
    )
    return max(
        (root for root in roots if real.is_relative_to(root)),
        key=lambda root: len(root.parts),
        default=None,
    )


def _mount(folder: Path) -> Path:
    return next(place for place in (folder, *folder.parents) if os.path.ismount(place))


def _state(path: Path) -> State:
    try:
        counts = File(path).query()
    except StagingError as error:
        if error.errno in {errno.EINVAL, errno.ENOENT}:  # never staged, not there
            return State.ABSENT
        raise
    for state in (State.FAILED, State.PENDING, State.DEFERRED, State.COMPLETE):
        if getattr(counts, state.value):
            return state
    return State.ABSENT


def _check_ends(source: Path, target: Path) -> None:
    """Raise at once what DataWarp would report only by a failed stage, or not at all."""
    try:
        if source.is_dir():
            raise IsADirectoryError(errno.EISDIR, "", str(source))
        source.stat()
        target.parent.stat()
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, "", str(target))
    except OSError as error:
        raise StagingError.of(error, "cannot stage", error.filename) from error
