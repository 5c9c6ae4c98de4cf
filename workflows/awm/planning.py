"""The plan of a run: what it would do, printed."""

from __future__ import annotations

import json
from pathlib import Path

from burstlens.workflows.awm.executing import Threads
from burstlens.workflows.awm.parameters import Parameters
from burstlens.workflows.awm.program import Run, say
from burstlens.workflows.awm.stretch import Stretch

PLAN_STEPS = 1000
"""A plan is probed as a run of so many steps would be."""


def plan(
    parameters: Parameters, folder: Path, by: Threads, stretch: Stretch, *, as_json: bool
) -> int:
    """Print what a run would do, and do nothing of it; returns 0.

    Raises RecipeError for a checkpoint from which it could not continue.
    """
    run = Run(parameters, folder, by, stretch)
    found = run.forecast(PLAN_STEPS)
    run.restore()
    if as_json:
        print(json.dumps(found.numbers()))
    else:
        for line in found.lines():
            say(line)
    return 0
