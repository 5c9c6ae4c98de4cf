"""Where a file of one attempt lies at home that holds frames, when another one has its name.

A growing file has the same name in each attempt: that of the newest attempt keeps it, those of the
earlier ones are ``attempt-1/NAME``. ``shared`` are these names, with the attempts in order.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from burstlens.core.durable import make_folders
from burstlens.core.errors import StagingError
from burstlens.core.existence import check_existence
from burstlens.core.whole_copy import rename

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
            rename(place, aside)
    except OSError as error:
        raise StagingError.of(error, "cannot bring home", place) from error


def set_aside(output: Path, given_up: Mapping[int, Collection[str]]) -> None:
    """Move aside what attempts that were given up have brought home, to ``attempt-1/NAME``. Raises
    StagingError."""
    for attempt in sorted(given_up, reverse=True):
        for name in sorted(given_up[attempt]):
            source, place = output / name, output / f"attempt-{attempt}" / name
            try:
                if check_existence(source):
                    make_folders(place.parent, output.parent)
                    rename(source, place)
            except OSError as error:
                raise StagingError.of(error, "cannot move", source) from error
