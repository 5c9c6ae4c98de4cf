"""The arguments and options that commands share, and their shell completion.

The commands' docstrings explain the arguments: typer < 0.25 loses their help with
click >= 8.4.
"""

from __future__ import annotations

import contextlib
from typing import Annotated

import typer


def complete_recipe(incomplete: str) -> list[str]:
    """Names of recipes."""
    from burstlens.workflows.recipe.file import known

    return [name for name in known() if name.startswith(incomplete)]


def _complete_run(incomplete: str) -> list[str]:
    from burstlens.core.run.directory import all_runs

    return [*dict.fromkeys(run.id for run in all_runs() if run.id.startswith(incomplete))]


def _complete_site(incomplete: str) -> list[str]:
    from burstlens.cluster_configs.site import known

    return [name for name in known() if name.startswith(incomplete)]


def complete_product(context: typer.Context, incomplete: str) -> list[str]:
    """Names of the run's products."""
    from burstlens.clients.api.run import open_run

    names = open_run(_run_of(context)).products
    return [name for name in names if name.startswith(incomplete)]


def _run_of(context: typer.Context) -> str:
    """The run that the words so far name: not an argument yet where the last one is an option that
    lacks its value."""
    return str(context.params.get("run") or next(iter(context.args), "last"))


def complete_checkpoint(context: typer.Context, incomplete: str) -> list[str]:
    """The times of the run's checkpoints, and ``latest``. Dates come without colons, at which bash
    splits words."""
    from burstlens.core.errors import BurstlensError
    from burstlens.core.run.directory import open_run_dir
    from burstlens.core.run.history_file import history_of
    from burstlens.core.valid_time import is_calendar, iso, label

    try:
        history = history_of(open_run_dir(_run_of(context)).journal)
    except (BurstlensError, OSError):
        return []
    keys = [one.time for one in history.checkpoints.on(history.lineage)]
    dates = (iso(key).replace(":", "") if is_calendar(key) else label(key) for key in keys)
    known = ["latest", *(time.removeprefix("t = ").removesuffix(" s") for time in dates)]
    return [time for time in known if time.startswith(incomplete)]


def complete_way(incomplete: str) -> list[str]:
    """Ways of ``--notify``: those of the user's configuration, and how others begin."""
    from burstlens.core.errors import RecipeError
    from burstlens.workflows.notify.options import settings

    known = ["desktop", "mail:", "https://", "run:"]
    with contextlib.suppress(RecipeError, OSError):
        mine = settings()
        known = [*(f"mail:{one}" for one in mine.mail), *mine.webhook, *known]
    return [way for way in known if way.startswith(incomplete)]


def require_ways(ways: list[str] | None) -> None:
    """Raise BadParameter for a way that ``--notify`` does not take, or not on this machine."""
    if ways:
        from burstlens.workflows.notify.way import parse_way, require_here

        for way in ways:
            try:
                require_here(parse_way(way))
            except ValueError as error:
                raise typer.BadParameter(f"--notify: {error}") from None


RecipeArg = Annotated[str, typer.Argument(autocompletion=complete_recipe)]
RunArg = Annotated[str, typer.Argument(autocompletion=_complete_run)]
PlaceArg = Annotated[str | None, typer.Argument(metavar="[RUN|DIR]", autocompletion=_complete_run)]
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
    str | None,
    typer.Option(
        metavar="ID",
        help="The run's id; by default made from what it runs and the time, or what it looks at.",
    ),
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
NotifyOpt = Annotated[
    list[str] | None,
    typer.Option(
        "--notify",
        metavar="WAY",
        help="Who gets word when it ends, a guard trips or it needs you, with the newest picture: "
        "mail:ADDRESS, desktop, an https:// address (JSON), run:PROGRAM. May be given several "
        "times.",
        autocompletion=complete_way,
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
SiteArg = Annotated[
    str | None, typer.Argument(metavar="[SITE]", autocompletion=_complete_site, show_default=False)
]
ProbeOpt = Annotated[
    bool, typer.Option("--probe-io", help="Show which MPI-IO hints are in force on a site.")
]
ProbeRecipeOpt = Annotated[
    str | None,
    typer.Option(
        "--recipe",
        metavar="RECIPE",
        help="With --probe-io: probe the hints of this recipe.",
        autocompletion=complete_recipe,
    ),
]
ProbeRanksOpt = Annotated[
    int, typer.Option(min=1, max=1024, help="With --probe-io: MPI ranks of the probe, on one node.")
]
JsonOpt = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
