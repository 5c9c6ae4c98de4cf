"""What a tuning found, in words, as a table and as JSON values."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from burstlens.core.quantity import show_duration
from burstlens.workflows.tuning.course import Ending
from burstlens.workflows.tuning.space import Trial
from burstlens.workflows.tuning.verdict import NOISY, PAIRS

COLUMNS = ("trial", "phase", "origin", "seconds", "wall_s", "load", "configuration", "message")


def sentence(trials: Sequence[Trial], ending: Ending) -> str:
    """``I/O for d01: default 30.2 s, tuned 7.3 s, 4.1 times as fast (3.6 to 4.8).``"""
    verdict = ending.verdict
    if ending.failed:
        return verdict.reason
    if not verdict.gain:
        noise = f" Default: {ending.noise.text}." if ending.noise else ""
        pairs, what = "", leader_text(ending)
        if verdict.default_s is not None and verdict.leader_s is not None:
            pairs = f" Pairs: default {verdict.default_s:.3g} s, {what} {verdict.leader_s:.3g} s."
        return f"No gain beyond noise: {verdict.reason}.{noise}{pairs}"
    default, leader = by_stream(trials, default=True), by_stream(trials, default=False)
    parts = [
        f"I/O for {stream}: default {default[stream]:.3g} s, tuned {leader[stream]:.3g} s"
        for stream in default
        if stream in leader
    ]
    factor, least, most = map(_times, (verdict.factor, verdict.least, verdict.most))
    sizes = f"{factor} times as fast ({least} to {most})"
    return f"{'; '.join(parts)}. In all {sizes}, with {leader_text(ending)}."


def _times(factor: float | None) -> str:
    """Two digits; of a small one what it is more than 1."""
    return f"{factor or 0.0:.{2 if (factor or 0.0) >= 2 else 3}g}"


def by_stream(trials: Sequence[Trial], *, default: bool) -> Mapping[str, float]:
    """Median seconds of each stream over the pairs' runs of the default, or of the leader."""
    runs = [
        trial.measured.seconds
        for trial in trials
        if trial.plan.phase == "pair"
        and trial.measured is not None
        and trial.plan.configuration.is_default == default
    ]
    streams = dict.fromkeys(stream for seconds in runs for stream in seconds)
    return {
        stream: statistics.median(seconds[stream] for seconds in runs if stream in seconds)
        for stream in streams
    }


def leader_text(ending: Ending) -> str:
    """The leader's values, in one line."""
    return "no leader" if ending.leader is None else ending.leader.configuration.text()


def remarks(trials: Sequence[Trial], ending: Ending) -> list[str]:
    """What a reader of the verdict should know: noise, load, failures, what it cost."""
    found = []
    if ending.noise is not None and ending.noise.variation > NOISY:
        found.append(
            f"This machine is noisy: runs of the same recipe vary by {ending.noise.variation:.0%}. "
            f"{PAIRS} pairs hardly show less than a factor of {1 + 2 * ending.noise.variation:.1f}."
        )
    if loads := [trial.load for trial in trials if trial.load is not None]:
        least, most = f"{min(loads):.1f}", f"{max(loads):.1f}"
        span = least if least == most else f"{least} to {most}"
        found.append(
            f"Measured at a load average of {span}, the trials' own "
            "included: the best setting of an idle machine may not be that of a loaded one."
        )
    if failed := sum(trial.measured is None for trial in trials):
        found.append(f"{failed} of {len(trials)} trials failed; the table says how.")
    if more := sum((trial.seconds or 0.0) > trial.wall_s for trial in trials):
        found.append(
            f"In {more} of {len(trials)} trials output took longer than the run: its lines in the "
            "model's log count more than once, by several ranks or at the same time."
        )
    wall = sum(trial.wall_s for trial in trials)
    found.append(f"{len(trials)} trials took {show_duration(wall)} of the model's time.")
    return found


def rows(trials: Sequence[Trial]) -> list[dict[str, Any]]:
    """One row per trial, in order, by :data:`COLUMNS`."""
    return [
        {
            "trial": trial.number,
            "phase": trial.plan.phase,
            "origin": trial.plan.origin,
            "seconds": None if trial.seconds is None else round(trial.seconds, 6),
            "wall_s": trial.wall_s,
            "load": trial.load,
            "configuration": trial.plan.configuration.text(),
            "message": trial.message or trial.plan.reason,
        }
        for trial in trials
    ]


def as_tsv(trials: Sequence[Trial]) -> str:
    """The rows as text with tabs; nothing of what a model printed can break a line."""
    lines = ["\t".join(COLUMNS)]
    for row in rows(trials):
        cells = ("" if row[name] is None else str(row[name]) for name in COLUMNS)
        lines.append("\t".join(" ".join(cell.split()) for cell in cells))
    return "\n".join(lines) + "\n"


def as_json(trials: Sequence[Trial], ending: Ending) -> dict[str, Any]:
    """The whole of it as JSON values."""
    verdict, noise = ending.verdict, ending.noise
    return {
        "gain": verdict.gain,
        "reason": verdict.reason,
        "sentence": sentence(trials, ending),
        "remarks": remarks(trials, ending),
        "default_s": verdict.default_s,
        "leader_s": verdict.leader_s,
        "factor": verdict.factor,
        "least": verdict.least,
        "most": verdict.most,
        "leader": dict(ending.leader.configuration.values) if ending.leader else None,
        "noise": None if noise is None else {"mean_s": noise.mean, "variation": noise.variation,
                                             "runs": noise.runs},
        "trials": [
            {**row, "values": dict(trial.plan.configuration.values),
             "streams": dict(trial.measured.seconds) if trial.measured else None}
            for row, trial in zip(rows(trials), trials, strict=True)
        ],
    }  # fmt: skip
