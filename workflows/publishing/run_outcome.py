"""How a run ended: by how its model ended, its products, its frames and its guards."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from burstlens.core.exit_codes import FAILED, FRAMES_LOST, TRIPPED_AFTER_END, leading
from burstlens.core.outcome import Outcome
from burstlens.core.quantity import counted
from burstlens.core.run.history import History
from burstlens.core.run.wording import too_late

Alarm = Callable[[str, str], None]
"""Shows a text that is about a product."""


def run_outcome(
    model: Outcome, history: History, streams: Mapping[str, str | None], alarm: Alarm
) -> Outcome:
    """The outcome of a run whose model ended so.

    It is the model's unless that ended well, or is ``quiet``, and a product could not be made of
    any frame, frames are lost or damaged, or a guard tripped that was to stop it. ``streams`` has
    the stream of each product, None for the first that comes. A product that was added to the
    running run only raises an alarm: a mistake in it must not fail the run. Streams without usable
    times that no product is made of are named, and fail nothing.
    """
    if model.state not in {"done", "quiet"}:
        return model
    found = [(FAILED, text) for text in _unmade(history, streams, alarm)]
    if model.state == "done":
        if lost := history.lost_frames():
            found.append((FRAMES_LOST, f"the model ended well, but {_named(lost)}"))
        if tripped := too_late(history):
            found.append((TRIPPED_AFTER_END, tripped))
    if not found:
        messages = filter(None, [model.message, _unshown(history, streams)])
        return replace(model, message="; ".join(messages))
    code = leading(*(code for code, _ in found))
    texts = [*(text for _, text in found), *filter(None, [model.message])]
    return replace(model, state="failed", exit_code=code, message="; ".join(texts))


def _unmade(history: History, streams: Mapping[str, str | None], alarm: Alarm) -> Iterator[str]:
    """A sentence for each product of the recipe that was not made of any frame. Where all of its
    frames are lost or damaged, that is said of the frames."""
    made = {key[0] for key in history.published if key not in history.holes}
    whole = {stream for stream, *_ in history.frames}
    undecoded = _undecoded(history)
    there = whole | {stream for stream, *_ in (*history.damaged, *history.undated)}
    waiting: dict[str | None, list[str]] = {}
    for product in dict.fromkeys((*streams, *history.reasons)):
        stream = streams.get(product)
        if stream in undecoded:
            waiting.setdefault(stream, []).append(product)
            continue
        if product in made:
            continue
        if not (there if stream is None else stream in there):
            if product in streams and product not in history.added:
                waiting.setdefault(stream, []).append(product)
            continue
        reason = history.reasons.get(product)
        if reason is None or not whole:
            continue  # without a whole frame it is not the product's fault
        text = f"product {product} could not be made of any frame: {reason}"
        if product in history.added:
            alarm(text, product)
        else:
            yield text
    for stream, products in waiting.items():
        # The first stream that comes, of which none has come.
        why = undecoded.get(stream) if stream else next(iter(undecoded.values()), None)
        yield _absent(stream, products, whole, why)


def _undecoded(history: History) -> dict[str, str]:
    """The streams of the latest attempt without usable times, and why."""
    return {
        stream: why for stream, (attempt, why) in history.undecoded.items()
        if attempt == history.attempt
    }  # fmt: skip


def _unshown(history: History, streams: Mapping[str, str | None]) -> str:
    """A sentence on streams without usable times that no product was to be made of; "" if there is
    none."""
    wanted = {stream for product, stream in streams.items() if product not in history.added}
    found = {name: why for name, why in _undecoded(history).items() if name not in wanted}
    if not found:
        return ""
    names = f"stream{'s' * (len(found) > 1)} {', '.join(found)}"
    return f"frames of {names} were not shown, with no usable time: {next(iter(found.values()))}"


def _absent(
    stream: str | None, products: Sequence[str], whole: Collection[str], undecoded: str | None
) -> str:
    many = len(products) > 1
    names = f"products {', '.join(products)} were" if many else f"product {products[0]} was"
    if undecoded is not None:
        which = "all frames" if stream in whole else "any frame"
        of = "" if stream is None else f" of stream {stream}"
        return f"{names} not made of {which}{of}, with no usable time: {undecoded}"
    of = "" if stream is None else f" of stream {stream}"
    others = f" (there were frames of: {', '.join(sorted(whole))})" if whole else ""
    return f"{names} not made: no frame{of} came{others}"


def _named(lost: list[tuple[str, str]]) -> str:
    """How many frames are lost, with the first and the last of them."""
    first, last = " ".join(lost[0]), " ".join(lost[-1])
    which = first if len(lost) == 1 else f"{first} to {last}"
    are = "is" if len(lost) == 1 else "are"
    return f"{counted(len(lost), 'frame')} {are} lost or damaged ({which})"
