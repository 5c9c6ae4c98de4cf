"""For how long nothing was written in a folder in which others started a model."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from burstlens.workflows.frames.cursor import Attached, Open
from burstlens.workflows.frames.server_clock import ServerClock


def after_scan(
    state: Attached,
    log_ns: int,
    entries: Iterable[Open],
    clock: ServerClock,
    device: int | None,
    elapsed_s: float,
) -> Attached:
    """The state after a scan that came so long after the one before. ``log_ns`` is when the newest
    log was written, ``entries`` are the files that are not finished, on that ``device``."""
    before, quiet_s, name = state.still
    newest, found = before, None
    if log_ns > newest:
        newest, name = log_ns, next(iter(state.logs), None)
    for entry in entries:
        if entry.mtime_ns > newest:
            newest, name, found = entry.mtime_ns, entry.files[0], entry
    dated = state.dated
    if newest == before:
        quiet_s += elapsed_s
    elif not before:
        age_s = clock.age_s(newest, device)
        quiet_s, dated = age_s or 0.0, age_s is not None
    else:
        # What is found in a later slice of the arrival is as old as it was then.
        quiet_s = found.quiet_s if found else 0.0
        dated = not state.pending or clock.age_s(newest, device) is not None
    return replace(state, still=(newest, quiet_s, name), dated=dated)
