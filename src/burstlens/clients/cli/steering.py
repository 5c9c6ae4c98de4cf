"""Commands that act on a run: ``stop``, ``pause``, ``resume-watching``, ``add``, ``free``."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from burstlens.clients.cli.arguments import JsonOpt, RunArg
from burstlens.core.printable import say

app = typer.Typer()


@app.command(epilog="Example: burstlens stop last --now")
def stop(
    run: RunArg,
    now: Annotated[
        bool, typer.Option("--now", help="Do not wait for the frame in progress.")
    ] = False,
    yes: Annotated[
        bool,
        typer.Option(
            "--yes",
            help="Do not ask: before a model that others started is ended, or which run is `last`.",
        ),
    ] = False,
) -> None:
    """Stop a run's model; works whether or not its driver lives.

    The frame in progress may end (60 s at most); with --now the model ends within 5 s. Products
    of the frames that are ready are still made.

    A run that looks at a folder ends looking, and the model there goes on. Only where it was
    started with --allow-stop, the job or process is ended, after a question.

    RUN is a run's id (or the start of it), its directory, or `last`: while several runs go on that
    asks, and without a terminal it is refused.
    """
    from burstlens.clients.opened.steering import live_runs, question
    from burstlens.clients.opened.steering import stop as ask
    from burstlens.core.errors import RunError
    from burstlens.core.run.directory import open_run_dir

    found = open_run_dir(run)
    here = sys.stdin.isatty()
    asks = "" if yes or not here else question(found)
    if run == "last" and not yes and len(live := live_runs()) > 1:
        if not here:
            raise RunError(f"{len(live)} runs go on: {', '.join(live)}; name the one to stop")
        asks = asks or f"{len(live)} runs go on ({', '.join(live)}). Stop {found.id}, the newest?"
    if asks and not typer.confirm(asks, err=True):
        say(f"{found.id} goes on")
        return
    say(ask(found, now=now, then=f"; watch it: burstlens watch {found.id}"))


@app.command(
    short_help="Make no products for a while; the model goes on.",
    epilog="Example: burstlens pause last",
)
def pause(run: RunArg) -> None:
    """Make no products until `burstlens resume-watching`; the model goes on.

    Frames are still found and noted, and guards still judge them. A pause ends by itself when the
    model has ended or the buffer is nearly full. Works whether or not the driver lives.

    RUN is a run's id (or the start of it), its directory, or `last`.
    """
    from burstlens.clients.opened.steering import pause as ask

    say(ask(run))


@app.command(
    "resume-watching",
    short_help="End a pause: the newest frames come first.",
    epilog="Example: burstlens resume-watching last",
)
def resume_watching(run: RunArg) -> None:
    """End a pause: the products that wait are made, those of the newest frames first.

    RUN is a run's id (or the start of it), its directory, or `last`.
    """
    from burstlens.clients.opened.steering import resume_watching as ask

    say(ask(run))


@app.command(
    short_help="Add products to a run that goes on.",
    epilog="Example: burstlens add last rain.toml --all-frames",
)
def add(
    run: RunArg,
    file: Annotated[str, typer.Argument(metavar="PRODUCT.toml")],
    all_frames: Annotated[
        bool, typer.Option("--all-frames", help="Also of every frame still on the buffer.")
    ] = False,
    as_json: JsonOpt = False,
) -> None:
    """Add products to a run that goes on: they are made of each frame from now on.

    PRODUCT.toml holds `[[product]]` tables as a recipe does; they are checked as a recipe's are,
    and the functions and scripts that they name, beside the file, travel to the run. A product
    that the run makes already is not made twice.

    RUN is a run's id (or the start of it), its directory, or `last`.
    """
    from dataclasses import asdict

    from burstlens.clients.opened.steering import add as ask

    added = ask(run, file, all_frames=all_frames)
    say(json.dumps(asdict(added), indent=2) if as_json else added.text())


@app.command(epilog="Example: burstlens free last")
def free(
    run: RunArg,
    discard: Annotated[
        bool,
        typer.Option(
            "--discard",
            help="Give up raw files that are not home yet, and files of others on the buffer.",
        ),
    ] = False,
) -> None:
    """Give back the buffer space that a failed or stopped run has left.

    A run that looks at a folder has none: nothing is done.

    RUN is a run's id (or the start of it), its directory, or `last`.
    """
    from burstlens.core.run.directory import open_run_dir
    from burstlens.workflows.driver.free import free as give_back

    say(give_back(open_run_dir(run), discard=discard))
