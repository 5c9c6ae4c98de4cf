"""What ``look`` was asked for, kept in ``run.json``: a resumed run looks in the same way."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from burstlens.cluster_configs.inside import Inside
from burstlens.core.durable import read_dropped, write_json
from burstlens.core.existence import surely_missing
from burstlens.core.run.directory import RunDir
from burstlens.core.run.events import Fingerprint
from burstlens.core.run.history import History
from burstlens.core.run.status_file import AttachedPart
from burstlens.workflows.frames.arrival import NEWEST, Selection

PAGE = "page"
"""The file in ``control/`` that exists while a page shows the run."""
FRAMES = "frames.json"
"""The file in ``control/`` with the frames that the latest look takes, if not those of the first.
"""


def run_name(path: Path, job: str | None = None) -> str:
    """The name of the run that looks at that folder: one user has one such run. With ``job`` the
    folder is on the disk of that job's node: the same path is another folder in another job.

    >>> run_name(Path("/scratch/me/run"))
    'look-run-a5f811d1'
    """
    stem = re.sub(r"[^A-Za-z0-9_-]+", "-", path.name).strip("-")[:40] or "folder"
    named = bytes(path) + (b"\0" + job.encode() if job is not None else b"")
    return f"look-{stem}-{hashlib.sha256(named).hexdigest()[:8]}"


@dataclass(frozen=True, slots=True)
class Look:
    """An attached run's folder and options.

    ``path`` is the folder's real path, ``reason`` why it was taken for this model's. ``newest``,
    ``since``, ``last_s`` and ``every`` are those of :class:`.Selection`. ``mark`` names the job or
    process for good. ``page``: a page shows the run, so it goes on after the model's end; the
    latest look decides that.
    ``quiet_after_s``: without a page it ends when nothing was written for so long. ``workers`` make
    products, ``max_read_rate`` bytes per second are read at most, ``poll_s`` is the pause between
    two looks. ``block``: workers are a batch job. ``lowest``: at the lowest priority. ``inside``:
    workers are a step of that job, on whose node alone ``path`` is seen. ``streams`` are those of
    which files were there when the products were chosen; None: unknown.
    """

    path: str
    model: str = ""
    reason: str = ""
    newest: int | None = NEWEST
    since: str | None = None
    last_s: float | None = None
    every: int = 1
    job: str | None = None
    pid: int | None = None
    mark: str | None = None
    allow_stop: bool = False
    page: bool = True
    quiet_after_s: float | None = None
    workers: int = 1
    max_read_rate: int | None = None
    poll_s: float | None = None
    block: bool = False
    lowest: bool = True
    inside: Inside | None = None
    left_out: tuple[str, ...] = ()
    streams: tuple[str, ...] | None = None

    def shown(self, more: tuple[str, ...] = ()) -> AttachedPart:
        """As ``status.json`` has it, before anything is observed; ``more`` was left out later."""
        return AttachedPart(
            path=self.path, model=self.model, reason=self.reason, allow_stop=self.allow_stop,
            left_out=[*self.left_out, *more], job=self.job, pid=self.pid,
        )  # fmt: skip

    def selection(self, history: History) -> Selection:
        """What is wanted of the frames that are there; what came since an earlier look always."""
        known: dict[str, tuple[str, str]] = {}
        again = {stream for _, stream, _ in history.retried}  # their frames are read again
        for (stream, time), (_, file, _, _) in history.fingerprints.items():
            if stream not in again and time > known.get(stream, ("", ""))[0]:
                known[stream] = (time, file)
        return Selection(self.newest, self.since, self.last_s, self.every, known)


def look_of(value: dict[str, Any]) -> Look:
    """The options in ``run.json``; unknown ones, of a newer version, are passed over."""
    known = {name: value[name] for name in Look.__dataclass_fields__ if name in value}
    known["left_out"] = tuple(known.get("left_out", ()))
    if known.get("inside") is not None:
        known["inside"] = Inside(**known["inside"])
    if known.get("streams") is not None:
        known["streams"] = tuple(known["streams"])
    return Look(**known)


def declared_files(history: History) -> dict[str, Fingerprint]:
    """The latest fingerprint of each file that holds a declared frame."""
    latest: dict[str, tuple[int, Fingerprint]] = {}
    for _, file, record, fingerprint in history.fingerprints.values():
        if file and (file not in latest or latest[file][0] <= record):
            latest[file] = record, fingerprint
    return {file: fingerprint for file, (_, fingerprint) in latest.items()}


def place_of(look: Look) -> dict[str, int]:
    """Device and inode of the folder, as ``run.attached`` has them; empty if it is away, or not to
    be seen from here."""
    if look.inside is not None:
        return {}
    try:
        found = Path(look.path).stat()
    except OSError:
        return {}
    return {"device": found.st_dev, "inode": found.st_ino}


def in_turn(
    files: Mapping[str, Fingerprint], first: int, count: int
) -> tuple[dict[str, Fingerprint], int]:
    """So many files from the number ``first`` on, and the number to begin with next time: none is
    left out for ever, however many files come in between.

    >>> in_turn({"a": (1, 1, 1, 1), "b": (1, 2, 1, 1), "c": (1, 3, 1, 1)}, 2, 2)
    ({'c': (1, 3, 1, 1)}, 0)
    """
    first = first if first < len(files) else 0
    end = first + count
    return dict(itertools.islice(files.items(), first, end)), end if end < len(files) else 0


def has_page(run: RunDir) -> bool:
    """Whether the latest look shows the run on a page, or is to go on until it is stopped."""
    return not surely_missing(run.control / PAGE)


def note_page(run: RunDir, *, page: bool) -> None:
    """Note whether the next driver shows the run on a page. Raises OSError."""
    if page:
        run.control.mkdir(exist_ok=True)
        (run.control / PAGE).touch()
    else:
        (run.control / PAGE).unlink(missing_ok=True)


def note_frames(run: RunDir, taken: Mapping[str, Any]) -> None:
    """Note which frames the next drivers take: ``newest``, ``since``, ``last_s`` and ``every`` of
    :class:`.Look`. Raises OSError."""
    run.control.mkdir(exist_ok=True)
    write_json(run.control / FRAMES, taken)


def latest(run: RunDir, look: Look) -> Look:
    """The look as the latest one asks for it."""
    look = replace(look, page=has_page(run))
    taken = read_dropped(run.control / FRAMES) or {}
    newest, since, last_s = (taken.get(name) for name in ("newest", "since", "last_s"))
    every = taken.get("every")
    if not isinstance(every, int) or every < 1:
        return look  # there is none, or somebody else wrote it
    return replace(
        look,
        newest=newest if isinstance(newest, int) and newest > 0 else None,
        since=since if isinstance(since, str) else None,
        last_s=float(last_s) if isinstance(last_s, int | float) and last_s > 0 else None,
        every=every,
    )
