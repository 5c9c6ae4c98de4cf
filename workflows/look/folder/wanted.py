"""Which products and guards fit what lies in a folder: a recipe's, those asked for, first looks;
and the recipe that they make, as a table and as a file to start one's own recipe from.

What the files lack is left out, each with one sentence; what a user asks for by name must fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burstlens.core.printable import printable
from burstlens.core.toml.written import lines, written
from burstlens.workflows.look.folder.asking import asked_products
from burstlens.workflows.look.folder.fitting import Fitting
from burstlens.workflows.look.folder.found import Found
from burstlens.workflows.look.folder.looks import first_looks
from burstlens.workflows.look.folder.sampling import Sampler
from burstlens.workflows.look.folder.source import Offered, offered, simulation
from burstlens.workflows.look.folder.streams import Streams


@dataclass(frozen=True, slots=True)
class Shown:
    """``products`` and ``guards`` are tables as in a recipe, without parameters. ``left_out`` has
    one sentence for each product, guard and layer of a map that is left out, with what it lacks.
    ``base`` is the folder of the files that travel with the products, None if there are none."""

    products: tuple[dict[str, Any], ...]
    guards: tuple[dict[str, Any], ...] = ()
    left_out: tuple[str, ...] = ()
    base: Path | None = None


def shown(
    folder: Path, found: Found, asked: Sequence[str] = (), recipe: str | None = None
) -> Shown:
    """What to show of a folder: the products of ``recipe``, else those that suit the model.

    ``asked``: only these, each the name of such a product, or a variable or an expression, which
    becomes a map in its own units. Raises :class:`AttachError` with near names for one that is
    neither or that does not fit the files, and RecipeError for a faulty recipe.
    """
    with Sampler(folder) as sampler:
        streams = Streams(folder, found, sampler)
        given = offered(folder, found, streams, recipe)
        fitting = Fitting(streams, given, is_chosen=recipe is not None)
        if asked:
            products = asked_products(folder, found, streams, given, fitting, asked)
        else:
            products = fitting.products()
            if not given.products or (recipe is None and not products):
                products, why = first_looks(streams)
                fitting.left_out += why
        guards = fitting.guards()
    return Shown(tuple(products), tuple(guards), tuple(fitting.left_out), _base(given, products))


def _base(given: Offered, products: Sequence[dict[str, Any]]) -> Path | None:
    names = {table["name"] for table in products}
    ships = any(made.kind.ships(made.options) for made, _ in given.products if made.name in names)
    return given.folder if ships else None


_HEAD = """\
# A recipe that launches this model and shows what `burstlens look` shows of {folder}.
# `burstlens check` compares it with its inputs; docs/recipe.md describes every key.
# Taken for {reason}
"""
_COMMAND = """\
# What starts your model, in its folder: the program and its arguments; no shell reads them. Until
# you put it here, a run ends at once with this message.
"""
_JOB = """\
# Its job:
nodes = 1
ranks_per_node = 1
walltime = "01:00:00"
"""
_LOG = """\
# Patterns for what the program prints show progress, complete files and the end:
# progress = 'step \\d+, t = (?P<elapsed>[\\d.]+) s of (?P<total>[\\d.]+) s'
# written = 'wrote (?P<file>\\S+)' # printed after the file is closed
# done = '^finished$' # exit status 0 without it is a failure
"""
_NO_PRODUCT = """\
# [[product]]
# name = "field"
# kind = "map"
# variable = "a 2-D variable of the files"
"""
_KEEP = """\
[stage_out]
keep = [] # globs of raw files to bring home, such as "*.nc"; logs and settings always are
"""


def recipe_table(folder: Path, found: Found, shown: Shown) -> dict[str, Any]:
    """A complete recipe without parameters. Of a model whose program is not known it has a
    placeholder for ``command``."""
    table: dict[str, Any] = {
        "title": f"A look at {printable(folder.absolute().name) or folder.absolute()}",
        "simulation": simulation(folder, found),
    }
    if shown.products:
        table["product"] = [dict(product) for product in shown.products]
    if shown.guards:
        table["guard"] = [dict(guard) for guard in shown.guards]
    return table


def write_recipe(folder: Path, found: Found, shown: Shown) -> str:
    """The same as TOML with comments, for ``look --write``: it passes ``burstlens check`` if the
    folder has what the model needs to start."""
    return "\n".join(_parts(folder, found, shown))


def _parts(folder: Path, found: Found, shown: Shown) -> Iterator[str]:
    table = recipe_table(folder, found, shown)
    where, reason = printable(str(folder.absolute())), printable(found.reason)
    yield _HEAD.format(folder=where, reason=reason) + f"title = {written(table['title'])}\n"
    model = table["simulation"]
    yield "[simulation]"
    yield f"model = {written(model.pop('model'))}"
    yield "# All that the model reads; output of earlier runs that lies there is left behind."
    yield f"inputs = {written(model.pop('inputs'))}"
    if "command" in model:
        yield f"{_COMMAND}command = {written(model.pop('command'))}"
    yield from lines(model)
    yield _JOB + (_LOG if found.model == "command" else "")
    yield _KEEP
    for text in shown.left_out:
        yield f"# Left out: {printable(text)}"
    if shown.left_out:
        yield ""
    if shown.base is not None:
        yield f"# Files that the products name lie in {shown.base}: copy them beside this file.\n"
    if not shown.products:
        yield _NO_PRODUCT
    for key in ("product", "guard"):
        for entry in table.get(key, []):
            yield f"[[{key}]]"
            yield from lines(entry)
            yield ""
