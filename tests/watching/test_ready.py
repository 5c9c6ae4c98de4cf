"""The rule itself: which witnesses make a record ready."""

from __future__ import annotations

import pytest

from burstlens.workflows.frames.ready import (
    LOOK_AGAIN_S,
    QUIET_S,
    WEAK_QUIET_S,
    Evidence,
    looks,
    witness,
    witness_in_log,
)


def decides(*, conclusive=True, **evidence):
    return witness(Evidence(conclusive=conclusive, **evidence))


@pytest.mark.parametrize("conclusive", [True, False])
def test_without_a_witness_a_record_is_not_ready(conclusive):
    assert decides(conclusive=conclusive) is None


def test_the_log_decides_unless_it_comes_before_the_data():
    assert decides(conclusive=False, logged=True, log_speaks=True) == "log"
    assert decides(logged=True, log_speaks=True, asynchronous=True) is None


def test_a_file_that_was_closed_decides():
    assert decides(conclusive=False, closed=True, log_speaks=True) == "closed"


@pytest.mark.parametrize(("groups", "found"), [(0, "later"), (1, "later"), (2, None)])
def test_a_later_frame_decides_unless_io_groups_overtake_each_other(groups, found):
    assert decides(conclusive=False, later=True, io_groups=groups) == found


@pytest.mark.parametrize("well", [True, False])
@pytest.mark.parametrize("conclusive", [True, False])
def test_the_models_end_decides_unless_several_processes_wrote_the_file_and_it_ended_badly(
    conclusive, well
):
    found = decides(conclusive=conclusive, ended=True, ended_well=well)
    assert found == ("ended" if conclusive or well else None)
    assert decides(conclusive=conclusive, ended_well=well) is None


@pytest.mark.parametrize("speaks", [True, False])
def test_quiet_decides_in_a_conclusive_file_whatever_the_log_says_about_other_frames(speaks):
    assert decides(quiet_s=QUIET_S, log_speaks=speaks) == "quiet"
    assert decides(quiet_s=QUIET_S, log_speaks=speaks, flagged=True) == "flag"
    assert decides(quiet_s=0.99 * QUIET_S, flagged=True) is None


def test_a_long_quiet_decides_in_other_files_only_if_the_log_never_named_a_frame():
    assert decides(conclusive=False, quiet_s=WEAK_QUIET_S) == "weak"
    assert decides(conclusive=False, quiet_s=0.99 * WEAK_QUIET_S, flagged=True) is None
    assert decides(conclusive=False, quiet_s=WEAK_QUIET_S, log_speaks=True) is None


@pytest.mark.parametrize("conclusive", [True, False])
def test_where_a_flag_is_expected_no_quiet_counts_without_it(conclusive):
    assert decides(conclusive=conclusive, expects_flag=True, quiet_s=1e6) is None
    flagged = {"conclusive": conclusive, "expects_flag": True, "flagged": True}
    assert decides(**flagged, quiet_s=QUIET_S) == "flag"
    assert decides(**flagged, quiet_s=0.99 * QUIET_S) is None
    assert decides(conclusive=conclusive, expects_flag=True, later=True) == "later"
    assert decides(conclusive=conclusive, expects_flag=True, ended=True, ended_well=True) == "ended"
    assert decides(conclusive=conclusive, expects_flag=True, logged=True) == "log"


def test_a_file_of_fixed_length_that_is_open_for_writing_is_not_ready_by_quiet_or_the_end():
    held = {"conclusive": False, "held": True}
    assert decides(**held, quiet_s=1e6) is None
    assert decides(**held, ended=True, ended_well=True, quiet_s=1e6) is None
    for proof in ("logged", "closed", "later"):
        assert decides(**held, **{proof: True}) is not None


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ({}, None),
        ({"later": True}, "log"),
        ({"later": True, "io_groups": 2}, None),
        ({"ended": True}, None),
        ({"ended": True, "ended_well": True}, "log"),
    ],
)
def test_a_line_before_the_data_decides_with_a_later_file_or_a_good_end(more, found):
    evidence = {"conclusive": False, "asynchronous": True, **more}
    assert witness_in_log(Evidence(**evidence, logged=True)) == found
    assert witness_in_log(Evidence(**evidence)) is None
    assert witness_in_log(Evidence(conclusive=False, logged=True)) == "log"


@pytest.mark.parametrize(
    ("times", "count"), [(0.0, 0), (0.99, 0), (1.0, 1), (1.99, 1), (2.0, 2), (4.0, 3), (8.0, 4)]
)
def test_an_unchanged_file_is_read_again_at_doubled_intervals(times, count):
    assert looks(times * LOOK_AGAIN_S) == count


def test_a_file_that_stays_unchanged_is_finally_not_read_any_more():
    assert looks(1e9) == looks(LOOK_AGAIN_S * 2**11) == 12
