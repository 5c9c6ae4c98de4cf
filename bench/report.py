"""What was measured: figures, kept as JSON and shown as Markdown."""

from __future__ import annotations

import json
import os
import platform
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

PACKAGES = ("parsl", "numpy", "netCDF4", "h5py", "matplotlib", "vtk", "numba")


@dataclass(frozen=True, slots=True)
class Figure:
    """One number. ``limit`` is the target: the most, or with ``at_least`` the least."""

    name: str
    value: float
    unit: str
    limit: float | None = None
    at_least: bool = False
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None where there is none."""
        if self.limit is None:
            return None
        return self.value >= self.limit if self.at_least else self.value <= self.limit


def percentile(values: Sequence[float], part: float) -> float:
    """The value below which ``part`` of the values lie (nearest rank)."""
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, int(part * len(ranked)))]


def spread(values: Sequence[float], unit: str = "") -> str:
    """Smallest to largest and how many, for a note."""
    return f"{min(values):.3g} to {max(values):.3g}{unit}, {len(values)} values"


def median(values: Sequence[float]) -> float:
    """The median."""
    return statistics.median(values)


def machine() -> dict[str, str]:
    """Processor, cores, memory and versions."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line for line in lines if line.startswith("model name")), "unknown:unknown")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "processor": model.partition(":")[2].strip(),
        "cores": str(os.cpu_count()),
        "memory": f"{memory:.0f} GiB",
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        **{name: version(name) for name in PACKAGES},
    }


def store(
    folder: Path,
    part: str,
    command: str,
    load: Sequence[float],
    figures: list[Figure],
    remark: str,
) -> None:
    """Put a part's figures into ``results.json`` and rewrite ``RESULTS.md``.

    ``load`` is the machine's load average before and after: others may have used its cores.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "results.json"
    results: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    results[part] = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "command": command,
        "machine": machine(),
        "load": [round(value, 2) for value in load],
        "niceness": os.nice(0),
        "remark": remark,
        "figures": [asdict(figure) for figure in figures],
    }
    path.write_text(json.dumps(results, indent=2) + "\n")
    (folder / "RESULTS.md").write_text(markdown(results))


def markdown(results: dict[str, Any]) -> str:
    """All parts as tables."""
    lines = [
        "# Measured",
        "",
        "Written by `make bench`; the command above a table runs that part alone. Frames are "
        "real files, runs are `burstlens run`, times are taken from each run's journal. The load "
        "average shows how busy the machine was before and after a part.",
    ]
    for part, result in results.items():
        facts = ", ".join(f"{key} {value}" for key, value in result["machine"].items())
        before, after = result["load"]
        lines += [
            "",
            f"## {part}",
            "",
            f"`{result['command']}`, {result['date']}, load {before} to {after}, "
            f"niceness {result['niceness']}",
            "",
            f"<sub>{facts}</sub>",
            *(["", result["remark"]] if result["remark"] else []),
            "",
            "| figure | measured | target | met | |",
            "|---|---:|---:|---|---|",
        ]
        lines += [_row(Figure(**figure)) for figure in result["figures"]]
    return "\n".join(lines) + "\n"


def _row(figure: Figure) -> str:
    target = ""
    if figure.limit is not None:
        target = f"{'≥' if figure.at_least else '≤'} {figure.limit:g} {figure.unit}".rstrip()
    met = {True: "yes", False: "**no**", None: ""}[figure.met]
    value = f"{figure.value:.3g} {figure.unit}".rstrip()
    return f"| {figure.name} | {value} | {target} | {met} | {figure.note} |"
