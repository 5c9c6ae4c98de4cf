"""What the seismic model's absorbing layers send back: a small grid against a large one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.workflows.awm.parameters import Parameters
from burstlens.workflows.awm.solver import Solver

SPACING_M, ECHO_LIMIT = 100.0, 0.05
SOURCE: dict[str, Any] = {"x_m": 800.0, "y_m": 800.0, "depth_m": 700.0, "function": "gaussian"}
BLAST = dict.fromkeys(("mxx_n_m", "myy_n_m", "mzz_n_m"), 1e15)
COUPLE = {"strike_deg": 30.0, "dip_deg": 60.0, "rake_deg": 40.0, "moment_n_m": 1e15}
_RECEIVERS = ((1200.0, 0.0), (1000.0, 700.0), (-600.0, -1300.0), (300.0, 0.0))


def layer(top_m: float, vp: float, vs: float, rho: float) -> dict[str, float]:
    """A layer of the material."""
    return {"top_m": top_m, "vp_m_s": vp, "vs_m_s": vs, "rho_kg_m3": rho}


def parameters_of(
    nodes: tuple[int, int, int],
    layers: list[dict[str, float]],
    source: dict[str, Any],
    step_s: float,
    steps: int,
    free: bool = True,
    absorbing: dict[str, Any] | None = None,
) -> Parameters:
    """Those of a run, the step's limit aside."""
    grid = dict(zip(("nx", "ny", "nz"), nodes, strict=True))
    return Parameters.model_validate(
        {
            "title": "stability",
            "free_surface": free,
            "allow_unstable": True,
            "grid": {**grid, "spacing_m": SPACING_M},
            "time": {"step_s": step_s, "steps": steps},
            "material": {"layers": layers},
            "source": source,
            "absorbing": absorbing or {},
        }
    )


@dataclass(frozen=True, slots=True)
class Echo:
    """A medium whose layers' echo is measured at receivers near the source: over rock with
    ``contrast``, or homogeneous where that is 0."""

    name: str
    free_surface: bool
    frequency_hz: float
    steps: int
    contrast: float = 0.0
    blast: bool = False

    def traces(self, nodes: int) -> NDArray[np.float64]:
        """Velocities at the receivers, (receiver, component, step), on a grid of so many nodes
        each way around the source."""
        middle, depth = nodes // 2 * SPACING_M, 1500.0
        levels = 30 + (nodes - 30) // 2
        if not self.free_surface:
            depth, levels = middle, nodes
        layers = [layer(0.0, 5000.0, 2886.75, 2700.0)]
        if self.contrast:
            c = self.contrast
            layers = [
                layer(0.0, 5800 / c, 3350 / c, 2200.0),
                layer(600.0, 5800.0, 3350.0, 2700.0),
            ]
        source = {**SOURCE, "x_m": middle, "y_m": middle, "depth_m": depth}
        source |= {"frequency_hz": self.frequency_hz, **(BLAST if self.blast else COUPLE)}
        given = parameters_of(
            (nodes, nodes, levels), layers, source, 0.008, self.steps, free=self.free_surface
        )
        solver = Solver(given, Path())
        down = (0.0, -300.0, 900.0, 0.0)
        places = [
            (middle + east, middle + north, 0.0 if self.free_surface else depth + below)
            for (east, north), below in zip(_RECEIVERS, down, strict=True)
        ]
        components = ("vx", "vy", "vz")
        prints = [[solver.footprint(one, *at) for one in components] for at in places]
        fields = [getattr(solver.wavefield, one) for one in components]
        out = np.zeros((len(places), 3, self.steps))
        for step in range(self.steps):
            solver.advance()
            for n, three in enumerate(prints):
                out[n, :, step] = [at.value(f) for at, f in zip(three, fields, strict=True)]
        return out


ECHOES = (
    Echo("full space, explosion", False, 2.5, 230, blast=True),
    Echo("full space, double couple", False, 2.5, 230),
    Echo("free surface, double couple", True, 2.5, 230),
    Echo("free surface, double couple, 1 Hz", True, 1.0, 400),
    Echo("soft layer, contrast 2.5", True, 1.0, 500, contrast=2.5),
    Echo("soft layer, contrast 3", True, 0.8, 500, contrast=3.0),
    Echo("soft layer, contrast 5", True, 0.45, 700, contrast=5.0),
)


def echo(one: Echo, large: int) -> list[float]:
    """By receiver, the most that a grid of 30 nodes differs from a large one, in percent of the
    trace's peak."""
    far = one.traces(large)
    difference = np.abs(one.traces(30) - far).max(axis=(1, 2))
    return [float(value) for value in 100 * difference / np.abs(far).max(axis=(1, 2))]
