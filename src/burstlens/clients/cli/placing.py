"""The command ``series``: the values of a product at a place."""

from __future__ import annotations

import json
import sys
import time
from typing import Annotated

import typer

from burstlens.clients.cli.arguments import RunArg, complete_product
from burstlens.core.printable import print_stderr, say

app = typer.Typer()
PERIOD_S = 0.2

AtOpt = Annotated[
    str | None,
    typer.Option("--at", metavar="LAT,LON", help="A place on the earth, in degrees: 25.3,-91.9."),
]
XyOpt = Annotated[
    str | None,
    typer.Option(
        "--xy",
        metavar="X,Y",
        help="A place of the picture's plane, in its units or as 12km,4500m; of a section distance "
        "and height.",
    ),
]


@app.command(
    short_help="Print the values of a product at a place, over all frames.",
    epilog="Example: burstlens series last slp --at 25.3,-91.9 > slp.csv",
)
def series(
    run: RunArg,
    product: Annotated[str, typer.Argument(autocompletion=complete_product)],
    at: AtOpt = None,
    xy: XyOpt = None,
    stream: Annotated[
        str | None, typer.Option(metavar="STREAM", help="Which one, where a product has several.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON document instead of CSV.")
    ] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="CSV, which is the default.")] = False,
    kept: Annotated[
        bool, typer.Option("--kept", help="Only values that pictures keep; open no frame's file.")
    ] = False,
    follow: Annotated[
        bool, typer.Option("--follow", help="Go on while the run does; Ctrl-C leaves it running.")
    ] = False,
) -> None:
    """Print the values of a map, a section or a peak at a place: CSV, one line per frame.

    The columns are the valid time, the value (its units are in the first line), the step of its
    quantisation, the grid point of the model's file that it is of, and why it is missing, where it
    is. The model's value lies within half a step, beside an edge of colours in steps within a
    whole one. There is no interpolation: it is that of the grid cell at the place. Where pictures
    keep fewer points than the grid has, the cell is read from the frame's file, and has no step;
    where that cannot be read, the nearest kept point counts, and a note says so. With --kept no
    frame's file is opened: that is quicker, and what Python and the page answer. The place is
    looked up in each frame's own grid, so it may leave a nest that moves; of several nests the
    topmost one there counts.

    A gap is one of: outside (of the frame's grid), no values (published without), unreadable,
    another picture (published anew just now), another field, nan, inf, -inf.

    RUN is a run's id (or the start of it), its directory, or `last`.
    """
    from burstlens.clients.api.run import open_run
    from burstlens.clients.opened.listing import Listing
    from burstlens.clients.opened.spot import Spot

    if as_json and (follow or as_csv):
        other = "--follow" if follow else "--csv"
        raise typer.BadParameter(f"--json is one document, {other} is lines: choose one")
    found = Listing(open_run(run), product, stream, Spot.parse(at, xy), kept_only=kept)
    progress = _Progress(as_json)
    try:
        if as_json:
            say(json.dumps(found.document(progress.tell), indent=2))
        for line in () if as_json else (found.follow if follow else found.lines)(progress.tell):
            print(line, flush=follow)
    except KeyboardInterrupt:
        if not follow:
            raise
    finally:
        found.close()
        progress.clear()
    sys.stdout.flush()
    if note := found.note():
        print_stderr(f"burstlens: {note}")
    if complaint := found.complaint():
        print_stderr(f"burstlens: {complaint}")
        raise typer.Exit(1)


class _Progress:
    """Frames read so far, on a terminal's standard error where the values do not go to one, or only
    at the end (``is_late``)."""

    def __init__(self, is_late: bool) -> None:
        self._shown = sys.stderr.isatty() and (is_late or not sys.stdout.isatty())
        self._due = time.monotonic() + PERIOD_S
        self._there = False

    def tell(self, done: int, whole: int) -> None:
        """Show the number, a few times a second."""
        if self._shown and time.monotonic() >= self._due:
            self._due = time.monotonic() + PERIOD_S
            self._there = True
            print(f"\r{done} of {whole} frames", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Remove the line."""
        if self._there:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
