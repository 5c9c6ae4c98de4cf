"""The segments of a run in words."""

from __future__ import annotations

from burstlens.clients.opened.table import time_label
from burstlens.core.printable import printable
from burstlens.core.run.segments import Segments
from burstlens.core.run.status_file import SegmentPart, StatusFile

SEGMENT_HEADS = ("attempt#", "job", "from", "to", "how it ended", "core-hours#", "of these lost#")
"""Of :func:`segment_rows`; one that ends with # is above numbers."""


def segment_rows(status: StatusFile) -> list[tuple[str, ...]]:
    """Each segment in the columns of ``SEGMENT_HEADS``; none of a run with fewer than two."""
    rows: list[tuple[str, ...]] = []
    for one in _several(status):
        begin, end = _ends(one)
        job, outcome = one.job_id or "", one.outcome or ""
        cost = "" if one.core_hours is None else f"{one.core_hours:g}"
        lost = "" if one.core_hours is None else f"{one.lost_core_hours or 0:g}"
        rows.append((str(one.attempt), job, begin or "the beginning", end, outcome, cost, lost))
    return rows


def segment_facts(status: StatusFile) -> list[tuple[str, str]]:
    """Each segment as a label and a text; none of a run with fewer than two."""
    found = []
    for one in _several(status):
        begin, end = _ends(one)
        stretch = " ".join([f"from {begin}"] * bool(begin) + [f"to {end}"] * bool(end))
        job = f"job {one.job_id}" if one.job_id else ""
        cost = "" if one.core_hours is None else f"{one.core_hours:g} core-hours"
        if one.lost_core_hours:
            cost += f", {one.lost_core_hours:g} of them lost while its job waited"
        texts = stretch, job, one.outcome, cost
        text = ", ".join(filter(None, texts))
        found.append((f"attempt {one.attempt}", printable(text)))
    return found


def _several(status: StatusFile) -> tuple[SegmentPart, ...]:
    parts = Segments.of(status).parts
    return parts if len(parts) > 1 else ()


def _ends(segment: SegmentPart) -> tuple[str, str]:
    """The valid times at which it begins and ends; empty where it does not."""
    begin = time_label(segment.begin) if segment.begin else ""
    return begin, time_label(segment.end) if segment.end else ""
