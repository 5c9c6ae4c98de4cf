"""``io``: what a program's I/O took, from its logs, and what to try."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from burstlens.clients.cli.arguments import JsonOpt
from burstlens.core.printable import print_stderr, printable, say

app = typer.Typer()
PANEL = "Look"


def complete_path(incomplete: str) -> list[str]:
    """Files and folders that begin so; folders end with ``/``."""
    folder, _, begin = incomplete.rpartition("/")
    place = Path(os.path.expanduser(folder or ("/" if incomplete.startswith("/") else ".")))
    try:
        entries = sorted(place.iterdir())
    except OSError:
        return []
    above = incomplete[: len(incomplete) - len(begin)]
    return [
        f"{above}{entry.name}" + ("/" if entry.is_dir() else "")
        for entry in entries
        if entry.name.startswith(begin) and (begin.startswith(".") or entry.name[0] != ".")
    ]


@app.command(
    rich_help_panel=PANEL,
    short_help="Explain why I/O was slow, from a Darshan log or MPI-IO statistics.",
    epilog="Example: burstlens io before.darshan after.darshan --html io.html",
)
def io(
    logs: Annotated[
        list[str] | None,
        typer.Argument(metavar="LOG [LOG2]", autocompletion=complete_path),
    ] = None,
    html: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Write a page with plots, which needs nothing else.",
            autocompletion=complete_path,
        ),
    ] = None,
    as_json: JsonOpt = False,
) -> None:
    """Explain what a program's I/O took, and what to try.

    Each advice has the number that caused it, its rule, and where the rule is from. Two logs are
    laid side by side.

    LOG is a Darshan log, or any text in which Cray MPICH printed its statistics: the job's standard
    error, WRF's rsl.error.0000. It is known by its content.

    To get one: Cray systems with Darshan keep a log per job (darshan-config --log-path). With Cray
    MPICH set MPICH_MPIIO_STATS=1 and MPICH_MPIIO_TIMERS=1 (mpiio_report = true in a recipe). With
    any MPICH, ROMIO_PRINT_HINTS=1 prints the hints in force. A program that is killed leaves no
    Darshan log.

    - one log explained: `burstlens io run.darshan`

    - why WRF's output is slow, as a page: `burstlens io rsl.error.0000 --html io.html`

    - did the hint help: `burstlens io before.darshan after.darshan`

    - for a script: `burstlens io slurm-4711.out --json | jq '.logs[0].advice'`

    Darshan logs need `pip install 'burstlens[tuning]'`.
    """
    from burstlens.clients.cli.io_tables import show_logs
    from burstlens.workflows.iostats.document import document
    from burstlens.workflows.iostats.logs import read_log

    if not logs or len(logs) > 2:
        raise typer.BadParameter("name one log, or two to compare")
    found = [read_log(Path(log).expanduser()) for log in logs]
    page = Path(html).expanduser() if html else None
    if page is not None:
        if any(page.exists() and page.samefile(Path(log).expanduser()) for log in logs):
            raise typer.BadParameter("--html must not name the log itself")
        from burstlens.viz.pages.iostats.page import write_page

        write_page(found, page)
    if as_json:
        say(json.dumps(document(found) | {"html": str(page) if page else None}, indent=2))
        return
    if page is not None:
        print_stderr(printable(f"{page}: written"))
    show_logs(found)
