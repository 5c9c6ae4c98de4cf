"""A tuning on a terminal: each trial as it ends, with its load, above a line of what runs now."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from burstlens.clients.terminal import TerminalConsole
from burstlens.core.printable import printable
from burstlens.core.quantity import show_duration

if TYPE_CHECKING:
    from burstlens.core.run.job_record import TrialRecord
    from burstlens.workflows.publishing.snapshot import Snapshot

_COLOURS = {"failed": "red", "lost": "yellow", "stopped": "yellow"}


class TuningView:
    """Shows trials as they end; a context manager. A closed terminal is not an error."""

    def __init__(self) -> None:
        self.console = TerminalConsole(highlight=False)
        self._live: Live | None = None
        self._shown: set[str] = set()
        self._state = ""

    def __enter__(self) -> TuningView:
        if self.console.is_terminal:
            self._live = Live(console=self.console, auto_refresh=False, transient=True)
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            with contextlib.suppress(OSError):
                self._live.stop()

    def say(self, text: str) -> None:
        """Print lines above what runs."""
        with contextlib.suppress(OSError):
            self.console.print(text, markup=False, soft_wrap=True)

    def show(self, snapshot: Snapshot) -> None:
        """Show the trials that have ended since the last call, and what runs now."""
        records = dict(snapshot.history.trials)
        with contextlib.suppress(OSError):
            for name, record in records.items():
                if record.ended is not None and name not in self._shown:
                    self._shown.add(name)
                    self.console.print(line(name, record), soft_wrap=True)
            if self._live is not None:
                self._live.update(_now(snapshot, records), refresh=True)
            elif snapshot.state not in (self._state, "running"):
                self.console.print(snapshot.state, soft_wrap=True)
            self._state = snapshot.state


def line(name: str, record: TrialRecord) -> Text:
    """``trial-4  search  rule   7.27 s   load 2.1  romio_cb_write=enable cb_nodes=4``."""
    from burstlens.workflows.tuning.options import configuration_of

    begun, ended = record.submitting, record.ended
    assert ended is not None
    text = Text(f"{name:<9} {begun.phase:<6} {begun.origin:<7} ")
    if ended.outcome == "done":
        text.append(f"{sum((ended.seconds or {}).values()):>9.4g} s", style="bold")
    else:
        text.append(f"{ended.outcome:>11}", style=_COLOURS.get(ended.outcome, ""))
    text.append(f"  load {ended.load:4.1f}" if ended.load is not None else " " * 11, style="dim")
    text.append(f"  {printable(configuration_of(begun.values).text())}")
    if ended.outcome != "done" and ended.message:
        text.append(f"  {printable(ended.message)}", style="dim")
    return text


def _now(snapshot: Snapshot, records: Mapping[str, TrialRecord]) -> RenderableType:
    """One or two lines: the trial that runs, what is waited for."""
    from burstlens.workflows.tuning.options import configuration_of

    table = Table.grid(padding=(0, 2))
    live = [(name, one) for name, one in records.items() if one.ended is None]
    if live and snapshot.state == "running":
        name, record = live[-1]
        what = configuration_of(record.submitting.values).text()
        last = max((one.ended.ended or 0.0 for one in records.values() if one.ended), default=0.0)
        since = show_duration(time.time() - last) if last else ""
        label = Text(name, style="bold cyan")
        table.add_row(label, record.submitting.phase, printable(what), since)
    else:
        table.add_row(Text(printable(snapshot.waits_for or snapshot.state), style="cyan"))
    return Group(Text(""), table)
