"""How a run ended: by how its model ended, its products, its frames and its guards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from burstlens.core.exit_codes import FAILED, FRAMES_LOST, TRIPPED_AFTER_END, leading
from burstlens.core.outcome import Outcome
from burstlens.core.quantity import counted
from burstlens.core.run.history import History
from burstlens.core.run.tripped import too_late

Alarm = Callable[[str, str], None]
"""Shows a text that is about a product."""


def run_outcome(model: Outcome, history: History, alarm: Alarm) -> Outcome:
    """The outcome of a run whose model ended so.

    It is the model's unless that ended well and a product could not be made of any frame, frames
    are lost or damaged, or a guard tripped that was to stop it. A product that was added to the
    running run only raises an alarm: a mistake in it must not fail the run.
    """
    if model.state != "done":
        return model
    found = [(FAILED, text) for text in _unmade(history, alarm)]
    if lost := history.lost_frames():
        found.append((FRAMES_LOST, f"the model ended well, but {_named(lost)}"))
    if tripped := too_late(history, history.attempt):
        found.append((TRIPPED_AFTER_END, tripped))
    if not found:
        return model
    code = leading(*(code for code, _ in found))
    texts = [*filter(None, [model.message]), *(text for _, text in found)]
    return replace(model, state="failed", exit_code=code, message="; ".join(texts))


def _unmade(history: History, alarm: Alarm) -> list[str]:
    """A sentence for each product of the recipe that could not be made of any frame."""
    if not history.frames:
        return []  # without a whole frame it is not the product's fault
    made = {key[0] for key in history.published if key not in history.holes}
    texts = []
    for product, reason in history.reasons.items():
        if product in made:
            continue
        text = f"product {product} could not be made of any frame: {reason}"
        if product in history.added:
            alarm(text, product)
        else:
            texts.append(text)
    return texts


def _named(lost: list[tuple[str, str]]) -> str:
    """How many frames are lost, with the first and the last of them."""
    first, last = " ".join(lost[0]), " ".join(lost[-1])
    which = first if len(lost) == 1 else f"{first} to {last}"
    are = "is" if len(lost) == 1 else "are"
    return f"{counted(len(lost), 'frame')} {are} lost or damaged ({which})"
