"""The solver: the grid with its absorbing layers, the wavefield on it, and one step of time."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from burstlens.core.errors import RecipeError
from burstlens.workflows.awm import material, rock, stress, velocity
from burstlens.workflows.awm.absorbing import Damping, Layer, needs_friction
from burstlens.workflows.awm.executing import Threads
from burstlens.workflows.awm.fields import Field, Wavefield
from burstlens.workflows.awm.free_surface import SHARP, FreeSurface
from burstlens.workflows.awm.grid import PAD, PaddedGrid
from burstlens.workflows.awm.interpolation import OFFSETS, Footprint, Triple, cubic
from burstlens.workflows.awm.parameters import Parameters
from burstlens.workflows.awm.point_source import PointSource


class Solver:
    """The state of a run. ``steps`` counts the steps taken; the velocities are those of
    ``steps * step_s``. ``by`` executes the loops. Raises RecipeError for a material that does not
    fit grid and step.
    """

    def __init__(self, parameters: Parameters, folder: Path, by: Threads | None = None) -> None:
        self.parameters = parameters
        self._by = by or Threads()
        given, time = parameters.grid, parameters.time
        self.spacing_m, self.step_s, self.steps = given.spacing_m, time.step_s, 0
        self.grid = grid = PaddedGrid.of(parameters)
        self.points = grid.points
        self.x = np.arange(given.nx) * given.spacing_m
        self.y = np.arange(given.ny) * given.spacing_m
        self.z = (np.arange(given.nz) - (given.nz - 1)) * given.spacing_m

        levels = rock.levels(parameters.material, folder, self.z, self.y, self.x)
        factor = self.step_s / self.spacing_m
        self.medium = material.medium(levels, grid.pads, factor, grid.surface, grid.shape)
        self.speeds = speeds = self.medium.speeds
        refusals = parameters.refusals(speeds.vs_min, speeds.vp_max)
        if refusals:
            raise RecipeError("; ".join(refusals))

        wanted = parameters.absorbing.robust
        needed = needs_friction(speeds.contrast, time.count)
        self.robust = needed if wanted is None else wanted
        self.wavefield = Wavefield.at_rest(grid.shape)
        self.surface = None
        if grid.surface >= 0:
            smooth = speeds.contrast_near_surface > SHARP
            self.surface = FreeSurface(self.wavefield, self.medium.ratio, grid.surface, smooth)
        at, absorbing = parameters.source, parameters.absorbing
        damping = Damping(
            absorbing.points, absorbing.reflection, speeds.vp_max, self.spacing_m, self.step_s,
            at.highest_hz / 2, speeds.contrast if self.robust else None,
        )  # fmt: skip
        self.layers = [Layer(self.wavefield, self.medium, slab, damping) for slab in grid.slabs()]

        last = (grid.top, grid.shape[1] - 1, grid.shape[2] - 1)
        rates = at.rate(np.arange(time.count + 1) * self.step_s)
        released = rates * self.step_s / self.spacing_m**3
        where = self.place(at.x_m, at.y_m, at.depth_m)
        self.source = PointSource(self.wavefield, at.tensor, where, last, released)

    def state(self) -> dict[str, Field]:
        """All that changes from step to step, by name: the wavefield, and the memory of layers."""
        fields = {name: getattr(self.wavefield, name) for name in Wavefield.__slots__}
        return fields | {f"layer {n}": layer.memory for n, layer in enumerate(self.layers)}

    def place(self, x_m: float, y_m: float, depth_m: float) -> Triple:
        """A position (z, y, x) in spacings from the padded arrays' first node."""
        rim, h = self.grid.rim, self.spacing_m
        return rim + (self.z.size - 1) - depth_m / h, rim + y_m / h, rim + x_m / h

    def footprint(self, component: str, x_m: float, y_m: float, depth_m: float) -> Footprint:
        """The footprint of a receiver there in one velocity component."""
        ghost = 1 if self.grid.surface >= 0 and component == "vz" else 0
        last = (self.grid.top + ghost, self.grid.shape[1] - 1, self.grid.shape[2] - 1)
        return Footprint.of(component, self.place(x_m, y_m, depth_m), last)

    def advance(self) -> None:
        """One step: velocities, then stresses, each with the layers and the surface."""
        self.steps += 1
        self._advance(self.steps)

    def rehearse(self) -> None:
        """A step without the source, which takes as long as one with it: at rest, all stays so."""
        self._advance(0)

    def _advance(self, released: int) -> None:
        self._by.run(self._advance_velocity, PAD, self.grid.top + 1)
        if self.surface:
            self.surface.continue_velocity()
        self._by.run(self._advance_stress, PAD, self.grid.top + 1)
        if released:
            self.source.release(released)
        if self.surface:
            self.surface.free_stress()

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
        surface = np.uint64(self.grid.surface if self.grid.surface >= 0 else self.grid.shape[0])
        stress.advance(*part, w.vx, w.vy, w.vz, *stresses, m.lam, m.compliance, surface)
        for layer in self.layers:
            layer.damp_stress(first, end)

    def velocity(self, component: str, stride: int = 1) -> Field:
        """A velocity component at every ``stride``-th node inside the layers, (z, y, x), m/s.

        Interpolated to the nodes with cubics; levels are counted down from the topmost.
        """
        k = self.grid.rim
        levels = slice(k + (self.z.size - 1) % stride, k + self.z.size, stride)
        out = self._at_nodes(component, levels, stride)
        if self.grid.surface >= 0:
            out[-1] = self.surface_velocity(component)[::stride, ::stride]
        return out

    def surface_velocity(self, component: str) -> Field:
        """A velocity component at the nodes of the topmost level, (y, x), m/s."""
        k = self.grid.rim + self.z.size - 1
        level: Field = self._at_nodes(component, slice(k, k + 1), 1, highest=k + 1)[0]
        return level

    def _at_nodes(
        self, component: str, levels: slice, stride: int, highest: int | None = None
    ) -> Field:
        field, offsets = getattr(self.wavefield, component), OFFSETS[component]
        axis = next(n for n, offset in enumerate(offsets) if offset)
        room = 2 if highest is None or axis else highest - levels.start
        first, weights = cubic(-offsets[axis], room)
        rim = self.grid.rim
        starts = (levels.start, rim, rim)
        ends = (levels.stop, rim + self.y.size, rim + self.x.size)
        out: Field = np.zeros(1, dtype=np.float32)
        for n, weight in enumerate(weights.astype(np.float32)):
            shifts = [first + n if a == axis else 0 for a in range(3)]
            block = tuple(
                slice(start + shift, end + shift, stride)
                for start, end, shift in zip(starts, ends, shifts, strict=True)
            )
            out = out + weight * field[block]
        return out
