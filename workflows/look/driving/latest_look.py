"""What the latest look at a folder asks of its run, which an earlier one has made: a page or none,
and other frames of those that are there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from burstlens.core.durable import read_dropped, write_json
from burstlens.core.existence import surely_missing
from burstlens.core.run.directory import RunDir
from burstlens.workflows.look.options import Look

PAGE = "page"
"""The file in ``control/`` that exists while a page shows the run."""
FRAMES = "frames.json"
"""The file in ``control/`` with the frames that the latest look takes, if not those of the first.
"""


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
