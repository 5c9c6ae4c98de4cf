"""How long the model is at its output: lines of its log and reports of its MPI library, journalled.

A driver reads the log of an attempt from its beginning, whatever earlier drivers have read: what
the journal has of the attempt is passed over by its number.
"""

from __future__ import annotations

from collections.abc import Iterator

from burstlens.core.run import events as ev
from burstlens.core.run.history import History
from burstlens.core.run.journal import Journal
from burstlens.workflows.frames.report import Report
from burstlens.workflows.iostats.block import DRIVER, Block


class Outputs:
    """Notes what each report of the watcher says about output. Driver's thread only."""

    def __init__(self, journal: Journal, history: History) -> None:
        self._journal, self._history = journal, history
        self._attempt = 0
        self._lines = self._blocks = 0
        """How many of the next ones the journal has already."""

    def heard(self, report: Report, attempt: int) -> None:
        """Journal what is new."""
        if attempt != self._attempt:
            known = self._history.output
            self._attempt = attempt
            same = known.attempt == attempt
            self._lines, self._blocks = (known.lines, known.blocks) if same else (0, 0)
        for timed in _timed(report, attempt):
            if self._lines:
                self._lines -= 1
            else:
                self._journal.append(timed)
        for block in report.blocks:
            reported = reported_of(block, attempt)
            if reported is None:
                continue
            if self._blocks:
                self._blocks -= 1
            else:
                self._journal.append(reported)


def _timed(report: Report, attempt: int) -> Iterator[ev.OutputTimed]:
    for line in report.timed:
        if line.took_s is not None:
            yield ev.OutputTimed(
                attempt=attempt,
                took_s=round(line.took_s, 6),
                stream=line.stream,
                time=line.time,
                file=line.file,
                record=line.record,
                late=not line.live,
            )


def reported_of(block: Block, attempt: int) -> ev.OutputReported | None:
    """What a report says of writing a file; None if it says nothing of that.

    The MPI library has other names for files than the model's log: with a folder before them, or a
    driver (``ufs:``).
    """
    if block.way != "write" or block.mixed:
        return None
    writes, sized = _sensible(block, "system writes"), _sensible(block, "stripe sized writes")
    aggregators = _sensible(block, "aggregators")
    rate = _sensible(block, "net write BW (MiB/s)")
    found = ev.OutputReported(
        attempt=attempt,
        file=DRIVER.sub("", block.file),
        aggregators=None if aggregators is None else int(aggregators),
        data_send=block.share("data send"),
        stripe_sized=min(1.0, sized / writes) if writes and sized is not None else None,
        mean_write=_sensible(block, "ave system write size"),
        rate=None if rate is None else rate * 2**20,
    )
    said = found.aggregators, found.data_send, found.stripe_sized, found.mean_write, found.rate
    return None if said == (None,) * 5 else found


def _sensible(block: Block, key: str) -> float | None:
    """A number of a report; a damaged one may be below 0."""
    value = block.number(key)
    return None if value is None or value < 0 else value
