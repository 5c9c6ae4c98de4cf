"""What the driver says of a job that failed."""

from types import SimpleNamespace
from typing import Any

import pytest

from burstlens.workflows.driver.launching import MOST_SHOWN, Launching
from burstlens.workflows.ordering.events import JobEnded
from burstlens.workflows.ordering.instructions import Launch
from burstlens.workflows.placement.supervised import Ended, JobFailedError


def ended(name: str, **how: Any) -> JobEnded:
    launching: Any = SimpleNamespace(_live={name})
    error = JobFailedError(name, Ended(1, None, "exited", **how))
    return Launching.ended(launching, Launch(name, (), on_login=False), None, error)


@pytest.mark.parametrize(("name", "said"), [("step-real-1", "no mpi.h"), ("attempt-1", "")])
def test_of_a_step_it_is_the_last_line_of_its_log(name: str, said: str) -> None:
    assert ended(name, last_line="no mpi.h").said == said


def test_a_long_line_is_shortened_and_printable() -> None:
    said = ended("step-real-1", last_line="why \x1b[31m\ufffd" + "y" * 2 * MOST_SHOWN).said
    assert said.startswith("why ")
    assert len(said) <= MOST_SHOWN
    assert said.isprintable()
