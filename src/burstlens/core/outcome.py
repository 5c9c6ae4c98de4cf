"""How a run ended, and whether a full disk or a quota that is used up was why."""

from __future__ import annotations

import re
from dataclasses import dataclass

from burstlens.core.errors import FULL_ERRNO
from burstlens.core.exit_codes import FAILED, NO_SPACE

_TEXT = re.compile(r"No space left on device|Disk quota exceeded|\bENOSPC\b|\bEDQUOT\b")
"""As the C library and programs that print the number's name say it, models included."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run, or its simulation, ended: ``done``, ``failed``, ``stopped``, and why.

    A run whose model ended well but that has lost frames is ``failed``, with the exit code
    FRAMES_LOST: the state alone must not suggest that the run is complete.

    ``saved_node_hours`` estimates what a stop has saved; None where it is unknown. ``left`` names
    what the run still holds that it should have given back, with the command that frees it: the
    code is BUFFER_LEFT then, unless another one precedes it. ``advice`` says what a person may do,
    where to resume the run as it was would end the same way.
    """

    state: str
    exit_code: int
    message: str = ""
    line: str | None = None
    saved_node_hours: float | None = None
    left: str | None = None
    advice: str | None = None


def is_full(evidence: BaseException | str | None) -> bool:
    """Whether an error, one that it follows from, or a program's text is about a full disk."""
    if evidence is None or isinstance(evidence, str):
        return bool(evidence) and _TEXT.search(evidence or "") is not None
    if getattr(evidence, "errno", None) in FULL_ERRNO:
        return True
    return is_full(evidence.__cause__) or _TEXT.search(str(evidence)) is not None


def failure_code(*evidence: BaseException | str | None) -> int:
    """The exit code of a failure of which this is known."""
    return NO_SPACE if any(map(is_full, evidence)) else FAILED
