"""The watcher's call: a stateless long poll that detects whole frames.

It runs where the buffer is mounted, as a series of short calls; all state between them is in the
:class:`Cursor`. One scan is implemented in :mod:`burstlens.workflows.frames.watcher`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from burstlens.core.model import Fingerprint
from burstlens.workflows.frames.arrival import Selection
from burstlens.workflows.frames.attached import AttachedEvidence, sweep
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.evidence import EvidencePolicy
from burstlens.workflows.frames.listing import WatchedFolder
from burstlens.workflows.frames.log_search import LogPattern
from burstlens.workflows.frames.report import Report
from burstlens.workflows.frames.wakeup import Wakeup
from burstlens.workflows.frames.watcher import Watcher
from burstlens.workflows.models.base import Model

REST = 5.0
"""Pause between two scans, as a multiple of the time that a scan takes."""
REST_BEHIND = 1.0
"""The same while the logs have more than was read; no pause once the model has ended."""
WOKEN_S = 1.0
"""Pause between two scans without any change, where changes wake the watcher: a net below it."""
SIGNS_S = 0.25
"""Pause between two looks for the model's end or a stop meanwhile."""
PROGRESS_S = 1.0
"""A call that has only progress or hits to report returns no earlier than this."""

STALL_S = 5.0
"""A scan that takes longer is logged: the buffer does not answer."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Attachment:
    """How a folder is watched in which others started a model.

    ``selection``: what is wanted of the frames that are there on arrival. ``stamp``: a file of the
    run directory that shows the file server's time. ``sweep``: finished files to look at again, by
    name, with their fingerprints. ``ended``: the model certainly writes no more; ``concluded``:
    that the watch has ended was reported before, so it is no news.
    """

    selection: Selection
    stamp: str
    sweep: Mapping[str, Fingerprint] = field(default_factory=dict)
    ended: bool = False
    concluded: bool = False


_warm: Watcher | None = None
_wakeup = Wakeup()
"""This worker's: to close one takes the kernel 15 ms."""


def _continued(watcher: Watcher) -> Watcher:
    """The watcher of this worker's previous call, if it fits: that saves the first listing. All
    state is in the cursor: without this a call is slower, never different."""
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
    attachment: Attachment | None = None,
    settings: str | None = None,
) -> Report:
    """Watch ``folder`` (relative to the buffer's ``root``) until there is something to report.

    ``baseline`` maps names relative to the folder to ``[size, mtime_ns]`` before the model began:
    these files are neither frames nor signals until they change. ``patterns`` are searched for in
    every log. While ``stopping`` returns True, the call returns after each scan. ``ended`` returns
    whether the model has ended; it is called before each scan, so that the final scan comes after
    the end. If a long log is not fully read by then, more calls follow; the report of the final one
    has ``ended`` set. Returns at once with frames, damage, trouble or notices, after
    ``PROGRESS_S`` with progress or hits, else after ``timeout_s``. Errors of the file system are
    not raised: they become notices. ``attachment``: the model was started by others.
    ``settings`` as for :meth:`.WatchedFolder.of`.
    """
    place = WatchedFolder.of(root, folder, model, settings)
    policy: EvidencePolicy
    if attachment is None:
        policy = EvidencePolicy(place, baseline)
    else:
        policy = AttachedEvidence(place, attachment.selection, Path(attachment.stamp))
        cursor = sweep(cursor, place, attachment.sweep)
    watcher = _continued(Watcher(place, run, attempt, cursor, policy, patterns=patterns))
    concluded = attachment is not None and attachment.concluded
    start = before = time.monotonic()
    report: Report | None = None
    progress = cursor.speech.progress
    vain = 0

    def signs() -> tuple[bool, bool]:
        return ended(), stopping()

    while True:
        over, asked = signs()
        now = time.monotonic()
        found = watcher.scan(elapsed_s=now - before, now=time.time(), ended=over)
        report, before = found.following(report), now
        # Listing a folder of 10,000 frames takes 12 ms: scans must not occupy a core.
        took = time.monotonic() - now
        if took > STALL_S:
            _log.warning("a scan of %s took %.0f s", folder, took)
        pause = max(interval_s, REST * took)
        more = report.behind or (report.folder is not None and report.folder.arriving)
        if more:
            pause = 0.0 if over else REST_BEHIND * took
        waited = time.monotonic() - start
        news = (report.hits or report.progress != progress) and waited >= PROGRESS_S
        urgent = (replace(report, ended=False) if concluded else report).urgent
        if urgent or news or asked or waited >= timeout_s:
            return replace(report, stopping=asked)
        left = timeout_s - waited
        pause = max(0.0, min(pause, left))
        if more or not _wakeup.arm(*watcher.listing.places()):
            time.sleep(pause)
            continue
        # Scans that changes order in vain come less and less often, down to the rate of polling.
        time.sleep(min(pause, REST * took * 2 ** min(vain, 16)))
        if not _wakeup.fresh:
            longest = pause if report.in_progress else max(pause, min(WOKEN_S, left))
            woken = _woken(pause, longest, signs, (over, asked))
            vain = vain + 1 if woken else 0


def _woken(
    step_s: float,
    longest_s: float,
    signs: Callable[[], tuple[bool, bool]],
    known: tuple[bool, bool],
) -> bool:
    """Wait for a change in the folder, or in ``signs``; returns whether it came within ``step_s``,
    the pause of polling."""
    begin, passed = time.monotonic(), 0.0
    while not _wakeup.wait(min(max(step_s, SIGNS_S), longest_s - passed)):
        passed = time.monotonic() - begin
        if passed >= longest_s or signs() != known:
            break
    return time.monotonic() - begin < step_s
