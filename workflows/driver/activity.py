"""What the watcher's report says to the observer of a model that others started."""

from __future__ import annotations

from burstlens.workflows.frames.report import Report
from burstlens.workflows.placement.observer import Activity


def activity_of(report: Report) -> Activity | None:
    """When and what was written last, and the log's last word; None while the folder is away."""
    folder, speech = report.folder, report.cursor.speech
    if folder is None or folder.lost:
        return None
    return Activity(
        newest=folder.newest,
        written=folder.written,
        quiet_s=folder.quiet_s,
        dated=folder.dated,
        ended_well=speech.ended_well and folder.log_is_newest,
        reason=speech.bad_end,
        last_line=speech.last_line,
        in_progress=report.in_progress,
        intervals=folder.intervals,
    )
