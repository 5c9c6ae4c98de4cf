"""Whether a name is there: yes, no, or unknown while its file system answers with an error; retries
for transient errors of a file server or an unavailable run directory.

``os.path.exists`` says no for every error, ``Path.exists`` raises most of them. Standard library
alone: the supervisor imports it, on any python3.
"""

from __future__ import annotations

import enum
import errno
import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn, TypeVar

if TYPE_CHECKING:
    StrPath = str | os.PathLike[str]

PASSING = frozenset(
    {errno.EINTR, errno.EIO, errno.EAGAIN, errno.ESTALE, errno.ETIMEDOUT, errno.EREMOTEIO}
)
"""Transient errors of a file server: the same call may succeed later."""
PATIENCE_S = 10.0
"""How long to retry after one of them."""
PAUSE_S = 0.25
TARGET_PATIENCE_S = 600.0
"""How long to retry while the run directory is unavailable or full."""
TARGET_PAUSE_S = 1.0
T = TypeVar("T")
_NOT_THERE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG})


class Existence(enum.Enum):
    """Compare it with ``is``: what "unknown" means differs from call to call."""

    PRESENT = "present"
    ABSENT = "absent"
    UNKNOWN = "unknown"

    def __bool__(self) -> NoReturn:
        raise TypeError("an Existence has three values: compare it with `is`")


def existence(path: StrPath) -> Existence:
    """Whether something is there, links followed. Never raises OSError."""
    try:
        return Existence.PRESENT if check_existence(path) else Existence.ABSENT
    except OSError:
        return Existence.UNKNOWN


def check_existence(path: StrPath) -> bool:
    """Whether something is there. Raises OSError where that is not known."""
    try:
        os.stat(path)
    except OSError as error:
        if error.errno not in _NOT_THERE:
            raise
        return False
    return True


def surely_exists(path: StrPath) -> bool:
    """Whether it is known to be there: for what is asked again, or may be done later."""
    return existence(path) is Existence.PRESENT


def surely_missing(path: StrPath) -> bool:
    """Whether it is known not to be there: for what must not be done twice, or by mistake."""
    return existence(path) is Existence.ABSENT


def again(call: Callable[[], T]) -> T:
    """The result of the call, which is retried for ten seconds while its error is transient. Raises
    OSError: at once for an error that is not transient."""
    end = time.monotonic() + PATIENCE_S
    while True:
        try:
            return call()
        except OSError as error:
            if error.errno not in PASSING or time.monotonic() > end:
                raise
            time.sleep(PAUSE_S)


def patiently(call: Callable[[], T]) -> T:
    """The result of the call, which is retried for ten minutes while the run directory is
    unavailable or full. Raises FileExistsError at once, OSError in the end."""
    end = time.monotonic() + TARGET_PATIENCE_S
    while True:
        try:
            return call()
        except FileExistsError:
            raise
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(TARGET_PAUSE_S)
