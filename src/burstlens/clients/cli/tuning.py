"""``tune``: find the settings with which a recipe's model writes fastest."""

from __future__ import annotations

from typing import Annotated

import typer

from burstlens.clients.cli.arguments import (
    BatchOpt,
    DetachOpt,
    JsonOpt,
    NameOpt,
    RecipeArg,
    SetOpt,
    SiteOpt,
)
from burstlens.core.printable import print_stderr

app = typer.Typer()
PANEL = "Prepare"


@app.command(
    rich_help_panel=PANEL,
    short_help="Find settings with which a recipe's model writes faster.",
    epilog="Example: burstlens tune my.toml --runs 12 --node-hours 20",
)
def tune(
    recipe: RecipeArg,
    runs: Annotated[
        int,
        typer.Option(min=1, max=200, help="Short runs of the search; up to nine more measure the "
                     "noise and compare the best with the recipe as it is."),
    ] = 12,
    node_hours: Annotated[
        float | None,
        typer.Option("--node-hours", min=0.001, help="What all trials together may use."),
    ] = None,
    site: SiteOpt = None,
    settings: SetOpt = None,
    name: NameOpt = None,
    detach: DetachOpt = False,
    batch: BatchOpt = False,
    as_json: JsonOpt = False,
) -> None:  # fmt: skip
    """Tune the output of a recipe's model: short runs of it with other MPI-IO hints, or with
    whatever its [tune] names, one after another, without products.

    What counts is the model's own time in output, by its log, without the first frame. The default
    comes first, then guesses by rule, then what Optuna proposes. At the end the default and the
    best run in turn: a gain is claimed only where each default run is slower than each of the
    best. "No gain beyond noise" is an answer.

    RECIPE is a name that `burstlens recipes` lists, or a .toml file. A tuning that was cut short
    goes on with `burstlens resume`.

    Exit codes: 0 with a verdict, 1 failed or refused, 2 wrong usage, 4 stopped by a person.
    """
    from burstlens.clients.driving import drive, send_off
    from burstlens.workflows.tuning.planning import new_tuning

    if detach and batch:
        raise typer.BadParameter("--batch outlives the terminal as --detach does; give one of them")
    made, warnings = new_tuning(
        recipe, site, settings or [], name, runs=runs, node_hours=node_hours, batch=batch
    )
    for warning in warnings:
        print_stderr(f"warning: {warning}")
    if detach or batch:
        send_off(made, batch=batch, as_json=as_json)
    else:
        raise typer.Exit(drive(made, as_json=as_json))
