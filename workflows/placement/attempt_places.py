"""Where a file of one attempt lies at home that holds frames, when another one has its name.

A growing file has the same name in each attempt: that of the newest attempt keeps it, those of the
earlier ones are ``attempt-1/NAME``. ``shared`` are these names, with the attempts in order.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from burstlens.core.durable import make_folders
from burstlens.core.errors import StagingError
from burstlens.core.existence import check_existence

Shared = Mapping[str, Sequence[int]]


def place_of(name: str, attempt: int, shared: Shared) -> str:
    """The place of that attempt's file, relative to the folder of output."""
    newest = max(shared.get(name, ()), default=attempt)
    return name if attempt >= newest else f"attempt-{attempt}/{name}"


def make_way(output: Path, folder: Path, name: str, attempt: int, shared: Shared) -> None:
    """Move aside what an earlier attempt has brought home under the name that this one's file is to
    have. ``folder`` is the run's on the buffer: a file that is still there did not come. Raises
    StagingError."""
    earlier = [one for one in shared.get(name, ()) if one < attempt]
    if not earlier or place_of(name, attempt, shared) != name:
        return
    place, aside = output / name, output / place_of(name, max(earlier), shared)
    try:
        gone = not check_existence(folder / str(max(earlier)) / name)
        if gone and check_existence(place) and not check_existence(aside):
            make_folders(aside.parent, output.parent)
            os.rename(place, aside)
    except OSError as error:
        raise StagingError.of(error, "cannot bring home", place) from error
