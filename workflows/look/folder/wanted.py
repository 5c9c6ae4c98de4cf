"""Which products and guards fit what lies in a folder: a recipe's, those asked for, first looks.

What the files lack is left out, each with one sentence; what a user asks for by name must fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burstlens.workflows.look.folder.asking import asked_products
from burstlens.workflows.look.folder.fitting import Fitting
from burstlens.workflows.look.folder.found import Found
from burstlens.workflows.look.folder.looks import first_looks
from burstlens.workflows.look.folder.sampling import Sampler
from burstlens.workflows.look.folder.source import Offered, offered
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
