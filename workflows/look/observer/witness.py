"""What a witness of a model says: its batch job or its process, asked from outside."""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import Enum


class Standing(Enum):
    """Where the model is, by a witness."""

    UNKNOWN = "it cannot be seen, now or any more"
    WAITING = "it has not begun"
    ALIVE = "it runs"
    OVER = "it has ended"


@dataclass(frozen=True, slots=True)
class Witness:
    """What a job or a process is known to do.

    ``text`` is how it is known: ``Slurm: job 123 RUNNING on nid00012``. ``failed``: whether it
    ended badly, None where nobody says so. ``silent_s``: for how long the witness has not answered;
    the rest is then what was known before. ``age_s``: how long ago it was asked for what it says,
    None where that does not change any more, or is seen just now.
    """

    standing: Standing
    text: str
    failed: bool | None = None
    silent_s: float = 0.0
    age_s: float | None = None


def clock(seconds: float) -> str:
    """The local time of a Unix second: ``09:41:02``, on another day ``2026-11-20 09:41``."""
    moment = time.localtime(seconds)
    today = moment[:3] == time.localtime()[:3]
    return time.strftime("%H:%M:%S" if today else "%Y-%m-%d %H:%M", moment)
