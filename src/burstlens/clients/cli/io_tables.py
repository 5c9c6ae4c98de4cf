"""Logs about I/O in a terminal: numbers, files, accesses by size, what to try."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

from burstlens.clients.cli.tables import show_table
from burstlens.clients.pages.iostats import shown
from burstlens.core.printable import printable, say
from burstlens.workflows.iostats.advice import advise, streams
from burstlens.workflows.iostats.comparison import advise_on_change, compare, verdict
from burstlens.workflows.iostats.rule import Advice
from burstlens.workflows.iostats.summary import Summary

MOST_FILES = 8
_WIDTH = 96
_LONGEST = 46


def show_logs(summaries: Sequence[Summary]) -> None:
    """Print one log, or two side by side."""
    first, *others = summaries
    for number, summary in enumerate(summaries, 1):
        name = f"{number}: {summary.log}" if others else summary.log
        say(printable(f"{name} ({summary.source})"))
        if text := shown.heading(summary):
            say(printable(text))
    say("")
    if others:
        rows = [shown.row_texts(row) for row in compare(first, others[0])]
        show_table(("", "1", "2", "2 / 1"), rows)
        _wrapped(verdict(first, others[0]), "")
        say("")
        _advices("From the first log to the second, try:", advise_on_change(first, others[0]))
    else:
        _details(first)
    for number, summary in enumerate(summaries, 1):
        of = f" ({number}: {Path(summary.log).name})" if others else ""
        for note in summary.notes:
            _wrapped(f"note{of}: {note}", "")
        found = advise(summary)
        _advices(f"Try{of}:", found)
        if not found:
            say(f"No rule applies to these numbers{of}.")


def _details(summary: Summary) -> None:
    if numbers := shown.quantities(summary):
        show_table(("quantity", "value"), numbers)
    if layers := shown.layer_rows(summary):
        heads = ("layer", "records", "written", "read", "writes", "reads", "time", "bandwidth")
        show_table(heads, layers)
    if sizes := shown.size_rows(summary):
        show_table(("accesses of the file system", "writes", "reads"), sizes)
    for name, flow in (("write", summary.total.write), ("read", summary.total.read)):
        phases = sorted(flow.phases.items(), key=lambda one: -one[1])
        if phases:
            rows = [(phase, f"{100 * share:.0f} %") for phase, share in phases if share >= 0.005]
            show_table((f"phase of {name}s", "part of the time"), rows)
    found = streams(summary.files)
    if found:
        show_table(
            ("file", "time", "written", "read", "writes", "mean write", "ranks"),
            [
                (shown.shortened(row[0], _LONGEST), *row[1:7])
                for row in shown.file_rows(found[:MOST_FILES])
            ],
        )
    if len(found) > MOST_FILES:
        say(f"and {len(found) - MOST_FILES} more; --json has all\n")
    for name, hints in shown.hint_rows(summary)[:MOST_FILES]:
        _wrapped(f"hints in force for {name}: {hints}", "")
        say("")


def _advices(head: str, found: Sequence[Advice]) -> None:
    if not found:
        return
    say(head)
    for number, advice in enumerate(found, 1):
        _wrapped(f"{number}. {advice.what}", "   ")
        about = f" ({shown.shortened(advice.about, _LONGEST)})" if advice.about else ""
        _wrapped(f"because {advice.because}{about}", "   ", "   ")
        kind = "; an inference, not a published rule" if advice.inference else ""
        _wrapped(f"source: {advice.source}{kind}", "   ", "   ")
    say("")


def _wrapped(text: str, after: str, before: str = "") -> None:
    say(
        textwrap.fill(
            printable(text), _WIDTH, initial_indent=before, subsequent_indent=after,
            break_long_words=False, break_on_hyphens=False,
        )
    )  # fmt: skip
