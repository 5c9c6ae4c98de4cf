"""Who owns a valid time when attempts of the model resume from each other's checkpoints."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from burstlens.core.run import events as ev
from burstlens.core.run.history import replay
from burstlens.core.run.lineage import Lineage, Segment


def key(second: float) -> str:
    return f"t{second:012.3f}"


def submitting(attempt: int, checkpoint: float | None = None, written_by: int | None = None):
    time = None if checkpoint is None else key(checkpoint)
    job = f"attempt-{attempt}"
    return ev.SimulationSubmitting(job=job, attempt=attempt, checkpoint=time, written_by=written_by)


def lineage(*begins: float | None) -> Lineage:
    made = Lineage()
    for attempt, begin in enumerate(begins, 1):
        made.begin(attempt, "" if begin is None else key(begin))
    return made


@pytest.mark.parametrize(
    ("begins", "segments"),
    [
        ((None,), [Segment(1, "")]),
        ((None, 5), [Segment(1, "", key(5)), Segment(2, key(5))]),
        ((None, 5, 8), [Segment(1, "", key(5)), Segment(2, key(5), key(8)), Segment(3, key(8))]),
        # Back before the second one, which is given up.
        ((None, 5, 3), [Segment(1, "", key(3)), Segment(3, key(3))]),
        # From the same checkpoint again.
        ((None, 5, 5), [Segment(1, "", key(5)), Segment(3, key(5))]),
        ((None, 5, None), [Segment(3, "")]),
        ((None, 5, None, 7), [Segment(3, "", key(7)), Segment(4, key(7))]),
    ],
)
def test_segments_are_the_stretches_of_the_newest_attempt_s_lineage(begins, segments):
    assert lineage(*begins).segments == segments


def test_the_writer_of_a_checkpoint_owns_its_time_and_who_goes_on_what_comes_after():
    made = lineage(None, 5, 8)
    owners = [made.owner(key(t)) for t in (1, 5, 5.001, 8, 9)]
    assert owners == [1, 1, 2, 2, 3]


def test_each_time_has_one_owner_and_the_newest_attempt_has_the_newest_times():
    @settings(max_examples=300, phases=[Phase.generate])
    @given(st.data())
    def check(data):
        made, at = Lineage(), [0]
        made.begin(1)
        for attempt in range(2, data.draw(st.integers(2, 8))):
            # A checkpoint that lies on the lineage as it is then.
            begin = data.draw(st.integers(0, 20))
            owned = made.owner(key(begin))
            assert owned is not None
            made.begin(attempt, key(begin) if begin else "")
            at.append(begin)
        spans = made.segments
        assert spans[0].begin == ""
        assert spans[-1] == Segment(len(at), "" if not at[-1] else key(at[-1]))
        assert all(a.end == b.begin and a.attempt < b.attempt for a, b in pairwise(spans))
        for t in range(1, 22):
            # By the definition: the newest attempt that begins before it, whatever came between.
            assert made.owner(key(t)) == max(n for n, begin in enumerate(at, 1) if begin < t)

    check()


def test_a_frame_that_a_restart_writes_again_at_its_own_time_is_not_the_one_that_counts():
    made = lineage(None, 5)
    whole = {("d01", key(5), 1), ("d01", key(5), 2)}
    assert made.frame_owner("d01", key(5), whole) == 1
    assert made.is_stale("d01", key(5), 2, whole)
    assert not made.is_stale("d01", key(5), 1, whole)


def test_a_nest_that_was_not_whole_at_the_checkpoint_s_time_is_owned_by_who_goes_on():
    made = lineage(None, 5)
    whole = {("d01", key(5), 1), ("d02", key(5), 2)}
    assert made.frame_owner("d02", key(5), whole) == 2
    assert made.frame_owner("d02", key(5), set()) == 1  # neither has it: a hole of the first
    assert made.frame_owner("d01", key(5), whole) == 1


def test_what_an_earlier_attempt_computed_after_the_checkpoint_is_stale():
    made = lineage(None, 5)
    whole = {("d01", key(t), 1) for t in (4, 5, 6)}
    assert [made.is_stale("d01", key(t), 1, whole) for t in (4, 5, 6)] == [False, False, True]


def test_attempts_of_which_nothing_is_known_have_no_stale_frames():
    assert not Lineage().is_stale("d01", key(5), 1, set())
    assert not lineage(None, 5).is_stale("d01", key(9), 7, set())


def ready(attempt: int, second: float, stream: str = "d01"):
    return ev.FrameReady(attempt=attempt, stream=stream, time=key(second), record=0)


def damaged(attempt: int, second: float, stream: str = "d01"):
    return ev.FrameDamaged(attempt=attempt, stream=stream, time=key(second), record=0)


def test_a_frame_that_was_cut_by_a_kill_and_is_written_again_is_not_lost():
    events = [submitting(1), ready(1, 5), damaged(1, 6), submitting(2, 5, 1)]
    assert replay(events).lost_frames() == [("d01", "t = 6 s")]  # nobody has written it yet
    assert replay([*events, ready(2, 6)]).lost_frames() == []


def test_a_frame_that_was_cut_before_the_checkpoint_stays_lost():
    events = [submitting(1), damaged(1, 4), ready(1, 5), submitting(2, 5, 1), ready(2, 6)]
    assert replay(events).lost_frames() == [("d01", "t = 4 s")]


def whole(attempt: int, second: float):
    return ev.CheckpointWhole(attempt=attempt, time=key(second), files=["rst"], bytes=10)


def test_checkpoints_of_a_branch_that_was_given_up_are_not_on_the_lineage():
    history = replay(
        [submitting(1), whole(1, 3), whole(1, 6), submitting(2, 3, 1), whole(2, 4), whole(2, 6)]
    )
    found = history.checkpoints.on(history.lineage)
    assert [(one.attempt, one.time) for one in found] == [
        (1, key(3)), (2, key(4)), (2, key(6)),
    ]  # fmt: skip


def test_a_checkpoint_is_suspect_until_it_is_written_anew_and_gone_once_removed():
    events = [submitting(1), whole(1, 3), ev.CheckpointSuspect(attempt=1, time=key(3), reason="x")]
    assert replay(events).checkpoints.records[0].suspect == "x"
    assert replay([*events, whole(1, 3)]).checkpoints.records[0].suspect == ""
    removed = ev.CheckpointRemoved(attempt=1, time=key(3))
    assert replay([*events, removed]).checkpoints.records == []
