"""How a run ended."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run, or its simulation, ended: ``done``, ``failed``, ``stopped``, and why.

    A run whose model ended well but whose frames are not all there is ``failed``, with the exit
    code FRAMES_LOST: whoever looks at the state alone must not take it for a whole one.

    ``saved_node_hours`` estimates what a stop has saved; None where it is not known.
    """

    state: str
    exit_code: int
    message: str = ""
    line: str | None = None
    saved_node_hours: float | None = None
