"""A seismic solver in a process of its own, which takes steps on request.

``python seismic_worker.py ours|devito ORDER``: each line on the standard input is an order in JSON,
each line on the standard output its answer. It runs with any source tree and with Devito's Python,
so it imports nothing of the bench.
"""

from __future__ import annotations

import gc
import json
import re
import sys
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

SPACING_M, STEP_S, LAYER = 100.0, 0.008, 10
DEPTH_M = 1000.0
"""That of the source: its waves meet the free surface soon."""
SOFT, ROCK = (4000.0, 2300.0, 2500.0), (6000.0, 3400.0, 2700.0)
PROBE_BYTES = 12
"""What ``a += b`` moves per element: two are read, one is written."""
FIELDS = ("vx", "vy", "vz", "sxx", "syy", "szz", "sxy", "sxz", "syz")
BLOCKS = ((8, 8), (16, 120), (4, 32), (32, 8), (120, 120))
"""Sizes of Devito's blocks that are tried, along x and y: its own tuning tries four."""
_SKIPPED = (types.ModuleType, type, types.FunctionType, types.BuiltinFunctionType)


def ours(nodes: tuple[int, int, int], threads: int) -> tuple[Any, int]:
    """A solver of the tree that is imported, before or after it had threads of its own."""
    from burstlens.workflows.awm import solver
    from burstlens.workflows.awm.parameters import Parameters

    nx, ny, nz = nodes
    middle = {"x_m": nx * 50.0, "y_m": ny * 50.0, "depth_m": DEPTH_M}
    names = ("vp_m_s", "vs_m_s", "rho_kg_m3")
    rock = {"top_m": nz * SPACING_M / 3, **dict(zip(names, ROCK, strict=True))}
    given = Parameters.model_validate(
        {
            "title": "bench",
            "threads": threads,
            "grid": {"nx": nx, "ny": ny, "nz": nz, "spacing_m": SPACING_M},
            "time": {"step_s": STEP_S, "steps": 1000},
            "material": {"layers": [dict(zip(names, SOFT, strict=True)), rock]},
            "source": {
                **middle,
                **dict.fromkeys(("mxx_n_m", "myy_n_m", "mzz_n_m"), 1e15),
                "frequency_hz": 2.0,
                "function": "gaussian",
            },
            "absorbing": {"points": LAYER},
        }
    )
    made: Any = solver.Solver
    try:
        from burstlens.workflows.awm.executing import Threads
    except ImportError:
        import numba

        numba.set_num_threads(threads)
        one = made(given, Path())
    else:
        one = made(given, Path(), Threads(threads))
    return one, one.points


