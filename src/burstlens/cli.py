"""The command line: parse, call one function, print, exit code. Nothing is decided here.

Exit codes: 0 done, 1 failed or refused (one message), 2 usage, 3 stopped by a guard, 4 stopped by
a person. Heavy modules are imported inside the commands that need them, so that ``status`` and
``list`` answer at once.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from burstlens import __version__
from burstlens.errors import BurstlensError
from burstlens.printable import printable

if TYPE_CHECKING:
    from burstlens.run_dir import RunDir

app = typer.Typer(
    name="burstlens",
    help="See a simulation while it runs: launch it on fast temporary storage, watch its output "
    "frames, and bring only pictures and small volumes out.",
    no_args_is_help=True,
    rich_markup_mode="markdown",  # joins the lines of a paragraph
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="A first run: burstlens demo. Then: burstlens recipes, burstlens check RECIPE.",
)


def _complete_recipe(incomplete: str) -> list[str]:
    from burstlens.workflows.recipe_file import known

    return [name for name in known() if name.startswith(incomplete)]


def _complete_run(incomplete: str) -> list[str]:
    from burstlens.run_dir import all_runs

    return [run.id for run in all_runs() if run.id.startswith(incomplete)]


def _complete_site(incomplete: str) -> list[str]:
    from burstlens.cluster_configs.site import known

    return [name for name in known() if name.startswith(incomplete)]


# What arguments are stands in the docstrings: typer < 0.25 loses their help with click >= 8.4.
RecipeArg = Annotated[str, typer.Argument(autocompletion=_complete_recipe)]
RunArg = Annotated[str, typer.Argument(autocompletion=_complete_run)]
SiteOpt = Annotated[
    str | None,
    typer.Option(
        "--site",
        metavar="SITE",
        help="The machine: a name that `burstlens sites` lists, or a .toml file; else it is known "
        "by its host name.",
        autocompletion=_complete_site,
    ),
]
NameOpt = Annotated[
    str | None, typer.Option(metavar="ID", help="The run's id, else made from the time.")
]
DetachOpt = Annotated[bool, typer.Option("--detach", help="Return at once; the run goes on.")]
BatchOpt = Annotated[
    bool, typer.Option("--batch", help="Put the driver into a one-core batch job.")
]
SetOpt = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="A parameter of the recipe (inputs=/my/run) or any of its keys (simulation.nodes=4, "
        "product.t2.variable=PSFC). May be given several times.",
    ),
]
ExplainOpt = Annotated[
    str | None,
    typer.Option(
        metavar="SITE",
        help="Each value of a site: its meaning, where it comes from.",
        autocompletion=_complete_site,
    ),
]
JsonOpt = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]


@app.command(
    short_help="Run a recipe, and see it while it runs.",
    epilog="Example: burstlens run my.toml --set inputs=/my/wrf/run --dry-run",
)
def run(
    recipe: RecipeArg,
    site: SiteOpt = None,
    settings: SetOpt = None,
    name: NameOpt = None,
    detach: DetachOpt = False,
    batch: BatchOpt = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the plan; start nothing.")
    ] = False,
    as_json: JsonOpt = False,
) -> None:
    """Run a recipe: launch the model, make products of its frames while it runs.

    RECIPE is a name that `burstlens recipes` lists, or a .toml file.

    Ctrl-C asks for a stop (the frame in progress may end), a second one stops at once. The run
    outlives the terminal.
    """
    from burstlens.workflows.commands import new_run, plan_of

    _one_way(detach, batch)
    if dry_run:
        plan = plan_of(recipe, site, settings or [])
        _out(json.dumps(plan.value(), indent=2) if as_json else plan.text())
        return
    made, warnings = new_run(recipe, site, settings or [], name, batch=batch)
    for warning in warnings:
        _err(f"warning: {warning}")
    _start(made, detach=detach, batch=batch, as_json=as_json)


@app.command(
    short_help="See an earthquake cross a basin, in about two minutes.",
    epilog="Example: burstlens demo",
)
def demo(
    settings: SetOpt = None,
    name: NameOpt = None,
) -> None:
    """An earthquake crosses a basin: the bundled model, its pictures arriving while it runs."""
    run("seismic-basin", site="local", settings=settings, name=name)


@app.command(epilog="Example: burstlens check my.toml --set inputs=/my/wrf/run")
def check(
    recipe: RecipeArg, site: SiteOpt = None, settings: SetOpt = None, as_json: JsonOpt = False
) -> None:
    """Check a recipe, its parameters and its inputs; start nothing.

    RECIPE is a name that `burstlens recipes` lists, or a .toml file.
    """
    from burstlens.workflows.commands import checked

    findings = checked(recipe, site, settings or [])
    errors = [finding for finding in findings if finding.level == "error"]
    if as_json:
        _out(json.dumps([{"level": f.level, "text": f.text} for f in findings], indent=2))
    else:
        for finding in findings:
            _out(f"{finding.level}: {finding.text}")
        _out("the recipe can run" if not errors else "the recipe cannot run as it is")
    if errors:
        raise typer.Exit(1)


@app.command(epilog="Example: burstlens recipes --json")
def recipes(as_json: JsonOpt = False) -> None:
    """List the recipes that can be run by name."""
    from burstlens.workflows.commands import recipe_titles

    rows = recipe_titles()
    if as_json:
        _out(json.dumps(rows, indent=2))
        return
    width = max((len(row["name"]) for row in rows), default=0)
    for row in rows:
        _out(f"{row['name']:<{width}}  {printable(row['title'])}")


@app.command(
    short_help="List the sites that --site takes, or explain one.",
    epilog="Example: burstlens sites --explain slurm",
)
def sites(explain: ExplainOpt = None, as_json: JsonOpt = False) -> None:
    """List the sites that --site takes, and which one is taken here without it."""
    from burstlens.site_tables import show_site, show_sites

    show_site(explain, as_json=as_json) if explain else show_sites(as_json=as_json)


@app.command(
    short_help="Show burst buffers: how full, how old, who holds them.",
    epilog="Example: burstlens buffers --site slurm-datawarp",
)
def buffers(site: SiteOpt = None, as_json: JsonOpt = False) -> None:
    """Show the pools and buffers of a site, and how to give back those of runs that are over."""
    from burstlens.buffer_tables import show_buffers

    show_buffers(site, as_json=as_json)


@app.command("list", epilog="Example: burstlens list")
def list_runs(as_json: JsonOpt = False) -> None:
    """List the runs in ./runs (or $BURSTLENS_RUNS), the newest first."""
    from burstlens.quantity import counted
    from burstlens.status import rows

    found = rows()
    if as_json:
        _out(json.dumps(found, indent=2))
        return
    if not found:
        _out("no runs yet; `burstlens demo` makes one")
    width = max((len(row["run"]) for row in found), default=0)
    for row in found:
        frames = counted(row["frames"], "frame")
        _out(f"{row['run']:<{width}}  {row['state']:<9} {frames:>12}  {printable(row['title'])}")


@app.command(epilog="Example: burstlens status last --json")
def status(run: RunArg = "last", as_json: JsonOpt = False) -> None:
    """Tell how a run stands.

    RUN is a run's id (or the start of it), its directory, or `last`.
    """
    from burstlens.status import status_of, text

    found = status_of(run)
    _out(json.dumps(found, indent=2) if as_json else text(found))


@app.command(
    short_help="Watch a run in the terminal until it ends.", epilog="Example: burstlens watch last"
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
    _out(text(found))


@app.command(epilog="Example: burstlens stop last --now")
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
        _out(f"{found.id} is over already: {state}")
        return
    found.drop("stop-now" if now else "stop")
    _out(
        f"{found.id} is asked to stop{' now' if now else ''}; watch it: burstlens watch {found.id}"
    )


@app.command(
    short_help="Go on with a run after a crash, a failure or a stop.",
    epilog="Example: burstlens resume last --detach",
)
def resume(
    run: RunArg,
    detach: DetachOpt = False,
    batch: BatchOpt = False,
    as_json: JsonOpt = False,
) -> None:
    """Take up a run whose driver has died, or whose model has failed or was stopped.

    A model that still runs is adopted, one that has ended badly starts a new attempt; products
    that stand are not made again.

    RUN is a run's id (or the start of it), its directory, or `last`.
    """
    from burstlens.run_dir import open_run_dir
    from burstlens.workflows.run import resumable

    _one_way(detach, batch)
    found = open_run_dir(run)
    reason = resumable(found)
    if reason is not None:
        _out(reason)
        return
    _start(found, detach=detach, batch=batch, as_json=as_json)


@app.command(epilog="Example: burstlens free last")
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

    _out(give_back(open_run_dir(run), discard=discard))


@app.command(epilog="Example: burstlens schema > recipe.schema.json")
def schema() -> None:
    """Print the JSON Schema of recipes, for editors."""
    from burstlens.workflows.schema import recipe_schema

    _out(json.dumps(recipe_schema(), indent=2))


@app.command(hidden=True)
def drive(path: Path) -> None:
    """What --detach and --batch start."""
    from burstlens.run_dir import RunDir

    _start(RunDir(path.resolve()), detach=False, batch=False, as_json=False)


def _start(made: RunDir, *, detach: bool, batch: bool, as_json: bool) -> None:
    from burstlens.driving import drive, send_off

    if detach or batch:
        send_off(made, batch=batch, as_json=as_json)
    else:
        raise typer.Exit(drive(made, as_json=as_json))


def _one_way(detach: bool, batch: bool) -> None:
    if detach and batch:
        raise typer.BadParameter("--batch outlives the terminal as --detach does; give one of them")


@app.callback(invoke_without_command=True)
def _version(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        _out(f"burstlens {__version__}")
        raise typer.Exit


def _out(text: str) -> None:
    print(text, flush=True)


def _err(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    """The ``burstlens`` program."""
    try:
        app()
    except BurstlensError as error:
        _err(f"burstlens: {error}")
        sys.exit(1)
    except BrokenPipeError:
        sys.exit(1)
