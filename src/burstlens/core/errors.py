"""The one hierarchy of expected failures: each class says what to do next.

A :class:`BurstlensError` is printed as one message without a traceback; anything else that
reaches the command line is a defect of Burstlens.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from burstlens.core.fault import Fault

TRANSIENT_ERRNO = frozenset(
    {errno.EAGAIN, errno.EBUSY, errno.EALREADY, errno.EINTR, errno.ETIMEDOUT, errno.ENOBUFS}
)
FULL_ERRNO = frozenset({errno.ENOSPC, errno.EDQUOT})
"""A full disk, or a quota that is used up."""


class BurstlensError(Exception):
    """An expected failure. Its message is complete: what happened, where, what to do.

    ``exit_code`` is that of a command which it ends.
    """

    exit_code = 1

    def _render_traceback_(self) -> list[str]:
        """What IPython shows in place of a traceback, as the command line shows none."""
        return [f"{type(self).__name__}: {self}"]


class RecipeError(BurstlensError):
    """The recipe is wrong: correct the file. ``faults`` lists the faults, where they are known."""

    def __init__(self, message: str, faults: Sequence[Fault] = ()) -> None:
        super().__init__(message)
        self.faults = tuple(faults)


class OptionsError(ValueError):
    """Several faults of one table of options: ``faults`` has a message for each. A message that
    begins with the name of a key is reported at that key's place."""

    def __init__(self, *faults: str) -> None:
        super().__init__("; ".join(faults))
        self.faults = faults


class SiteError(BurstlensError):
    """The site file does not fit this machine, or a library or program is missing here. ``passing``
    says that a service of the site did not answer and may answer later. ``faults`` are those of the
    site's file."""

    passing = False
    faults: tuple[Fault, ...] = ()


class NeverBeganError(SiteError):
    """A job that was submitted and will never begin; ``reason`` says how it ended."""

    def __init__(self, message: str, *, reason: str = "not started") -> None:
        super().__init__(message)
        self.reason = reason


class GivenUpError(SiteError):
    """A request to the site was cancelled, as the user asked; the message says what is left."""


class RunError(BurstlensError):
    """The run cannot be started, found, resumed or stopped as asked."""


class AttachError(BurstlensError):
    """The folder of somebody else's run cannot be looked at as asked: name another folder, or say
    what it holds."""


class SeveralRunsError(AttachError):
    """The ``folder`` holds several runs side by side: name one of its ``folders``, or several."""

    def __init__(self, message: str, folder: str, folders: Sequence[str]) -> None:
        super().__init__(message)
        self.folder = folder
        self.folders = tuple(folders)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (str(self), self.folder, self.folders)


class IOLogError(BurstlensError):
    """A log cannot be explained: it is damaged, foreign, or has nothing about I/O; name another, or
    make one as the message says."""


class FrameError(BurstlensError):
    """One frame is damaged or lacks what a product needs: it is marked and the run goes on."""


class UnreadableFrameError(FrameError):
    """What a frame's file should hold cannot be read: no fault of the product that asked for it."""


class UnreadError(FrameError):
    """A file did not answer in time, or the process that read it was killed: its content is
    unknown."""


class TimesError(FrameError):
    """The times of a file cannot be decoded, although they are written: it is not damaged."""


class StateError(FrameError):
    """The state that a chained product kept of an earlier frame cannot be used; retry from an
    older state or start afresh."""


class ValuesError(BurstlensError):
    """The values of a product, or the grid that they lie on, are missing or damaged: the picture
    stands without them."""


class SimulationError(BurstlensError):
    """The model failed. ``line`` is the one log line that matters, where there is one."""

    def __init__(self, message: str, line: str | None = None) -> None:
        super().__init__(f"{message}: {line}" if line else message)
        self.line = line


class NoSpaceError(RunError):
    """A disk of the run is full: make room there, then resume."""

    exit_code = 6


class StagingError(BurstlensError):
    """A file could not be brought to or from the buffer. ``errno`` is the positive system error
    number (0 when none is known) and ``path`` the file it concerns; ``transient`` says whether a
    retry can help."""

    def __init__(self, message: str, *, path: str, number: int = 0) -> None:
        reason = f" ({os.strerror(number)})" if number else ""
        super().__init__(f"{message}: {path}{reason}")
        self.message = message
        self.path = path
        self.errno = number

    @classmethod
    def of(cls, error: OSError | StagingError, message: str, path: object) -> StagingError:
        """For an error of the system that concerns that path."""
        return cls(message, path=str(path), number=error.errno or 0)

    @property
    def transient(self) -> bool:
        """Whether the same call may succeed later."""
        return self.errno in TRANSIENT_ERRNO

    def __reduce__(self) -> tuple[object, ...]:
        return partial(StagingError, path=self.path, number=self.errno), (self.message,)
