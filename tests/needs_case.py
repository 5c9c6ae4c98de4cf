"""A backlog of products of any kind, for tests of what they need besides their frame."""

from __future__ import annotations

from dataclasses import dataclass

from events_case import event

from burstlens.viz.kinds.base import ProductKind
from burstlens.workflows.recipe.recipe import MadeProduct, Product


@dataclass(frozen=True)
class Options:
    chained: bool = False
    follows: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()


class Kind(ProductKind[Options]):
    """A kind as a plugin may be: what it needs stands in its options."""

    name = "any"
    options = Options

    def make(self, options, frame, out, context):
        raise NotImplementedError

    def chained(self, options):
        return options.chained

    def follows(self, options):
        return options.follows

    def beside(self, options):
        return options.beside

    def extensions(self, options):
        return ("csv",)


def key(number: int) -> str:
    return f"t{number:08d}.000"


def made(name, stream=None, **options):
    return MadeProduct(Product(name=name, kind="any", stream=stream), Kind(), Options(**options))


def state(number, product="track", attempt=1):
    return event({
        "event": "product.published", "product": product, "stream": "output", "t": 1.0,
        "time": key(number), "attempt": attempt, "state": {"name": f".states/{number}-{attempt}"},
    })  # fmt: skip


def taken(waiting, slots=100):
    """Product and time of what goes now."""
    found = list(waiting.take(0.0, slots))
    return [(order.context.product, order.frame.time) for order in found]


def settle(waiting, product, number, attempt=1):
    waiting.returned()
    waiting.history.apply(state(number, product, attempt))
    waiting.needs.settled(product, "output", key(number), attempt)


def needed(waiting, order, frames=()):
    def newest(stream, beside):
        found = [f for f in frames if f.stream == stream and f.time <= beside.time]
        return max(found, key=lambda frame: frame.time, default=None)

    return waiting.needs.of(order, waiting.history.states, newest)
