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
from typing import Annotated, Any

import typer

from burstlens import __version__
from burstlens.errors import BurstlensError
from burstlens.printable import printable

app = typer.Typer(
    name="burstlens",
    help="See a simulation while it runs: launch it on fast temporary storage, watch its output "
    "frames, and bring only pictures and small volumes out.",
    no_args_is_help=True,
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


RecipeArg = Annotated[
    str,
    typer.Argument(
        help="A recipe: a name that `burstlens recipes` lists, or a .toml file.",
        autocompletion=_complete_recipe,
    ),
]
RunArg = Annotated[
    str,
    typer.Argument(
        help="A run: its id (or the start of it), its directory, or `last`.",
        autocompletion=_complete_run,
    ),
]
SiteOpt = Annotated[
    str | None,
    typer.Option("--site", help="The machine; by host name else.", autocompletion=_complete_site),
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
    typer.Option(metavar="SITE", help="Each value of a site: its meaning, where it comes from."),
]
JsonOpt = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]


@app.command(short_help="Run a recipe, and see it while it runs.")
def run(
    recipe: RecipeArg,
    site: SiteOpt = None,
    settings: SetOpt = None,
    name: Annotated[str | None, typer.Option(help="The run's id, else made from the time.")] = None,
    detach: Annotated[
        bool, typer.Option("--detach", help="Return at once; the run goes on.")
    ] = False,
    batch: Annotated[
        bool, typer.Option("--batch", help="Put the driver into a one-core batch job.")
    ] = False,
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

    if dry_run:
        plan = plan_of(recipe, site, settings or [])
        _out(json.dumps(plan.value(), indent=2) if as_json else plan.text())
        return
    made, warnings = new_run(recipe, site, settings or [], name)
    for warning in warnings:
        _err(f"warning: {warning}")
    _drive(made.path, detach=detach, batch=batch, as_json=as_json)


@app.command(short_help="See an earthquake cross a basin, in about two minutes.")
def demo(
    settings: SetOpt = None,
    name: Annotated[str | None, typer.Option(help="The run's id, else made from the time.")] = None,
) -> None:
    """An earthquake crosses a basin: the bundled model, its pictures arriving while it runs."""
    run("seismic-basin", site="local", settings=settings, name=name)


@app.command()
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


@app.command()
def recipes(as_json: JsonOpt = False) -> None:
    """List the recipes that can be run by name."""
    from burstlens.workflows.commands import recipe_titles

    rows = recipe_titles()
    if as_json:
        _out(json.dumps(rows, indent=2))
        return
    width = max((len(row["name"]) for row in rows), default=0)
    for row in rows:
        _out(f"{row['name']:<{width}}  {row['title']}")


@app.command(short_help="List the sites that --site takes, or explain one.")
def sites(explain: ExplainOpt = None, as_json: JsonOpt = False) -> None:
    """List the sites that --site takes, and which one is taken here without it."""
    from burstlens.site_tables import show_site, show_sites

    show_site(explain, as_json=as_json) if explain else show_sites(as_json=as_json)


@app.command(short_help="Show burst buffers: how full, how old, who holds them.")
def buffers(site: SiteOpt = None, as_json: JsonOpt = False) -> None:
    """Show the pools and buffers of a site, and how to give back those of runs that are over."""
    from burstlens.buffer_tables import show_buffers

    show_buffers(site, as_json=as_json)


@app.command("list")
def list_runs(as_json: JsonOpt = False) -> None:
    """List the runs in ./runs (or $BURSTLENS_RUNS), the newest first."""
    from burstlens.status import rows

    found = rows()
    if as_json:
        _out(json.dumps(found, indent=2))
        return
    if not found:
        _out("no runs yet; `burstlens demo` makes one")
    width = max((len(row["run"]) for row in found), default=0)
    for row in found:
        _out(f"{row['run']:<{width}}  {row['state']:<9} {row['frames']:>6} frames  {row['title']}")


@app.command()
def status(run_name: RunArg = "last", as_json: JsonOpt = False) -> None:
    """Tell how a run stands.

    RUN is a run's id (or the start of it), its directory, or `last`.
    """
    from burstlens.status import status_of, text

    found = status_of(run_name)
    _out(json.dumps(found, indent=2) if as_json else text(found))


@app.command()
def watch(run_name: RunArg = "last") -> None:
    """Watch a run in the terminal until it ends. Ctrl-C leaves it running."""
    from burstlens.status import OVER, status_of
    from burstlens.terminal import View, summary

    view = View()
    found = status_of(run_name)
    try:
        with view:
            while found["state"] not in OVER:
                view.show(found)
                time.sleep(0.5)
                found = status_of(run_name)
    except KeyboardInterrupt:
        return
    view.console.print(summary(found))


@app.command()
def stop(
    run_name: RunArg,
    now: Annotated[
        bool, typer.Option("--now", help="Do not wait for the frame in progress.")
    ] = False,
) -> None:
    """Stop a run's model; works whether or not its driver lives.

    The frame in progress may end (60 s at most); with --now the model ends within 5 s. Products
    of the frames that are ready are still made.
    """
    from burstlens.run_dir import open_run_dir
    from burstlens.status import OVER, status_of

    found = open_run_dir(run_name)
    state = status_of(str(found.path))["state"]
    if state in OVER - {"lost"}:
        _out(f"{found.id} is over already: {state}")
        return
    found.drop("stop-now" if now else "stop")
    _out(
        f"{found.id} is asked to stop{' now' if now else ''}; watch it: burstlens watch {found.id}"
    )


@app.command(short_help="Go on with a run after a crash, a failure or a stop.")
def resume(
    run_name: RunArg,
    detach: Annotated[
        bool, typer.Option("--detach", help="Return at once; the run goes on.")
    ] = False,
    batch: Annotated[
        bool, typer.Option("--batch", help="Put the driver into a one-core batch job.")
    ] = False,
    as_json: JsonOpt = False,
) -> None:
    """Take up a run whose driver has died, or whose model has failed or was stopped.

    A model that still runs is adopted, one that has ended badly starts a new attempt; products
    that stand are not made again.
    """
    from burstlens.run_dir import open_run_dir
    from burstlens.workflows.run import resumable

    found = open_run_dir(run_name)
    reason = resumable(found)
    if reason is not None:
        _out(reason)
        return
    _drive(found.path, detach=detach, batch=batch, as_json=as_json)


@app.command()
def free(
    run_name: RunArg,
    discard: Annotated[
        bool, typer.Option("--discard", help="Give up raw files that are not home yet.")
    ] = False,
) -> None:
    """Give back the buffer space that a failed or stopped run has left."""
    from burstlens.run_dir import open_run_dir
    from burstlens.workflows.free import free as give_back

    _out(give_back(open_run_dir(run_name), discard=discard))


@app.command()
def schema() -> None:
    """Print the JSON Schema of recipes, for editors."""
    from burstlens.workflows.schema import recipe_schema

    _out(json.dumps(recipe_schema(), indent=2))


@app.command(hidden=True)
def drive(path: Path) -> None:
    """What --detach starts."""
    _drive(path, as_json=False)


def _drive(path: Path, *, as_json: bool, detach: bool = False, batch: bool = False) -> None:
    from burstlens.run_dir import RunDir
    from burstlens.terminal import View, summary

    made = RunDir(path.resolve())
    if detach or batch:
        from burstlens.workflows import detach as driver

        told = {"run": made.id, "path": str(path)}
        if batch:
            told["driver_job"] = driver.submit_driver(made)
        else:
            driver.detach(made)
            if driver.is_ended_at_logout():
                _err("warning: systemd ends your processes here when you log out "
                     "(KillUserProcesses=yes); --batch puts the driver into a job")  # fmt: skip
        how = f"is driven by job {told['driver_job']}" if batch else "runs"
        _out(json.dumps(told) if as_json else
             f"{made.id} {how}; watch it: burstlens watch {made.id}")  # fmt: skip
        return
    if not as_json:
        _out(f"run {made.id}\npictures arrive in {made.products}")
    from burstlens.workflows.run import execute

    view = View()
    last: dict[str, Any] = {}

    def tick(snapshot: Any) -> None:
        if not as_json:
            view.show(snapshot.value())

    with view:
        outcome = execute(made, tick)
    from burstlens.status import status_of

    last = status_of(str(path))
    if as_json:
        _out(json.dumps(last, indent=2))
    else:
        view.console.print(summary(last))
        buffer = last.get("buffer") or {"released": True}
        kept = "" if buffer["released"] else buffer["name"] or buffer["path"]
        _tell(outcome.message, outcome.line, made.id, outcome.state, kept)
    raise typer.Exit(outcome.exit_code)


def _tell(message: str, line: str | None, run_id: str, state: str, kept: str) -> None:
    if message:
        _err(f"burstlens: {printable(message)}")
    if line:
        _err(f"  {printable(line)}")
    if state in {"failed", "stopped"}:
        _err(f"go on with: burstlens resume {run_id}")
        if kept:
            _err(f"its buffer is kept ({kept}); burstlens free {run_id} gives it back")


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
