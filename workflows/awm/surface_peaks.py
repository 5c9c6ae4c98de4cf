"""Peaks of the ground's horizontal motion at the surface, followed at every step.

Frames are too far apart for this: they miss peaks between them, and the difference of two frames
is not an acceleration.
"""

from __future__ import annotations

import numpy as np

from burstlens.workflows.awm.fields import Field
from burstlens.workflows.awm.solver import Solver

PEAKS = {
    "pgv": ("peak ground velocity, horizontal vector", "m s-1"),
    "pga": ("peak ground acceleration, horizontal vector", "m s-2"),
    "pgd": ("peak ground displacement, horizontal vector", "m"),
    "pgv_larger": ("peak ground velocity, larger horizontal", "m s-1"),
    "pga_larger": ("peak ground acceleration, larger horizontal", "m s-2"),
}
"""Long names and units. Without ``larger``: the greatest length of the vector."""


class SurfacePeaks:
    """``fields`` are the peaks so far, each (y, x), float32; call :meth:`follow` after each step.

    Acceleration is the change of velocity over a step, displacement its sum by trapezoids.
    """

    def __init__(self, solver: Solver) -> None:
        self._solver = solver
        shape = solver.y.size, solver.x.size
        self.fields: dict[str, Field] = {name: np.zeros(shape, np.float32) for name in PEAKS}
        self._before = np.zeros((2, *shape), np.float32)
        self._displacement = np.zeros((2, *shape), np.float32)

    def state(self) -> dict[str, Field]:
        """All that changes from step to step, by name."""
        motion = {"velocity before": self._before, "displacement": self._displacement}
        return {f"peak {name}": values for name, values in {**self.fields, **motion}.items()}

    def follow(self) -> None:
        """Update the peaks with the current velocities."""
        solver, step = self._solver, np.float32(self._solver.step_s)
        velocity = np.stack([solver.surface_velocity(name) for name in ("vx", "vy")])
        acceleration = (velocity - self._before) / step
        self._displacement += (velocity + self._before) * (step / 2)
        self._before[...] = velocity
        for name, motion in (("pgv", velocity), ("pga", acceleration), ("pgd", self._displacement)):
            self._raise(name, np.hypot(*motion))
            if f"{name}_larger" in self.fields:
                self._raise(f"{name}_larger", np.abs(motion).max(axis=0))

    def _raise(self, name: str, size: Field) -> None:
        np.maximum(self.fields[name], size, out=self.fields[name])
