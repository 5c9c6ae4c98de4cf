"""Steering, the driver's side: what users ask of a running run, other than to stop it.

Requests are files in ``control/``. The journal records what was done about a request, on disk
before its file is removed, so that a driver that dies in between does nothing twice and forgets
nothing.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path

from burstlens.core.errors import RecipeError
from burstlens.core.existence import check_existence
from burstlens.core.run import events as ev
from burstlens.workflows.driver.addition import (
    PATTERN,
    Added,
    Addition,
    check_addition,
    read_addition,
)
from burstlens.workflows.ordering.production import Production
from burstlens.workflows.publishing.context import RunContext
from burstlens.workflows.recipe.recipe import MadeProduct


class Steering:
    """Obeys ``pause``, ``resume-watching`` and ``add``. Driver's thread only."""

    def __init__(self, context: RunContext) -> None:
        self.run = context.run
        self.journal = context.journal
        self.history = context.history
        self.snapshot = context.snapshot
        self._settled: set[str] = set()

    def look(self, production: Production | None, *, over: bool) -> None:
        """Obey the requests that are there; ``over`` says that the model has ended.

        A run directory that is away is read again at the next look.
        """
        with contextlib.suppress(OSError):
            self._look_at_pause(production, over=over)
            if production is not None:
                for request in sorted(self.run.control.glob(PATTERN)):
                    if request.name not in self._settled:
                        self._add(production, request)
                        self._settled.add(request.name)
                    self.journal.sync()
                    request.unlink(missing_ok=True)

    def _look_at_pause(self, production: Production | None, *, over: bool) -> None:
        asked = check_existence(self.run.pause)
        why = ""
        if asked and over:
            why = "the model has ended: what waited is made now"
        elif asked and production and production.space.pressed(self.snapshot.free_bytes):
            why = "the buffer is nearly full: the pause is over, so that frames can be released"
        if why:
            # A forgotten pause must neither hold a buffer for ever nor fill it.
            self.run.pause.unlink(missing_ok=True)
            self.snapshot.alarm(why)
            asked = False
        if asked != self.history.paused:
            control = "pause" if asked else "resume-watching"
            self.journal.append(ev.ControlReceived(control=control))
            self.snapshot.note("watching is paused" if asked else "watching goes on")
            self.snapshot.ask_late()

    def _add(self, production: Production, request: Path) -> None:
        try:
            addition = read_addition(request)
            products = self._check(request, addition)
        except RecipeError as error:
            self.journal.append(ev.ProductRefused(request=request.name, reason=str(error)))
            self.snapshot.alarm(f"products are not added: {error}")
        else:
            for product, table in products:
                self.journal.append(
                    ev.ProductAdded(
                        product=product.name,
                        request=request.name,
                        table=dict(table),
                        all_frames=addition.all_frames,
                        gone=production.gone(product) if addition.all_frames else 0,
                        user=addition.user,
                    )
                )
                self.snapshot.note(f"product {product.name} is added")
                if addition.all_frames:
                    self.snapshot.ask_late()
            if products:
                self._enter(production, tuple(product for product, _ in products))

    def _check(self, request: Path, addition: Addition) -> Added:
        # The request is gone when its user reads the message: it names the user's own file.
        source = Path(addition.file) if addition.file else request
        products = check_addition(self.run, self.history, addition, source)
        for product, _ in products:
            for name in product.kind.ships(product.options):
                if not (self.run.files / name).is_file():
                    raise RecipeError(f"product.{product.name}: there is no {name} in files/")
        return products

    def _enter(self, production: Production, products: tuple[MadeProduct, ...]) -> None:
        production.enter(products)
        recipe = self.snapshot.recipe
        known = {product.name for product in recipe.products}
        fresh = tuple(product for product in products if product.name not in known)
        self.snapshot.recipe = replace(recipe, products=recipe.products + fresh)
