"""Whether a name is there: yes, no, or unknown while its file system answers with an error.

``os.path.exists`` says no for every error, ``Path.exists`` raises most of them. Standard library
alone: the supervisor imports it, on any python3.
"""

from __future__ import annotations

import enum
import errno
import os
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    StrPath = str | os.PathLike[str]

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
