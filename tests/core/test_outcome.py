from __future__ import annotations

import errno

import pytest

from burstlens.core.errors import RunError, StagingError
from burstlens.core.outcome import failure_code


def caused(error: Exception) -> RunError:
    made = RunError("stage in failed")
    made.__cause__ = error
    return made


@pytest.mark.parametrize(
    ("evidence", "code"),
    [
        (StagingError("cannot stage", path="/bb/x", number=errno.ENOSPC), 6),
        (StagingError("cannot stage", path="/bb/x", number=errno.EDQUOT), 6),
        (caused(OSError(errno.ENOSPC, "full")), 6),
        ("forrtl: No space left on device", 6),
        ("NetCDF: HDF error; errno = ENOSPC", 6),
        (RunError("stage in failed: cannot stage in: /bb/x (Disk quota exceeded)"), 6),
        (StagingError("cannot stage", path="/bb/x", number=errno.EIO), 1),
        (OSError(errno.EACCES, "denied", "/home/No space"), 1),
        ("SIGSEGV", 1),
        ("", 1),
        (None, 1),
    ],
)
def test_a_failure_for_want_of_space_has_its_own_exit_code(evidence, code):
    assert failure_code(None, evidence) == code
