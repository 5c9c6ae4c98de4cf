from __future__ import annotations

import pytest

from burstlens.workflows.states import States


@pytest.fixture
def states() -> States:
    """States of three frames, which came in another order."""
    found = States()
    for time in ("t3", "t1", "t2"):
        found.note("track", "d01", time, f"of {time}")
    return found


@pytest.mark.parametrize(
    ("time", "before", "newest"),
    [
        ("t2", False, "of t2"),
        ("t2", True, "of t1"),
        ("t25", False, "of t2"),
        ("t9", True, "of t3"),
        ("t1", True, ""),
        ("t0", False, ""),
    ],
)
def test_the_newest_state_up_to_a_time_is_found(states, time, before, newest):
    assert states.newest("track", "d01", time, before=before) == newest


def test_products_and_streams_have_states_of_their_own(states):
    assert states.newest("track", "d02", "t9") == states.newest("peak", "d01", "t9") == ""


def test_a_state_takes_the_place_of_one_of_the_same_time(states):
    states.note("track", "d01", "t2", "better")
    assert states.newest("track", "d01", "t2") == "better"
    assert states.newest("track", "d01", "t3", before=True) == "better"
