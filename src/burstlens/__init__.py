"""See a simulation while it runs: in-situ visualization on burst buffers, driven by Parsl.

The public names, as the command line uses them. Each is imported when it is first asked for, so
that ``import burstlens`` costs nothing; docs/python.md shows them at work.
"""

from __future__ import annotations

from importlib import import_module

__version__ = "0.2.0"

TYPE_CHECKING = False  # type checkers take it for True; typing itself would take 10 ms
if TYPE_CHECKING:
    from burstlens import journal as _journal
    from burstlens.errors import BurstlensError as BurstlensError
    from burstlens.errors import FrameError as FrameError
    from burstlens.errors import RecipeError as RecipeError
    from burstlens.errors import RunError as RunError
    from burstlens.errors import SimulationError as SimulationError
    from burstlens.errors import SiteError as SiteError
    from burstlens.errors import StagingError as StagingError
    from burstlens.opened.run import Run as Run
    from burstlens.opened.run import open_run as open_run
    from burstlens.opened.runs import launch as launch
    from burstlens.opened.runs import runs as runs
    from burstlens.run_dir import RunDir as RunDir
    from burstlens.run_dir import all_runs as all_runs
    from burstlens.run_dir import open_run_dir as open_run_dir
    from burstlens.status import status_of as status_of
    from burstlens.viz.frame import FrameReader as FrameReader
    from burstlens.workflows import recipe_check as _recipe_check
    from burstlens.workflows.commands import checked as checked
    from burstlens.workflows.commands import new_run as new_run
    from burstlens.workflows.commands import plan_of as plan_of
    from burstlens.workflows.guards.guard import Guard as Guard
    from burstlens.workflows.jobs import Outcome as Outcome
    from burstlens.workflows.recipe import Buffer as Buffer
    from burstlens.workflows.recipe import MadeProduct as MadeProduct
    from burstlens.workflows.recipe import Product as Product
    from burstlens.workflows.recipe import Recipe as Recipe
    from burstlens.workflows.recipe import Simulation as Simulation
    from burstlens.workflows.recipe import StageOut as StageOut
    from burstlens.workflows.recipe import Step as Step
    from burstlens.workflows.run import execute as execute
    from burstlens.workflows.snapshot import Snapshot as Snapshot

    read_journal = _journal.read
    read_recipe = _recipe_check.load

_HOMES = {
    "errors": (
        "BurstlensError", "FrameError", "RecipeError", "RunError", "SimulationError", "SiteError",
        "StagingError",
    ),
    "journal": ("read_journal=read",),
    "opened.run": ("Run", "open_run"),
    "opened.runs": ("launch", "runs"),
    "run_dir": ("RunDir", "all_runs", "open_run_dir"),
    "status": ("status_of",),
    "viz.frame": ("FrameReader",),
    "workflows.commands": ("checked", "new_run", "plan_of"),
    "workflows.guards.guard": ("Guard",),
    "workflows.jobs": ("Outcome",),
    "workflows.recipe": (
        "Buffer", "MadeProduct", "Product", "Recipe", "Simulation", "StageOut", "Step",
    ),
    "workflows.recipe_check": ("read_recipe=load",),
    "workflows.run": ("execute",),
    "workflows.snapshot": ("Snapshot",),
}  # fmt: skip
_PUBLIC = {
    public: (f"burstlens.{home}", inner or public)
    for home, entries in _HOMES.items()
    for public, _, inner in (entry.partition("=") for entry in entries)
}


def __getattr__(name: str) -> object:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home, inner = _PUBLIC[name]
    value = getattr(import_module(home), inner)
    globals()[name] = value  # found at once from now on
    return value


def __dir__() -> list[str]:
    return sorted({"__version__", *_PUBLIC, *globals()})
