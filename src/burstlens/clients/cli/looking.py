"""Commands that look at runs: ``list``, ``status``, ``watch``, ``serve``."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from burstlens.clients.cli.arguments import JsonOpt, PlaceArg, RunArg, complete_product
from burstlens.clients.cli.placing import AtOpt, XyOpt
from burstlens.core.printable import print_stderr, printable, say

app = typer.Typer()


@app.command("list", epilog="Example: burstlens list")
def list_runs(as_json: JsonOpt = False) -> None:
    """List your runs, the newest first.

    Those in $BURSTLENS_RUNS, or in ./runs and each folder in which you made runs before; and those
    that look at a folder, which may lie in your state folder. Runs of one id in two folders are
    both listed, with their folders.
    """
    from burstlens.clients.opened.status import rows
    from burstlens.core.quantity import counted
    from burstlens.core.run.served import remove_dead_notes

    remove_dead_notes()
    found = rows()
    if as_json:
        say(json.dumps(found, indent=2))
        return
    if not found:
        say("no runs yet; `burstlens demo` makes one")
    width = max((len(row["run"]) for row in found), default=0)
    ids = Counter(row["run"] for row in found)
    for row in found:
        frames = counted(row["frames"], "frame")
        frames += f", {row['damaged']} damaged" if row["damaged"] else ""
        run, title = printable(row["run"]), printable(row["title"])
        if row["looks_at"] and row["looks_at"] not in row["title"]:
            title += f", looks at {printable(row['looks_at'])}"
        title += "; its buffer is not given back" if row["left"] else ""
        title += f", in {printable(os.path.dirname(row['path']))}" if ids[row["run"]] > 1 else ""
        began = row["started"]
        date = time.strftime("%Y-%m-%d %H:%M", time.localtime(began)) if began else ""
        say(f"{run:<{width}}  {row['state']:<9} {date:<16} {frames:>12}  {title}")


@app.command(epilog="Example: burstlens status last --json")
def status(run: RunArg = "last", as_json: JsonOpt = False) -> None:
    """Show the status of a run.

    RUN is a run's id (or the start of it), its directory, or `last`.
    """
    from burstlens.clients.opened.status import read_status, text
    from burstlens.core.decode import record
    from burstlens.core.run.served import remove_dead_notes

    remove_dead_notes()
    found = read_status(run)
    say(json.dumps(record(found), indent=2) if as_json else text(found))


@app.command(
    short_help="Watch a run in the terminal until it ends.",
    epilog="Example: burstlens watch last --picture",
)
def watch(
    run: RunArg = "last",
    picture: Annotated[
        bool, typer.Option("--picture", help="Show the newest picture, in the terminal itself.")
    ] = False,
    product: Annotated[
        str | None,
        typer.Option(
            "--product",
            metavar="PRODUCT",
            help="Whose picture; by default the first product that has some.",
            autocompletion=complete_product,
        ),
    ] = None,
    at: AtOpt = None,
    xy: XyOpt = None,
) -> None:
    """Watch a run in the terminal until it ends. Ctrl-C leaves it running.

    With --picture the newest picture is shown: with kitty's graphics, as sixels, or else as
    coloured half-blocks. It is sent when it changes, and never faster than a slow ssh connection
    can take it, and the last one stays when the run is over. With --at or --xy its value at that
    place is shown, too; `burstlens series` prints all of them. There is no picture on dumb
    terminals, in pipes and with NO_COLOR.

    RUN is a run's id (or the start of it), its directory, or `last`.
    """
    # Ahead of the first line that is printed: Ctrl-C in the middle of an import may be lost.
    from burstlens.clients.terminal import follow
    from burstlens.core.run.directory import open_run_dir

    asked = at is not None or xy is not None
    with contextlib.suppress(KeyboardInterrupt):
        if picture or product is not None or asked:
            from rich.console import Console

            from burstlens.clients.api.run import open_run
            from burstlens.clients.opened.spot import Spot
            from burstlens.clients.opened.status import text
            from burstlens.clients.preview.watching import can_show, watch_picture

            console = Console(highlight=False)
            spot = Spot.parse(at, xy) if asked else None
            opened = open_run(run)
            if product is not None:
                opened.products[product]  # an unknown name is an error also without pictures
            if can_show(console):
                say(text(watch_picture(opened, product, console, spot)))
                return
            print_stderr("no pictures: the output is not a terminal with colours")
            if asked:
                print_stderr("`burstlens series RUN PRODUCT --follow` prints the values as lines")
        follow(open_run_dir(run))


@app.command(
    short_help="Show runs in a browser, also on another machine.",
    epilog="Example: burstlens serve last --allow-stop",
)
def serve(
    place: PlaceArg = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 is a free one.")] = 0,
    allow_stop: Annotated[
        bool, typer.Option("--allow-stop", help="Let the page stop and pause runs.")
    ] = False,
    open_browser: Annotated[
        bool, typer.Option("--open", help="Open the page, where there is a display.")
    ] = False,
    token_file: Annotated[
        Path | None,
        typer.Option(help="Keep the token, and so the link, in this file (made with mode 0600)."),
    ] = None,
    as_json: JsonOpt = False,
) -> None:
    """Show runs in a browser: pictures as they arrive, progress, alarms; Ctrl-C ends it.

    RUN is a run's id (or the start of it), its directory, or `last`; DIR is a folder of runs.
    Without it all runs in ./runs (or $BURSTLENS_RUNS) and in your state folder are shown, also
    those that begin later.

    It listens on this machine alone. From your own, forward the port with the ssh line that is
    printed, or let VS Code do it. Anyone with the printed link, which holds a token, can look;
    without it no user can, not even on this machine. Runs are only read, unless --allow-stop is
    given.

    The link changes at each start. With --token-file and --port it stays the same, and open
    pages keep working.
    """
    from burstlens.clients.serving.server import serve as serve_runs
    from burstlens.clients.serving.shelf import shelf_of

    serve_runs(
        shelf_of(place), port=port, allow_stop=allow_stop, as_json=as_json,
        open_browser=open_browser, token_file=token_file,
    )  # fmt: skip
