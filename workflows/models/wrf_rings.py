"""When WRF writes restart files: at the first step after each restart interval, as its clock shows
it then. Whether a run can continue from them, and has the same frames then.

Measured with v4.3.3: a step of 18 s with an interval of 60 s gave files of 72, 126, 180 and 252 s;
started from that of 72 s, files of 126, 198 and 252 s; a step of 10 s with one of 35 s files of 40,
70 and 110 s. With an adaptive step the clock meets times
of the outermost domain's history only (dyn_em/adapt_timestep_em.F). A restart file of 66.87 s was
called that of 66 s, which a run that continues from it takes for its time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import timedelta
from fractions import Fraction

from burstlens.workflows.models import wrf_names, wrf_times
from burstlens.workflows.models.namelist import Namelist, first, flag, number
from burstlens.workflows.models.wrf_timers import frame_notes, outputs

_LOST = "and a run that continues from one loses the fraction"
_MOST_RINGS = 100
"""Restart times that are looked at for frames at other times: the pattern repeats."""


def is_adaptive(settings: Namelist) -> bool:
    """Whether WRF chooses its step."""
    return flag(settings, "use_adaptive_time_step")


def step_s(settings: Namelist) -> Fraction | None:
    """Seconds of a step of the outermost domain; None where WRF chooses it, or it is not given."""
    whole, part = (int(number(settings, f"time_step{end}")) for end in ("", "_fract_num"))
    of = int(number(settings, "time_step_fract_den", default=1))
    step = max(0, whole) + (Fraction(part, of) if of else Fraction(0))
    return None if is_adaptive(settings) or step <= 0 else Fraction(step)


def ring_faults(settings: Namelist, every_s: float | None) -> Iterator[str]:
    """Why restart files so often, by default as the namelist says, are of times between whole
    seconds: a run that continues from one begins a part of a second too early."""
    every_s = every_s or wrf_times.interval_s(settings, "restart")
    step, history_s = step_s(settings), wrf_times.interval_s(settings, "history")
    if not every_s:
        return
    if is_adaptive(settings):
        meets = "with use_adaptive_time_step WRF meets"
        if first(settings, "step_to_output_time", True) is False:
            yield (
                f"{meets} no times of restart files where step_to_output_time = .false.: they come "
                f"between whole seconds, {_LOST}; set it to .true."
            )
        elif not history_s or every_s % history_s:
            yield (
                f"{meets} the times of history alone, each {history_s:g} s: restart files each "
                f"{every_s:g} s come between whole seconds, {_LOST}; choose a multiple"
            )
    elif step and step.denominator > 1 and Fraction(every_s) % step:
        yield (
            f"restart files each {every_s:g} s are no multiple of the time step of {step} s, and "
            f"come between whole seconds, {_LOST}; choose a multiple"
        )


def comes_late(settings: Namelist, every_s: float) -> bool:
    """Whether output of that interval comes at a step after its time, as no step ends there."""
    if is_adaptive(settings):
        return any(ring_faults(settings, every_s))
    step = step_s(settings)
    return step is not None and bool(Fraction(every_s) % step)


def step_notes(settings: Namelist, every_s: float | None) -> Iterator[str]:
    """What is different about the steps of a run with restart files so often, by default as the
    namelist says, that stops or restarts there, one message each."""
    every_s = every_s or wrf_times.interval_s(settings, "restart")
    if not (every_s and comes_late(settings, every_s)):
        return
    if is_adaptive(settings):
        yield (
            "use_adaptive_time_step = .true.: restart files come at a step after their time, and "
            "WRF restarts at the whole second before; steps and frames after it are not those of "
            "a run in one piece"
        )
    else:
        yield f"restart files every {every_s:g} s come at a step after their time"


def warnings(settings: Namelist, every_s: float | None) -> Iterator[str]:
    """What is different in a run that continues from restart files so often."""
    every_s = every_s or wrf_times.interval_s(settings, "restart")
    start, total_s = wrf_times.date(settings, "start"), wrf_times.total_s(settings)
    if not every_s:
        return
    step = step_s(settings)
    if step and Fraction(every_s) % step:
        at_s = float(math.ceil(Fraction(every_s) / step) * step)
        yield (
            f"restart files each {every_s:g} s are no multiple of the time step of {step} s: WRF "
            f"writes them at the next step (the first at {at_s:g} s), and after a restart at others"
        )
    if start is None or total_s is None:
        return
    overridden = flag(settings, "override_restart_timers")
    for ring in range(1, min(_MOST_RINGS, math.ceil(total_s / every_s))):
        begin = start + timedelta(seconds=ring * every_s)
        notes = [*frame_notes(settings, begin, wrf_names.domains(settings), overridden=overridden)]
        if notes:
            at = f"restart files come every {every_s:g} s: after a restart at {ring * every_s:g} s "
            yield at + "; ".join(notes)
            return


def unit_s(settings: Namelist) -> float | None:
    """The least interval of restart files with which frames come at the same times after a
    restart, each at a step; None where no frames are asked for."""
    intervals = [
        int(every_s)
        for output in outputs(settings)
        for domain in wrf_names.domains(settings)
        if (every_s := wrf_times.interval_s(settings, output, domain - 1)) > 0
    ]
    if not intervals:
        return None
    least, step = math.lcm(*intervals), step_s(settings)
    return float(least * (Fraction(least) / step).denominator if step else least)
