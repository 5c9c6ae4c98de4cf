"""Products of an attached run that were chosen before there were frames: those that do not fit are
left out at the first frame of their stream, without a failure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from burstlens.core.model import Frame, in_model_folder
from burstlens.workflows.look.folder.fitting import Refitted, refitted
from burstlens.workflows.look.options import Look
from burstlens.workflows.ordering.instructions import URGENT, Ask, AskPlace
from burstlens.workflows.ordering.production import Production
from burstlens.workflows.recipe.layers import Source
from burstlens.workflows.recipe.load import check
from burstlens.workflows.recipe.recipe import Recipe

if TYPE_CHECKING:
    from burstlens.workflows.deciding.state import RunState

Question = tuple[frozenset[str], Refitted, dict[str, Any]]
"""Streams whose frames wait, what fits them, and the recipe that has been held against them."""


class Choosing:
    """Holds the first frames of a stream back until a worker has read what they have. ``table`` is
    the run's recipe."""

    def __init__(
        self, state: RunState, production: Production, look: Look, table: Mapping[str, Any]
    ) -> None:
        self._context, self._state, self._production = state.context, state, production
        self._recipe_table, self._path = table, look.path
        self._known = set(look.streams or ())
        self._passes = look.streams is None
        self._newest: dict[str, str] = {}
        self._held: list[Frame] = []
        self.busy = False
        self.left_out: tuple[str, ...] = ()

    def take(self, frames: Sequence[Frame]) -> list[Frame]:
        """The frames that are handed on now."""
        if self._passes:
            return list(frames)
        unknown = [frame for frame in frames if frame.stream not in self._known]
        for frame in frames:
            self._newest.setdefault(frame.stream, in_model_folder(frame.paths[0]))
        self._held += unknown
        self._ask()
        return [frame for frame in frames if frame.stream in self._known]

    def _ask(self) -> None:
        streams = frozenset(frame.stream for frame in self._held) - self._known
        if self.busy or not streams:
            return
        self.busy = True
        args = self._path, str(self._context.run.files), self._table(), dict(self._newest)
        self._state.do(Ask("choose", refitted, args, about=streams, priority=URGENT))

    def returned(self, streams: frozenset[str], fitted: Refitted) -> None:
        """Have the recipe made in which what does not fit is left out."""
        before = self._table()
        if list(fitted.products) == before["product"] and not fitted.left_out:
            self._let_go(streams)
            return
        run = self._context.run
        table = before | {"product": list(fitted.products), "guard": list(fitted.guards)}
        args = run.id, run.files / "look.toml", table
        about: Question = streams, fitted, before
        self._state.do(Ask("fit", read_recipe, args, AskPlace.LOOP, about=about))

    def failed(self, streams: frozenset[str], error: BaseException) -> None:
        """What does not fit fails by itself."""
        self._context.snapshot.note(f"the products cannot be held against it: {error}")
        self._let_go(streams)

    def fit(self, about: Question, recipe: Recipe) -> None:
        """Make what fits."""
        streams, fitted, before = about
        names = [one["name"] for one in before["product"]]
        backlog, snapshot = self._production.backlog, self._context.snapshot
        kept = {product.name: product for product in recipe.products}
        backlog.fit(
            [kept.get(one.name, one) for one in backlog.products
             if one.name in kept or one.name not in names],
            recipe.guards,
        )  # fmt: skip
        snapshot.recipe = replace(snapshot.recipe, products=tuple(backlog.products))
        fresh = tuple(text for text in fitted.left_out if text not in self.left_out)
        self.left_out += fresh
        for text in fresh:
            snapshot.note(text)
        self._let_go(streams)

    def unfit(self, about: Question, error: BaseException) -> None:
        """There is no such recipe."""
        self._context.snapshot.note(f"the products stay as they are: {error}")
        self._let_go(about[0])

    def chosen(self) -> list[Frame]:
        """The frames that wait no more."""
        good = [frame for frame in self._held if frame.stream in self._known]
        self._held = [frame for frame in self._held if frame.stream not in self._known]
        return good

    def _let_go(self, streams: frozenset[str]) -> None:
        self.busy = False
        self._known |= streams
        self._ask()

    def _table(self) -> dict[str, Any]:
        """The run's recipe, with the products that are still made."""
        table = dict(self._recipe_table)
        made = {product.name for product in self._production.backlog.products}
        table["product"] = [one for one in table.get("product", []) if one["name"] in made]
        return table


def read_recipe(run: str, file: Path, table: dict[str, Any]) -> Recipe:
    """The recipe that a table makes. Raises RecipeError."""
    recipe, _ = check(Source(run, file, table))
    return recipe
