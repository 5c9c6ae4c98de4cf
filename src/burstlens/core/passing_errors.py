"""Retries for transient errors of a file server or an unavailable run directory.

Standard library alone: the supervisor imports it, on any python3.
"""

from __future__ import annotations

import errno
import time
from collections.abc import Callable
from typing import TypeVar

PASSING = frozenset(
    {errno.EINTR, errno.EIO, errno.EAGAIN, errno.ESTALE, errno.ETIMEDOUT, errno.EREMOTEIO}
)
PATIENCE_S = 10.0
PAUSE_S = 0.25
TARGET_PATIENCE_S = 600.0
"""How long to retry while the run directory is unavailable or full."""
TARGET_PAUSE_S = 1.0
T = TypeVar("T")


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
