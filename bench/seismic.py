"""The seismic model's step: rate, threads, memory, and other codes on the same problem.

Everything in one run, in turn: each code is a process that waits while another one is measured.
A point is one of the grid, absorbing layers included. What memory allows is measured by ``a += b``,
measured in between: a step moves 140 bytes per point at the least.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from bench.pipeline import Scratch
from bench.report import Figure, spread
from bench.seismic_worker import DEPTH_M, SPACING_M

ROOT = Path(__file__).parents[1]
WORKER = Path(__file__).with_name("seismic_worker.py")
OLD = "f167e0b"
"""The last revision before the loops became loops of vectors."""
STEP_BYTES = 140
DEVITO = "devito>=4.8,<4.9"
LANGUAGES = ("C", "openmp")
TIMES_OLD, TIMES_THREADS, SHARE_LARGE, HELD_BYTES = 2.8, 1.7, 0.8, 100
NODES, LARGE, MEMORY = (100, 100, 100), (400, 400, 400), (120, 120, 80)
ROUNDS, STEPS, ELEMENTS = 10, 20, 40_000_000
COMPARED = 120


class Worker:
    """A solver in a process of its own: :mod:`bench.seismic_worker`."""

    def __init__(
        self,
        kind: str,
        nodes: tuple[int, int, int],
        *,
        threads: int = 1,
        tree: Path = ROOT,
        python: str = sys.executable,
        **more: str,
    ) -> None:
        environment = {
            **os.environ,
            "PYTHONPATH": str(tree / "src"),
            "NUMBA_NUM_THREADS": str(threads),
            "OMP_NUM_THREADS": str(threads),
            **more,
        }
        order = json.dumps({"nodes": nodes, "threads": threads})
        self._process = subprocess.Popen(
            [python, str(WORKER), kind, order],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        self._name = kind
        try:
            self.first = self._answer()
        except RuntimeError:
            self.close()
            raise
        self.seconds: dict[str, list[float]] = {"cpu": [], "wall": []}

    def ask(self, **order: Any) -> dict[str, Any]:
        """Have an order carried out."""
        assert self._process.stdin
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def advance(self, steps: int) -> None:
        """Take some steps, and keep the seconds of one."""
        for clock, seconds in self.ask(steps=steps).items():
            self.seconds[clock].append(seconds)

    def rates(self, clock: str = "cpu") -> list[float]:
        """Million points per second."""
        points = self.first["points"]
        return [points / seconds / 1e6 for seconds in self.seconds[clock]]

    def close(self) -> None:
        """End it."""
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream:
                stream.close()
        self._process.terminate()
        self._process.wait()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout
        assert self._process.stderr
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self._name}: {self._process.stderr.read()[-300:]}")
        answer: dict[str, Any] = json.loads(line)
        return answer


def measure(scratch: Scratch, *, quick: bool) -> list[Figure]:
    """The table: rates at 100^3, threads, the old code, Devito, 400^3, memory."""
    nodes, large, rounds = NODES, LARGE, ROUNDS
    if quick:
        nodes, large, rounds = (60, 60, 60), (120, 120, 120), 2
    workers: dict[str, Worker] = {}
    try:
        old = _old(scratch.runs / "old")
        workers["new"] = Worker("ours", nodes)
        workers["old"] = Worker("ours", nodes, tree=old)
        workers["two"] = Worker("ours", nodes, threads=2)
        missing = _start_devito(workers, scratch, nodes)
        apart = _difference(workers, scratch.runs)
        memory = _turn(workers, rounds, 4 if quick else STEPS)
        figures = [*_figures(workers, memory, missing, quick), apart]
        for one in workers.values():
            one.close()
        share = max(workers["new"].rates()) / (memory / STEP_BYTES / 1e6)
        workers["new"] = Worker("ours", large)
        figures.append(_large(workers["new"], share, large, quick))
    finally:
        for one in workers.values():
            one.close()
    return figures + _memory(quick)


def _old(tree: Path) -> Path:
    """The files of the old revision."""
    tree.mkdir()
    packed = subprocess.run(
        ["git", "archive", OLD, "src", "workflows", "stagers", "viz", "cluster_configs"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if packed.returncode:
        raise RuntimeError(f"no revision {OLD}: {packed.stderr.decode()[-200:]}")
    subprocess.run(["tar", "x", "-C", str(tree)], input=packed.stdout, check=True)
    return tree


def _start_devito(workers: dict[str, Worker], scratch: Scratch, nodes: tuple[int, int, int]) -> str:
    """Start Devito in its languages; why not, where it cannot be had."""
    try:
        python = _devito(scratch.runs.parent / "burstlens-bench-devito")
        for language in LANGUAGES:
            workers[f"Devito, {language}"] = Worker(
                "devito",
                nodes,
                python=python,
                PYTHONPATH="",
                DEVITO_LANGUAGE=language,
                DEVITO_LOGGING="ERROR",
            )
    except (OSError, subprocess.SubprocessError, RuntimeError) as error:
        return " ".join(str(error).split())[-120:].replace("|", " ")
    return ""


def _devito(venv: Path) -> str:
    """Its Python, installed where it is absent. Bench only: nothing else here uses Devito."""
    python = venv / "bin" / "python"
    if not shutil.which("gcc"):
        raise RuntimeError("there is no gcc")
    tried = [str(python), "-c", "import devito"]
    if python.exists() and not subprocess.run(tried, capture_output=True, check=False).returncode:
        return str(python)
    if shutil.which("uv"):
        orders = [["uv", "venv", "--clear", "--python", sys.executable, str(venv)]]
        orders += [["uv", "pip", "install", "--python", str(python), DEVITO]]
    else:
        orders = [[sys.executable, "-m", "venv", "--clear", str(venv)]]
        orders += [[str(python), "-m", "pip", "install", "-q", DEVITO]]
    for order in orders:
        done = subprocess.run(order, capture_output=True, text=True, check=False, timeout=300)
        if done.returncode:
            raise RuntimeError("Devito cannot be installed")
    return str(python)


def _turn(workers: dict[str, Worker], rounds: int, steps: int) -> float:
    """Let all take their steps in turn, with the probe in between; bytes per second of CPU.

    The first turn warms up: its steps are ahead of the wave, and a clock rises. A turn is long
    enough for the system to spread threads over cores, which takes it some milliseconds.
    """
    best = 0.0
    for n in range(rounds + 1):
        for one in workers.values():
            one.advance(steps)
        best = max(best, workers["new"].ask(probe=ELEMENTS)["rate"])
        if n == 0:
            for one in workers.values():
                one.seconds = {"cpu": [], "wall": []}
    return best


def _figures(workers: dict[str, Worker], probe: float, missing: str, quick: bool) -> list[Figure]:
    new, old, two = (workers[name] for name in ("new", "old", "two"))
    allowed = probe / STEP_BYTES / 1e6
    unit, best = "Mpoints/s", max(new.rates())
    note = f"free surface, absorbing layers of 10, one thread; {spread(new.rates())}"
    figures = [
        Figure("whole step, points per second of CPU", best, unit, note=note),
        Figure(f"the same, revision {OLD}", max(old.rates()), unit, note=spread(old.rates())),
        Figure(
            "whole step, times the old rate",
            best / max(old.rates()),
            "",
            _goal(TIMES_OLD, quick),
            at_least=True,
        ),
        Figure("memory probe `a += b`", probe / 1e9, "GB/s", note="12 bytes per element"),
        Figure("what memory allows, 140 bytes per point", allowed, unit),
        Figure("whole step, part of what memory allows", best / allowed, ""),
        Figure(
            "two threads, times the rate of one in wall time",
            max(two.rates("wall")) / max(new.rates("wall")),
            "",
            _goal(TIMES_THREADS, quick),
            at_least=True,
            note=f"{spread(two.rates('wall'))} {unit}",
        ),
    ]
    others = {name: one.rates() for name, one in workers.items() if name.startswith("Devito")}
    if not others:
        note = f"not measured: {missing}"
        return [*figures, Figure("whole step, times Devito's rate", 0.0, "", note=note)]
    for name, rates in others.items():
        note = f"4.8, order 4, tuned, a mask for layers, no free surface; {spread(rates)}"
        figures.append(Figure(f"the same, {name}", max(rates), unit, note=note))
    fastest = max(max(rates) for rates in others.values())
    figures.append(
        Figure(
            "whole step, times Devito's rate", best / fastest, "", _goal(1.0, quick), at_least=True
        )
    )
    return figures


def _difference(workers: dict[str, Worker], folder: Path) -> Figure:
    """How far the fields are apart from the old ones, the wave being reflected at the surface.

    The nodes at the source do not count: the stress that stays there is thousands of times that of
    the wave, and so is its rounding.
    """
    saved = [folder / "new.npz", folder / "old.npz"]
    for name, path in zip(("new", "old"), saved, strict=True):
        workers[name].ask(steps=COMPARED)
        workers[name].ask(save=str(path))
    worst, where = 0.0, ""
    with np.load(saved[0]) as new, np.load(saved[1]) as old:
        for name in new.files:
            a, b = (fields[name] for fields in (new, old))
            top, middle = a.shape[0] - 3 - round(DEPTH_M / SPACING_M), a.shape[1] // 2
            near = tuple(slice(n - 4, n + 4) for n in (top, middle, middle))
            a[near] = b[near] = 0
            apart = float(np.abs(a - b)[2:-2, 2:-2, 2:-2].max() / np.abs(b).max())
            worst, where = max((worst, where), (apart, name))
    for path in saved:
        path.unlink()
    name = f"fields after {COMPARED} steps, apart from the old ones, of the maximum"
    return Figure(name, worst, "", note=where)


def _large(one: Worker, share: float, nodes: tuple[int, int, int], quick: bool) -> Figure:
    probe = 0.0
    for _ in range(2 if quick else 4):
        one.advance(1)
        probe = max(probe, one.ask(probe=ELEMENTS)["rate"])
    best = max(one.rates())
    here = best / (probe / STEP_BYTES / 1e6)
    return Figure(
        f"{nodes[0]}^3: part of what memory allows, over that of {NODES[0]}^3",
        here / share,
        "",
        _goal(SHARE_LARGE, quick),
        at_least=True,
        note=f"{best:.1f} Mpoints/s, part {here:.2f} and {share:.2f}; probe {probe / 1e9:.1f} GB/s",
    )


def _memory(quick: bool) -> list[Figure]:
    one = Worker("memory", MEMORY)
    one.close()
    inside = int(np.prod(MEMORY))
    goal = _goal(HELD_BYTES, quick)
    size = "x".join(map(str, MEMORY))
    note = "absorbing layers of 10 included, divided by the points inside them"
    return [
        Figure(f"arrays held, {size}", one.first["held"] / inside, "B/point", goal, note=note),
        Figure(f"peak memory for it, {size}", one.first["peak"] / inside, "B/point"),
    ]


def _goal(limit: float, quick: bool) -> float | None:
    return None if quick else limit
