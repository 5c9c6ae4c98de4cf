"""MPI-IO hints for Cray MPICH, which takes them from the environment.

Source: the manual page intro_mpi(3) of Cray MPICH, variables MPICH_MPIIO_HINTS,
MPICH_MPIIO_HINTS_DISPLAY, MPICH_MPIIO_STATS and MPICH_MPIIO_TIMERS.
"""

from __future__ import annotations

from collections.abc import Mapping


def environment(
    hints: Mapping[str, Mapping[str, str | int]], *, report: bool = False
) -> dict[str, str]:
    """``MPICH_MPIIO_HINTS=pattern:key=value:key=value,pattern:...`` and the report settings.

    Raises ValueError for a character that separates hints.
    """
    found = {}
    if hints:
        texts = []
        for pattern, values in hints.items():
            parts = [pattern, *(f"{key}={value}" for key, value in values.items())]
            if any(mark in part for part in parts for mark in ",: \n"):
                raise ValueError(f"mpiio_hints of {pattern!r}: no ',', ':' or spaces")
            texts.append(":".join(parts))
        found["MPICH_MPIIO_HINTS"] = ",".join(texts)
    if report:
        found |= {
            "MPICH_MPIIO_HINTS_DISPLAY": "1",
            "MPICH_MPIIO_STATS": "1",
            "MPICH_MPIIO_TIMERS": "1",
        }
    return found
