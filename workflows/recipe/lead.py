"""How long before its job ends the model is asked to write a checkpoint and stop."""

from __future__ import annotations

from burstlens.cluster_configs.batch_script import unmeasured_lead_s
from burstlens.core.errors import RecipeError

TIMES = 2.0
"""A checkpoint beside the last frames, on a busy file system, may take twice as long as others."""
MARGIN_S = 40.0
"""For the step under way, and for a model that does not stop: it is ended, and logs come home."""


def lead_s(walltime_s: float, given_s: float | None, cost_s: float | None) -> float:
    """The lead of a job so long: as the recipe has ``given`` it, else by the cost of the longest
    checkpoint so far, in seconds. It takes at most half of the job then: what a checkpoint takes
    that is longer, a longer walltime must give. Raises RecipeError where a given one leaves no
    time.
    """
    if given_s is not None:
        if given_s >= walltime_s:
            raise RecipeError(
                f"checkpoint.lead: it is {given_s:g} s, and the job has {walltime_s:g} s: the "
                "model would be asked to stop before it begins; use a longer simulation.walltime"
            )
        return given_s
    bound_s = unmeasured_lead_s(walltime_s)
    if cost_s is None:
        return bound_s
    return min(TIMES * cost_s + min(MARGIN_S, bound_s), walltime_s / 2)
