"""The level of a run's logs: ``$BURSTLENS_LOG``. Apart from the logs, which import ``logging``."""

from __future__ import annotations

import os
from collections.abc import Mapping

from burstlens.core.errors import RunError

VARIABLE = "BURSTLENS_LOG"
LEVELS = ("debug", "info", "warning", "error", "off")
DEFAULT = "info"


def log_level(environment: Mapping[str, str] | None = None) -> str:
    """What the logs are to hold, of this process's environment; ``info`` if that is not set. Raises
    RunError for a value that is not a level."""
    given = (os.environ if environment is None else environment).get(VARIABLE, "")
    level = given.strip().lower() or DEFAULT
    if level not in LEVELS:
        raise RunError(f"{VARIABLE}={given!r} is not a level; it is one of {', '.join(LEVELS)}")
    return level
