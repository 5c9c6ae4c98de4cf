from __future__ import annotations

import errno
import pickle

import pytest

from burstlens.core import errors
from burstlens.core.errors import BurstlensError, SimulationError, StagingError


@pytest.mark.parametrize("name", ["RecipeError", "SiteError", "RunError", "FrameError"])
def test_each_expected_failure_is_a_burstlens_error(name):
    assert issubclass(getattr(errors, name), BurstlensError)


def test_a_staging_error_keeps_errno_and_path_on_its_way_through_pickle():
    error = StagingError("cannot stage", path="/b/x", number=errno.ENOSPC)
    travelled = pickle.loads(pickle.dumps(error))
    assert (travelled.errno, travelled.path) == (errno.ENOSPC, "/b/x")
    assert str(travelled) == "cannot stage: /b/x (No space left on device)"


def test_only_what_may_pass_by_itself_is_transient():
    def transient(number: int) -> bool:
        return StagingError("x", path="y", number=number).transient

    assert all(map(transient, (errno.EAGAIN, errno.EBUSY, errno.ETIMEDOUT)))
    assert not any(map(transient, (errno.ENOSPC, errno.ENOENT, errno.EACCES, 0)))


def test_a_simulation_error_ends_with_the_line_that_matters():
    error = SimulationError("wrf ended with exit code 1", "cfl error at 3,4")
    assert str(error) == "wrf ended with exit code 1: cfl error at 3,4"
    assert error.line == "cfl error at 3,4"
