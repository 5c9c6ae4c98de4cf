from __future__ import annotations

import pytest

from burstlens.workflows.states import HELD_BYTES, LEAST, States


@pytest.fixture
def states() -> States:
    """States of three frames, which came in another order."""
    found = States()
    for time in ("t3", "t1", "t2"):
        found.note("track", "d01", time, f"of {time}", 1000)
    return found


@pytest.mark.parametrize(
    ("time", "newest"), [("t2", "of t2"), ("t25", "of t2"), ("t9", "of t3"), ("t0", "")]
)
def test_the_newest_state_up_to_a_time_is_found(states, time, newest):
    assert states.newest("track", "d01", time) == newest


def test_the_newest_states_before_a_time_come_newest_first(states):
    assert states.before("track", "d01", "t9") == ("of t3", "of t2", "of t1")
    assert states.before("track", "d01", "t2") == ("of t1",)
    assert states.before("track", "d01", "t1") == ()


def test_products_and_streams_have_states_of_their_own(states):
    assert states.newest("track", "d02", "t9") == states.newest("peak", "d01", "t9") == ""


def test_a_state_takes_the_place_of_one_of_the_same_time(states):
    states.note("track", "d01", "t2", "better", 1000)
    assert states.newest("track", "d01", "t2") == "better"
    assert states.before("track", "d01", "t3") == ("better", "of t1")


def test_the_oldest_go_when_there_is_no_room_for_all():
    found = States()
    for number in range(40):
        found.note("peak", "surface", f"t{number:02d}", f"{number}", HELD_BYTES // 16)
    assert found.surplus("peak", "surface") == [f"{number}" for number in range(24)]
    assert found.surplus("peak", "surface") == []
    assert found.before("peak", "surface", "t24") == ()
    assert found.newest("peak", "surface", "t99") == "39"


def test_large_ones_are_kept_for_some_frames_all_the_same():
    found = States()
    for number in range(20):
        found.note("peak", "surface", f"t{number:02d}", f"{number}", HELD_BYTES)
    assert len(found.surplus("peak", "surface")) == 20 - LEAST


def test_small_ones_all_stay(states):
    assert states.surplus("track", "d01") == []
