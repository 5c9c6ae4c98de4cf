"""``io``: what a program's I/O took, from its logs, and what to try."""

from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from burstlens.clients.cli.arguments import JsonOpt, SetOpt, SiteOpt, complete_recipe
from burstlens.core.printable import print_stderr, printable, say
from burstlens.core.quantity import parse_bytes, parse_duration

app = typer.Typer()


def _planned(text: str, metavar: str | None = None, **more: Any) -> Any:
    return typer.Option(help=text, metavar=metavar, rich_help_panel="With --plan", **more)


_part = partial(_planned, metavar="PART", min=0.001)


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
    short_help="Explain why I/O was slow, from a Darshan log or MPI-IO statistics.",
    epilog="Example: burstlens io before.darshan after.darshan --html io.html",
)
def io(
    logs: Annotated[
        list[str] | None, typer.Argument(metavar="LOG [LOG2]", autocompletion=complete_path)
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
    plan: Annotated[
        str | None,
        typer.Option(
            metavar="RECIPE",
            help="Instead of a log: when the burst buffer pays for this recipe, how many of its "
            "nodes, how often output is affordable.",
            autocompletion=complete_recipe,
        ),
    ] = None,
    site: SiteOpt = None,
    settings: SetOpt = None,
    frames: Annotated[int | None, _planned("Frames, where the model does not say.", min=1)] = None,
    frame_size: Annotated[
        int | None,
        _planned(
            "The size of a frame, such as 2.9GB, where the model does not say.",
            "SIZE",
            parser=parse_bytes,
        ),
    ] = None,
    compute: Annotated[
        float | None,
        _planned(
            "The time of computing without output; the walltime by default.",
            "TIME",
            parser=parse_duration,
        ),
    ] = None,
    efficiency: Annotated[
        float | None, _part("Of the program's pattern on the buffer, against tuned BTIO.")
    ] = None,
    parallel_efficiency: Annotated[
        float | None, _part("The same on the parallel file system.")
    ] = None,
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

    - before a run: `burstlens io --plan storm.toml --site shaheen2 --compute 6h`

    Darshan logs need the extra `tuning`.
    """
    if plan is not None:
        if logs or html:
            raise typer.BadParameter("--plan goes without logs and --html")
        from burstlens.clients.cli.buffer_worth import show_worth
        from burstlens.workflows.buffer_worth.comparison import buffer_worth

        worth = buffer_worth(
            plan, site, settings or [], frame_bytes=frame_size, frames=frames, compute_s=compute,
            efficiency=efficiency, parallel_efficiency=parallel_efficiency,
        )  # fmt: skip
        show_worth(worth, as_json=as_json)
        return
    if site or settings or frames or frame_size or compute or efficiency or parallel_efficiency:
        raise typer.BadParameter("--site, --set and the options of a plan go with --plan")
    if not logs or len(logs) > 2:
        raise typer.BadParameter("name one log, or two to compare")
    from burstlens.clients.cli.io_tables import show_logs
    from burstlens.workflows.iostats.document import document
    from burstlens.workflows.iostats.logs import read_log

    found = [read_log(Path(log).expanduser()) for log in logs]
    page = Path(html).expanduser() if html else None
    if page is not None:
        if any(page.exists() and page.samefile(Path(log).expanduser()) for log in logs):
            raise typer.BadParameter("--html must not name the log itself")
        from burstlens.clients.pages.iostats.page import write_page

        write_page(found, page)
    if as_json:
        say(json.dumps(document(found) | {"html": str(page) if page else None}, indent=2))
        return
    if page is not None:
        print_stderr(printable(f"{page}: written"))
    show_logs(found)
