"""Products of an attached run that were chosen before there were frames: those that do not fit are
left out at the first frame of their stream, without a failure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from burstlens.core.errors import BurstlensError
from burstlens.core.model import Frame, in_model_folder
from burstlens.core.run.facts import facts_of
from burstlens.workflows.look.folder.refitting import Refitted, refitted
from burstlens.workflows.look.options import Look
from burstlens.workflows.ordering.instructions import URGENT, Ask
from burstlens.workflows.ordering.production import Production
from burstlens.workflows.recipe.layers import Source
from burstlens.workflows.recipe.load import check

if TYPE_CHECKING:
    from burstlens.workflows.driver.state import RunState


class Choosing:
    """Holds the first frames of a stream back until a worker has read what they have."""

    def __init__(self, state: RunState, production: Production, look: Look) -> None:
        self._context, self._state, self._production = state.context, state, production
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
        streams = frozenset(frame.stream for frame in self._held)
        args = self._path, str(self._context.run.files), self._table(), dict(self._newest)
        self._state.do(Ask("choose", refitted, args, about=streams, priority=URGENT))

    def returned(self, streams: frozenset[str], fitted: Refitted) -> list[Frame]:
        """Leave out what does not fit; returns the frames that waited for it."""
        self._fit(fitted)
        return self._let_go(streams)

    def failed(self, streams: frozenset[str], error: BaseException) -> list[Frame]:
        """What does not fit fails by itself; returns the frames that waited for it."""
        self._context.snapshot.note(f"the products cannot be held against it: {error}")
        return self._let_go(streams)

    def _let_go(self, streams: frozenset[str]) -> list[Frame]:
        self.busy = False
        self._known |= streams
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
