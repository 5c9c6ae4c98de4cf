"""Parameters of awm, and products of its recipes, that tests of runs share, as text."""

from __future__ import annotations


def block_of(nodes: tuple[int, int, int], steps: int | str, output: str, top: str = "") -> str:
    """A bell of half a second in a block of rock with so many nodes 100 m apart: in its middle, at
    three eighths of its depth. ``output`` are lines of that table and what follows it, ``top``
    those before all tables."""
    x_m, y_m, depth_m = (100.0 * (count // 2) for count in nodes)
    nx, ny, nz = nodes
    return f"""{top}
[grid]
nx = {nx}
ny = {ny}
nz = {nz}
spacing_m = 100.0
[time]
step_s = 0.0075
steps = {steps}
[material]
layers = [{{ top_m = 0, vp_m_s = 4000, vs_m_s = 2300, rho_kg_m3 = 2400 }}]
[source]
x_m = {x_m}
y_m = {y_m}
depth_m = {depth_m * 0.75}
strike_deg = 20.0
dip_deg = 70.0
rake_deg = 40.0
moment_n_m = 1e15
function = "bell"
duration_s = 0.5
[output]
{output}
"""


PARAMETERS = """\
[grid]
nx = 40
ny = 40
nz = 20
spacing_m = 100.0
[time]
step_s = 0.01
steps = 400
[material]
layers = [{ top_m = 0, vp_m_s = 4000, vs_m_s = 2300, rho_kg_m3 = 2400 }]
[source]
x_m = 2000.0
y_m = 2000.0
depth_m = 1000.0
mxx_n_m = 1e15
function = "bell"
duration_s = 1.0
[output]
surface_every = 50
"""
"""A run of 4 s that is described, and never started."""


def surface_products(width_px: int) -> str:
    """A map of the ground's motion, and of its peak so far."""
    return f"""\
[[product]]
name = "motion"
kind = "map"
stream = "surface"
variable = "vz"
limits = [-1, 1]
width_px = {width_px}
[[product]]
name = "shaken"
kind = "peak"
stream = "surface"
quantity = "pgv"
components = ["vx", "vy"]
width_px = {width_px}
"""
