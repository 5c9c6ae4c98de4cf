"""Commands that start nothing: recipes, sites and buffers explained and checked."""

from __future__ import annotations

import enum
import json
from typing import Annotated, Any

import click
import typer
from typer.core import TyperCommand

from burstlens.clients.cli import arguments
from burstlens.core.printable import print_stderr, printable, say

app = typer.Typer()


class _InJson(TyperCommand):
    """A command whose usage errors are JSON as well where ``--json`` is among the words."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """As click's. After a usage error, prints a JSON document and exits with 2."""
        as_json = "--json" in args
        try:
            return super().make_context(info_name, args, parent, **extra)
        except click.UsageError as error:
            if not as_json:
                raise
            from burstlens.workflows.plan.report import unusable

            say(json.dumps(unusable(error.format_message()).value(), indent=2))
            raise click.exceptions.Exit(error.exit_code) from None


@app.command(
    cls=_InJson,
    epilog="Example: burstlens check my.toml --set inputs=/my/wrf/run",
)
def check(
    recipe: arguments.RecipeArg,
    site: arguments.SiteOpt = None,
    settings: arguments.SetOpt = None,
    as_json: arguments.JsonOpt = False,
) -> None:
    """Check a recipe, its parameters and its inputs; start nothing.

    All faults of the recipe, its inputs and the site are reported at once, each with file, line,
    column and key. With --json exactly one JSON document is printed, whatever is wrong.

    RECIPE is a name that `burstlens recipes` lists, or a .toml file.
    """
    from burstlens.workflows.plan.report import check_report

    report = check_report(recipe, site, settings or [])
    if as_json:
        say(json.dumps(report.value(), indent=2))
    else:
        for message in report.refused:
            print_stderr(f"burstlens: {message}")
        for line in report.lines():
            say(line)
        if report.raw_files:
            say(report.raw_files)
        if not report.refused:
            say("the recipe can run" if report.right else "the recipe cannot run as it is")
    if not report.right:
        raise typer.Exit(1)


@app.command(epilog="Example: burstlens recipes --json")
def recipes(as_json: arguments.JsonOpt = False) -> None:
    """List the recipes that can be run by name."""
    from burstlens.workflows.plan.commands import recipe_titles

    rows = recipe_titles()
    if as_json:
        say(json.dumps(rows, indent=2))
        return
    width = max((len(row["name"]) for row in rows), default=0)
    for row in rows:
        say(f"{row['name']:<{width}}  {printable(row['title'])}")


@app.command(
    short_help="List the sites that --site takes, explain one, or probe its MPI-IO.",
    epilog="Example: burstlens sites --probe-io slurm",
)
def sites(
    site: arguments.SiteArg = None,
    explain: arguments.ExplainOpt = None,
    probe_io: arguments.ProbeOpt = False,
    recipe: arguments.ProbeRecipeOpt = None,
    settings: arguments.SetOpt = None,
    ranks: arguments.ProbeRanksOpt = 4,
    as_json: arguments.JsonOpt = False,
) -> None:
    """List the sites that --site takes, and which one is taken here without it.

    With --probe-io a small MPI program is built by the site's compiler and started once by its
    launcher: it opens files and prints which MPI-IO hints are in force, those of --recipe or some
    usual ones. Exit code 1 if one did not arrive.

    SITE is a name of the list, or a .toml file: by default the one that is taken here.
    """
    if not probe_io and (recipe or settings):
        raise typer.BadParameter("--recipe and --set go with --probe-io")
    from burstlens.clients.cli.site_tables import show_probed, show_site, show_sites

    if not probe_io:
        name = explain or site
        show_site(name, as_json=as_json) if name else show_sites(as_json=as_json)
        return
    from burstlens.workflows.plan.io_probe import probe_io as probe

    probed = probe(site or explain, recipe, settings or [], ranks)
    show_probed(probed, as_json=as_json)
    if not probed.arrived:
        raise typer.Exit(1)


@app.command(
    short_help="Show burst buffers: how full, how old, who holds them.",
    epilog="Example: burstlens buffers --site slurm-datawarp",
)
def buffers(site: arguments.SiteOpt = None, as_json: arguments.JsonOpt = False) -> None:
    """Show the pools and buffers of a site, and how to give back those of runs that are over."""
    from burstlens.clients.cli.buffers_report import show_buffers

    show_buffers(site, as_json=as_json)


class _File(enum.StrEnum):
    """What a JSON Schema describes."""

    recipe = "recipe"
    journal = "journal"
    status = "status"
    run = "run"


@app.command(epilog="Example: burstlens schema > recipe.schema.json")
def schema(
    file: Annotated[
        _File,
        typer.Argument(
            help="recipe, for editors; or a file of a run: journal (one line of it), status, run"
        ),
    ] = _File.recipe,
) -> None:
    """Print the JSON Schema of recipes, or of a file of a run."""
    from burstlens.core.run.schema import file_schema
    from burstlens.workflows.recipe.schema import recipe_schema

    found = recipe_schema() if file is _File.recipe else file_schema(file.value)
    say(json.dumps(found, indent=2))
