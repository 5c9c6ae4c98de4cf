"""A job's folder in the run directory, claimed by one supervisor.

Standard library alone: the supervisor imports it, on any python3.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from burstlens.core.exclusive import make_exclusive
from burstlens.core.existence import check_existence
from burstlens.core.passing_errors import patiently
from burstlens.core.whole_copy import rename


class ClaimedFolder:
    """The folder, while its claim is this process's ``claim``: nothing is written otherwise."""

    def __init__(self, folder: Path, claim: str) -> None:
        """Claim it, for as long as it takes. Raises FileExistsError when another process has."""
        self.path, self._claim = folder, claim
        patiently(lambda: make_exclusive(folder / "claim", claim))

    def is_anothers(self) -> bool:
        """Whether it is another run's, made after this one's was deleted. Waits while that cannot
        be seen; raises OSError in the end."""
        return patiently(self._is_anothers)

    def _is_anothers(self) -> bool:
        try:
            return (self.path / "claim").read_bytes() != self._claim.encode()
        except FileNotFoundError:  # away, or not claimed yet by the other run's supervisor
            return check_existence(self.path)

    def write(
        self, name: str, value: Mapping[str, Any], first: Callable[[], None] = lambda: None
    ) -> None:
        """Write a file whole, trying again while the run directory is away or full, and before it
        what ``first`` writes, which raises OSError for that."""
        part = self.path / f".{name}.part"

        def write() -> None:
            if self._is_anothers():
                return
            first()
            with part.open("w", encoding="utf-8") as stream:
                json.dump(value, stream)
                stream.flush()
                os.fsync(stream.fileno())
            rename(part, self.path / name)

        patiently(write)
