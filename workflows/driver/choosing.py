"""Products of an attached run that were chosen before there were frames: those that do not fit are
left out at the first frame of their stream, without a failure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from burstlens.core.errors import BurstlensError
from burstlens.core.model import Frame, in_model_folder
from burstlens.core.run.facts import facts_of
from burstlens.workflows.attach.refitting import Refitted, refitted
from burstlens.workflows.driver.look import Look
from burstlens.workflows.ordering.graph import URGENT, Done, Graph
from burstlens.workflows.ordering.production import Production
from burstlens.workflows.publishing.context import RunContext
from burstlens.workflows.recipe.layers import Source
from burstlens.workflows.recipe.load import check


class Choosing:
    """Holds the first frames of a stream back until a worker has read what they have."""

    def __init__(
        self, context: RunContext, graph: Graph, production: Production, look: Look
    ) -> None:
        self._context, self._graph, self._production = context, graph, production
        self._path = look.path
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
        if self.busy or not self._held:
            return
        self.busy = True
        asked = {frame.stream for frame in self._held}
        self._graph.view(
            "choose", asked, refitted, self._path, str(self._context.run.files),
            self._table(), dict(self._newest), priority=URGENT,
        )  # fmt: skip

    def returned(self, done: Done) -> list[Frame]:
        """Leave out what does not fit; returns the frames that waited for it."""
        self.busy = False
        self._known |= done.about
        if done.error is None:
            self._fit(done.value)
        else:  # what does not fit fails by itself
            self._context.snapshot.note(f"the products cannot be held against it: {done.error}")
        good = [frame for frame in self._held if frame.stream in self._known]
        self._held = [frame for frame in self._held if frame.stream not in self._known]
        self._ask()
        return good

    def _table(self) -> dict[str, Any]:
        """The run's recipe, with the products that are still made."""
        table = dict(facts_of(self._context.run, "table").table or {})
        made = {product.name for product in self._production.backlog.products}
        table["product"] = [one for one in table.get("product", []) if one["name"] in made]
        return table

    def _fit(self, fitted: Refitted) -> None:
        before = self._table()
        names = [one["name"] for one in before["product"]]
        if list(fitted.products) == before["product"] and not fitted.left_out:
            return
        run, backlog = self._context.run, self._production.backlog
        table = before | {"product": list(fitted.products), "guard": list(fitted.guards)}
        try:
            recipe, _ = check(Source(run.id, run.files / "look.toml", table))
        except BurstlensError as error:
            self._context.snapshot.note(f"the products stay as they are: {error}")
            return
        kept = {product.name: product for product in recipe.products}
        backlog.fit(
            [kept.get(one.name, one) for one in backlog.products
             if one.name in kept or one.name not in names],
            recipe.guards,
        )  # fmt: skip
        snapshot = self._context.snapshot
        snapshot.recipe = replace(snapshot.recipe, products=tuple(backlog.products))
        fresh = tuple(text for text in fitted.left_out if text not in self.left_out)
        self.left_out += fresh
        for text in fresh:
            snapshot.note(text)
