"""The program that stages in where only the simulation's job sees the buffer.

``python -m burstlens.workflows.placement.stage_in LIST FOLDER HOST``: ``LIST`` is the JSON file
that the driver wrote, ``FOLDER`` the run's on the buffer. A mark on the buffer itself says that it
is done, so that it is done once per buffer, whatever is killed; ``staged-in.json`` beside the list
says so to the driver. Where each node has a buffer of its own, the scheduler's launcher starts it
on each, and that on ``HOST`` reports.
"""

from __future__ import annotations

import json
import socket
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from burstlens.core.durable import read_json, write_json
from burstlens.core.errors import BurstlensError, StagingError
from burstlens.core.existence import again, patiently
from burstlens.core.version import answer
from burstlens.stagers.base import checksum
from burstlens.workflows.hints.stripes import FolderStripes
from burstlens.workflows.models.base import Model
from burstlens.workflows.models.inputs import selected
from burstlens.workflows.placement.buffer import BufferRef, fill, stripe

LIST = "stage-in.json"
DONE = "staged-in.json"
"""The mark on the buffer, and the report to the driver in the run directory."""


def write_list(
    place: Path,
    buffer: BufferRef,
    inputs: Path,
    model: Model,
    leave: Sequence[str],
    stripes: Sequence[FolderStripes] = (),
) -> list[tuple[str, str]]:
    """Write the list of what is to be staged in; returns its files. Raises OSError."""
    chosen = selected(inputs, model, leave)
    names = [name for _, name in chosen.files]
    striped = [one.job() for one in stripes if one.any_of(names)]
    facts = {"kind": buffer.kind, "by": buffer.by, "left": chosen.left, "stripes": striped}
    write_json(place / LIST, {**facts, "files": chosen.files, "folders": chosen.folders})
    return list(chosen.files)


def stage_in(list_: Path, folder: Path, *, reports: bool = True) -> dict[str, Any]:
    """Bring what the list names to ``folder/inputs``, unless that was done; returns the counts.
    Raises StagingError."""
    listed = json.loads(patiently(lambda: list_.read_text(encoding="utf-8")))
    try:
        done = again(lambda: read_json(folder / DONE))
    except OSError as error:
        raise StagingError.of(error, "cannot stage in", folder) from error
    if done is None:
        begin = time.monotonic()
        buffer = BufferRef(listed["kind"], str(folder.parent), folder.name, by=listed.get("by", ""))
        stager = buffer.stager()
        # What the scheduler has brought by a directive, files alone, is not brought again.
        there = {
            relative: size
            for source, relative in listed["files"]
            if (size := _same(Path(source), folder / "inputs" / relative)) is not None
        }
        files = [pair for pair in listed["files"] if pair[1] not in there]
        stripe(folder / "inputs", listed.get("stripes", ()))
        folders = listed.get("folders", ())
        size = sum(there.values()) + fill(stager, files, folders, folder / "inputs")
        done = {
            "files": len(listed["files"]),
            "bytes": size,
            "left": listed["left"],
            "seconds": round(time.monotonic() - begin, 3),
        }
        try:
            write_json(folder / DONE, done)
        except OSError as error:
            raise StagingError.of(error, "cannot stage in", folder) from error
    if reports:
        patiently(lambda: write_json(list_.with_name(DONE), done))
    return done


def _same(source: Path, target: Path) -> int | None:
    """The size of a file that is at the target as it is at the source."""
    try:
        if target.stat().st_size != source.stat().st_size:
            return None
        there = checksum(target)
        return there.bytes if there == checksum(source) else None
    except OSError:
        return None


def main() -> int:
    """Stage in; returns 1, with one line on standard error, when it cannot."""
    try:
        list_, folder, *host = sys.argv[1:]  # a supervisor of 0.2 names none
        stage_in(Path(list_), Path(folder), reports=not host or host[0] == socket.gethostname())
    except (BurstlensError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    answer(__doc__)
    sys.exit(main())
