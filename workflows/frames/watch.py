"""The watcher's call: a stateless long poll that knows when frames are whole.

It runs where the buffer is mounted, one short call after the other; all that it must remember
travels in the :class:`Cursor`. What one look does is in :mod:`burstlens.workflows.frames.watcher`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from burstlens.workflows.frames.cursor import Cursor, Written
from burstlens.workflows.frames.log_search import Hit, LogPattern, together
from burstlens.workflows.frames.watcher import Report, Watcher
from burstlens.workflows.models.base import Model

__all__ = ["Cursor", "Report", "watch"]

REST = 5.0
"""Rest between two looks, as a multiple of what a look takes."""
REST_BEHIND = 1.0
"""The same while the logs hold more than was read; none when the model has ended."""
PROGRESS_S = 1.0
"""Progress alone makes a call return at most this often."""

_warm: Watcher | None = None


def _continued(watcher: Watcher) -> Watcher:
    """The watcher of this worker's last call where it may go on, which spares it a first listing.

    All that matters is in the cursor: without this a call is slower, never different.
    """
    global _warm
    if _warm is None or not _warm.adopt(watcher):
        _warm = watcher
    return _warm


def watch(
    root: Path,
    folder: str,
    model: Model,
    run: str,
    attempt: int,
    cursor: Cursor,
    *,
    baseline: Mapping[str, Sequence[int]] | None,
    ended: Callable[[], bool],
    timeout_s: float,
    interval_s: float,
    patterns: tuple[LogPattern, ...] = (),
    stopping: Callable[[], bool] = lambda: False,
) -> Report:
    """Watch ``folder`` (relative to the buffer's ``root``) until there is something to tell.

    ``baseline`` maps names relative to the folder to ``[size, mtime_ns]`` before the model began:
    none of that is a frame or a signal until it changes. ``patterns`` are looked for in every log;
    while ``stopping`` says so it returns after each look.
    ``ended`` says whether the model has
    ended; it is asked before each scan, so that the last scan comes after the end. What a long log
    then still holds is read in as many calls as it takes; the last of them says ``ended``. Returns
    at once
    with frames, damage, trouble or notices, with progress or hits after ``PROGRESS_S``, else after
    ``timeout_s``. Never raises for what the file system does: that becomes a notice.
    """
    watcher = _continued(
        Watcher(root, folder, model, run, attempt, cursor, baseline=baseline, patterns=patterns)
    )
    start = before = time.monotonic()
    tail: tuple[str, ...] = ()
    written: tuple[Written, ...] = ()
    hits: dict[str, Hit] = {}
    given_up: dict[str, str] = {}
    progress = cursor.speech.progress
    while True:
        over, asked = ended(), stopping()
        now = time.monotonic()
        report = watcher.scan(elapsed_s=now - before, now=time.time(), ended=over)
        before = now
        # A folder of 10,000 frames takes 12 ms to list: looking must not eat a core.
        took = time.monotonic() - now
        pause = max(interval_s, REST * took)
        if report.behind:
            pause = 0.0 if over else REST_BEHIND * took
        tail = (*tail, *report.tail)[-20:]
        written += report.written
        for hit in report.hits:
            hits[hit.guard] = together(hits.get(hit.guard), hit)
        given_up |= report.given_up
        waited = time.monotonic() - start
        told = (hits or report.progress != progress) and waited >= PROGRESS_S
        if report.urgent or told or asked or waited >= timeout_s:
            return replace(
                report,
                tail=tail,
                written=written,
                hits=tuple(hits.values()),
                given_up=given_up,
                stopping=asked,
            )
        time.sleep(max(0.0, min(pause, timeout_s - waited)))
