"""Which published products are stale by the segments of a run."""

from __future__ import annotations

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from burstlens.core.durable import write_json
from burstlens.core.run import events as ev
from burstlens.core.run.history import replay
from burstlens.core.run.index import published
from burstlens.core.run.lineage import Lineage
from burstlens.core.run.segments import Segments, segments_of
from burstlens.core.run.snapshot import read_snapshot, segment_parts
from burstlens.core.run.status_file import SegmentPart


def key(second: float) -> str:
    return f"t{second:012.3f}"


THREE = Segments(
    (
        SegmentPart(1, "", key(5), "4711", "failed"),
        SegmentPart(3, key(5), key(8), "4713", "done"),
        SegmentPart(4, key(8)),
    )
)


@pytest.mark.parametrize(
    ("second", "attempt", "stale"),
    [
        (4, 1, False),
        (5, 1, False),
        (6, 1, True),
        (6, 3, False),
        (8, 3, False),
        (9, 3, True),
        (9, 4, False),
        # Of a branch that was given up.
        (4, 2, True),
        (6, 2, True),
        # Written again at a checkpoint's own time, and published as the earlier one has none.
        (5, 3, False),
        (8, 4, False),
        # Of no known attempt.
        (6, 0, False),
    ],
)
def test_a_product_is_stale_where_another_attempt_owns_its_time(second, attempt, stale):
    assert THREE.is_stale(key(second), attempt) == stale


def test_an_attempt_that_starts_afresh_makes_all_earlier_products_stale():
    afresh = Segments((SegmentPart(2),))
    assert afresh.is_stale(key(0), 1)
    assert not afresh.is_stale(key(0), 2)


def test_nothing_is_stale_in_a_run_in_one_piece():
    assert not Segments().is_stale(key(6), 1)


def test_marked_entries_are_new_ones_and_equal_only_to_those_marked_alike():
    line = {"product": "a", "stream": "d01", "time": key(6), "name": "a.png", "attempt": 1}
    entry = published(line)
    [marked] = THREE.mark([entry])
    assert (entry.stale, marked.stale, marked.line) == (False, True, line)
    assert marked != entry
    assert list(THREE.mark([entry])) == [marked]


def test_the_rule_is_that_of_the_lineage_but_at_the_time_of_a_checkpoint():
    @settings(max_examples=200, phases=[Phase.generate])
    @given(st.data())
    def check(data):
        events = [ev.SimulationSubmitting(job="attempt-1", attempt=1)]
        begins = {0}
        for attempt in range(2, data.draw(st.integers(2, 7))):
            begin = data.draw(st.integers(0, 20))
            begins.add(begin)
            events.append(
                ev.SimulationSubmitting(
                    job=f"attempt-{attempt}",
                    attempt=attempt,
                    checkpoint=key(begin) if begin else None,
                )
            )
        history = replay(events)
        segments = Segments(tuple(segment_parts(history)))
        for second in set(range(1, 22)) - begins:
            for attempt in range(1, len(events) + 1):
                expected = history.is_stale("d01", key(second), attempt)
                assert segments.is_stale(key(second), attempt) == expected

    check()


def test_segments_have_the_job_of_their_attempt_and_how_it_ended():
    history = replay(
        [
            ev.SimulationSubmitting(job="attempt-1", attempt=1),
            ev.SimulationSubmitted(job="attempt-1", attempt=1, job_id="4711"),
            ev.SimulationEnded(
                job="attempt-1",
                attempt=1,
                outcome="failed",
                core_hours=2.0,
                idle_s=90.0,
                lost_core_hours=0.1,
            ),
            ev.SimulationSubmitting(job="attempt-2", attempt=2, checkpoint=key(5)),
        ]
    )
    assert segment_parts(history) == [
        SegmentPart(1, "", key(5), "4711", "failed", 2.0, 0.1), SegmentPart(2, key(5)),
    ]  # fmt: skip
    history.lineage = Lineage({1: ""})
    assert segment_parts(history) == []


def test_a_job_waits_for_an_attempt_until_it_has_one_or_has_ended():
    submitted = ev.AheadSubmitted(job="ahead-2", attempt=2, job_id="slurm:13")
    attempt = ev.SimulationSubmitted(job="attempt-2", attempt=2, job_id="slurm:13")
    ended = ev.AheadEnded(job="ahead-2", outcome="cancelled")
    assert replay([submitted, attempt]).ahead is None
    assert replay([submitted, ended]).ahead is None


def test_a_job_that_was_submitted_ahead_and_is_gone_waits_for_no_attempt():
    first = ev.SimulationSubmitted(job="attempt-1", attempt=1, job_id="slurm:12")
    submitted = ev.AheadSubmitted(job="ahead-2", attempt=2, job_id="slurm:13")
    begins = ev.SimulationSubmitting(job="attempt-2", attempt=2)
    requeued = ev.SimulationSubmitted(job="attempt-2", attempt=2, job_id="slurm:12")
    other = ev.SimulationSubmitted(job="attempt-2", attempt=2, job_id="slurm:14")
    assert replay([first, submitted, begins]).ahead == submitted
    assert replay([first, submitted, begins, requeued]).ahead == submitted
    assert replay([first, submitted, begins, other]).ahead is None
    assert replay([submitted, first]).ahead == submitted


def test_an_attempt_whose_job_is_requeued_counts_for_no_job():
    history = replay(
        [
            ev.SimulationSubmitting(job="attempt-1", attempt=1),
            ev.SimulationEnded(job="attempt-1", attempt=1, outcome="requeued"),
            ev.SimulationSubmitting(job="attempt-2", attempt=2),
        ]
    )
    assert (history.submitted, history.attempt) == (1, 2)


def test_a_status_that_cannot_be_read_has_no_segments(run_dir):
    parts = [{"attempt": 1, "end": key(5)}, {"attempt": 2, "begin": key(5)}]
    write_json(run_dir.facts, {"run": run_dir.id, "title": "It", "created": 1.0})
    snapshot = {"segments": parts}
    write_json(run_dir.status, snapshot)
    assert [one.attempt for one in segments_of(run_dir).parts] == [1, 2]
    assert len(read_snapshot(run_dir).segments) == 2
    for damaged in ([{"attempt": "x"}], "two", 3):
        write_json(run_dir.status, snapshot | {"segments": damaged})
        assert segments_of(run_dir).parts == ()
