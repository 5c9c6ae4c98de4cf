"""Exit codes of ``burstlens run`` and ``resume``, as the journal and ``status.json`` have them."""

from __future__ import annotations

DONE = 0
FAILED = 1
"""Failed or refused, with one message; 2 is wrong usage."""
STOPPED_BY_GUARD = 3
STOPPED = 4
"""Stopped by a person."""
FRAMES_LOST = 5
"""The model ended well, and frames are lost or damaged."""
NO_SPACE = 6
"""Ended for want of space: on the buffer, or where the run directory lies."""
TRIPPED_AFTER_END = 7
"""A guard with ``then = "stop"`` tripped after the model had ended."""
BUFFER_LEFT = 8
"""Done, but the buffer was not given back: ``outcome.left`` says what is left."""
INTERRUPTED = 130
"""Ctrl-C before the run has begun, as shells report it."""
PRECEDENCE = (
    FAILED, NO_SPACE, FRAMES_LOST, STOPPED, STOPPED_BY_GUARD, TRIPPED_AFTER_END, BUFFER_LEFT, DONE,
)  # fmt: skip
"""Where several codes describe one end, the first of these is the run's."""
COMPLETE = {FRAMES_LOST, TRIPPED_AFTER_END}
"""Codes of runs that are ``failed``, although their model has ended well and all that could be made
of its frames is there: to resume them makes nothing more."""


def leading(*codes: int) -> int:
    """The code that a run ends with when all of these describe its end."""
    return min(codes, key=PRECEDENCE.index)
