"""Whether a solution is still finite. What is not finite stays so: the run is unstable."""

from __future__ import annotations

import numpy as np

from burstlens.core.errors import SimulationError
from burstlens.workflows.awm.executing import Threads
from burstlens.workflows.awm.fields import Wavefield
from burstlens.workflows.awm.output import COMPONENTS
from burstlens.workflows.awm.solver import Solver


class UnstableError(SimulationError):
    """A field has NaN or infinity after that step."""

    @classmethod
    def of(cls, field: str, step: int) -> UnstableError:
        """The error for a field of the state."""
        what = f"the velocities are not finite at step {step}"
        if field not in COMPONENTS:
            name = "the stresses" if field in Wavefield.__slots__ else f"the state's {field}"
            what = (
                f"{name} are not finite at step {step}, so that the velocities are not finite at "
                f"step {step + 1}"
            )
        return cls(f"{what}: the run is unstable")


def check_velocities(solver: Solver, by: Threads) -> None:
    """Raise UnstableError if a velocity is NaN or infinite."""
    w, bad = solver.wavefield, set[str]()

    def check(first: int, end: int) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            sums = {name: getattr(w, name)[first:end].sum() for name in COMPONENTS}
        bad.update(name for name, total in sums.items() if not np.isfinite(total))

    by.run(check, 0, w.vx.shape[0])
    if bad:
        raise UnstableError.of(bad.pop(), solver.steps)
