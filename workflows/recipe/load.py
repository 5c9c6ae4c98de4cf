"""From a recipe's table to a checked recipe, or all of its faults at once."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count
from typing import Any

from burstlens.core.errors import RecipeError
from burstlens.core.fault import KeyPath, shorten, shown
from burstlens.core.nearness import did_you_mean, near_names
from burstlens.core.plugins import leaf
from burstlens.core.toml.faults import Faults, report
from burstlens.core.toml.table import keys, read_table
from burstlens.viz.kinds.shipped import check_relative
from burstlens.viz.registry import product_kinds
from burstlens.workflows.guards.guard import Guard, GuardTable
from burstlens.workflows.models import registry as models
from burstlens.workflows.notify.options import Notify
from burstlens.workflows.recipe.checkpoint_files import with_checkpoints
from burstlens.workflows.recipe.draft import Draft, numbered
from burstlens.workflows.recipe.file import read
from burstlens.workflows.recipe.layers import Source, drop_first_frames, rename
from burstlens.workflows.recipe.parameters import settle, unknown_places
from burstlens.workflows.recipe.recipe import (
    EXTRA_TABLES,
    Buffer,
    Checkpoint,
    MadeProduct,
    Product,
    Recipe,
    Simulation,
    StageOut,
    Step,
    Viewing,
    inside,
)

_TABLES = {
    "title", "description", "extends", "parameters", "simulation", "buffer", "checkpoint",
    "stage_out", "viewing", "step", "product", "guard", "notify", *EXTRA_TABLES,
}  # fmt: skip
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def load(name: str, settings: Sequence[str] = ()) -> tuple[Recipe, dict[str, Any]]:
    """The checked recipe and its table with every parameter filled in (what a run records).
    ``settings`` are ``key=value`` as given to ``--set``: a parameter's name or a dotted path
    (``simulation.nodes=4``, ``product.t2.variable=PSFC``). Raises RecipeError with all faults."""
    return check(read(name), settings)


def check(source: Source, settings: Sequence[str] = ()) -> tuple[Recipe, dict[str, Any]]:
    """As :func:`load`, for a source that was already read."""
    draft = drafted(source, settings)
    found = draft.found()
    if found or draft.faults or draft.recipe is None:
        raise RecipeError(report(f"recipe {source.path}", found, draft.faults.more), found)
    return draft.recipe, draft.settled.table


def drafted(source: Source, settings: Sequence[str] = ()) -> Draft:
    """The faults of a source, and a recipe from its valid parts. Raises RecipeError only for a
    faulty user configuration."""
    rename(source.table)  # the record of an older run may have former keys
    drop_first_frames(source.table)
    faults = Faults()
    settled = settle(source.table, settings, faults)
    unknown = dict(unknown_places(settled.table, settled.declared))
    for path, name in unknown.items():
        hint = did_you_mean(name, settled.declared)
        faults.add(path, f"{{{name}}} is not a parameter of this recipe{hint}")
    recipe = _build(source, settled.table, faults)
    return Draft(source, settled, faults, frozenset(unknown), recipe)


def _build(source: Source, table: Mapping[str, Any], faults: Faults) -> Recipe | None:
    """The recipe, without faulty parts; None if it has no model."""
    _printable(table, (), faults)
    for key in table:
        if key not in _TABLES and not faults.full:
            faults.add((key,), f"unknown key{did_you_mean(key, _TABLES)}", table[key])
    texts = {"title": table.get("title", source.name), "description": table.get("description", "")}
    for key, text in texts.items():
        if not isinstance(text, str):
            faults.add((key,), f"expected a text, got {shown(text)}", text)
    simulation, model = _simulation(table.get("simulation"), faults)
    buffer = read_table(Buffer, _table(table, "buffer", faults), ("buffer",), faults)
    about = _table(table, "checkpoint", faults)
    checkpoint = read_table(Checkpoint, about, ("checkpoint",), faults)
    stage_out = read_table(StageOut, _table(table, "stage_out", faults), ("stage_out",), faults)
    viewing = read_table(Viewing, _table(table, "viewing", faults), ("viewing",), faults)
    notify = read_table(Notify, _table(table, "notify", faults), ("notify",), faults)
    extra = {
        name: read_table(cls, _table(table, name, faults), (name,), faults) or cls()
        for name, (home, _) in EXTRA_TABLES.items()
        if (cls := leaf(home)) is not None
    }
    steps = [
        read_table(Step, entry, path, faults) for path, entry in _entries(table, "step", faults)
    ]
    made = [
        (path, _product(entry, path, faults)) for path, entry in _entries(table, "product", faults)
    ]
    guards = [
        (path, made and made.guard)
        for path, entry in _entries(table, "guard", faults)
        for made in [read_table(GuardTable, entry, path, faults)]
    ]
    check_references(made, table, faults)
    if simulation is None or model is None:
        return None
    model = with_checkpoints(model, checkpoint, simulation, faults)
    if faults:
        made, guards = numbered(made, guards, faults)
    return Recipe(
        title=str(texts["title"]),
        simulation=simulation,
        model=model,
        folder=source.path.parent,
        name=source.name,
        description=str(texts["description"]),
        buffer=buffer or Buffer(),
        checkpoint=checkpoint or Checkpoint(),
        stage_out=stage_out or StageOut(),
        viewing=viewing or Viewing(),
        steps=tuple(step for step in steps if step is not None),
        products=tuple(product for _, product in made if product is not None),
        guards=_named(guard for _, guard in guards if guard is not None),
        notify=notify or Notify(),
        extra=extra,
        notes=source.notes,
    )


def _named(guards: Iterable[Guard]) -> tuple[Guard, ...]:
    """The guards, each with a unique name; unnamed ones are named after what they watch."""
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


def _printable(value: Any, path: KeyPath, faults: Faults) -> None:
    # Recipes may come from other users; their text reaches terminals, file names, arguments.
    if isinstance(value, str) and _CONTROL.search(value):
        faults.add(path, f"holds a control character: {shown(value)}", value)
    elif isinstance(value, float) and not math.isfinite(value):
        faults.add(path, "not a finite number", str(value))
    elif isinstance(value, int) and not -(2**63) <= value < 2**63:
        faults.add(path, "the number needs more than 64 bits", "a number")
    elif isinstance(value, Mapping):
        for key, entry in value.items():
            if _CONTROL.search(str(key)):
                faults.add(path, f"a key holds a control character: {shown(str(key))}")
            _printable(entry, (*path, key), faults)
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            _printable(entry, (*path, index), faults)


def _table(table: Mapping[str, Any], key: str, faults: Faults) -> Mapping[str, Any]:
    value = table.get(key, {})
    if isinstance(value, Mapping):
        return value
    faults.add((key,), f"expected a table [{key}], got {shown(value)}", value)
    return {}


def _entries(
    table: Mapping[str, Any], key: str, faults: Faults
) -> Iterator[tuple[KeyPath, Mapping[str, Any]]]:
    value = table.get(key, [])
    if isinstance(value, Mapping):
        faults.add((key,), f"expected [[{key}]], with two brackets, not [{key}]")
        value = [value]
    if not isinstance(value, list):
        faults.add((key,), f"expected [[{key}]] tables, got {shown(value)}", value)
        return
    seen: set[str] = set()
    for index, entry in enumerate(value):
        path = (key, index)
        if faults.full:
            return
        if not isinstance(entry, Mapping):
            faults.add(path, f"expected a [[{key}]] table, got {shown(entry)}", entry)
            continue
        name = entry.get("name")
        if isinstance(name, str) and name in seen:
            faults.add((*path, "name"), "the name is taken by another one", name)
        seen.add(name if isinstance(name, str) else "")
        yield path, entry


def _split(entry: Mapping[str, Any], cls: type) -> tuple[dict[str, Any], dict[str, Any]]:
    common = set(keys(cls))
    return (
        {key: value for key, value in entry.items() if key in common},
        {key: value for key, value in entry.items() if key not in common},
    )


def _simulation(table: Any, faults: Faults) -> tuple[Simulation | None, Any]:
    path = ("simulation",)
    if not isinstance(table, Mapping):
        message = "is required: a [simulation] table with model and inputs"
        faults.add(path, message, table, lacking=table is None)
        return None, None
    entry = dict(table)
    name = entry.pop("model", None)
    common, own = _split(entry, Simulation)
    simulation = read_table(Simulation, common, path, faults)
    known = models.names()
    if not isinstance(name, str) or name not in known:
        hint = did_you_mean(name if isinstance(name, str) else "", known)
        said = f"is required{hint}" if name is None else f"there is no model {_quoted(name)}{hint}"
        faults.add((*path, "model"), said, name, lacking=name is None)
        meant = near_names(name, known) if isinstance(name, str) else []
        if len(meant) != 1:
            return simulation, None
        found = Faults()  # check the rest as well
        model = read_table(models.load(meant[0]), own, path, found, also=keys(Simulation))
        faults.take(found, lacking=False)
        faults.guessed.add((*path, "model"))
        return simulation, model
    model = read_table(models.load(name), own, path, faults, also=keys(Simulation))
    for key in ("keep_patterns", "log_patterns"):
        for pattern in getattr(model, key, ()):
            try:
                inside(pattern)
            except ValueError as error:
                faults.add((*path, key), f"{error}, got {shown(pattern)}", pattern)
    return simulation, model


def _product(entry: Mapping[str, Any], path: KeyPath, faults: Faults) -> MadeProduct | None:
    common, own = _split(entry, Product)
    checked = read_table(Product, common, path, faults)
    kinds = product_kinds()
    name = common.get("kind")
    if not isinstance(name, str):
        return None
    known = name in kinds
    if not known:
        said = f"there is no kind {_quoted(name)}{did_you_mean(name, kinds)}"
        faults.add((*path, "kind"), said, name)
        meant = near_names(name, kinds)
        if len(meant) != 1:
            return None
        name = meant[0]  # check the rest as well
        faults.guessed.add((*path, "kind"))
    kind = kinds[name]
    found = Faults()
    options = read_table(kind.options, own, path, found, also=keys(Product))
    faults.take(found, lacking=known)
    if options is None or checked is None or (found and not known):
        return None  # faults suggest that the guessed kind is wrong
    for file in kind.ships(options):  # kinds may be plugins: all files are copied
        try:
            check_relative(file)
        except ValueError as error:
            faults.add((*path, *where(entry, file)), str(error), file)
    return MadeProduct(checked, kind, options)


def _quoted(name: object) -> str:
    plain = isinstance(name, str) and name.isprintable()
    return f'"{shorten(str(name), 80)}"' if plain else shown(name)


def check_references(
    made: Sequence[tuple[KeyPath, MadeProduct | None]], table: Mapping[str, Any], faults: Faults
) -> None:
    """Add faults of products that follow others. ``made`` are all products with their paths, None
    for those that could not be made from the recipe's ``table``."""
    known = {
        product.name: (path, product, product.kind.wants(product.options))
        for path, product in made
        if product is not None
    }
    # A product that could not be made may be a valid target.
    entries = table.get("product")
    tables = entries if isinstance(entries, list) else ()
    names = {str(entry.get("name")) for entry in tables if isinstance(entry, Mapping)}
    unknown = names - known.keys()
    chains = [name for name, (_, _, needs) in known.items() if needs.chained]
    for path, product, needs in known.values():
        for other in needs.follows:
            if other in unknown:
                continue
            if other not in chains:
                near = did_you_mean(other, chains)
                what = f"is not a product that goes from frame to frame{near}"
            elif known[other][2].follows:
                what = "itself follows another product"
            elif known[other][1].common.stream != product.common.stream:
                what = "is made of another stream"
            else:
                continue
            place = (*path, *where(table["product"][path[1]], other))
            text = f'follows "{other}", which {what}'
            faults.add(place, text, other, lacking=other not in chains)
        if needs.chained and product.kind.widens(product.options):
            what = "goes from frame to frame, so its colour limits cannot widen: give [low, high]"
            faults.add((*path, "limits"), what)


def where(value: Any, name: str) -> KeyPath:
    """The path inside ``value`` of the text that names another product: NAME or track:NAME."""
    if isinstance(value, Mapping | list):
        inner = value.items() if isinstance(value, Mapping) else enumerate(value)
        for key, entry in inner:
            if key != "name":
                if entry in (name, f"track:{name}"):
                    return (key,)
                if found := where(entry, name):
                    return (key, *found)
    return ()
