"""Absorbing layers: convolutional perfectly matched layers, one slab per side.

In a layer a derivative along its axis is stretched: d/dx becomes d/dx + psi, and each step advances
the memory variable psi = b psi + a d/dx, with b = exp(-(d + alpha) dt) and a = d (b - 1) / (d +
alpha); the damping d rises with the square of depth, the shift alpha falls with it. Komatitsch &
Martin (2007), Geophysics 72, with kappa = 1, so that the main loops do not depend on the layers. A
memory variable exists only in its slab.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from burstlens.workflows.awm import absorbing_loops
from burstlens.workflows.awm.absorbing_loops import Strides
from burstlens.workflows.awm.fields import Field, Wavefield
from burstlens.workflows.awm.grid import Slab
from burstlens.workflows.awm.material import Medium

_AXES = ((0, 2, 1), (1, 2, 0), (2, 1, 0))
"""By axis: itself and the two others, as indices of (z, y, x)."""


SHIFT, FRICTION, SHARP = 0.05, 0.1, 10
"""Of layers with friction, per unit of contrast, in vp / spacing: the least frequency shift at the
inner end, friction at the outer end; and the power of depth with which friction rises."""
LEAST = 3.0
"""The contrast of which they take account at least."""


def needs_friction(contrast: float, steps: int) -> bool:
    """Whether plain layers would amplify waves until they show, where speeds at the edges differ by
    a factor of ``contrast``: above 2 within a thousand steps, above 1.25 within some thousands
    (docs/awm.md)."""
    return contrast > 2.0 or (contrast > 1.25 and steps > 2000)


@dataclass(frozen=True, slots=True)
class Damping:
    """How an absorbing layer damps: ``points`` nodes thick, the theoretical ``reflection`` at
    normal incidence of its outer end, the highest ``speed`` in m/s, ``spacing_m``, ``step_s`` and
    the ``frequency_hz`` around which grazing waves are damped best.

    Where soft strata under a free surface run into the layers, waves are trapped whose phase
    travels against their energy: a perfectly matched layer amplifies them, by a few percent per
    hundred steps. With a ``contrast`` of speeds there is friction on the velocities, which rises
    with the tenth power of depth: enough against that, while other waves are damped before they get
    so deep; and the frequency shift does not fall with the source's frequency.
    """

    points: int
    reflection: float
    speed: float
    spacing_m: float
    step_s: float
    frequency_hz: float
    contrast: float | None

    def coefficients(self, depth: NDArray[np.float64]) -> Field:
        """b and a of the recursive convolution, and what a velocity keeps in a step, (3, n), at
        ``depth`` spacings into the layer."""
        inside = np.clip(depth / self.points, 0.0, None)
        peak = -1.5 * self.speed * math.log(self.reflection) / (self.points * self.spacing_m)
        d = peak * inside**2
        shift = math.pi * self.frequency_hz
        contrast = 0.0 if self.contrast is None else max(LEAST, self.contrast)
        strength = contrast * self.speed / self.spacing_m
        shift = max(shift, SHIFT * strength)
        alpha = shift * np.clip(1 - inside, 0.0, None)
        b = np.exp(-(d + alpha) * self.step_s)
        a = np.where(d > 0, d * (b - 1) / np.maximum(d + alpha, 1e-30), 0.0)
        friction = FRICTION * strength * inside**SHARP
        return np.stack([b, a, np.exp(-friction * self.step_s)]).astype(np.float32)


class Layer:
    """One absorbing slab: what it is damped by, and its ``memory`` (2, 3, z, y, x), float32, of
    three derivatives of the velocities and three of the stresses.

    Along x it is a number of whole vectors wide: nothing is damped in the further columns.
    """

    def __init__(self, fields: Wavefield, medium: Medium, slab: Slab, damping: Damping) -> None:
        shape, axis, high = fields.vx.shape, slab.axis, slab.high
        start, extent, thick = slab.start, slab.extent, slab.thick
        wide = extent[axis]
        away = np.arange(wide, dtype=np.float64) - (wide - thick if high else 0)
        staggered = -0.5 if axis == 0 else 0.5
        tables = []
        nothing = np.array([[0], [0], [1]], np.float32)
        inside = (away >= 0) & (away < thick)
        for shift in (0.0, staggered):
            depth = away + shift if high else damping.points - away - shift
            table = np.where(inside, damping.coefficients(depth), nothing)
            whole = table[:, None, :] if axis == 2 else table[:, :, None].repeat(extent[2], axis=2)
            tables.append(np.ascontiguousarray(whole))
        on, half = tables
        self.memory = memory = np.zeros((2, 3, *extent), dtype=np.float32)
        strides = (shape[1] * shape[2], shape[2], 1)
        nodes = (-strides[0], strides[1], 1)
        n, t, u = _AXES[axis]
        at = {
            "level": start[0],
            "element": sum(n * s for n, s in zip(start, strides, strict=True)),
            "per_level": strides[0],
            "per_row": strides[1],
            "along": strides[axis],
            "ahead": axis != 0,
            "table_per_level": axis == 0,
            "table_per_row": axis == 1,
            "next_n": nodes[n],
            "next_t": nodes[t],
            "next_u": nodes[u],
        }
        given = Strides(**{name: np.uint64(int(number) % 2**64) for name, number in at.items()})
        self.levels = range(start[0], start[0] + extent[0])
        velocities = [getattr(fields, f"v{'zyx'[one]}") for one in (n, t, u)]
        normal = [getattr(fields, f"s{2 * 'zyx'[one]}") for one in (n, t, u)]
        shear = [getattr(fields, f"s{''.join(sorted('zyx'[n] + 'zyx'[one]))}") for one in (t, u)]
        self._velocity = (
            *_flat([*velocities, normal[0], *shear, medium.density]), given, memory[0], on, half
        )  # fmt: skip
        self._friction = (*_flat(velocities), given, memory[0], on, half)
        self._stress = (
            *_flat([*velocities, *normal, *shear, medium.lam, medium.compliance]),
            given, memory[1], on, half,
        )  # fmt: skip

    def damp_velocity(self, first: int, end: int) -> None:
        """Correct the velocities just advanced at the levels from ``first`` to before ``end``."""
        if first < self.levels.stop and end > self.levels.start:
            absorbing_loops.velocity(np.uint64(first), np.uint64(end), *self._velocity)

    def rub(self, first: int, end: int) -> None:
        """Slow the velocities down by friction, after all layers have corrected them."""
        if first < self.levels.stop and end > self.levels.start:
            absorbing_loops.friction(np.uint64(first), np.uint64(end), *self._friction)

    def damp_stress(self, first: int, end: int) -> None:
        """Correct the stresses just advanced there."""
        if first < self.levels.stop and end > self.levels.start:
            absorbing_loops.stress(np.uint64(first), np.uint64(end), *self._stress)


def _flat(fields: list[Field]) -> list[Field]:
    return [field.reshape(-1) for field in fields]
