"""The I/O study's cases with three settings of MPI-IO, alternating: what hints change, by pattern.

With a laptop's sizes, ranks and cores this shows mechanisms, and nothing of a cluster.
"""

from __future__ import annotations

import re
import shutil
import statistics
import subprocess
from dataclasses import replace
from pathlib import Path

from bench.pipeline import Scratch
from bench.report import Figure, spread

CASES = ("btio", "ior", "wrf", "neuromapp", "seissol", "pidx")
"""Those that write; `migration` reads."""
SETTINGS: dict[str, dict[str, str | int]] = {
    "default": {},
    "buffering and sieving off": {"romio_cb_write": "disable", "romio_ds_write": "disable"},
    "2 aggregators": {"cb_nodes": 2, "cb_config_list": "*:2"},
}
FRAME = re.compile(r": (wrote|read) \S+, (\d+) bytes in ([\d.]+) s")


def measure(scratch: Scratch, *, quick: bool) -> list[Figure]:
    """Seconds per frame by default, and the other settings as ratios to it, in memory and on disk.

    Raises RuntimeError without MPI.
    """
    from burstlens.core.errors import RecipeError
    from burstlens.workflows.iostudy.build import compile_to

    program = scratch.runs / "iostudy"
    try:
        compile_to(program, _of_mpich("mpicc"))
    except RecipeError as error:
        raise RuntimeError(str(error)) from error
    figures = []
    for place, folder in (("memory", scratch.buffer), ("disk", scratch.runs)):
        for case in CASES[: 1 if quick else None]:
            figures += _case(case, place, folder / case, program, 2 if quick else 8)
        figures += _reads(place, folder / "migration", program)
    return figures


def _of_mpich(name: str) -> str:
    """Debian's name of MPICH's own program, where Open MPI may have the plain one."""
    return f"{name}.mpich" if shutil.which(f"{name}.mpich") else name


def _case(case: str, place: str, folder: Path, program: Path, rounds: int) -> list[Figure]:
    taken: dict[str, list[float]] = {name: [] for name in SETTINGS}
    for number in range(rounds):
        names = list(SETTINGS) if number % 2 else list(SETTINGS)[::-1]
        for name in names:
            taken[name] += _frames(case, "wrote", folder, program, SETTINGS[name])
    middle = {name: statistics.median(values) for name, values in taken.items()}
    first = "default"
    figures = [
        Figure(f"{case}, {place}, {first}", 1000 * middle[first], "ms per frame",
               note=_middle(taken[first])),
    ]  # fmt: skip
    for name in list(SETTINGS)[1:]:
        ratio = middle[name] / middle[first]
        figures.append(
            Figure(f"{case}, {place}, {name}", ratio, "of default", note=_middle(taken[name]))
        )
    return figures


def _middle(seconds: list[float]) -> str:
    """The middle half of the values: on a busy machine the ends say nothing."""
    low, _, high = statistics.quantiles([1000 * value for value in seconds], n=4)
    return f"middle half {low:.3g} to {high:.3g} ms of {len(seconds)} values"


def _reads(place: str, folder: Path, program: Path) -> list[Figure]:
    taken = [1000 * value for value in _frames("migration", "read", folder, program, {})]
    name = f"migration, {place}, every rank reads 66 MiB"
    return [Figure(name, statistics.median(taken), "ms", note=spread(taken))]


def _frames(
    case: str, what: str, folder: Path, program: Path, hints: dict[str, str | int]
) -> list[float]:
    """Seconds of each frame but the first, which also opens what later ones find open."""
    from burstlens.workflows.iostudy.build import lay
    from burstlens.workflows.iostudy.profile import read
    from burstlens.workflows.recipe.file import BUILT_IN

    ranks = 4 if case == "btio" else 2
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    profile = replace(read(BUILT_IN / f"io-{case}" / "profile.toml"), hints=hints, pause=0.0)
    lay(profile, ranks, folder)
    done = subprocess.run(
        [_of_mpich("mpiexec"), "-n", str(ranks), str(program)],
        cwd=folder, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{case} ended with {done.returncode}: {done.stderr.strip()[:200]}")
    return [float(seconds) for kind, _, seconds in FRAME.findall(done.stdout) if kind == what][1:]
