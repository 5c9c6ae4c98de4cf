"""Watch a run with its newest picture: which picture, when to redraw it, at what rate."""

from __future__ import annotations

import contextlib
import io
import sys
import time
from collections.abc import Callable

from PIL import Image
from rich.color import ColorSystem
from rich.console import Console, Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.text import Text

from burstlens.clients.opened.picture import is_picture, read_picture
from burstlens.clients.opened.points import Files, Grids
from burstlens.clients.opened.series import sample, value_label
from burstlens.clients.opened.spot import Spot
from burstlens.clients.opened.status import is_over, looks
from burstlens.clients.opened.table import time_label
from burstlens.clients.opened.view import RunView
from burstlens.clients.preview import encoding
from burstlens.clients.preview.ability import Ability, ability, drop_late_answer, quiet_keys
from burstlens.clients.preview.canvas import Canvas, Roll
from burstlens.clients.terminal import one_line
from burstlens.core.errors import RunError
from burstlens.core.printable import printable
from burstlens.core.run.index import Published, product_path
from burstlens.core.run.status_file import RunStatus

BYTES_PER_SECOND = 24_000
"""A picture is drawn only when a line of this rate would have sent the one before."""
PERIOD_S = 0.5
TEXT_ROWS = 5
_SYSTEMS = {"standard": ColorSystem.STANDARD, "256": ColorSystem.EIGHT_BIT,
            "truecolor": ColorSystem.TRUECOLOR}  # fmt: skip


def can_show(console: Console) -> bool:
    """Whether pictures can be shown: on a terminal with cursor control and colours."""
    plain = console.is_dumb_terminal or console.no_color or console.color_system not in _SYSTEMS
    return console.is_terminal and sys.stdout.isatty() and not plain


def watch_picture(
    run: RunView, product: str | None, console: Console, spot: Spot | None = None
) -> RunStatus:
    """Show the run and the newest picture of a product (the first that has pictures) until it is
    over, with its value at ``spot``; returns its final status. The last one stays on the screen.

    Raises RunError for an unknown product, KeyboardInterrupt when a person leaves.
    """
    if product is not None:
        run.products[product]  # an unknown name is reported before the screen changes
    keyboard = sys.stdin.fileno() if sys.stdin and not sys.stdin.closed else -1
    with quiet_keys(keyboard):
        way = ability(keyboard, sys.stdout.fileno())
        try:
            with Canvas(console) as canvas:
                preview = Preview(run, product, canvas, way, spot=spot)
                for status in looks(run.directory):
                    if is_over(status):
                        break
                    preview.look(status)
                    time.sleep(PERIOD_S)
            Preview(run, product, Roll(console), way, spot=spot).leave()
        finally:
            drop_late_answer(keyboard)
    return status


class Preview:
    """The text and the picture of one run on a canvas."""

    def __init__(
        self,
        run: RunView,
        product: str | None,
        canvas: Canvas | Roll,
        way: Ability,
        clock: Callable[[], float] = time.monotonic,
        spot: Spot | None = None,
    ) -> None:
        self.run = run
        self.product = product
        self.canvas = canvas
        self.way = way
        self._clock = clock
        self._drawn: Published | None = None
        self._due = 0.0
        self._spot = spot
        self._grids = Grids()
        self._value = ""

    def leave(self) -> None:
        """Draw the newest picture with its label, as the last that is seen."""
        if (newest := self._newest()) is None:
            return
        with contextlib.suppress(RunError, OSError, ValueError, SyntaxError):
            self._draw(newest)
        label = f"{newest.product}, {time_label(newest.time)}{self._value_of(newest)}"
        self.canvas.show(0, [printable(label)])

    def look(self, status: RunStatus) -> None:
        """Draw what has changed: the text at once, the picture when the line is free."""
        assert isinstance(self.canvas, Canvas)
        resized = self.canvas.resized()
        newest = self._newest()
        now = self._clock()
        if newest is not None and (newest != self._drawn or resized) and now >= self._due:
            before = self.canvas.sent
            try:
                self._draw(newest)
            except (RunError, OSError, ValueError, SyntaxError) as error:
                self.canvas.show(TEXT_ROWS, [printable(f"{newest.name}: {error}")])
            self._drawn = newest
            self._value = self._value_of(newest)
            self._due = now + (self.canvas.sent - before) / BYTES_PER_SECOND
        self.canvas.show(0, self.canvas.lines(self._text(status))[:TEXT_ROWS])

    def _newest(self) -> Published | None:
        for view in self.run.products.values():
            if self.product in (None, view.name):
                pictures = [entry for entry in view.entries if is_picture(entry.name)]
                if pictures:
                    fresh = (entry for entry in reversed(pictures) if not entry.stale)
                    return next(fresh, pictures[-1])
        return None

    def _draw(self, entry: Published) -> None:
        columns, rows = self.canvas.size
        rows -= TEXT_ROWS + 1  # a sixel in the last row would scroll the screen
        if rows < 2 or columns < 4:
            return
        data = read_picture(product_path(self.run.directory.products, entry.name))
        with Image.open(io.BytesIO(data)) as picture:
            if self.way.way == "cells":
                small = encoding.fitted(picture, columns, 2 * rows)
                system = _SYSTEMS[str(self.canvas.console.color_system)]
                lines = encoding.half_blocks(small, system)
                self.canvas.show(TEXT_ROWS, lines + [""] * (rows - len(lines)))
                return
            wide, tall = self.way.cell
            shrink = min(1.0, (encoding.MOST_PX / (columns * wide * rows * tall)) ** 0.5)
            width, height = int(columns * wide * shrink), int(rows * tall * shrink)
            small = encoding.fitted(picture, width, height)
        if self.way.way == "kitty":
            across = max(1, round(small.width / shrink / wide))
            down = max(1, round(small.height / shrink / tall))
            self.canvas.put(TEXT_ROWS, encoding.kitty(small, across, down), down)
        else:
            down = -(-small.height // round(tall))
            self.canvas.put(TEXT_ROWS, encoding.sixels(small), down)

    def _value_of(self, entry: Published) -> str:
        """The value at the place that was asked for, as the end of the picture's label."""
        if self._spot is None:
            return ""
        found = sample(Files(self.run.directory.products), entry, self._spot, self._grids)
        return f" · {value_label(found)} at {self._spot}"

    def _text(self, status: RunStatus) -> RenderableType:
        shown = self._drawn
        label = f"{shown.product}, {time_label(shown.time)}" if shown else "no picture yet"
        if shown and shown.placeholder:
            label += f" (hole: {shown.placeholder})"
        elif shown and shown.unproven:
            label += " (unproven: no witness says that the frame is whole)"
        if shown and shown.stale:
            label += f" (stale: of attempt {shown.attempt}, before the run resumed)"
        label += self._value
        alarm = f"! {status.alarms[-1].text}" if status.alarms else ""
        fraction = status.progress.fraction if status.progress else None
        return Group(
            _line(f"{status.title} · {status.run}", "bold"),
            _line(one_line(status), ""),
            ProgressBar(total=1.0, completed=fraction or 0.0, width=50),
            _line(status.hint or alarm, "red"),
            _line(label, "dim"),
        )


def _line(text: str, style: str) -> Text:
    return Text(printable(text), style=style, no_wrap=True, overflow="ellipsis")
