from __future__ import annotations

import pytest

from burstlens.workflows.buffer import BufferRef
from burstlens.workflows.history import History
from burstlens.workflows.space import GROUP, Space


@pytest.fixture
def space(recipe):
    """The room of a run whose recipe has these ``[buffer]`` keys."""

    def make(**buffer):
        return Space(recipe(**buffer), History(), BufferRef("posix", "/b", "storm-1"))

    return make


def settle(space, *frames):
    for frame in frames:
        space.history.published["t2", frame.stream, frame.time] = frame.attempt


def released(space, open_files=(), held=False):
    return [f.time for group in space.releasable(set(open_files), held=held) for f in group]


def test_a_frame_goes_when_its_products_stand(space, frame):
    room = space(raw="release")
    one = frame()
    room.add(one, ("t2",))
    assert released(room) == []
    settle(room, one)
    assert released(room) == [one.time]
    assert released(room) == []
    assert room.raw_bytes == 0


def test_a_product_that_has_failed_for_good_holds_no_frame(space, frame):
    room = space(raw="release")
    one = frame()
    room.add(one, ("t2",))
    room.history.failed["t2", one.stream, one.time] = 1
    assert released(room) == [one.time]


def test_frames_are_kept_unless_the_recipe_lets_them_go(space, frame):
    room = space(raw="keep")
    room.add(frame(), ())
    assert released(room) == []
    room.releasing = True  # pressure
    assert released(room) == [frame().time]


def test_nothing_goes_while_another_program_may_read_it(space, frame):
    room = space(raw="release")
    room.add(frame(), ())
    assert released(room, held=True) == []
    assert released(room, held=False) == [frame().time]


@pytest.mark.parametrize("name", ["out.nc", "deep/er/out.nc"])
def test_a_growing_file_stays_until_the_watcher_is_through_with_it(space, frame, name):
    room = space(raw="release")
    records = [
        frame(f"t{record:08d}.000", record=record, paths=(f"storm-1/1/{name}",))
        for record in range(3)
    ]
    for record in records:
        room.add(record, ("t2",))
    settle(room, *records)
    assert released(room, open_files=[name]) == []
    assert released(room) == [record.time for record in records]


def test_a_growing_file_stays_while_one_record_lacks_its_product(space, frame):
    room = space(raw="release")
    one, two = (frame(f"t0000000{n}.000", record=n, paths=("storm-1/1/out.nc",)) for n in (1, 2))
    room.add(one, ("t2",))
    room.add(two, ("t2",))
    settle(room, one)
    assert released(room) == []


def test_a_frame_seen_again_after_a_restart_takes_its_room_once(space, frame):
    room = space()
    room.add(frame(), ())
    room.add(frame(), ())
    assert room.raw_bytes == 1000


def test_what_was_released_before_a_restart_is_not_released_again(space, frame):
    room = space(raw="release")
    room.add(frame(), ())
    room.history.released.add(("output", frame().time, 1))
    assert released(room) == []


def test_frames_go_in_groups_of_one_flush(space, frame):
    room = space(raw="release")
    for number in range(GROUP + 3):
        room.add(frame(f"t{number:08d}.000"), ())
    sizes = [len(group) for group in room.releasable(set(), held=False)]
    assert sizes == [GROUP, 3]


@pytest.mark.parametrize(
    ("raw_bytes", "free_bytes", "pressed"),
    [(0, None, False), (900, None, False), (901, None, True), (0, 100, False), (0, 99, True)],
)
def test_pressure_is_the_reserve_reached_on_paper_or_on_the_disk(
    space, frame, raw_bytes, free_bytes, pressed
):
    room = space(capacity=1000, reserve=0.1)
    room.add(frame(bytes=raw_bytes), ())
    assert room.pressed(free_bytes) is pressed


def test_a_frame_stays_while_a_picture_of_it_is_made_again_unless_room_is_short(space, frame):
    room = space(raw="release", capacity=10_000, reserve=0.2)
    one, two = frame(), frame("t00000002.000", bytes=7500)
    room.outgrown = lambda frame: True
    room.add(one, ())
    assert released(room) == []
    room.add(two, ())
    assert released(room) == [one.time]  # the other one fits again
    room.outgrown = lambda frame: False
    assert released(room) == [two.time]
