"""Commands that act on a run: ``stop``, ``free``."""

from __future__ import annotations

from typing import Annotated

import typer

from burstlens.cli.arguments import RunArg
from burstlens.printable import say

app = typer.Typer()
PANEL = "Steer"


@app.command(rich_help_panel=PANEL, epilog="Example: burstlens stop last --now")
def stop(
    run: RunArg,
    now: Annotated[
        bool, typer.Option("--now", help="Do not wait for the frame in progress.")
    ] = False,
) -> None:
    """Stop a run's model; works whether or not its driver lives.

    The frame in progress may end (60 s at most); with --now the model ends within 5 s. Products
    of the frames that are ready are still made.

    RUN is a run's id (or the start of it), its directory, or `last`.
    """
    from burstlens.run_dir import open_run_dir
    from burstlens.status import OVER, status_of

    found = open_run_dir(run)
    state = status_of(str(found.path))["state"]
    if state in OVER - {"lost"}:
        say(f"{found.id} is over already: {state}")
        return
    found.drop("stop-now" if now else "stop")
    say(f"{found.id} is asked to stop{' now' if now else ''}; watch it: burstlens watch {found.id}")


@app.command(rich_help_panel=PANEL, epilog="Example: burstlens free last")
def free(
    run: RunArg,
    discard: Annotated[
        bool, typer.Option("--discard", help="Give up raw files that are not home yet.")
    ] = False,
) -> None:
    """Give back the buffer space that a failed or stopped run has left.

    RUN is a run's id (or the start of it), its directory, or `last`.
    """
    from burstlens.run_dir import open_run_dir
    from burstlens.workflows.free import free as give_back

    say(give_back(open_run_dir(run), discard=discard))
