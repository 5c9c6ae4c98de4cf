"""Public names that have moved: the old ones work for one release, with a DeprecationWarning.

Those of 0.2 go in 0.4.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType

MODULES: dict[str, tuple[str, ...]] = {
    "burstlens.errors": ("core.errors",),
    "burstlens.journal": ("core.run.journal",),
    "burstlens.model": ("core.model",),
    "burstlens.run_dir": ("core.run.directory",),
    "burstlens.status": ("clients.opened.status",),
    "burstlens.valid_time": ("core.valid_time",),
    "burstlens.viz.colour_names": ("viz.drawing.colour_names",),
    "burstlens.viz.crop": ("viz.geometry.crop", "viz.geometry.staggering"),
    "burstlens.viz.field": ("viz.geometry.field",),
    "burstlens.viz.frame": (
        "viz.diagnostics.derived", "viz.seams", "viz.product", "viz.frames.reader",
    ),
    "burstlens.viz.grid": ("viz.geometry.grid",),
    "burstlens.viz.style": ("viz.drawing.style",),
    "burstlens.viz.units": ("core.units",),
    "burstlens.workflows.recipe_check": ("workflows.recipe.load",),
}  # fmt: skip
"""Each old module, and where its names are now, below ``burstlens``."""

NAMES = {
    ("burstlens", "FrameReader"): "viz.product:ProductFrame",
    ("burstlens", "checked"): "workflows.plan.commands:check_recipe",
    ("burstlens", "plan_of"): "workflows.plan.commands:make_plan",
    ("burstlens.cluster_configs.scheduler", "ForecastingScheduler"): (
        "cluster_configs.scheduler:Scheduler"
    ),
    ("burstlens.cluster_configs.scheduler", "MeasuredScheduler"): (
        "cluster_configs.scheduler:Scheduler"
    ),
    ("burstlens.stagers.base", "require_stager"): "stagers.registry:require_stager",
    ("burstlens.stagers.base", "stager"): "stagers.registry:stager",
    ("burstlens.viz.product", "PlainKind"): "viz.kinds.base:ProductKind",
    ("burstlens.viz.product", "ProductKind"): "viz.kinds.base:ProductKind",
    ("burstlens.viz.product", "product_kind"): "viz.registry:product_kind",
    ("burstlens.viz.product", "product_kinds"): "viz.registry:product_kinds",
    ("burstlens.workflows.models.base", "Outlined"): "workflows.models.base:Model",
    ("burstlens.workflows.models.base", "OutputNamed"): "workflows.models.base:Model",
    ("burstlens.workflows.models.base", "Reading"): "workflows.models.base:Model",
}
"""Names that have left a module that stays, and where they are now."""

METHODS = {
    ("BatchSite", "constraint"): "node_features",
    ("BatchSite", "partition"): "queue",
    ("RunDir", "asked"): "stop_requested",
    ("RunDir", "drop"): "request",
    ("RunDir", "why"): "stop_reason",
}
"""Methods and attributes of public classes that have other names now."""


def moved(module: str, name: str) -> object:
    """The object that a moved name of a module means now. AttributeError for any other name. For a
    module's ``__getattr__``: the warning points to the line that uses the old name."""
    home, _, inner = NAMES.get((module, name), "").partition(":")
    if not home:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    _warn(f"{module}.{name}", f"burstlens.{home}.{inner}", 4)
    return getattr(import_module(f"burstlens.{home}"), inner)


def renamed(owner: str, name: str) -> str:
    """The name that a method or an attribute of a public class has now. AttributeError for any
    other name."""
    if (owner, name) not in METHODS:
        raise AttributeError(f"{owner!r} object has no attribute {name!r}")
    new = METHODS[owner, name]
    _warn(f"{owner}.{name}", f"{owner}.{new}", 4)
    return new


class _Moved:
    """Finds the old modules, after all other finders have found nothing."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in MODULES:
            return None
        # This class has a Loader's methods: importlib.abc takes 0.1 s to import.
        return ModuleSpec(name, self)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> None:
        """An ordinary one."""

    def exec_module(self, module: ModuleType) -> None:
        homes = [f"burstlens.{home}" for home in MODULES[module.__name__]]
        _warn(module.__name__, homes[0], 3)

        def find(name: str) -> object:
            for home in homes:
                found = getattr(import_module(home), name, None)
                if found is not None:
                    return found
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")

        module.__dict__["__getattr__"] = find


def _warn(old: str, new: str, level: int) -> None:
    warnings.warn(f"{old} is now {new}; the old name goes in 0.4", DeprecationWarning, level)


def install() -> None:
    """Make the old modules importable; once per process."""
    if not any(isinstance(finder, _Moved) for finder in sys.meta_path):
        sys.meta_path.append(_Moved())
