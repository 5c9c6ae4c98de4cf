"""A run's status on a terminal: a live view, or plain lines where the output is not one."""

from __future__ import annotations

import contextlib
import json
import sys
import time

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from burstlens.clients.opened.status import (
    aligned,
    facts,
    is_over,
    looks,
    observed,
    progress_text,
    scheduler_text,
    text,
    waits_text,
)
from burstlens.core.decode import record
from burstlens.core.exit_codes import FAILED
from burstlens.core.printable import printable, say
from burstlens.core.quantity import counted, show_duration
from burstlens.core.run.directory import RunDir
from burstlens.core.run.status_file import Message, OutcomePart, RunStatus

_COLOURS = {"done": "green", "failed": "red", "stopped": "yellow", "stopping": "yellow",
            "quiet": "yellow"}  # fmt: skip
PLAIN_PERIOD_S = 10.0
FOLLOW_PERIOD_S = 0.5


class TerminalConsole(Console):
    """A console whose reader may go away."""

    def on_broken_pipe(self) -> None:
        """Go quiet when a pipe's reader ends: Rich would end the program, which drives a run."""
        with contextlib.suppress(SystemExit):
            super().on_broken_pipe()


class View:
    """Shows snapshots as they come; a context manager."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or TerminalConsole(highlight=False)
        self._live: Live | None = None
        self._said: set[str] = set()
        self._next_line = 0.0
        self._lost = False
        self._hinted = False

    def __enter__(self) -> View:
        if self.console.is_terminal:
            self._live = Live(console=self.console, auto_refresh=False, transient=True)
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None and not self._lost:
            self._live.stop()

    def say(self, text: str) -> None:
        """Print lines before the live view. A broken output does not stop the run."""
        self.console.print(text, markup=False, soft_wrap=True)

    def show(self, status: RunStatus) -> None:
        """Show one snapshot. A closed terminal is not an error."""
        if self._lost:
            return
        try:
            if self._live is not None:
                self._live.update(screen(status, self.console.width - len("^C")), refresh=True)
            else:
                self._lines(status)
        except OSError:
            self._lost = True  # the login shell has ended; the run goes on

    def end(self, status: RunStatus) -> None:
        """Show how a run has ended; after the block."""
        if not self._lost:
            plain = not self.console.is_terminal
            self.console.print(summary(status, plain=plain), soft_wrap=plain)

    def _lines(self, status: RunStatus) -> None:
        for alarm in status.alarms:
            key = f"{alarm.t} {alarm.text}"
            if key not in self._said:
                self._said.add(key)
                self.console.print(f"! {printable(alarm.text)}", markup=False, soft_wrap=True)
        now = time.monotonic()
        state = f"state {status.state}"
        if status.hint and not self._hinted:
            self.console.print(printable(status.hint), markup=False, soft_wrap=True)
        self._hinted = bool(status.hint)
        if now >= self._next_line or state not in self._said:
            self._said.add(state)
            self._next_line = now + PLAIN_PERIOD_S
            self.console.print(one_line(status), markup=False, soft_wrap=True)
            sys.stdout.flush()


def follow(run: RunDir, *, as_json: bool = False) -> int:
    """Show the run until it ends; returns its exit code. Ctrl-C leaves it alone: KeyboardInterrupt.

    Raises RunError when its directory cannot be read for long.
    """
    with View() as view:
        for found in looks(run):
            if is_over(found):
                break
            if not as_json:
                view.show(found)
            time.sleep(FOLLOW_PERIOD_S)
    say(json.dumps(record(found), indent=2) if as_json else text(found))
    code = (found.outcome or OutcomePart()).exit_code
    return FAILED if code is None else code


def one_line(status: RunStatus) -> str:
    """A snapshot as one line of text."""
    parts = [time.strftime("%H:%M:%S"), status.state, progress_text(status)]
    if waits_text(status):
        parts.append(waits_text(status).replace("the scheduler's queue", "the queue"))
    parts.append(scheduler_text(status))
    published = sum(product.published for product in status.products.values())
    if status.tuning:
        parts.append(f"{counted(status.tuning.trials, 'trial')} done")
    else:
        parts.append(f"{counted(status.frames.ready, 'frame')} ready, "
                     f"{counted(published, 'product')} published")  # fmt: skip
    if status.latency_s:
        parts.append(f"latency {show_duration(status.latency_s.p50)}")
    parts.append(observed(status.attached) if status.attached else "")
    return "  ".join(part for part in parts if part)


def screen(status: RunStatus, width: int) -> RenderableType:
    """A snapshot as a panel of about fifteen lines.

    It is two columns narrower than the terminal, which leaves room for the ``^C`` that terminals
    echo: in a full line that would begin another one, which stays when the panel is removed.
    """
    state = status.state
    waits = {"starting": " (Parsl's viewing block)", "staging in": " (inputs to the buffer)"}
    waits |= {"quiet": " (nothing new is written)", "waiting": " (for the model)"}
    colour = _COLOURS.get(state, "cyan")
    table = _table()
    table.add_row("state", Text(state + waits.get(state, ""), style=f"bold {colour}"))
    fraction = status.progress.fraction if status.progress else None
    if fraction is not None:
        table.add_row("model", ProgressBar(total=1.0, completed=fraction, width=50))
    if status.hint:
        table.add_row("driver", Text(printable(status.hint), style="yellow", overflow="fold"))
    for label, value in facts(status):
        below_bar = label == "model" and fraction is not None
        table.add_row("" if below_bar else label, _highlighted(value))
    lines = [
        f"{time.strftime('%H:%M:%S', time.localtime(event.t))}  {printable(event.text)}"
        for event in status.events[-5:]
        if isinstance(event, Message)  # an older version wrote texts
    ]
    events = Text("\n".join(lines), style="dim", overflow="ellipsis", no_wrap=True)
    title = Text(printable(f"{status.title} · {status.run}"))
    shown = Group(table, Text(), events)
    return Panel(shown, title=title, border_style=colour, padding=(1, 2), width=width)


def summary(status: RunStatus, *, plain: bool) -> RenderableType:
    """The end of a run: a table, or plain lines for a file or a pipe."""
    if plain:
        head = [("run", status.run), ("ended", status.state)]
        return Text("\n".join(aligned([*head, *facts(status)])))
    table = _table()
    table.add_row("run", Text(status.run, overflow="fold"))
    style = f"bold {_COLOURS.get(status.state, 'cyan')}"
    table.add_row("ended", Text(status.state, style=style))
    for label, value in facts(status):
        table.add_row(label, _highlighted(value))
    return table


def _table() -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", justify="right")
    table.add_column(ratio=1)
    return table


def _highlighted(words: str) -> Text:
    shown = Text(words, overflow="fold")
    shown.highlight_regex(r"\d+ (damaged|failed)", "red")
    shown.highlight_regex(r"\w+ has not answered.*", "yellow")
    return shown
