from __future__ import annotations

import pytest

from burstlens.core.run.history import History
from burstlens.workflows.ordering.space import GROUP, Space
from burstlens.workflows.placement.buffer import BufferRef


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
    groups = list(space.releasable(set(open_files), held=held))
    assert all(groups), "an empty group costs a flush and a task for nothing"
    return [frame.time for group in groups for frame in group]


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
    room.history.standing["t2"] = 1  # of another frame
    room.history.failed["t2", one.stream, one.time] = 1
    assert released(room) == [one.time]


def test_frames_of_a_product_that_was_never_made_stay_while_there_is_room(space, frame):
    room = space(raw="release")
    one = frame()
    room.add(one, ("t2",))
    room.history.failed["t2", one.stream, one.time] = 1
    assert released(room) == []
    room.urgent = True
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


def test_the_frames_on_the_buffer_are_all_that_were_added(space, frame):
    room = space()
    records = [frame(f"t{n}", record=n, paths=("storm-1/1/out.nc",)) for n in range(2)]
    for each in (*records, frame("t2")):
        room.add(each, ())
    assert [each.time for each in room.frames()] == ["t0", "t1", "t2"]


def test_tiles_stay_while_the_watcher_is_not_through_with_one_of_them(space, frame):
    room = space(raw="release")
    room.add(frame(paths=("storm-1/1/tile_0000", "storm-1/1/tile_0001")), ())
    assert released(room, open_files=["tile_0001"]) == []
    assert released(room) == [frame().time]


def test_a_product_that_was_added_holds_its_frame_and_no_other_of_the_file(space, frame):
    room = space(raw="release")
    one, two = (frame(f"t0000000{n}.000", record=n, paths=("storm-1/1/out.nc",)) for n in (1, 2))
    for each in (one, two):
        room.add(each, ("t2",))
    room.want(one, ("w",))
    settle(room, one, two)
    assert released(room) == []
    room.history.published["w", one.stream, one.time] = 1
    assert released(room) == [one.time, two.time]


def test_a_product_that_was_added_leaves_the_first_ones_wanted(space, frame):
    room = space(raw="release")
    one = frame()
    room.add(one, ("t2",))
    room.want(one, ("w",))
    room.history.published["w", one.stream, one.time] = 1
    assert released(room) == []


def test_a_frame_stays_while_a_product_of_another_stream_may_want_it(space, frame):
    room = space(raw="release")
    room.beside = lambda frame: True
    room.add(frame(), ())
    assert released(room) == []
    room.beside = lambda frame: False
    assert released(room) == [frame().time]


def test_frames_that_could_not_be_released_are_tried_again_and_take_room_meanwhile(space, frame):
    room = space(raw="release")
    one = frame()
    room.add(one, ("t2",))
    settle(room, one)
    [group] = room.releasable(set(), held=False)
    room.history.released.add((one.stream, one.time, one.attempt))  # as the journal says by then
    room.put_back(group)
    assert (room.raw_bytes, room.frames()) == (one.bytes, [one])
    assert released(room) == [one.time]


@pytest.fixture
def nest(space, frame):
    """The newest frame of ``d02`` beside one of ``d01`` of this time and attempt, by time and
    attempt, where these frames lie on the buffer."""

    def find(*there, time="t2", attempt=1):
        room = space()
        for stream, valid, made in there:
            path = f"storm-1/{made}/{stream}_{valid}"
            room.add(frame(valid, stream, attempt=made, paths=(path,)), ())
        found = room.newest("d02", frame(time, "d01", attempt=attempt))
        return found and (found.stream, found.time, found.attempt)

    return find


@pytest.mark.parametrize(
    ("there", "found"),
    [
        ([("d02", "t1", 1), ("d02", "t2", 1), ("d02", "t3", 1)], ("d02", "t2", 1)),
        ([("d02", "t2", 1), ("d02", "t1", 1)], ("d02", "t2", 1)),
        ([("d02", "t1", 1), ("d01", "t2", 1)], ("d02", "t1", 1)),
        ([("d02", "t3", 1), ("d01", "t1", 1)], None),
    ],
)
def test_the_newest_frame_beside_is_the_last_one_up_to_the_valid_time(nest, there, found):
    assert nest(*there) == found


def test_a_frame_beside_of_the_same_attempt_is_preferred_to_a_newer_one_of_another(nest):
    there = ("d02", "t1", 2), ("d02", "t2", 1), ("d02", "t2", 3)
    assert nest(*there, attempt=2) == ("d02", "t1", 2)


def test_without_a_frame_beside_of_the_same_attempt_the_newest_of_the_latest_is_given(nest):
    there = ("d02", "t1", 3), ("d02", "t2", 1), ("d02", "t2", 2)
    assert nest(*there, attempt=4) == ("d02", "t2", 2)


@pytest.mark.parametrize(
    ("raw_bytes", "free_bytes", "short"),
    [(900, None, False), (901, None, True), (901, 100, False), (0, 99, True)],
)
def test_room_is_short_by_the_disks_free_bytes_or_by_the_capacity_where_they_are_not_known(
    space, raw_bytes, free_bytes, short
):
    room = space(capacity=1000, reserve=0.1)
    room.raw_bytes = raw_bytes
    assert room.short(free_bytes) is short


@pytest.mark.parametrize(
    ("free_bytes", "begun_bytes", "fits"),
    [(2000, 0, True), (1999, 0, False), (500, 1500, True), (500, 1499, False), (None, 0, True)],
)
def test_room_is_short_when_the_largest_frame_so_far_would_not_fit(
    space, frame, free_bytes, begun_bytes, fits
):
    room = space(capacity=100_000, reserve=0.001)
    for number, size in enumerate((1000, 2000, 500)):
        room.add(frame(f"t{number}", bytes=size), ())
    room.begun_bytes = begun_bytes
    assert room.fits_no_frame(free_bytes) == (not fits)
    assert room.short(free_bytes) == (not fits)


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
