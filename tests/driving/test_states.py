from __future__ import annotations

import pytest

from burstlens.core.run.product_record import CHANCES, HELD_BYTES, LEAST, States


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


@pytest.mark.parametrize(("more", "gone"), [(0, []), (1, ["0"])])
def test_states_stay_until_they_take_more_room_than_there_is(more, gone):
    found = States()
    sizes = [HELD_BYTES // 16] * 15 + [HELD_BYTES // 16 + more]
    for number, size in enumerate(sizes):
        found.note("peak", "surface", f"t{number:02d}", f"{number}", size)
    assert found.surplus("peak", "surface") == gone


def test_a_state_that_is_replaced_gives_its_room_back():
    found = States()
    for number in range(LEAST + 1):
        found.note("peak", "surface", f"t{number}", f"{number}", 1)
    for _ in range(2):
        found.note("peak", "surface", "t5", "large", HELD_BYTES - LEAST)
    assert found.surplus("peak", "surface") == []


def test_no_more_states_are_given_than_a_frame_may_resume_from():
    found = States()
    for number in range(CHANCES + 2):
        found.note("track", "d01", f"t{number}", f"{number}", 1)
    newest = range(CHANCES + 1, 1, -1)
    assert found.before("track", "d01", "t9") == tuple(str(number) for number in newest)


def test_a_product_without_a_state_has_none_before_and_none_too_many(states):
    assert states.before("peak", "d01", "t9") == ()
    assert states.surplus("peak", "d01") == []


def test_small_ones_all_stay(states):
    assert states.surplus("track", "d01") == []


def test_an_attempt_that_goes_on_forgets_the_states_after_its_checkpoint():
    found = States()
    for number in range(5):
        found.note("peak", "surface", f"t{number}", f"{number}", 10)
    found.begin_after("t2")
    assert found.before("peak", "surface", "t9") == ("2", "1", "0")
    assert found.surplus("peak", "surface") == ["4", "3"]
    assert found.surplus("peak", "surface") == []


def test_the_state_of_a_checkpoint_that_may_be_gone_on_from_is_kept():
    found = States()
    for number in range(20):
        found.note("peak", "surface", f"t{number:02}", f"{number}", HELD_BYTES)
    gone = found.surplus("peak", "surface", held=["t03", "t05"])
    assert gone == [str(n) for n in range(12) if n not in (3, 5)]
    assert found.newest("peak", "surface", "t04") == "3"
