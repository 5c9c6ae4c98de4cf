"""A small JSON file of a run directory, read and checked in one place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from burstlens.core.durable import open_regular
from burstlens.core.errors import RunError
from burstlens.core.run.format import require_format
from burstlens.core.shape import Shape, fault, too_deep

_EVERY = {"format?": int, "burstlens?": str}


def read_record(
    path: Path, shape: Shape, then: str, *, foreign_is_none: bool = False
) -> dict[str, Any] | None:
    """The object in ``path``, which fits ``shape``; None when there is no such file, and with
    ``foreign_is_none`` for one that is not a JSON object.

    Raises RunError, which names the file and says what to do ``then``, when it cannot be read, is
    not a JSON object, does not fit, or is of a newer format than this Burstlens reads.
    """
    try:
        with open_regular(path) as stream:
            text = stream.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise RunError(f"cannot read {path}: {error.strerror}") from error
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        if foreign_is_none:
            return None
        raise RunError(f"{path}: it is not a JSON object; {then}")
    wrong = fault(value, _EVERY)
    if not wrong:
        require_format(value, str(path))
        wrong = fault(value, shape) or ("it is nested too deep" if too_deep(value) else "")
    if wrong:
        raise RunError(f"{path}: {wrong}; {then}")
    return value
