"""The watcher's tasks on the viewing block: one long poll each."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from burstlens.core.durable import read_json
from burstlens.core.existence import surely_exists
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.log_search import LogPattern
from burstlens.workflows.frames.report import Report
from burstlens.workflows.frames.watch import Attachment, watch
from burstlens.workflows.models.base import Model
from burstlens.workflows.placement.buffer import BufferRef, free_bytes
from burstlens.workflows.placement.job_folder import names_in


@dataclass(frozen=True, slots=True)
class Watched:
    """A watcher's report with the room left on the buffer."""

    report: Report
    free_bytes: int | None


def watch_buffer(
    buffer: BufferRef,
    model: Model,
    run: str,
    attempt: int,
    cursor: Cursor,
    job_folder: str,
    timeout_s: float,
    interval_s: float,
    patterns: tuple[LogPattern, ...] = (),
) -> Watched:
    """One long poll on the frames of an attempt, see :func:`.watch.watch`."""
    job = Path(job_folder)
    deadline, over = time.monotonic() + timeout_s, False
    # The baseline is written before the model begins: without it there is nothing to watch, and
    # there never will be if the job has ended.
    while True:
        baseline = None
        with contextlib.suppress(OSError):  # it is away for now
            baseline = read_json(job / "baseline.json")
        if baseline is not None:
            break
        with contextlib.suppress(OSError):
            names = names_in(job)
            over = "ended.json" in names and not names & {"baseline.json", "started.json"}
        if over or time.monotonic() > deadline:
            return Watched(Report((), (), cursor, ended=over), free_bytes(buffer.root()))
        time.sleep(interval_s)
    folder, inputs = f"{buffer.folder}/{attempt}", f"{buffer.folder}/inputs"
    report = watch(
        buffer.root(),
        folder,
        model,
        run,
        attempt,
        cursor,
        baseline=baseline,
        ended=partial(surely_exists, job / "ended.json"),
        timeout_s=timeout_s,
        interval_s=interval_s,
        patterns=patterns,
        stopping=partial(_waits_for_frame, job),
        settings=inputs if surely_exists(buffer.root() / inputs) else None,
    )
    return Watched(report, free_bytes(buffer.root()))


def watch_folder(
    buffer: BufferRef,
    model: Model,
    run: str,
    attempt: int,
    cursor: Cursor,
    attachment: Attachment,
    timeout_s: float,
    interval_s: float,
    patterns: tuple[LogPattern, ...] = (),
) -> Watched:
    """One long poll on a folder in which others started a model, see :func:`.watch.watch`."""
    report = watch(
        buffer.root(),
        f"{buffer.folder}/{attempt}",
        model,
        run,
        attempt,
        cursor,
        baseline=None,
        ended=lambda: attachment.ended,
        timeout_s=timeout_s,
        interval_s=interval_s,
        patterns=patterns,
        attachment=attachment,
    )
    return Watched(report, free_bytes(buffer.root()))


def _waits_for_frame(job: Path) -> bool:
    """Whether a stop was asked for that may still wait for the frame in progress."""
    control = str(job.parents[1] / "control")
    return surely_exists(f"{control}/stop") and not surely_exists(f"{control}/frame-done")
