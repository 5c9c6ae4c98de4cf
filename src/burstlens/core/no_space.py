"""Whether an end has to do with a full disk or a quota that is used up."""

from __future__ import annotations

import re

from burstlens.core.errors import FULL_ERRNO
from burstlens.core.exit_codes import FAILED, NO_SPACE

_TEXT = re.compile(r"No space left on device|Disk quota exceeded|\bENOSPC\b|\bEDQUOT\b")
"""As the C library and programs that print the number's name say it, models included."""


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
