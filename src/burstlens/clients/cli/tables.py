"""Tables for people: Rich's on a terminal, plain aligned lines where there is none."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from burstlens.core.printable import printable


def show_table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, marked: int = -1) -> None:
    """Print rows of text below their columns, and an empty line; row ``marked`` stands out.

    Cells may come from other programs: control characters are removed from them.
    """
    clean = [[printable(cell) for cell in row] for row in rows]
    console = Console(highlight=False)
    if not console.is_terminal:
        lines = [list(columns), *clean]
        widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
        for line in lines:
            cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
            print("  ".join(cells).rstrip())
        print()
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for number, column in enumerate(columns):
        table.add_column(column, overflow="fold", no_wrap=number == 0)
    for number, row in enumerate(clean):
        table.add_row(*map(Text, row), style="bold green" if number == marked else None)
    console.print(table)
