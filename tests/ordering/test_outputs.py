"""What lines of the log and reports of the MPI library become in the journal."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from burstlens.core.run import events as ev
from burstlens.core.run.history import History
from burstlens.core.run.journal import Journal, read
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.report import Report
from burstlens.workflows.frames.speech import Written
from burstlens.workflows.iostats.block import Block
from burstlens.workflows.ordering.outbox import Outbox
from burstlens.workflows.ordering.outputs import Outputs

PHASES = {
    "data send": "418919605 418919605 418919605 78%",
    "net write BW (MiB/s)": "98.114",
}
ACCESSES = {
    "aggregators": "4", "system writes": "797", "stripe sized writes": "114",
    "ave system write size": "3821006",
}  # fmt: skip


def line(n: int, took_s: float | None = 2.0) -> Written:
    return Written("d01", f"20050828T12{n:02d}", f"out_{n}", took_s=took_s)


def report(*lines: Written, blocks: Sequence[Block] = ()) -> Report:
    return Report((), (), Cursor(), timed=lines, blocks=tuple(blocks))


@pytest.fixture
def drive(tmp_path):
    """A driver takes reports of an attempt; returns the events of all drivers so far."""
    epochs = iter(range(1, 9))

    def heard(*reports: Report, attempt: int = 1) -> list[ev.Event]:
        path = tmp_path / "journal.jsonl"
        history = History()
        if path.exists():
            for event in read(path):
                history.apply(event)
        journal = Journal(path, next(epochs), history.apply)
        outbox = Outbox(journal)
        outputs = Outputs(outbox, history)
        for one in reports:
            outputs.heard(one, attempt)
        for event in outbox.take():
            journal.write(event)
        journal.close()
        return list(read(path))

    return heard


def test_lines_without_seconds_are_not_journalled(drive):
    assert drive(report(line(0, None), line(1))) == drive()
    [timed] = drive()
    assert (timed.time, timed.took_s) == ("20050828T1201", 2.0)


def test_the_next_driver_reads_the_log_again_and_journals_what_is_new_only(drive):
    block = Block("phases", "write", "out_0", PHASES)
    drive(report(line(0), line(1), blocks=[block]))
    events = drive(report(line(0)), report(line(1), line(2), blocks=[block]))
    assert [event.time for event in events if isinstance(event, ev.OutputTimed)] == [
        "20050828T1200", "20050828T1201", "20050828T1202",
    ]  # fmt: skip
    assert sum(isinstance(event, ev.OutputReported) for event in events) == 1


def test_restart_files_between_frames_keep_their_place_whatever_pieces_the_log_is_read_in(drive):
    restart = Written(None, None, "wrfrst", took_s=9.0)
    drive(report(line(0), restart))
    events = drive(report(line(0), restart, line(1)))
    assert [event.took_s for event in events] == [2.0, 9.0, 2.0]


def test_each_attempt_has_a_log_of_its_own(drive):
    drive(report(line(0), line(1)))
    events = drive(report(line(0)), attempt=2)
    assert [event.attempt for event in events] == [1, 1, 2]


def test_the_talks_reports_give_the_talks_numbers():
    accesses = Block("accesses", "write", "lustre:/bb/wrfout", ACCESSES).output_reported(1)
    phases = Block("phases", "write", "wrfout", PHASES).output_reported(1)
    assert accesses.file == "/bb/wrfout"
    assert accesses.aggregators == 4
    assert accesses.stripe_sized == pytest.approx(0.143, abs=0.001)
    assert phases.data_send == 0.78
    assert phases.rate == pytest.approx(98.114 * 2**20)


@pytest.mark.parametrize(
    "block",
    [
        Block("accesses", "read", "wrfinput", ACCESSES),
        Block("accesses", "write", "wrfout", ACCESSES, mixed=True),
        Block("hints", "", "wrfout", {"cb_nodes": "4"}),
    ],
)
def test_reads_mixed_reports_and_hints_are_left_out(block):
    assert block.output_reported(1) is None


def test_damaged_counts_of_a_report_leave_a_journal_that_can_be_read(drive):
    damaged = {"aggregators": "9" * 23, "system writes": "-3", "ave system write size": "-7"}
    rates = damaged | {"net write BW (MiB/s)": "98.114"}
    events = drive(report(blocks=[Block("accesses", "write", "a", damaged)]))
    assert events == []
    [event] = drive(report(blocks=[Block("phases", "write", "a", rates)]))
    assert (event.aggregators, event.stripe_sized, event.mean_write) == (None, None, None)
    assert event.rate == pytest.approx(98.114 * 2**20)