def devito(nodes: tuple[int, int, int]) -> tuple[Callable[[int], None], int]:
    """Devito's elastic equations on a staggered grid of as many points, order 4.

    As in its examples a mask damps the velocities at the sides, which costs less than convolutional
    layers; and there is no free surface.
    """
    import devito as d  # type: ignore[import-not-found, unused-ignore]

    nx, ny, nz = nodes
    shape = (nx + 2 * LAYER, ny + 2 * LAYER, nz + LAYER)
    grid = d.Grid(shape, extent=[SPACING_M * (n - 1) for n in shape], dtype=np.float32)
    v = d.VectorTimeFunction(name="v", grid=grid, space_order=4, time_order=1)
    tau = d.TensorTimeFunction(name="t", grid=grid, space_order=4, time_order=1)
    lam, mu, b, damp = (
        d.Function(name=name, grid=grid, space_order=4) for name in ("lam", "mu", "b", "damp")
    )
    below = np.arange(shape[2]) >= nz / 3
    vp, vs, rho = (np.where(below, r, s) for s, r in zip(SOFT, ROCK, strict=True))
    lam.data[:], mu.data[:], b.data[:] = rho * (vp**2 - 2 * vs**2), rho * vs**2, 1 / rho
    damp.data[:] = 0.95
    damp.data[LAYER:-LAYER, LAYER:-LAYER, :-LAYER] = 1.0
    for n in range(3):
        tau[n, n].data[:, shape[0] // 2, shape[1] // 2, shape[2] // 2] = 1e6
    dt = grid.stepping_dim.spacing
    strain = d.grad(v.forward) + d.grad(v.forward).transpose(inner=False)
    operator = d.Operator(
        [
            d.Eq(v.forward, damp * (v + dt * b * d.div(tau))),
            d.Eq(tau.forward, tau + dt * (lam * d.diag(d.div(v.forward)) + mu * strain)),
        ]
    )
    sizes = [p.name for p in operator.parameters if p.name.endswith("_size")]

    def take(steps: int) -> None:
        operator.apply(time_m=0, time_M=steps - 1, dt=STEP_S, **blocks)

    blocks: dict[str, int] = {}
    tried = []
    for x, y in BLOCKS:
        most = {"x": min(x, shape[0]), "y": min(y, shape[1])}
        blocks = {name: most[name[0]] for name in sizes}
        take(2)
        begin = time.process_time()
        take(10)
        tried.append((time.process_time() - begin, blocks))
    blocks = min(tried, key=lambda one: one[0])[1]
    if not np.isfinite(v[0].data).all():
        raise RuntimeError("Devito's fields are not finite")

    return take, int(np.prod(shape))


def held(root: Any) -> int:
    """Bytes of all arrays that can be reached from an object."""
    seen, arrays, waiting = set(), {}, [root]
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, _SKIPPED):
            continue
        seen.add(id(one))
        if isinstance(one, np.ndarray):
            while isinstance(one.base, np.ndarray):
                one = one.base
            arrays[one.ctypes.data] = one.nbytes
        else:
            waiting += gc.get_referents(one)
    return sum(arrays.values())


def memory(nodes: tuple[int, int, int]) -> dict[str, int]:
    """Bytes of the arrays of a solver, and by how much it raises the peak of the process."""
    small, _ = ours((12, 12, 12), 1)
    small.advance()
    del small
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")
    before = _peak()
    solver, _ = ours(nodes, 1)
    for _ in range(3):
        solver.advance()
    return {"held": held(solver), "peak": _peak() - before}


def probe(elements: int) -> float:
    """Bytes per second of CPU that ``a += b`` moves."""
    a, b = np.zeros(elements, np.float32), np.ones(elements, np.float32)
    best = float("inf")
    for _ in range(4):
        begin = time.process_time()
        np.add(a, b, out=a)
        best = min(best, time.process_time() - begin)
    return PROBE_BYTES * elements / best


def main() -> None:
    """Make the solver, then answer until the input ends."""
    order = json.loads(sys.argv[2])
    nodes = tuple(order["nodes"])
    solver: Any = None
    if sys.argv[1] == "memory":
        print(json.dumps(memory(nodes)), flush=True)
        return
    if sys.argv[1] == "devito":
        take, points = devito(nodes)
    else:
        solver, points = ours(nodes, order["threads"])

        def take(steps: int) -> None:
            for _ in range(steps):
                solver.advance()

    take(1)
    print(json.dumps({"points": points}), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        if "probe" in asked:
            answer: dict[str, Any] = {"rate": probe(asked["probe"])}
        elif "save" in asked:
            answer = {}
            np.savez(asked["save"], **{name: getattr(solver.wavefield, name) for name in FIELDS})
        else:
            cpu, wall = time.process_time(), time.perf_counter()
            take(asked["steps"])
            spent = time.process_time() - cpu, time.perf_counter() - wall
            answer = {"cpu": spent[0] / asked["steps"], "wall": spent[1] / asked["steps"]}
        print(json.dumps(answer), flush=True)


def _peak() -> int:
    found = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
    return 1024 * int(found[1]) if found else 0


if __name__ == "__main__":
    main()
