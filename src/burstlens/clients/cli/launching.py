"""Commands that start a driver: ``run``, ``demo``, ``resume``."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from burstlens.clients.cli import arguments as args
from burstlens.core.errors import BurstlensError
from burstlens.core.exit_codes import DONE, STOPPED_BY_GUARD
from burstlens.core.printable import print_stderr, printable, say
from burstlens.core.quantity import counted, show_duration
from burstlens.core.valid_time import label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from burstlens.core.run.continuation import ContinuationWanted
    from burstlens.core.run.directory import RunDir

app = typer.Typer()


@app.command(
    short_help="Run a recipe, and see it while it runs.",
    epilog="Example: burstlens run my.toml --set inputs=/my/wrf/run --notify mail:me@example.org",
)
def run(
    recipe: args.RecipeArg,
    site: args.SiteOpt = None,
    settings: args.SetOpt = None,
    name: args.NameOpt = None,
    detach: args.DetachOpt = False,
    batch: args.BatchOpt = False,
    notify: args.NotifyOpt = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the plan and the batch scripts; start nothing.")
    ] = False,
    as_json: args.JsonOpt = False,
) -> None:
    """Run a recipe: launch the model, make products of its frames while it runs.

    RECIPE is a name that `burstlens recipes` lists, or a .toml file.

    Ctrl-C asks for a stop (the frame in progress may end), a second one stops at once. The run
    outlives the terminal.

    Exit codes: 0 done, 1 failed or refused (or nothing could be shown), 2 wrong usage, 3 stopped by
    a guard, 4 stopped by a person, 5 ended with frames lost or damaged, 6 ended for want of space,
    7 a guard that stops tripped after the model's end, 8 done, but the buffer was not given back.
    Where several hold, the first of 1, 6, 5, 4, 3, 7, 8. --dry-run: 1 where the run is refused.
    """
    from burstlens.workflows.plan.commands import make_plan, new_run

    require_one_way(detach, batch)
    args.require_ways(notify)
    if dry_run:
        plan = make_plan(recipe, site, settings or [], batch=batch, notify=notify or [])
        say(json.dumps(plan.value(), indent=2) if as_json else plan.text())
        raise typer.Exit(0 if plan.right else 1)
    made, warnings = new_run(recipe, site, settings or [], name, batch=batch, notify=notify or [])
    start(made, warnings, detach=detach, batch=batch, as_json=as_json)


@app.command(
    short_help="See an earthquake cross a basin, in about two minutes.",
    epilog="Example: burstlens demo",
)
def demo(settings: args.SetOpt = None, name: args.NameOpt = None) -> None:
    """An earthquake crosses a basin: the bundled model, its pictures arriving while it runs.

    At the end it prints where the products are, and what to do with them.
    """
    from burstlens.clients.cli.tour import RECIPE, Tour
    from burstlens.clients.driving import drive
    from burstlens.workflows.awm import adapter  # noqa: F401  the model that it shows
    from burstlens.workflows.plan.commands import new_run

    made, warnings = new_run(RECIPE, "local", settings or [], name)
    _print_warnings(warnings)
    tour = Tour(made)
    code = drive(made, as_json=False, note=tour.beginning())
    if code == DONE:
        say(tour.end())
    raise typer.Exit(code)


@app.command(
    short_help="Resume a run after a crash, a failure or a stop.",
    epilog="Example: burstlens resume last --detach --notify desktop",
)
def resume(
    run: args.RunArg,
    time: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="TIME|latest",
            help="Resume from the checkpoint of that model time, or from the latest one that is "
            "not suspect.",
            autocompletion=args.complete_checkpoint,
        ),
    ] = None,
    walltime: Annotated[
        str | None,
        typer.Option(help="The longest time of a job from now on, such as 12:00:00; with --from."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="A setting of the model from now on, such as namelist.domains.time_step=20; with "
            "--from. May be given several times.",
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Resume also from a suspect checkpoint; with --from.")
    ] = False,
    detach: args.DetachOpt = False,
    batch: args.BatchOpt = False,
    notify: args.NotifyOpt = None,
    as_json: args.JsonOpt = False,
) -> None:
    """Resume a run whose driver has died, or whose model has failed or was stopped.

    A model that still runs is adopted. One that has ended badly is started in a new attempt, from
    its newest checkpoint that is not suspect, where it has one.
    Published products are not made again; what failed is, where its frame is still there. A run
    that ended with frames lost or damaged (exit code 5), or whose guard tripped after the model's
    end (7), is left as it is: only a new run writes other frames. One that is done and could not
    give its buffer back (8) gives it back.

    --from resumes from a checkpoint of the run instead, whatever its end was: what was computed
    after it is computed again. --walltime and --set change the jobs, and the attempt's own copy of
    the model's settings, from then on.

    Exit codes are those of `burstlens run`, in its order: the first of 1, 6, 5, 4, 3, 7, 8, else 0.

    Who gets word of it still does; --notify adds to them.

    A run that looks at a folder looks there again, also after its end; it never starts a model.

    RUN is a run's id (or the start of it), its directory, or `last`.
    """
    from burstlens.core.run.continuation import forget_wanted, read_wanted
    from burstlens.core.run.directory import open_run_dir
    from burstlens.core.run.history_file import history_of
    from burstlens.workflows.driver.resuming import resumable, send_missing
    from burstlens.workflows.notify.asked import ask

    require_one_way(detach, batch)
    args.require_ways(notify)
    found = open_run_dir(run)
    if time is None and (walltime or settings or force):
        raise typer.BadParameter("--walltime, --set and --force go with --from")
    reason = resumable(found) if time is None else None
    outcome = history_of(found.journal).outcome or {}
    if reason is not None:
        say(reason)
        if missing := send_missing(found):
            say(f"its driver had not sent {counted(missing, 'notice')}: done now")
        raise typer.Exit(outcome.get("exit_code") or 0)
    ask(found, notify or ())
    again = ""
    if time is not None:
        _resume_from(found, time, walltime, settings or (), force=force)
        again = _options(time, walltime, settings or (), force=force)
    elif wanted := read_wanted(found):
        print_stderr(f"burstlens: {_resumption(found, wanted)}, as an earlier --from wants")
    note = ""
    if outcome.get("exit_code") == STOPPED_BY_GUARD:
        how = f"{found.id} was {outcome.get('message')}"
        note = printable(f"{how}; it is resumed now, as requested")
    try:
        start(found, detach=detach, batch=batch, as_json=as_json, note=note, again=again)
    except (BurstlensError, OSError):
        if time is not None:
            forget_wanted(found)
        raise


def _resume_from(
    run: RunDir, time: str, walltime: str | None, settings: Sequence[str], *, force: bool
) -> None:
    """Have the next driver resume from that checkpoint. Raises BurstlensError."""
    from burstlens.core.quantity import parse_duration
    from burstlens.workflows.driver.continuing import changes_of, want_continuation

    try:
        seconds = None if walltime is None else parse_duration(walltime)
    except ValueError as error:
        raise typer.BadParameter(f"--walltime: {error}") from None
    changes = changes_of(settings)
    wanted = want_continuation(run, time, settings=changes, walltime_s=seconds, force=force)
    print_stderr(f"burstlens: {_resumption(run, wanted)}")


def _resumption(run: RunDir, wanted: ContinuationWanted) -> str:
    """What the next driver does, for users."""
    changes = [f"{name}={value}" for name, value in wanted.settings.items()]
    if wanted.walltime_s is not None:
        changes.append(f"jobs of {show_duration(wanted.walltime_s)}")
    changed = f", with {', '.join(changes)}" if changes else ""
    return printable(f"{run.id} resumes from {label(wanted.checkpoint)}{changed}")


def _options(time: str, walltime: str | None, settings: Sequence[str], *, force: bool) -> str:
    """The options of ``resume`` that say so again."""
    words = ["--from", time, *(["--walltime", walltime] if walltime is not None else [])]
    words += [word for setting in settings for word in ("--set", setting)]
    return shlex.join([*words, *(["--force"] if force else [])])


@app.command(hidden=True)
def drive(path: Path) -> None:
    """What --detach and --batch start; with ``-`` the run's path comes on standard input."""
    from burstlens.core.run.directory import RunDir

    if str(path) == "-":
        from burstlens.clients.driving import drive_prepared

        raise typer.Exit(drive_prepared())
    start(RunDir(path.resolve()), detach=False, batch=False, as_json=False)


def start(
    made: RunDir, warnings: Sequence[str] = (), *, detach: bool, batch: bool, as_json: bool,
    note: str = "", again: str = "",
) -> None:  # fmt: skip
    """Print the warnings, then drive the run here, or start a driver that outlives the terminal."""
    from burstlens.clients.driving import drive, send_off

    _print_warnings(warnings)
    if detach or batch:
        send_off(made, batch=batch, as_json=as_json, note=note, again=again)
    else:
        raise typer.Exit(drive(made, as_json=as_json, note=note))


def _print_warnings(warnings: Sequence[str]) -> None:
    for warning in warnings:
        print_stderr(f"warning: {warning}")


def require_one_way(detach: bool, batch: bool) -> None:
    """Raise BadParameter where both are given."""
    if detach and batch:
        raise typer.BadParameter("--batch outlives the terminal as --detach does; give one of them")
