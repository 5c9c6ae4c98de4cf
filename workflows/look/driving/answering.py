"""Whether the file system of a folder answers, asked by the driver's own machine.

A worker that does not come back may hang on the folder, or only be slow: at the lowest priority on
a busy machine it may get no CPU for a minute.
"""

from __future__ import annotations

import contextlib
import os
import threading

ANSWER_S = 5.0
"""A question that takes longer has no answer."""


class Answering:
    """Asks in a thread, which may hang for ever. ``path`` is None where only the workers see it."""

    def __init__(self, path: str | None) -> None:
        self._path = path
        self._asked = 0.0
        self._thread: threading.Thread | None = None

    def is_silent(self, now: float) -> bool:
        """Whether the last question has had no answer for ``ANSWER_S``; asks again if it has."""
        if self._path is None:
            return True
        if self._thread is None or not self._thread.is_alive():
            self._asked = now
            self._thread = threading.Thread(target=_list, args=(self._path,), daemon=True)
            self._thread.start()
        return now - self._asked > ANSWER_S


def _list(path: str) -> None:
    with contextlib.suppress(OSError), os.scandir(path) as entries:
        next(entries, None)
