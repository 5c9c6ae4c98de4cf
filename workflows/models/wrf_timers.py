"""When a continued WRF run writes frames, and whether its namelist or its restart file decides.

A restart file has the seconds up to the next frame of each stream; WRF takes these as the interval
from then on. ``override_restart_timers`` makes it take the namelist's, counted from the restart.

Measured with v4.3.3 for history, and for auxiliary history without that setting. The rest is what
its sources say: share/input_wrf.F, share/mediation_integrate.F, tools/gen_streams.c.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from burstlens.workflows.models import wrf_times
from burstlens.workflows.models.continuation import Continuation
from burstlens.workflows.models.namelist import Namelist, flag

_INTERVAL = re.compile(r"(history|auxhist\d+)_interval(?:_[dhms])?")
_AVERAGES = ("auxhist5", "auxhist6")
"""Streams of which WRF writes no frame at a restart."""


def needs_override(settings: Namelist, wanted: Continuation, changed: Iterable[str]) -> bool:
    """Whether ``override_restart_timers`` must be set: the intervals wanted are others than those
    in the restart files. Restart files of a run have the ``every_s`` of all its attempts; those
    among the inputs have what the namelist says."""
    if wanted.time is None and not flag(settings, "restart"):
        return False
    if any(map(_INTERVAL.fullmatch, changed)):
        return True
    every_s = wanted.every_s if wanted.time is None else None
    return every_s is not None and every_s != wrf_times.interval_s(settings, "restart")


def frame_notes(
    settings: Namelist, begin: datetime, domains: Sequence[int], *, overridden: bool
) -> Iterator[str]:
    """What is different about the frames of these domains in a run that restarts at ``begin``, one
    message each. ``settings`` are those of the whole run."""
    for domain in domains:
        for output in outputs(settings):
            every_s = wrf_times.interval_s(settings, output, domain - 1)
            if not every_s:
                continue
            stream = f"d{domain:02d}" if output == "history" else f"{output}_d{domain:02d}"
            start = wrf_times.date(settings, "start", domain - 1) or begin
            passed_s = (begin - start).total_seconds()
            first_s = wrf_times.begin_s(settings, output, domain - 1)
            left_s = every_s - (passed_s - first_s) % every_s
            if passed_s < first_s:
                left_s = first_s - passed_s
            shifts = passed_s % every_s != 0 if overridden else left_s != every_s
            if shifts:
                yield (
                    f"frames of {stream} come every {every_s if overridden else left_s:g} s from "
                    "the restart on, which is not the time of a frame (otherwise every "
                    f"{every_s:g} s from the start)"
                )
            if overridden and output not in ("history", *_AVERAGES) and not first_s:
                yield (
                    f"{stream} has a frame at the time of the restart as well, without what WRF "
                    "computes only in a step"
                )


def outputs(settings: Namelist) -> list[str]:
    """The kinds of frames: history, then each auxiliary history for which there is an interval."""
    found = {match[1] for match in map(_INTERVAL.fullmatch, settings) if match}
    auxiliary = sorted(found - {"history"}, key=lambda output: int(output.removeprefix("auxhist")))
    return ["history", *auxiliary]
