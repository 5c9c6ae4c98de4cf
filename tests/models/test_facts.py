"""What a model's settings say of a run's end."""

from __future__ import annotations

import pytest

from burstlens.workflows.models.base import Facts

NOON, LATER = "20050828T120000", "20050828T123000"


@pytest.mark.parametrize(
    ("facts", "time", "is_end"),
    [
        (Facts(total_s=4.0), "t00000003.999", True),  # keys have milliseconds
        (Facts(total_s=4.0), "t00000003.900", False),
        (Facts(start=NOON, total_s=1800.0), LATER, True),
        (Facts(start=NOON, total_s=1801.0), LATER, False),
        (Facts(start=NOON, end=LATER), LATER, True),
        (Facts(start=NOON, end=LATER), NOON, False),
        (Facts(start=NOON, end=LATER), "t00000003.999", False),
        (Facts(total_s=4.0), NOON, False),
        (Facts(total_s=4.0), "n000007", False),
        (Facts(), "t00000003.999", False),
    ],
)
def test_a_time_is_the_end_of_the_run_where_that_is_known(facts, time, is_end):
    assert facts.is_end(time) == is_end
