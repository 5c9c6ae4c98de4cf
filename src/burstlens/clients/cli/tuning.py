"""``tune``: find the settings with which a recipe's model writes fastest."""

from __future__ import annotations

from typing import Annotated

import typer

from burstlens.clients.cli import arguments as args
from burstlens.clients.cli.launching import require_one_way, start

app = typer.Typer()


@app.command(
    short_help="Find settings with which a recipe's model writes faster.",
    epilog="Example: burstlens tune my.toml --runs 12 --node-hours 20",
)
def tune(
    recipe: args.RecipeArg,
    runs: Annotated[
        int,
        typer.Option(min=1, max=200, help="Short runs of the search; up to nine more measure the "
                     "noise and compare the best with the recipe as it is."),
    ] = 12,
    node_hours: Annotated[
        float | None,
        typer.Option("--node-hours", min=0.001, help="What all trials together may use."),
    ] = None,
    site: args.SiteOpt = None,
    settings: args.SetOpt = None,
    name: args.NameOpt = None,
    detach: args.DetachOpt = False,
    batch: args.BatchOpt = False,
    as_json: args.JsonOpt = False,
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
    from burstlens.workflows.tuning.planning import new_tuning

    require_one_way(detach, batch)
    made, warnings = new_tuning(
        recipe, site, settings or [], name, runs=runs, node_hours=node_hours, batch=batch
    )
    start(made, warnings, detach=detach, batch=batch, as_json=as_json)
