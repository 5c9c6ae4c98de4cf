"""See a simulation while it runs: in-situ visualization on burst buffers, driven by Parsl.

The public names, as the command line uses them. Each is imported on first use, so
that ``import burstlens`` costs nothing; docs/python.md shows them at work.
"""

from __future__ import annotations

from importlib import import_module

from burstlens.core.renamed import install, moved
from burstlens.core.version import __version__ as __version__

TYPE_CHECKING = False  # type checkers take it for True; typing itself would take 10 ms
if TYPE_CHECKING:
    from burstlens.clients.api.run import Run as Run
    from burstlens.clients.api.run import open_run as open_run
    from burstlens.clients.api.runs import launch as launch
    from burstlens.clients.api.runs import look as look
    from burstlens.clients.api.runs import runs as runs
    from burstlens.clients.opened.status import status_of as status_of
    from burstlens.core.errors import AttachError as AttachError
    from burstlens.core.errors import BurstlensError as BurstlensError
    from burstlens.core.errors import FrameError as FrameError
    from burstlens.core.errors import RecipeError as RecipeError
    from burstlens.core.errors import RunError as RunError
    from burstlens.core.errors import SimulationError as SimulationError
    from burstlens.core.errors import SiteError as SiteError
    from burstlens.core.errors import StagingError as StagingError
    from burstlens.core.outcome import Outcome as Outcome
    from burstlens.core.run import journal as _journal
    from burstlens.core.run.directory import RunDir as RunDir
    from burstlens.core.run.directory import all_runs as all_runs
    from burstlens.core.run.directory import open_run_dir as open_run_dir
    from burstlens.viz.product import ProductFrame as ProductFrame
    from burstlens.workflows.driver.run import execute as execute
    from burstlens.workflows.guards.guard import Guard as Guard
    from burstlens.workflows.plan.commands import check_recipe as check_recipe
    from burstlens.workflows.plan.commands import make_plan as make_plan
    from burstlens.workflows.plan.commands import new_run as new_run
    from burstlens.workflows.publishing.snapshot import Snapshot as Snapshot
    from burstlens.workflows.recipe import load as _recipe_check
    from burstlens.workflows.recipe.recipe import Buffer as Buffer
    from burstlens.workflows.recipe.recipe import MadeProduct as MadeProduct
    from burstlens.workflows.recipe.recipe import Product as Product
    from burstlens.workflows.recipe.recipe import Recipe as Recipe
    from burstlens.workflows.recipe.recipe import Simulation as Simulation
    from burstlens.workflows.recipe.recipe import StageOut as StageOut
    from burstlens.workflows.recipe.recipe import Step as Step
    from burstlens.workflows.recipe.recipe import Viewing as Viewing

    read_journal = _journal.read_records
    read_recipe = _recipe_check.load

_HOMES = {
    "clients.api.run": ("Run", "open_run"),
    "clients.api.runs": ("launch", "look", "runs"),
    "clients.opened.status": ("status_of",),
    "core.errors": (
        "AttachError", "BurstlensError", "FrameError", "RecipeError", "RunError",
        "SimulationError", "SiteError", "StagingError",
    ),
    "core.outcome": ("Outcome",),
    "core.run.directory": ("RunDir", "all_runs", "open_run_dir"),
    "core.run.journal": ("read_journal=read_records",),
    "viz.product": ("ProductFrame",),
    "workflows.driver.run": ("execute",),
    "workflows.guards.guard": ("Guard",),
    "workflows.plan.commands": ("check_recipe", "make_plan", "new_run"),
    "workflows.publishing.snapshot": ("Snapshot",),
    "workflows.recipe.load": ("read_recipe=load",),
    "workflows.recipe.recipe": (
        "Buffer", "MadeProduct", "Product", "Recipe", "Simulation", "StageOut", "Step",
        "Viewing",
    ),
}  # fmt: skip
_PUBLIC = {
    public: (f"burstlens.{home}", inner or public)
    for home, entries in _HOMES.items()
    for public, _, inner in (entry.partition("=") for entry in entries)
}


install()


def __getattr__(name: str) -> object:
    if name not in _PUBLIC:
        return moved(__name__, name)
    home, inner = _PUBLIC[name]
    value = getattr(import_module(home), inner)
    globals()[name] = value  # found at once from now on
    return value


def __dir__() -> list[str]:
    return sorted({"__version__", *_PUBLIC, *globals()})
