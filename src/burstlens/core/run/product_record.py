"""What the events of a run's products add up to."""

from __future__ import annotations

from collections import Counter
from typing import Protocol

from burstlens.core.run import events as ev
from burstlens.core.run.columns import FrameSet, LimitsOf, ProductNumbers
from burstlens.core.run.events import FrameKey, Key
from burstlens.core.run.noticed import Noticed
from burstlens.core.run.states import States


class HasProducts(Protocol):
    """What a run's history keeps of its products, see :class:`.history.History`."""

    attempt: int
    attached: ev.RunAttached | None
    sums: ProductNumbers
    frames: FrameSet
    released: FrameSet
    published: ProductNumbers
    outdated: set[Key]
    publishing: dict[Key, ev.ProductPublishing]
    failed: ProductNumbers
    holes: set[Key]
    retried: set[Key]
    standing: Counter[str]
    failures: Counter[str]
    reasons: dict[str, str]
    limits: dict[str, tuple[float, float]]
    drawn: LimitsOf
    states: States
    product_bytes: int
    noticed: Noticed


def retry(history: HasProducts) -> None:
    """Note that what failed of whole frames of the latest attempt is made again, if they are still
    there."""
    history.retried |= {
        key
        for key, attempt in history.failed.items()
        if attempt == history.attempt
        and (*key[1:], attempt) in history.frames
        and (*key[1:], attempt) not in history.released
    }


def outdate(history: HasProducts, frame: FrameKey) -> None:
    """Note that the products of that frame, and of that attempt, are to be made again."""
    stream, time, attempt = frame
    for settled in (history.published, history.failed):
        found = settled.of_frame(stream, time)
        history.outdated |= {key for key, number in found if number == attempt}


def limits(history: HasProducts, event: ev.ProductLimits) -> None:
    """Keep a series' colour limits."""
    history.limits[event.product] = event.limits


def publishing(history: HasProducts, event: ev.ProductPublishing) -> None:
    """Note that a product is about to get its name."""
    history.publishing[event.key] = event


def published(history: HasProducts, event: ev.ProductPublished) -> None:
    """Take a publication."""
    key, product = event.key, event.product
    stood = key in history.published and key not in history.holes
    history.publishing.pop(key, None)
    history.retried.discard(key)
    history.outdated.discard(key)
    history.published[key] = event.attempt
    history.noticed.note_product(event, looked=history.attached is not None)
    if history.attached is not None:
        history.sums[key] = event.crc32
    if event.limits is not None:
        history.drawn[key] = event.limits
    else:
        history.drawn.pop(key, None)
    # What a lost worker of an earlier attempt had made does not settle a later one's failure.
    if key in history.failed and event.attempt >= history.failed[key]:
        del history.failed[key]
        history.failures[product] -= 1
    if event.facts is not None and event.facts.get("placeholder"):
        history.holes.add(key)
    else:
        history.holes.discard(key)
    history.standing[product] += (key not in history.holes) - stood
    parts = (event.values or ()) + (event.pieces or ())
    history.product_bytes += event.bytes + sum(part.bytes for part in parts)
    if event.state is not None:
        history.states.note(*key, event.state.name, event.state.bytes)


def failed(history: HasProducts, event: ev.ProductFailed) -> None:
    """Note that a product failed of one frame."""
    key, product = event.key, event.product
    history.retried.discard(key)
    history.outdated.discard(key)
    history.failures[product] += key not in history.failed
    history.failed[key] = max(event.attempt, history.failed.get(key, 0))
    history.reasons[product] = str(event.reason)
    history.noticed.note_product(event, looked=history.attached is not None)
