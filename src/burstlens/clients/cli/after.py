"""Commands that export a run: ``movie``, ``report``, ``cinema``, ``crate``, ``support``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from burstlens.clients.cli.arguments import JsonOpt, RunArg, complete_product
from burstlens.core.exit_codes import INTERRUPTED
from burstlens.core.printable import print_stderr, printable, say

app = typer.Typer()


def _out(text: str, metavar: str = "FILE") -> Any:
    return typer.Option("-o", "--out", metavar=metavar, help=text)


def _place(out: str | None, default: str) -> Path:
    return Path(out).expanduser() if out else Path(default)


def _show(made: Any, text: str, *, as_json: bool) -> None:
    """Print what was written: its record as JSON, or ``text``."""
    from dataclasses import asdict

    say(json.dumps(asdict(made), indent=2, default=str) if as_json else printable(text))


@app.command(
    short_help="Make a movie of each product's pictures.",
    epilog="Example: burstlens movie last updraft -o updraft.mp4 --fps 8",
)
def movie(
    run: RunArg = "last",
    product: Annotated[str | None, typer.Argument(autocompletion=complete_product)] = None,
    out: Annotated[str | None, _out("Where to; .mp4, .png or .apng.")] = None,
    fps: Annotated[
        float | None,
        typer.Option(min=0.1, max=120, help="Frames per second; by default it lasts about 10 s."),
    ] = None,
    stream: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Of which stream; by default of the product's first."),
    ] = None,
    as_json: JsonOpt = False,
) -> None:
    """Make a movie of a product's pictures, in the order of their valid times.

    Without PRODUCT it makes one movie per picture product, here, as RUN-PRODUCT.mp4. While the
    run goes on, a movie has the frames so far. MP4 needs the extra `movie`; without it the
    movie is an animated PNG. A frame without a picture is shown as a gap.

    RUN is a run's id (or the start of it), its directory, or `last`.
    """
    from burstlens.clients.movies import make_movies

    try:
        made = make_movies(run, product, out, fps, stream)
    except KeyboardInterrupt:
        print_stderr("interrupted; no unfinished movie is left")
        raise typer.Exit(INTERRUPTED) from None
    if as_json:
        say(json.dumps([it.value() for it in made], indent=2))
        return
    for it in made:
        say(printable(it.text()))


@app.command(
    short_help="Write a report of a run: one HTML file.",
    epilog="Example: burstlens report last -o storm.html",
)
def report(
    run: RunArg = "last",
    out: Annotated[str | None, _out("Where to; RUN.html else.")] = None,
    as_json: JsonOpt = False,
) -> None:
    """Write a report of a run as one HTML file that needs nothing else.

    It shows what ran and how it ended, the newest pictures, some of all times, the course of the
    run, its guards and alarms, the recipe and the hashes of its files. It can be printed, and
    loads nothing.

    RUN is a run's id (or the start of it), its directory, or `last`.
    """
    from burstlens.clients.api.run import open_run
    from burstlens.clients.pages.report.page import write_report
    from burstlens.core.quantity import show_bytes

    found = open_run(run)
    made = write_report(found, _place(out, f"{found.id}.html"))
    text = f"{made.path}: {show_bytes(made.bytes)}, {made.pictures} pictures in it"
    _show(made, text, as_json=as_json)


@app.command(
    short_help="Write a run's pictures as a Cinema database.",
    epilog="Example: burstlens cinema last -o storm.cdb",
)
def cinema(
    run: RunArg = "last",
    out: Annotated[str | None, _out("Where to; RUN.cdb else.", "FOLDER")] = None,
    volumes: Annotated[
        bool,
        typer.Option("--volumes", help="Also products that are not pictures: volumes, netCDF."),
    ] = False,
    as_json: JsonOpt = False,
) -> None:
    """Write a run's pictures as a Cinema database (specification D), a folder for Cinema's viewers.

    A row is one valid time; its columns are the time, the fields' statistics, and the files.

    RUN is a run's id (or the start of it), its directory, or `last`.
    """
    from burstlens.clients.api.run import open_run
    from burstlens.clients.pages.cinema import write_database
    from burstlens.core.quantity import counted

    found = open_run(run)
    made = write_database(found, _place(out, f"{found.id}.cdb"), volumes=volumes)
    lost = f", {counted(len(made.missing), 'file')} missing" if made.missing else ""
    text = f"{made.path}: {counted(made.rows, 'row')}, {counted(made.files, 'file')}{lost}"
    _show(made, text, as_json=as_json)


@app.command(
    short_help="Describe a run as an RO-Crate: what ran, with what, which files.",
    epilog="Example: burstlens crate last",
)
def crate(run: RunArg = "last", as_json: JsonOpt = False) -> None:
    """Describe a run as an RO-Crate: what ran, with what, when, and which files it made.

    Writes ro-crate-metadata.json (RO-Crate 1.1, Process Run Crate) into the run directory, which
    is then a crate that archives accept. Needs the extra `provenance`.

    RUN is a run's id (or the start of it), its directory, or `last`.
    """
    from burstlens.clients.api.run import open_run
    from burstlens.clients.crate import write_crate

    made = write_crate(open_run(run))
    _show(made, f"{made.path}: {made.files} files described", as_json=as_json)


@app.command(
    short_help="Write an archive of a run for your site's support.",
    epilog="Example: burstlens support last -o storm-support.tar.gz",
)
def support(
    run: RunArg = "last",
    out: Annotated[str | None, _out("Where to; RUN-support.tar.gz else.")] = None,
    as_json: JsonOpt = False,
) -> None:
    """Write an archive of a run for your site's support: what it did, and why it may have failed.

    In it are recipe, journal, status, jobs with their batch scripts, logs, site and versions. Not
    in it are products, raw output and inputs. Passwords, tokens, keys and what follows the host in
    an address are masked; its README.txt says what, look through it before you send it. It works
    while the run goes on, on a damaged run, and on another user's.

    RUN is a run's id (or the start of it), its directory, or `last`.
    """
    from burstlens.clients.support.archive import SUFFIX, write_support
    from burstlens.core.quantity import counted, show_bytes
    from burstlens.core.run.directory import open_run_dir

    found = open_run_dir(run)
    made = write_support(found, _place(out, f"{found.id}{SUFFIX}"))
    lost = f", {counted(len(made.unreadable), 'file')} unreadable" if made.unreadable else ""
    said = f"{made.path}: {counted(made.files, 'file')}{lost}, {show_bytes(made.bytes)}"
    text = f"{said}; its README.txt says what is left out and masked"
    _show(made, text, as_json=as_json)
