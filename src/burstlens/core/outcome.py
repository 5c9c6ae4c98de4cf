"""How a run ended."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run, or its simulation, ended: ``done``, ``failed``, ``stopped``, and why.

    A run whose model ended well but that has lost frames is ``failed``, with the exit code
    FRAMES_LOST: the state alone must not suggest that the run is complete.

    ``saved_node_hours`` estimates what a stop has saved; None where it is unknown. ``left`` names
    what the run still holds that it should have given back, with the command that frees it: the
    code is BUFFER_LEFT then, unless another one precedes it.
    """

    state: str
    exit_code: int
    message: str = ""
    line: str | None = None
    saved_node_hours: float | None = None
    left: str | None = None
