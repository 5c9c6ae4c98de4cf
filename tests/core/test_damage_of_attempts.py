"""Damaged frames of attempts that were resumed: which of them are lost to the run."""

from __future__ import annotations

import pytest

from burstlens.core.run import events as ev
from burstlens.core.run.history import History, replay


def two_attempts(
    *damaged: ev.FrameDamaged, outcome: str = "cut", written: float = 100.0
) -> History:
    """The second attempt resumes from the first one's checkpoint of t2."""
    job = {"job": "attempt-1", "attempt": 1}
    return replay(
        [
            ev.SimulationSubmitting(**job),
            ev.CheckpointWhole(attempt=1, time="t2", files=["rst"], bytes=1, written=written),
            *damaged,
            ev.SimulationEnded(**job, outcome=outcome),
            ev.SimulationSubmitting(job="attempt-2", attempt=2, checkpoint="t2", written_by=1),
            ev.CheckpointRemoved(attempt=1, time="t2"),
        ]
    )


def damaged(written: float | None = None, time: str | None = None, attempt: int = 1):
    about = {"stream": "out", "record": 0, "paths": [f"run/{attempt}/out_7.nc"]}
    return ev.FrameDamaged(attempt=attempt, time=time, written=written, **about)


def test_an_undated_frame_that_was_damaged_before_the_checkpoint_is_lost():
    assert two_attempts(damaged(99.0)).counts()["damaged"] == 1


@pytest.mark.parametrize("written", [100.0, 130.0, None])
def test_one_that_the_end_of_the_job_cut_after_the_checkpoint_is_computed_again(written):
    assert two_attempts(damaged(written)).lost_frames() == []


def test_of_a_stretch_that_ended_well_none_is_computed_again():
    assert two_attempts(damaged(101.0), outcome="done").counts()["damaged"] == 1


def test_one_of_the_newest_attempt_is_lost():
    history = two_attempts()
    history.apply(damaged(200.0, attempt=2))
    assert history.counts()["damaged"] == 1


def test_one_of_a_branch_that_was_given_up_is_not():
    history = two_attempts(damaged(99.0))
    history.apply(ev.SimulationSubmitting(job="attempt-3", attempt=3))
    assert history.lost_frames() == []


def test_a_dated_frame_after_the_checkpoint_is_the_next_attempt_s_which_may_have_other_times():
    history = two_attempts(damaged(time="t1"), damaged(time="t3"))
    history.apply(ev.FrameReady(attempt=2, stream="out", time="t3.5"))
    assert [time for _, time in history.lost_frames()] == ["t1"]
