"""Commands that look at runs: ``list``, ``status``, ``watch``."""

from __future__ import annotations

import json
import time

import typer

from burstlens.cli.arguments import JsonOpt, RunArg
from burstlens.printable import printable, say

app = typer.Typer()
PANEL = "Look"


@app.command("list", rich_help_panel=PANEL, epilog="Example: burstlens list")
def list_runs(as_json: JsonOpt = False) -> None:
    """List the runs in ./runs (or $BURSTLENS_RUNS), the newest first."""
    from burstlens.quantity import counted
    from burstlens.status import rows

    found = rows()
    if as_json:
        say(json.dumps(found, indent=2))
        return
    if not found:
        say("no runs yet; `burstlens demo` makes one")
    width = max((len(row["run"]) for row in found), default=0)
    for row in found:
        frames = counted(row["frames"], "frame")
        say(f"{row['run']:<{width}}  {row['state']:<9} {frames:>12}  {printable(row['title'])}")


@app.command(rich_help_panel=PANEL, epilog="Example: burstlens status last --json")
def status(run: RunArg = "last", as_json: JsonOpt = False) -> None:
    """Tell how a run stands.

    RUN is a run's id (or the start of it), its directory, or `last`.
    """
    from burstlens.status import status_of, text

    found = status_of(run)
    say(json.dumps(found, indent=2) if as_json else text(found))


@app.command(
    rich_help_panel=PANEL,
    short_help="Watch a run in the terminal until it ends.",
    epilog="Example: burstlens watch last",
)
def watch(run: RunArg = "last") -> None:
    """Watch a run in the terminal until it ends. Ctrl-C leaves it running.

    RUN is a run's id (or the start of it), its directory, or `last`.
    """
    from burstlens.status import OVER, status_of, text
    from burstlens.terminal import View

    view = View()
    found = status_of(run)
    try:
        with view:
            while found["state"] not in OVER:
                view.show(found)
                time.sleep(0.5)
                found = status_of(run)
    except KeyboardInterrupt:
        return
    say(text(found))
