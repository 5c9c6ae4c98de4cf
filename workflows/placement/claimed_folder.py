"""A job's folder in the run directory, claimed by one supervisor.

Standard library alone: the supervisor loads this file by its path, as it is started itself.
"""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or __package__:
    from burstlens.core.exclusive import make_exclusive
    from burstlens.core.existence import check_existence
    from burstlens.core.passing_errors import patiently
    from burstlens.core.whole_copy import rename
else:  # loaded by its path, on a python3 that need not have Burstlens

    def _core(name: str) -> Any:
        path = Path(__file__).parents[2] / "core" / f"{name}.py"
        spec = importlib.util.spec_from_file_location(f"burstlens_{name}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    make_exclusive = _core("exclusive").make_exclusive
    check_existence = _core("existence").check_existence
    patiently = _core("passing_errors").patiently
    rename = _core("whole_copy").rename


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

    def write(self, name: str, value: Mapping[str, Any]) -> None:
        """Write a file whole, trying again while the run directory is away or full."""
        part = self.path / f".{name}.part"

        def write() -> None:
            if self._is_anothers():
                return
            with part.open("w", encoding="utf-8") as stream:
                json.dump(value, stream)
                stream.flush()
                os.fsync(stream.fileno())
            rename(part, self.path / name)

        patiently(write)
