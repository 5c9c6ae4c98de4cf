"""Absorbing layers: convolutional perfectly matched layers, one slab per side.

Komatitsch & Martin (2007), Geophysics 72, with kappa = 1: the stretched derivative is the plain one
plus a memory variable, so that the main loops do not depend on the layers. A memory variable exists
only in its slab.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from burstlens.workflows.awm import absorbing_loops
from burstlens.workflows.awm.fields import Field, Wavefield
from burstlens.workflows.awm.material import Medium

PAD = 2
"""Elements that the stencil needs beyond the last one advanced."""
VECTOR = 8
"""Elements of the vectors that compilers use for rows."""


@dataclass(frozen=True, slots=True)
class Damping:
    """How an absorbing layer damps: ``points`` nodes thick, the theoretical ``reflection`` at
    normal incidence of its outer end, the highest ``speed`` in m/s, ``spacing_m``, ``step_s`` and
    the ``frequency_hz`` around which grazing waves are damped best. ``robust`` holds the frequency
    shift three times as high through the whole layer: trapped waves then cannot grow where soft
    strata under a free surface run into it, but it sends back some 2 % of a long wave.
    """

    points: int
    reflection: float
    speed: float
    spacing_m: float
    step_s: float
    frequency_hz: float
    robust: bool

    def coefficients(self, depth: NDArray[np.float64]) -> Field:
        """b and a (2, n) of the recursive convolution at ``depth`` spacings into the layer."""
        inside = np.clip(depth / self.points, 0.0, None)
        peak = -1.5 * self.speed * math.log(self.reflection) / (self.points * self.spacing_m)
        d = peak * inside**2
        shift = np.full_like(inside, 3.0) if self.robust else np.clip(1 - inside, 0.0, None)
        alpha = math.pi * self.frequency_hz * shift
        b = np.exp(-(d + alpha) * self.step_s)
        a = np.where(d > 0, d * (b - 1) / np.maximum(d + alpha, 1e-30), 0.0)
        return np.stack([b, a]).astype(np.float32)


class Layer:
    """One absorbing slab, ``axis`` 0, 1, 2 for z, y, x, at its low or high end.

    It spans its nodes and the last one of the interior, where half-spaced components are already
    in it, and the whole grid along the other axes. Along x it is a number of whole vectors wide:
    nothing is damped in the further columns.
    """

    def __init__(
        self, fields: Wavefield, medium: Medium, top: int, axis: int, high: bool, damping: Damping
    ) -> None:
        shape = fields.vx.shape
        thick = damping.points + 1
        start = [PAD, PAD, PAD]
        extent = [top + 1 - PAD, shape[1] - 2 * PAD, shape[2] - 2 * PAD]
        wide = min(extent[2], -(-thick // VECTOR) * VECTOR) if axis == 2 else thick
        if high:
            start[axis] += extent[axis] - wide
        extent[axis] = wide
        away = np.arange(wide, dtype=np.float64) - (wide - thick if high else 0)
        staggered = -0.5 if axis == 0 else 0.5
        tables = []
        for shift in (0.0, staggered):
            depth = away + shift if high else damping.points - away - shift
            table = np.where((away >= 0) & (away < thick), damping.coefficients(depth), 0)
            table = table.astype(np.float32)
            if axis == 2:
                tables.append(table[:, None, :])
            else:
                tables.append(np.repeat(table[:, :, None], extent[2], axis=2))
        on, half = (np.ascontiguousarray(table) for table in tables)
        memory = np.zeros((2, 3, *extent), dtype=np.float32)
        strides = (shape[1] * shape[2], shape[2], 1)
        slab = (
            start[0],
            sum(n * s for n, s in zip(start, strides, strict=True)),
            strides[0],
            strides[1],
            strides[axis],
            int(axis != 0),
            int(axis == 0),
            int(axis == 1),
        )
        given = tuple(np.uint64(number) for number in slab)
        self.levels = range(start[0], start[0] + extent[0])
        self._velocity = (*_flat(_velocities(fields, medium)[axis]), given, memory[0], on, half)
        self._stress = (*_flat(_stresses(fields, medium)[axis]), given, memory[1], on, half)

    def damp_velocity(self, first: int, end: int) -> None:
        """Correct the velocities just advanced at the levels from ``first`` to before ``end``."""
        if first < self.levels.stop and end > self.levels.start:
            absorbing_loops.velocity(np.uint64(first), np.uint64(end), *self._velocity)

    def damp_stress(self, first: int, end: int) -> None:
        """Correct the stresses just advanced there."""
        if first < self.levels.stop and end > self.levels.start:
            absorbing_loops.stress(np.uint64(first), np.uint64(end), *self._stress)


def _velocities(w: Wavefield, m: Medium) -> dict[int, tuple[Field, ...]]:
    """By axis: the velocity along it and the two others, the stresses that act on its faces, and
    the reciprocal densities."""
    return {
        2: (w.vx, w.vy, w.vz, w.sxx, w.sxy, w.sxz, m.bx, m.by, m.bz),
        1: (w.vy, w.vx, w.vz, w.syy, w.sxy, w.syz, m.by, m.bx, m.bz),
        0: (w.vz, w.vx, w.vy, w.szz, w.sxz, w.syz, m.bz, m.bx, m.by),
    }


def _stresses(w: Wavefield, m: Medium) -> dict[int, tuple[Field, ...]]:
    """By axis: the velocities, the three normal stresses, the two that shear its faces, and the
    moduli."""
    return {
        2: (w.vx, w.vy, w.vz, w.sxx, w.syy, w.szz, w.sxy, w.sxz, m.p, m.l, m.mxy, m.mxz),
        1: (w.vy, w.vx, w.vz, w.syy, w.sxx, w.szz, w.sxy, w.syz, m.p, m.l, m.mxy, m.myz),
        0: (w.vz, w.vx, w.vy, w.szz, w.sxx, w.syy, w.sxz, w.syz, m.p, m.l, m.mxz, m.myz),
    }


def _flat(fields: tuple[Field, ...]) -> list[Field]:
    return [field.reshape(-1) for field in fields]
