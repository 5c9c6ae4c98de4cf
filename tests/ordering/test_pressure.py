"""When the buffer is nearly full: what is released, and when the model is stopped instead."""

from __future__ import annotations

import pytest

from burstlens.core.run.history import History
from burstlens.core.run.journal import Journal
from burstlens.workflows.ordering.outbox import Outbox
from burstlens.workflows.ordering.pressure import REPORTS, Pressure
from burstlens.workflows.ordering.space import Space
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.publishing.snapshot import Snapshot

GROWS = "no raw frame can go: their file is still being written"


class Room:
    """A run at some moment: its frames, the disk's room, the model's progress."""

    def __init__(self, run, recipe, frames=()):
        history = History()
        self.run = run
        self.snapshot = Snapshot(run, recipe, history, 1)
        self.space = Space(recipe, history, BufferRef("posix", "/b", "storm-1"))
        self.outbox = Outbox(Journal(run.journal, 1))
        self.pressure = Pressure(recipe, self.snapshot, self.outbox)
        self.reason = None
        self.open_files: set[str] = set()
        for frame in frames:
            self.space.add(frame, ())

    def looks(self, free, times=REPORTS + 1, held=False, fraction=None):
        for _ in range(times):
            stuck = self.space.stuck(self.open_files, held=held)
            self.pressure.look(
                self.space, stuck, free_bytes=free, fraction=fraction,
                stopping=self.reason is not None,
            )  # fmt: skip
            for request in self.outbox.take():
                assert request.name == "stop"
                assert self.reason is None
                self.reason = request.reason
        return self.reason and "stop"

    @property
    def alarms(self):
        return [alarm.text for alarm in self.snapshot.alarms]


@pytest.fixture
def room(run_dir, recipe, frame):
    """A run with three frames of 1000 bytes, in one growing file or in a file each."""

    def make(*, growing, **buffer):
        names = ["out.nc"] * 3 if growing else ["a.nc", "b.nc", "c.nc"]
        frames = [
            frame(f"t0000000{n}.000", record=n if growing else 0, paths=(f"storm-1/1/{name}",))
            for n, name in enumerate(names)
        ]
        made = Room(run_dir, recipe(capacity=100_000, reserve=0.1, **buffer), frames)
        made.open_files = {"out.nc"} if growing else {"c.nc"}
        return made

    return make


def test_a_growing_file_cannot_be_released_and_the_model_is_stopped_with_the_reason(room):
    made = room(growing=True)
    assert made.looks(9_000) == "stop"
    why = made.reason
    assert why["by"] == "space"
    assert why["text"].startswith("stopped for want of space: the buffer is nearly full (")
    assert GROWS in why["text"]
    assert any(GROWS in text for text in made.alarms)
    assert not any("are released" in text for text in made.alarms)


def test_frames_that_can_go_are_released_and_the_model_goes_on(room):
    made = room(growing=False)
    assert made.looks(9_000, times=20) is None
    assert made.space.releasing
    (alarm,) = made.alarms
    assert alarm.endswith("published frames are released")


def test_what_is_kept_goes_only_as_long_as_the_pressure_lasts(room):
    made = room(growing=False, raw="keep")
    made.looks(9_000)
    made.looks(50_000)
    assert not made.space.releasing


def test_frames_that_a_step_is_still_to_read_cannot_be_released(room):
    made = room(growing=False)
    assert made.looks(9_000, held=True) == "stop"
    assert "a step is still to read them" in made.reason["text"]


def test_a_disk_that_other_files_fill_is_said_to_be_that(room):
    made = room(growing=False)
    made.space.files.clear()
    assert made.looks(9_000) == "stop"
    assert "other files fill it" in made.reason["text"]


def test_releases_that_come_too_late_stop_the_model_before_the_next_frame(room):
    made = room(growing=False)
    assert made.looks(1_500) is None
    assert made.looks(500) == "stop"
    assert "released more slowly" in made.reason["text"]


def test_a_frame_in_progress_takes_no_room_again(room):
    made = room(growing=False)
    made.space.begun_bytes = 800
    assert made.looks(500, times=9) is None


def test_one_look_without_relief_is_not_enough(room):
    made = room(growing=True, raw="release")
    assert made.looks(9_000, times=REPORTS - 1) is None
    made.looks(50_000, times=1)
    assert made.looks(9_000, times=REPORTS - 1) is None


@pytest.mark.parametrize(
    ("fraction", "free", "asked"), [(0.9, 9_000, None), (0.5, 9_000, "stop"), (1.0, 900, "stop")]
)
def test_what_is_still_to_be_written_may_fit(room, fraction, free, asked):
    made = room(growing=True)
    made.looks(49_000, times=1, fraction=0.0)  # about 40 kB since then
    assert made.looks(free, fraction=fraction) == asked


def test_a_capacity_that_is_too_small_on_a_disk_with_room_only_alarms(room, frame):
    made = room(growing=True)
    made.space.add(frame("t9", record=9, bytes=95_000, paths=("storm-1/1/out.nc",)), ())
    assert made.looks(10**9, times=9) is None
    assert made.alarms == [f"raw frames hold 98% of the buffer's capacity: {GROWS}"]


def test_a_stop_that_was_requested_before_keeps_its_reason(room):
    made = room(growing=True)
    made.reason = {}  # a person's
    made.looks(9_000)
    assert made.reason == {}


def test_the_recipe_may_stop_the_model_at_once(room):
    made = room(growing=False, on_pressure="stop")
    assert made.looks(9_000, times=1) == "stop"
    assert "the recipe stops the model" in made.reason["text"]
