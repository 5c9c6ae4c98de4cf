"""How long the model is at its output: lines of its log and reports of its libraries, journalled.

A driver reads the log of an attempt from its beginning, whatever earlier drivers have read: what
the journal has of the attempt is passed over by its number.
"""

from __future__ import annotations

from collections.abc import Iterator

from burstlens.core.run import events as ev
from burstlens.core.run.history import History
from burstlens.workflows.frames.report import Report
from burstlens.workflows.ordering.outbox import Outbox


class Outputs:
    """Notes what each report of the watcher says about output. Driver's thread only."""

    def __init__(self, outbox: Outbox, history: History) -> None:
        self._outbox, self._history = outbox, history
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
                self._outbox.append(timed)
        for block in report.blocks:
            reported = block.output_reported(attempt)
            if reported is None:
                continue
            if self._blocks:
                self._blocks -= 1
            else:
                self._outbox.append(reported)


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
