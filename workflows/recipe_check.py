"""From a recipe's table to a checked recipe, every fault told at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from itertools import chain, count
from typing import Any

from burstlens.errors import RecipeError
from burstlens.nearness import did_you_mean
from burstlens.viz.product import product_kinds, wants
from burstlens.viz.script import check_relative
from burstlens.workflows import models
from burstlens.workflows.check_table import Faults, read_table
from burstlens.workflows.guards.guard import Guard
from burstlens.workflows.parameters import settle
from burstlens.workflows.recipe import (
    Buffer,
    MadeProduct,
    Product,
    Recipe,
    Simulation,
    StageOut,
    Step,
    inside,
)
from burstlens.workflows.recipe_file import Source, read

_TABLES = {
    "title", "description", "extends", "parameters", "simulation", "buffer", "stage_out", "step",
    "product", "guard",
}  # fmt: skip
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def load(name: str, settings: Sequence[str] = ()) -> tuple[Recipe, dict[str, Any]]:
    """The checked recipe and its table with every parameter filled in (what a run records).

    ``settings`` are ``key=value`` as given to ``--set``: a parameter's name or a dotted path
    (``simulation.nodes=4``, ``product.t2.variable=PSFC``). Raises RecipeError with all faults.
    """
    source = read(name)
    return check(source, settings)


def check(source: Source, settings: Sequence[str] = ()) -> tuple[Recipe, dict[str, Any]]:
    """As :func:`load`, for a table that was read already."""
    faults = Faults()
    table = settle(source.table, settings, faults)
    recipe = _build(source, table, faults)
    if faults.found or recipe is None:
        raise RecipeError(faults.text(f"recipe {source.path}"))
    return recipe, table


def _build(source: Source, table: Mapping[str, Any], faults: Faults) -> Recipe | None:
    _printable(table, "", faults)
    for key in table:
        if key not in _TABLES:
            faults.add(key, f"unknown key{did_you_mean(key, sorted(_TABLES))}")
    title = table.get("title", source.name)
    if not isinstance(title, str):
        faults.add("title", f"expected a text, got {title!r}")
    simulation, model = _simulation(table.get("simulation"), faults)
    buffer = read_table(Buffer, _table(table, "buffer", faults), "buffer", faults)
    stage_out = read_table(StageOut, _table(table, "stage_out", faults), "stage_out", faults)
    steps = [
        read_table(Step, entry, path, faults) for path, entry in _entries(table, "step", faults)
    ]
    made = [_product(entry, path, faults) for path, entry in _entries(table, "product", faults)]
    guards = [
        read_table(Guard, entry, path, faults) for path, entry in _entries(table, "guard", faults)
    ]
    _check_needs([product for product in made if product is not None], faults)
    if faults.found or simulation is None or model is None or buffer is None or stage_out is None:
        return None
    return Recipe(
        title=title,
        simulation=simulation,
        model=model,
        folder=source.path.parent,
        name=source.name,
        description=str(table.get("description", "")),
        buffer=buffer,
        stage_out=stage_out,
        steps=tuple(step for step in steps if step is not None),
        products=tuple(product for product in made if product is not None),
        guards=_named(guard for guard in guards if guard is not None),
    )


def _named(guards: Iterable[Guard]) -> tuple[Guard, ...]:
    """The guards, those without a name called after what they watch, each by a name of its own."""
    known = list(guards)
    taken = {guard.name for guard in known if guard.name is not None}
    made = []
    for guard in known:
        if guard.name is None:
            numbered = (f"{guard.own_name}-{number}" for number in count(2))
            name = next(name for name in chain([guard.own_name], numbered) if name not in taken)
            taken.add(name)
            guard = replace(guard, name=name)
        made.append(guard)
    return tuple(made)


def _printable(value: Any, path: str, faults: Faults) -> None:
    # A recipe is somebody else's: what it says reaches terminals, file names and arguments.
    if isinstance(value, str) and _CONTROL.search(value):
        faults.add(path, f"holds a control character: {value!r}")
    elif isinstance(value, Mapping):
        for key, entry in value.items():
            _printable(str(key), path, faults)
            _printable(entry, f"{path}.{key}".lstrip("."), faults)
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            _printable(entry, f"{path}.{index}", faults)


def _table(table: Mapping[str, Any], key: str, faults: Faults) -> Mapping[str, Any]:
    value = table.get(key, {})
    if isinstance(value, Mapping):
        return value
    faults.add(key, f"expected a table [{key}], got {value!r}")
    return {}


def _entries(
    table: Mapping[str, Any], key: str, faults: Faults
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    value = table.get(key, [])
    if not isinstance(value, list):
        faults.add(key, f"expected [[{key}]] tables, got {value!r}")
        return
    seen: set[str] = set()
    for index, entry in enumerate(value):
        if not isinstance(entry, Mapping):
            faults.add(f"{key}.{index}", f"expected a [[{key}]] table, got {entry!r}")
            continue
        name = str(entry.get("name", index))
        if name in seen:
            faults.add(f"{key}.{name}", "the name is taken by another one")
        seen.add(name)
        yield f"{key}.{name}", entry


def _split(entry: Mapping[str, Any], cls: type) -> tuple[dict[str, Any], dict[str, Any]]:
    common = {item.name for item in fields(cls)}
    return (
        {key: value for key, value in entry.items() if key in common},
        {key: value for key, value in entry.items() if key not in common},
    )


def _simulation(table: Any, faults: Faults) -> tuple[Simulation | None, Any]:
    if not isinstance(table, Mapping):
        faults.add("simulation", "is required: a [simulation] table with model and inputs")
        return None, None
    entry = dict(table)
    name = entry.pop("model", None)
    common, own = _split(entry, Simulation)
    simulation = read_table(Simulation, common, "simulation", faults)
    known = models.names()
    if not isinstance(name, str) or name not in known:
        hint = did_you_mean(str(name or ""), known)
        faults.add(
            "simulation.model",
            f'there is no model "{name}"{hint}' if name else f"is required{hint}",
        )
        return simulation, None
    common_names = [item.name for item in fields(Simulation)]
    model = read_table(models.load(name), own, "simulation", faults, also=common_names)
    if model is not None:
        for key in ("keep_patterns", "log_patterns"):
            for pattern in getattr(model, key):
                try:
                    inside(pattern)
                except ValueError as error:
                    faults.add(f"simulation.{key}", f"{error}, got {pattern!r}")
    return simulation, model


def _check_needs(made: Sequence[MadeProduct], faults: Faults) -> None:
    known = {product.name: (product, wants(product.kind, product.options)) for product in made}
    chains = [name for name, (_, needs) in known.items() if needs.chained]
    for name, (product, needs) in known.items():
        for other in needs.follows:
            if other not in chains:
                hint = did_you_mean(other, chains)
                what = f'follows "{other}", which is no product that goes from frame to frame{hint}'
            elif known[other][1].follows:
                what = f'follows "{other}", which itself follows another product'
            elif known[other][0].common.stream != product.common.stream:
                what = f'follows "{other}", which is made of another stream'
            else:
                continue
            faults.add(f"product.{name}", what)
        if needs.chained and product.kind.widens(product.options):
            what = "goes from frame to frame, so its colour limits cannot widen: give [low, high]"
            faults.add(f"product.{name}.limits", what)


def _product(entry: Mapping[str, Any], path: str, faults: Faults) -> MadeProduct | None:
    common, own = _split(entry, Product)
    checked = read_table(Product, common, path, faults)
    if checked is None:
        return None
    kinds = product_kinds()
    if checked.kind not in kinds:
        hint = did_you_mean(checked.kind, kinds)
        faults.add(f"{path}.kind", f'there is no kind "{checked.kind}"{hint}')
        return None
    kind = kinds[checked.kind]
    common_names = [item.name for item in fields(Product)]
    options = read_table(kind.options, own, path, faults, also=common_names)
    if options is None:
        return None
    for file in kind.ships(options):  # a kind may be anybody's: whatever it ships is copied
        try:
            check_relative(file)
        except ValueError as error:
            faults.add(path, str(error))
    return MadeProduct(checked, kind, options)
