"""Steering, the driver's side: what users ask of a running run, other than to stop it.

The journal records what was done about a request before that is forgotten.
"""

from __future__ import annotations

from dataclasses import replace

from burstlens.core.run import events as ev
from burstlens.workflows.ordering.events import AdditionRequested, PauseSeen
from burstlens.workflows.ordering.instructions import DropRequest
from burstlens.workflows.ordering.outbox import Outbox
from burstlens.workflows.ordering.production import Production
from burstlens.workflows.publishing.context import RunContext
from burstlens.workflows.recipe.recipe import MadeProduct


class Steering:
    """Obeys ``pause``, ``resume-watching`` and ``add``."""

    def __init__(self, context: RunContext, outbox: Outbox) -> None:
        self._outbox, self._history = outbox, context.history
        self._snapshot = context.snapshot

    def pause(self, event: PauseSeen, production: Production | None, *, over: bool) -> None:
        """Pause, or go on; ``over`` says that the model has ended."""
        asked, why = event.asked, ""
        if asked and over:
            why = "the model has ended: what waited is made now"
        elif asked and production and production.space.pressed(self._snapshot.free_bytes):
            why = "the buffer is nearly full: the pause is over, so that frames can be released"
        if why:
            # A forgotten pause must neither hold a buffer for ever nor fill it.
            self._outbox.do(DropRequest("pause"))
            self._snapshot.alarm(why)
            asked = False
        if asked != self._history.paused:
            control = "pause" if asked else "resume-watching"
            self._outbox.append(ev.ControlReceived(control=control))

    def add(self, event: AdditionRequested, production: Production) -> None:
        """Make more products, or say why not."""
        if event.refusal:
            refused = ev.ProductRefused(request=event.request, reason=event.refusal)
            self._outbox.append(refused)
        for product, table in event.products:
            self._outbox.append(
                ev.ProductAdded(
                    product=product.name,
                    request=event.request,
                    table=dict(table),
                    all_frames=event.all_frames,
                    gone=production.gone(product) if event.all_frames else 0,
                    user=event.user,
                )
            )
        if event.products:
            self._enter(production, tuple(product for product, _ in event.products))
        self._outbox.do(DropRequest(event.request))

    def _enter(self, production: Production, products: tuple[MadeProduct, ...]) -> None:
        production.enter(products)
        recipe = self._snapshot.recipe
        known = {product.name for product in recipe.products}
        fresh = tuple(product for product in products if product.name not in known)
        self._snapshot.recipe = replace(recipe, products=recipe.products + fresh)
