"""What a person sees of a run in a terminal: live where it is one, plain lines where it is not."""

from __future__ import annotations

import sys
import time
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from burstlens import valid_time
from burstlens.quantity import show_bytes, show_duration

_COLOURS = {
    "done": "green",
    "failed": "red",
    "stopped": "yellow",
    "stopping": "yellow",
}
PLAIN_PERIOD_S = 10.0

Status = dict[str, Any]


class View:
    """Shows snapshots as they come; a context manager."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(highlight=False)
        self._live: Live | None = None
        self._said: set[str] = set()
        self._next_line = 0.0
        self._lost = False

    def __enter__(self) -> View:
        if self.console.is_terminal:
            self._live = Live(console=self.console, auto_refresh=False, transient=True)
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None and not self._lost:
            self._live.stop()

    def show(self, status: Status) -> None:
        """Show one snapshot. A terminal that has gone away is no error."""
        if self._lost:
            return
        try:
            if self._live is not None:
                self._live.update(screen(status), refresh=True)
            else:
                self._lines(status)
        except OSError:
            self._lost = True  # the login shell has ended; the run goes on

    def _lines(self, status: Status) -> None:
        for alarm in status["alarms"]:
            key = f"{alarm['t']} {alarm['text']}"
            if key not in self._said:
                self._said.add(key)
                self.console.print(f"! {alarm['text']}", markup=False, soft_wrap=True)
        now = time.monotonic()
        state = f"state {status['state']}"
        if now >= self._next_line or state not in self._said:
            self._said.add(state)
            self._next_line = now + PLAIN_PERIOD_S
            self.console.print(one_line(status), markup=False, soft_wrap=True)
            sys.stdout.flush()


def one_line(status: Status) -> str:
    """A snapshot as one line of text."""
    parts = [time.strftime("%H:%M:%S"), status["state"]]
    progress = status.get("progress")
    if progress:
        parts.append(_progress_text(progress))
    if status.get("waits_for"):
        parts.append(f"in the queue ({status['waits_for']})")
    frames = status["frames"]
    published = sum(product["published"] for product in status["products"].values())
    parts.append(f"{frames['ready']} frames ready, {published} products published")
    if status.get("latency_s"):
        parts.append(f"latency {show_duration(status['latency_s']['p50'])}")
    return "  ".join(part for part in parts if part)


def _progress_text(progress: dict[str, Any]) -> str:
    parts = [progress["phase"]] if progress.get("phase") not in {None, "", "running"} else []
    if progress.get("fraction") is not None:
        parts.append(f"{100 * progress['fraction']:.0f} %")
    if progress.get("time"):
        parts.append(valid_time.label(progress["time"]))
    if progress.get("speed"):
        parts.append(f"{progress['speed']:.3g} s/s")
    if progress.get("rate_mpps"):
        parts.append(f"{progress['rate_mpps']:.0f} Mpoint/s")
    if progress.get("eta_s") is not None:
        parts.append(f"ETA {show_duration(progress['eta_s'])}")
    return ", ".join(parts)


def screen(status: Status) -> RenderableType:
    """A snapshot as a panel of about fifteen lines."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", justify="right")
    table.add_column(ratio=1)
    state = status["state"]
    waits = {"starting": " (Parsl's viewing block)", "staging in": " (inputs to the buffer)"}
    colour = _COLOURS.get(state, "cyan")
    table.add_row("state", Text(state + waits.get(state, ""), style=f"bold {colour}"))
    progress = status.get("progress")
    if progress:
        if progress.get("fraction") is not None:
            table.add_row("model", ProgressBar(total=1.0, completed=progress["fraction"], width=50))
        table.add_row("" if progress.get("fraction") is not None else "model",
                      _progress_text(progress))  # fmt: skip
    frames = status["frames"]
    damaged = f", [red]{frames['damaged']} damaged[/]" if frames["damaged"] else ""
    table.add_row("frames", f"{frames['ready']} ready{damaged}, {status['backlog']} to be made")
    for name, product in status["products"].items():
        failed = f", [red]{product['failed']} failed[/]" if product["failed"] else ""
        table.add_row(name, f"{product['published']} published{failed}")
    latency = status.get("latency_s")
    if latency:
        text = ", ".join(f"{key} {show_duration(latency[key])}" for key in ("last", "p50", "p95"))
        table.add_row("latency", text)
    table.add_row("ledger", ledger(status))
    buffer = status.get("buffer")
    if buffer:
        fill, capacity = show_bytes(buffer["raw_bytes"]), show_bytes(buffer["capacity_bytes"])
        table.add_row("buffer", f"{fill} of {capacity} ({100 * buffer['fill']:.1f} %)")
    if status.get("waits_for"):
        table.add_row("waits", Text(f"in the scheduler's queue: {status['waits_for']}"))
    if status["block"] != "running":
        table.add_row("viewing block", status["block"])
    table.add_row("pictures", Text(status["pictures"], overflow="fold"))
    events = Text("\n".join(status["events"][-5:]), style="dim", overflow="ellipsis", no_wrap=True)
    title = f"{status['title']} · {status['run']}"
    return Panel(
        Group(table, Text(), events), title=Text(title), border_style=colour, padding=(1, 2)
    )


def ledger(status: Status) -> str:
    """Raw bytes against product bytes, in words."""
    raw, products = status["ledger"]["raw_bytes"], status["ledger"]["product_bytes"]
    ratio = f", {raw / products:.0f} times less" if products and raw > products else ""
    return f"{show_bytes(raw)} raw, {show_bytes(products)} brought out{ratio}"


def summary(status: Status) -> RenderableType:
    """The table at the end of a run."""
    table = Table(show_header=False, box=None, padding=(0, 2))
    table.add_column(style="dim", justify="right")
    table.add_column()
    outcome = status.get("outcome") or {"state": status["state"], "message": ""}
    colour = _COLOURS.get(outcome["state"], "cyan")
    table.add_row("run", status["run"])
    table.add_row("ended", Text(outcome["state"], style=f"bold {colour}"))
    if status.get("started"):
        table.add_row("took", show_duration(status["driver"]["heartbeat"] - status["started"]))
    frames = status["frames"]
    table.add_row("frames", f"{frames['ready']} ready, {frames['damaged']} damaged")
    for name, product in status["products"].items():
        failed = f", {product['failed']} failed" if product["failed"] else ""
        table.add_row(name, f"{product['published']} published{failed}")
    latency = status.get("latency_s")
    if latency:
        table.add_row("latency", f"p50 {show_duration(latency['p50'])}, "
                                 f"p95 {show_duration(latency['p95'])}")  # fmt: skip
    table.add_row("ledger", ledger(status))
    table.add_row("pictures", Text(status["pictures"], overflow="fold"))
    return table
