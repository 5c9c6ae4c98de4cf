"""The command ``look``: runs that others started."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from burstlens.clients.cli import arguments as args
from burstlens.core.errors import SeveralRunsError
from burstlens.core.printable import print_stderr, printable, say

app = typer.Typer()


def _option(panel: str, metavar: str | None, text: str, *names: str, **more: Any) -> Any:
    return typer.Option(*names, metavar=metavar, help=text, rich_help_panel=panel, **more)


_taken = partial(_option, "What is taken")
_shown = partial(_option, "What is shown")
_model = partial(_option, "The model's process")
_load = partial(_option, "Load on this machine")
_page = partial(_option, "The page")


@app.command(
    short_help="Look at any run: a folder where a model writes, will write, or has written.",
    epilog='Example: burstlens look /scratch/me/run --product slp --product "wind@500hPa"',
)
def look(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...")],
    product: Annotated[
        list[str] | None,
        _shown(
            "NAME|EXPRESSION",
            "A product of the model's recipe, a variable, or an expression such as "
            "wind@500hPa or T2-273.15. May be given several times.",
            "--product",
        ),
    ] = None,
    recipe: Annotated[
        str | None,
        _shown(
            "RECIPE",
            "Make the products and guards of this recipe; its simulation is not started.",
            autocompletion=args.complete_recipe,
        ),
    ] = None,
    write: Annotated[
        Path | None,
        _shown("FILE", "Write a recipe that would launch and show this run, and look at nothing."),
    ] = None,
    stream: Annotated[
        list[str] | None,
        _taken(
            "NAME=GLOB",
            "Files that hold frames, if they are not recognised. May be given several times.",
            "--stream",
        ),
    ] = None,
    time_variable: Annotated[str | None, _taken("NAME", "The variable with the times.")] = None,
    ready: Annotated[
        str | None,
        _taken(
            "PATTERN", "The flag file of a frame: log.atm.f{hour} for --stream 'atm=atmf{hour}.nc'."
        ),
    ] = None,
    log: Annotated[str | None, _taken("GLOB", "The model's log, in the folder.")] = None,
    written: Annotated[
        str | None,
        _taken(
            "REGEX", "What the log says when a frame is written, with the group file or record."
        ),
    ] = None,
    model: Annotated[str | None, _taken("MODEL", "wrf, awm or command.")] = None,
    last: Annotated[
        str | None, _taken("DURATION", "Frames of the latest stretch of model time, such as 12h.")
    ] = None,
    since: Annotated[
        str | None, _taken("TIME", 'Frames from this model time on, such as "2005-08-28 12:00".')
    ] = None,
    take_all: Annotated[
        bool,
        _taken(
            None, "All frames that are there; by default the newest 100 of each stream.", "--all"
        ),
    ] = False,
    every: Annotated[int, _taken("N", "Each Nth of them.", min=1)] = 1,
    job: Annotated[str | None, _model("ID", "The batch job in which the model runs.")] = None,
    pid: Annotated[int | None, _model("PID", "The model's process here.")] = None,
    allow_stop: Annotated[
        bool,
        _model(
            None,
            "Let `burstlens stop`, the page and guards end the job or process, if it is your own.",
            "--allow-stop",
        ),
    ] = False,
    no_page: Annotated[
        bool,
        _page(None, "Serve no page, and end when the model has ended or is quiet.", "--no-page"),
    ] = False,
    quiet_after: Annotated[
        str | None,
        _page(
            "DURATION",
            "Without a page: end when nothing was written for so long; by default 10 min, or "
            "three intervals between frames.",
        ),
    ] = None,
    workers: Annotated[int | None, _load("N", "Workers that make products; by default 1.")] = None,
    max_read_rate: Annotated[
        str | None, _load("SIZE", 'The most bytes of frames to read per second, such as "200 MB".')
    ] = None,
    site: args.SiteOpt = None,
    name: args.NameOpt = None,
    detach: args.DetachOpt = False,
    notify: args.NotifyOpt = None,
    port: Annotated[int, _page(None, "The page's port; 0 is a free one.", min=0, max=65535)] = 0,
    open_browser: Annotated[
        bool, _page(None, "Open the page, where there is a display.", "--open")
    ] = False,
    token_file: Annotated[
        Path | None,
        _page(None, "Keep the token, and so the link, in this file (made with mode 0600)."),
    ] = None,
    as_json: args.JsonOpt = False,
) -> None:
    """Look at a run that somebody else started, or that ended last year: pictures in a browser.

    PATH is the folder in which the model writes; several share one page. WRF, awm and CF or COARDS
    netCDF are recognised. The folder is only read: nothing in it is written, locked or signalled,
    and another user's folder serves as well. Pictures go to a run directory of your own.

    The newest frames come first. Ctrl-C ends the looking, never the model; the same command goes on
    where it ended. Workers run at the lowest priority; with --site they run in a batch job.

    Exit codes: 0 done, quiet or ended by Ctrl-C, 1 failed or refused (or nothing could be shown), 2
    wrong usage, or PATH holds several runs and there is no terminal to ask in, 5 frames lost or
    damaged, 6 no space, 7 a guard that stops tripped after the model's end. Where several hold, the
    first of 1, 6, 5, 7.
    """
    from burstlens.clients.attaching import Page, look_at_all, write_recipe_of
    from burstlens.workflows.look.preparation import LookRequest

    request = LookRequest(
        products=tuple(product or ()), recipe=recipe, streams=_streams(stream or []),
        time_variable=time_variable, ready=ready, log=log, written=written, model=model,
        last=last, since=since, all=take_all, every=every, job=job, pid=pid,
        allow_stop=allow_stop, page=not no_page, quiet_after=quiet_after, workers=workers,
        max_read_rate=max_read_rate, site=site, name=name, notify=tuple(notify or ()),
    )  # fmt: skip
    args.require_ways(notify)
    alone = bool(name or write or job or pid is not None)
    if len(paths) > 1 and alone:
        raise typer.BadParameter("--name, --write, --job and --pid go with one PATH")
    page = Page(port, open_browser, token_file)
    code = None
    try:
        while code is None:
            try:
                if write is not None:
                    say(write_recipe_of(paths[0], request, write))
                    return
                code = look_at_all(paths, request, page, detach=detach, as_json=as_json)
            except SeveralRunsError as error:
                paths = _chosen(paths, error, alone=alone)
    except KeyboardInterrupt:
        print_stderr("looking has ended")
        code = 0
    raise typer.Exit(code)


def _chosen(paths: list[str], error: SeveralRunsError, *, alone: bool) -> list[str]:
    """The paths, with the runs that the user chooses in place of the folder that holds them.

    ``alone``: only one may be chosen. Without a terminal nobody can be asked: exit code 2.
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        for line in f"burstlens: {error}".splitlines():
            print_stderr(printable(line))
        raise typer.Exit(2)
    count = len(error.folders)
    print_stderr(printable(f"{error.folder} holds {count} runs:"))
    for number, folder in enumerate(error.folders, 1):
        print_stderr(printable(f"  {number}  {folder}"))
    chosen: list[str] = []
    while not chosen:
        asks = "Which one (its number)" if alone else "Which (numbers, or all)"
        try:
            words = typer.prompt(asks, err=True).replace(",", " ").split()
        except typer.Abort as ended:
            if isinstance(ended.__context__, KeyboardInterrupt):
                print_stderr("")
                raise KeyboardInterrupt from None  # as while it looks
            raise
        if words == ["all"]:
            words = [str(number) for number in range(1, count + 1)]
        valid = all(word.isdecimal() and 1 <= int(word) <= count for word in words)
        if valid and (len(words) == 1 or not alone):
            chosen = [error.folders[int(word) - 1] for word in dict.fromkeys(words)]
    real = {path: os.path.realpath(os.path.expanduser(path)) for path in paths}
    return [one for path in paths for one in (chosen if real[path] == error.folder else [path])]


def _streams(given: list[str]) -> dict[str, str]:
    found = {}
    for entry in given:
        name, equals, glob = entry.partition("=")
        if not (name and equals and glob):
            raise typer.BadParameter(f"--stream {entry}: expected NAME=GLOB")
        found[name] = glob
    return found
