"""Whether a solution is still finite. What is not finite stays so: the run is unstable."""

from __future__ import annotations

import numpy as np

from burstlens.core.errors import SimulationError
from burstlens.workflows.awm.executing import Threads
from burstlens.workflows.awm.fields import Wavefield
from burstlens.workflows.awm.output import COMPONENTS
from burstlens.workflows.awm.solver import Solver


def check_finite(solver: Solver, by: Threads, *, stresses: bool = False) -> None:
    """Raise SimulationError if a velocity is NaN or infinite; with ``stresses`` also for those.

    What the absorbing layers keep is part of both in the same step, what the peaks keep follows
    from the velocities: neither is looked at.
    """
    w, n, bad = solver.wavefield, solver.steps, set[str]()
    names = Wavefield.__slots__ if stresses else COMPONENTS

    def check(first: int, end: int) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            sums = {name: getattr(w, name)[first:end].sum() for name in names}
        bad.update(name for name, total in sums.items() if not np.isfinite(total))

    by.run(check, 0, w.vx.shape[0])
    if not bad:
        return
    what = f"the velocities are not finite at step {n}"
    if bad.isdisjoint(COMPONENTS):
        what = (
            f"the stresses are not finite at step {n}, so that the velocities are not "
            f"finite at step {n + 1}"
        )
    raise SimulationError(f"{what}: the run is unstable")
