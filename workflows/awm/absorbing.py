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

from burstlens.workflows.awm import kernels
from burstlens.workflows.awm.fields import Field, Wavefield
from burstlens.workflows.awm.material import Medium

PAD = 2
"""Elements that the stencil needs beyond the last one advanced."""


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
    in it, and the whole grid along the other axes.
    """

    def __init__(
        self, shape: tuple[int, int, int], top: int, axis: int, high: bool, damping: Damping
    ) -> None:
        thick = damping.points + 1
        start = [PAD, PAD, PAD]
        extent = [top + 1 - PAD, shape[1] - 2 * PAD, shape[2] - 2 * PAD]
        if high:
            start[axis] += extent[axis] - thick
        extent[axis] = thick
        away = np.arange(thick, dtype=np.float64)
        staggered = -0.5 if axis == 0 else 0.5
        tables = []
        for shift in (0.0, staggered):
            depth = away + shift if high else damping.points - away - shift
            table = damping.coefficients(depth)
            if axis == 2:
                tables.append(table[:, None, :])
            else:
                tables.append(np.repeat(table[:, :, None], extent[2], axis=2))
        self.axis = axis
        self.on, self.half = (np.ascontiguousarray(table) for table in tables)
        self.memory = np.zeros((2, 3, *extent), dtype=np.float32)
        strides = (shape[1] * shape[2], shape[2], 1)
        self.slab = (
            sum(n * s for n, s in zip(start, strides, strict=True)),
            strides[0],
            strides[1],
            strides[axis],
            int(axis != 0),
            int(axis == 0),
            int(axis == 1),
        )

    def damp_velocity(self, w: Wavefield, m: Medium) -> None:
        """Correct the velocities just advanced."""
        roles = {
            2: (w.vx, w.vy, w.vz, w.sxx, w.sxy, w.sxz, m.bx, m.by, m.bz),
            1: (w.vy, w.vx, w.vz, w.syy, w.sxy, w.syz, m.by, m.bx, m.bz),
            0: (w.vz, w.vx, w.vy, w.szz, w.sxz, w.syz, m.bz, m.bx, m.by),
        }[self.axis]
        flat = (f.reshape(-1) for f in roles)
        kernels.absorb_velocity(*flat, self.slab, self.memory[0], self.on, self.half)

    def damp_stress(self, w: Wavefield, m: Medium) -> None:
        """Correct the stresses just advanced."""
        fields = {
            2: (w.vx, w.vy, w.vz, w.sxx, w.syy, w.szz, w.sxy, w.sxz),
            1: (w.vy, w.vx, w.vz, w.syy, w.sxx, w.szz, w.sxy, w.syz),
            0: (w.vz, w.vx, w.vy, w.szz, w.sxx, w.syy, w.sxz, w.syz),
        }[self.axis]
        shear = {2: (m.mxy, m.mxz), 1: (m.mxy, m.myz), 0: (m.mxz, m.myz)}[self.axis]
        flat = (f.reshape(-1) for f in (*fields, m.p, m.l, *shear))
        kernels.absorb_stress(*flat, self.slab, self.memory[1], self.on, self.half)
