"""The solver: the grid with its absorbing layers, the wavefield on it, and one step of time."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from burstlens.core.errors import RecipeError
from burstlens.workflows.awm import free_surface, material, rock, stress, velocity
from burstlens.workflows.awm.absorbing import CONTRAST, PAD, Damping, Layer
from burstlens.workflows.awm.executing import Threads
from burstlens.workflows.awm.fields import Field, Wavefield
from burstlens.workflows.awm.interpolation import OFFSETS, Footprint, Triple, cubic
from burstlens.workflows.awm.parameters import Parameters

TENSOR = (
    ("sxx", 0, 0),
    ("syy", 1, 1),
    ("szz", 2, 2),
    ("sxy", 0, 1),
    ("sxz", 0, 2),
    ("syz", 1, 2),
)


class Solver:
    """The state of a run. ``steps`` counts the steps taken; the velocities are those of
    ``steps * step_s``. ``by`` executes the loops. Raises RecipeError for a material that does not
    fit grid and step.
    """

    def __init__(self, parameters: Parameters, folder: Path, by: Threads | None = None) -> None:
        self.parameters = parameters
        self._by = by or Threads()
        grid, time = parameters.grid, parameters.time
        self.spacing_m = grid.spacing_m
        self.step_s = time.step_s
        self.steps = 0
        rim = PAD + parameters.absorbing.points
        above = PAD if parameters.free_surface else rim
        self.shape = (grid.nz + rim + above, grid.ny + 2 * rim, grid.nx + 2 * rim)
        self.origin = (rim, rim, rim)
        self.top = self.shape[0] - PAD - 1
        self.surface = self.top if parameters.free_surface else -1
        self.points = (self.top + 1 - PAD) * (self.shape[1] - 2 * PAD) * (self.shape[2] - 2 * PAD)

        self.x = np.arange(grid.nx) * grid.spacing_m
        self.y = np.arange(grid.ny) * grid.spacing_m
        self.z = (np.arange(grid.nz) - (grid.nz - 1)) * grid.spacing_m
        factor = self.step_s / self.spacing_m
        pads = ((rim, above), (rim, rim), (rim, rim))
        levels = rock.levels(parameters.material, folder, self.z, self.y, self.x)
        self.medium = material.medium(levels, pads, factor, self.surface, self.shape)
        speeds = self.medium.speeds
        refusals = parameters.refusals(speeds.vs_min, speeds.vp_max)
        if refusals:
            raise RecipeError("; ".join(refusals))

        robust = parameters.absorbing.robust
        self.robust = speeds.contrast > CONTRAST if robust is None else robust
        self.wavefield = Wavefield.at_rest(self.shape)
        damping = Damping(
            parameters.absorbing.points,
            parameters.absorbing.reflection,
            speeds.vp_max,
            self.spacing_m,
            self.step_s,
            parameters.source.highest_hz / 2,
            self.robust,
        )
        sides = [(2, False), (2, True), (1, False), (1, True), (0, False)]
        if not parameters.free_surface:
            sides.append((0, True))
        self.layers = [
            Layer(self.wavefield, self.medium, self.top, axis, high, damping)
            for axis, high in sides
        ]

        at = parameters.source
        where = self.place(at.x_m, at.y_m, at.depth_m)
        tensor = at.tensor
        last = (self.top, self.shape[1] - 1, self.shape[2] - 1)
        self.source = [
            (getattr(self.wavefield, name), Footprint.of(name, where, last), float(tensor[a, b]))
            for name, a, b in TENSOR
            if tensor[a, b] != 0
        ]
        self.rates = at.rate(np.arange(time.count + 1) * self.step_s)

    def place(self, x_m: float, y_m: float, depth_m: float) -> Triple:
        """A position (z, y, x) in spacings from the padded arrays' first node."""
        k, j, i = self.origin
        h = self.spacing_m
        return k + (self.z.size - 1) - depth_m / h, j + y_m / h, i + x_m / h

    def footprint(self, component: str, x_m: float, y_m: float, depth_m: float) -> Footprint:
        """The footprint of a receiver there in one velocity component."""
        ghost = 1 if self.surface >= 0 and component == "vz" else 0
        last = (self.top + ghost, self.shape[1] - 1, self.shape[2] - 1)
        return Footprint.of(component, self.place(x_m, y_m, depth_m), last)

    def advance(self) -> None:
        """One step: velocities, then stresses, each with the layers and the surface."""
        w, m = self.wavefield, self.medium
        self._by.run(self._advance_velocity, PAD, self.top + 1)
        if self.surface >= 0:
            free_surface.velocity_above(w.vx, w.vy, w.vz, m.ratio, self.top)
        self._by.run(self._advance_stress, PAD, self.top + 1)
        self.steps += 1
        released = self.step_s * self.rates[self.steps] / self.spacing_m**3
        for field, footprint, moment in self.source:
            footprint.add(field, -released * moment)
        if self.surface >= 0:
            free_surface.stress_above(w.szz, w.sxz, w.syz, self.top)

    def _advance_velocity(self, first: int, end: int) -> None:
        w, m = self.wavefield, self.medium
        stresses = (w.sxx, w.syy, w.szz, w.sxy, w.sxz, w.syz)
        part = np.uint64(first), np.uint64(end)
        velocity.advance(*part, w.vx, w.vy, w.vz, *stresses, m.density)
        for layer in self.layers:
            layer.damp_velocity(first, end)
        for layer in self.layers if self.robust else ():
            layer.rub(first, end)

    def _advance_stress(self, first: int, end: int) -> None:
        w, m = self.wavefield, self.medium
        stresses = (w.sxx, w.syy, w.szz, w.sxy, w.sxz, w.syz)
        part = np.uint64(first), np.uint64(end)
        surface = np.uint64(self.surface if self.surface >= 0 else self.shape[0])
        stress.advance(*part, w.vx, w.vy, w.vz, *stresses, m.lam, m.compliance, surface)
        for layer in self.layers:
            layer.damp_stress(first, end)

    def velocity(self, component: str, stride: int = 1) -> Field:
        """A velocity component at every ``stride``-th node inside the layers, (z, y, x), m/s.

        Interpolated to the nodes with cubics; levels are counted down from the topmost.
        """
        k = self.origin[0]
        out = self._at_nodes(
            component, slice(k + (self.z.size - 1) % stride, k + self.z.size, stride), stride
        )
        if self.surface >= 0:
            out[-1] = self.surface_velocity(component)[::stride, ::stride]
        return out

    def surface_velocity(self, component: str) -> Field:
        """A velocity component at the nodes of the topmost level, (y, x), m/s."""
        k = self.origin[0] + self.z.size - 1
        level: Field = self._at_nodes(component, slice(k, k + 1), 1, highest=k + 1)[0]
        return level

    def _at_nodes(
        self, component: str, levels: slice, stride: int, highest: int | None = None
    ) -> Field:
        field = getattr(self.wavefield, component)
        offsets = OFFSETS[component]
        axis = next(n for n, offset in enumerate(offsets) if offset)
        room = 2 if highest is None or axis else highest - levels.start
        first, weights = cubic(-offsets[axis], room)
        _, j, i = self.origin
        starts = (levels.start, j, i)
        ends = (levels.stop, j + self.y.size, i + self.x.size)
        out: Field = np.zeros(1, dtype=np.float32)
        for n, weight in enumerate(weights.astype(np.float32)):
            shifts = [first + n if a == axis else 0 for a in range(3)]
            block = tuple(
                slice(start + shift, end + shift, stride)
                for start, end, shift in zip(starts, ends, shifts, strict=True)
            )
            out = out + weight * field[block]
        return out
