"""The products and guards on offer for a folder: of a recipe, or those that ship for its model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from burstlens.workflows.guards.guard import Guard
from burstlens.workflows.look.folder.found import Found
from burstlens.workflows.look.folder.streams import PLACEHOLDER, Streams
from burstlens.workflows.recipe.file import read
from burstlens.workflows.recipe.layers import Source
from burstlens.workflows.recipe.load import check
from burstlens.workflows.recipe.recipe import MadeProduct

WRF_RECIPE = "wrf-overview"
_ON_WRF = {"west_east", "south_north"}
_STRIP = 3
"""Rows at most of a domain that is a vertical plane: WRF's 2-D cases have 1 to 3."""
_PLACE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True, slots=True)
class Offered:
    """``products`` and ``guards`` with their tables; ``folder`` is where their files start.
    ``name`` is the recipe's, "" where there is none."""

    products: tuple[tuple[MadeProduct, dict[str, Any]], ...] = ()
    guards: tuple[tuple[Guard, dict[str, Any]], ...] = ()
    folder: Path = field(default_factory=Path)
    name: str = ""


def simulation(folder: Path, found: Found) -> dict[str, Any]:
    """The ``[simulation]`` table of a folder, with a placeholder where the program is not known."""
    table: dict[str, Any] = {"model": found.model, "inputs": str(folder.absolute())}
    if found.model == "command":
        table["command"] = list(PLACEHOLDER)
    return table | {key: _plain(value) for key, value in found.settings.items()}


def offered(folder: Path, found: Found, streams: Streams, recipe: str | None) -> Offered:
    """The products and guards of ``recipe``, else those for the model; none for any other model.

    Raises RecipeError where the recipe cannot be found, read or used.
    """
    if recipe is None and found.model == "awm":
        return _checked(_own(of_awm(streams), [_STABLE]), folder, found, "")
    if recipe is None and (found.model == "wrf" or _is_on_wrf(streams)):
        recipe = WRF_RECIPE
        source = read(recipe)
        upright = _upright(streams)
        table = dict(source.table) | ({"product": upright} if upright else {})
        return _checked(replace(source, table=table), folder, found, recipe)
    return _checked(read(recipe), folder, found, recipe) if recipe else Offered()


def _upright(streams: Streams) -> list[dict[str, Any]]:
    """Vertical sections for a domain that is a vertical plane (WRF's em_hill2d_x, em_seabreeze2d_x,
    em_squall2d_x and _y, em_grav2d_x): maps of it are strips; none for any other domain."""
    known = streams.known(streams.main) if streams.main else None
    if known is None:
        return []
    columns, rows = (known.sizes.get(d, 0) for d in ("west_east", "south_north"))
    if not (0 < min(columns, rows) <= _STRIP < max(columns, rows)):
        return []
    if rows < columns:
        ends = [{"i": i, "j": (rows - 1) / 2} for i in (0, columns - 1)]
        wind, title = "U", "Wind, x component"
    else:
        ends = [{"i": (columns - 1) / 2, "j": j} for j in (0, rows - 1)]
        wind, title = "V", "Wind, y component"
    line = {"kind": "section", "start": ends[0], "end": ends[1]}
    return [
        line | {"name": "updraft", "variable": "W", "title": "Vertical wind"},
        line | {"name": "wind", "variable": wind, "title": title},
        line | {"name": "theta", "variable": "theta"},
        line | {"name": "clouds", "variable": "QCLOUD", "units": "g kg-1"},
    ]


def of_awm(streams: Streams) -> list[dict[str, Any]]:
    """Ground motion: velocity, its peak so far, seismograms where stations are written."""
    known = streams.known("surface")
    has_peaks = known is not None and "pgv" in known.variables
    peak = {"components": ["pgv"]} if has_peaks else {}
    return [
        {"name": "ground", "kind": "map", "stream": "surface", "variable": "vz", "units": "cm s-1",
         "title": "Vertical ground velocity", "smooth": True, "source": {}},
        {"name": "north", "kind": "map", "stream": "surface", "variable": "vy", "units": "cm s-1",
         "title": "Ground velocity, north", "smooth": True, "source": {}},
        {"name": "pgv", "kind": "peak", "stream": "surface", "quantity": "pgv",
         "source": {}} | peak,
        {"name": "seismograms", "kind": "seismogram", "stream": "stations", "units": "cm s-1"},
    ]  # fmt: skip


_STABLE = {"name": "stable", "stream": "surface", "variable": "vz", "min": -5.0, "max": 5.0}
"""No ground moves so fast, but an unstable time step soon produces such velocities (m s-1)."""


def made(folder: Path, found: Found, product: Mapping[str, Any]) -> MadeProduct:
    """One product from its table. Raises RecipeError for a faulty one."""
    return _checked(_own([dict(product)], []), folder, found, "").products[0][0]


def of_tables(folder: Path, found: Found, table: Mapping[str, Any], files: Path) -> Offered:
    """The products and guards of a recipe's table; ``files`` is the folder of its files."""
    own = {key: table[key] for key in ("product", "guard") if key in table}
    return _checked(Source("look", files / "look.toml", own), folder, found, "")


def _own(products: list[dict[str, Any]], guards: list[dict[str, Any]]) -> Source:
    return Source("look", Path("look.toml"), {"product": products, "guard": guards})


def _is_on_wrf(streams: Streams) -> bool:
    """Whether files of other names hold WRF's grid, for which its diagnostics are made."""
    known = streams.known(streams.main) if streams.main else None
    return known is not None and known.sizes.keys() >= _ON_WRF


def _checked(source: Source, folder: Path, found: Found, name: str) -> Offered:
    """A recipe's products and guards, with this folder's simulation in place of its own."""
    table: dict[str, Any] = {
        key: source.table[key] for key in ("product", "guard") if key in source.table
    }
    parameters = source.table.get("parameters", {})
    used = set(_places(table))
    if isinstance(parameters, Mapping):
        kept = {key: value for key, value in parameters.items() if key in used}
        table |= {"parameters": kept} if kept else {}
    table |= {"title": source.table.get("title", source.name)}
    table["simulation"] = simulation(folder, found)
    settings = [f"inputs={folder.absolute()}"] if "inputs" in table.get("parameters", {}) else []
    recipe, filled = check(replace(source, table=table), settings)
    return Offered(
        tuple(zip(recipe.products, filled.get("product", []), strict=True)),
        tuple(zip(recipe.guards, filled.get("guard", []), strict=True)),
        recipe.folder,
        name,
    )


def _places(value: Any) -> Iterator[str]:
    """The names in braces in all texts of a table."""
    if isinstance(value, str):
        yield from _PLACE.findall(value)
    elif isinstance(value, Mapping):
        for entry in value.values():
            yield from _places(entry)
    elif isinstance(value, list | tuple):
        for entry in value:
            yield from _places(entry)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items()}
    return list(value) if isinstance(value, tuple) else value
