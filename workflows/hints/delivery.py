"""Hints by pattern of file names, as variables and files for the model's processes.

Cray MPICH takes them by pattern, ``MPICH_MPIIO_HINTS``. ROMIO reads one file of lines ``key
value`` for all files of the program, ``ROMIO_HINTS``, which a program's own hints override; OMPIO
takes MCA parameters. PnetCDF, which WRF uses with io_form 11, puts ``PNETCDF_HINTS`` above the
hints that the program gives, under each MPI.

Sources: intro_mpi(3) of Cray MPICH; ROMIO's user's guide, "Systemwide hints"; Open MPI's manual;
the manual of PnetCDF.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from burstlens.cluster_configs.site import Mpi
from burstlens.workflows.hints.names import parameter

Values = Mapping[str, str | bool | int]
Hints = Mapping[str, Values]
"""By pattern of file names, for each hint its value."""

_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_REPORTS: dict[Mpi, dict[str, str]] = {
    "cray-mpich": {
        "MPICH_MPIIO_HINTS_DISPLAY": "1",
        "MPICH_MPIIO_STATS": "1",
        "MPICH_MPIIO_TIMERS": "1",
    },
    "romio": {"ROMIO_PRINT_HINTS": "1"},
    "openmpi": {"OMPI_MCA_io_ompio_verbose_info_parsing": "1"},
    "none": {},
}


@dataclass(frozen=True, slots=True)
class Delivery:
    """``environment``: variables of the model's processes. ``files``: for a variable that holds a
    file's path, the text of that file."""

    environment: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)

    def lines(self) -> Iterator[str]:
        """What is set, for people: ``ROMIO_HINTS: cb_nodes 2, cb_config_list *:2``."""
        for name, text in self.files.items():
            yield f"{name}: {', '.join(text.splitlines())}"
        for name, value in self.environment.items():
            yield f"{name}={value}"


@dataclass(frozen=True, slots=True)
class Conflict:
    """A hint with two values under an MPI that takes one for all files: ``kept`` of ``pattern``,
    and what is ``dropped``, by pattern."""

    hint: str
    pattern: str
    kept: str
    dropped: dict[str, str]


def text(value: str | bool | int) -> str:
    """A value as MPI takes it: a text."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def check_spelling(hints: Hints) -> None:
    """Raise ValueError for a hint that no variable or file of any MPI can hold."""
    for pattern, values in hints.items():
        where = f"mpiio_hints of {pattern!r}"
        if re.search(r"[,:\s]", pattern):
            raise ValueError(f"{where}: no ',', ':' or spaces in a pattern")
        for key, value in values.items():
            if not _KEY.fullmatch(key):
                raise ValueError(f"{where}: {key!r} is not the name of a hint")
            lists = r";=" if key == "cb_config_list" else r",:;="
            if not text(value) or re.search(rf"[{lists}\s]", text(value)):
                raise ValueError(f"{where}: {key}: no ',', ':', ';', '=' or spaces in a value")


def merged(hints: Hints) -> tuple[dict[str, str], list[Conflict]]:
    """One set of hints for all files; where patterns differ in a value, the first one's counts."""
    found: dict[str, str] = {}
    first: dict[str, str] = {}
    dropped: dict[str, dict[str, str]] = {}
    for pattern, values in hints.items():
        for key, value in values.items():
            if found.setdefault(key, text(value)) != text(value):
                dropped.setdefault(key, {})[pattern] = text(value)
            first.setdefault(key, pattern)
    return found, [Conflict(key, first[key], found[key], them) for key, them in dropped.items()]


def spread(cb_nodes: str, nodes: int) -> str | None:
    """The ``cb_config_list`` that allows so many aggregators on ``nodes`` nodes, evenly. ROMIO's
    own default, ``*:1``, allows one per node and silently lowers ``cb_nodes`` to that."""
    number = int(cb_nodes) if cb_nodes.isdecimal() else 0
    return f"*:{-(-number // max(1, nodes))}" if number > 0 else None


def deliver(hints: Hints, mpi: Mpi | None, *, nodes: int = 1, report: bool = False) -> Delivery:
    """The hints as that MPI takes them; None: as Cray MPICH, which others ignore. ``nodes`` are
    those of the model. ``report``: Cray MPICH prints hints, counts and times in the model's log,
    ROMIO the hints in force at each open, OMPIO those that the program gives."""
    environment = dict(_REPORTS[mpi or "cray-mpich"]) if report else {}
    files: dict[str, str] = {}
    if not any(hints.values()) or mpi == "none":
        return Delivery(environment, files)
    if mpi in {None, "cray-mpich"}:
        return Delivery({"MPICH_MPIIO_HINTS": _by_pattern(hints), **environment}, files)
    values, _ = merged(hints)
    if mpi == "openmpi":
        taken = (parameter(key, value) for key, value in values.items())
        environment = {f"OMPI_MCA_{one[0]}": one[1] for one in taken if one} | environment
    elif allowed := spread(values.get("cb_nodes", ""), nodes):
        values.setdefault("cb_config_list", allowed)
    if mpi == "romio":
        files["ROMIO_HINTS"] = "".join(f"{key} {value}\n" for key, value in values.items())
    hinted = ";".join(f"{key}={value}" for key, value in values.items())
    return Delivery({"PNETCDF_HINTS": hinted, **environment}, files)


def _by_pattern(hints: Hints) -> str:
    """``pattern:key=value:key=value,pattern:...``; a list of hosts stands between ``#``."""
    parts = []
    for pattern, values in hints.items():
        them = [
            f"{key}=#{text(value)}#" if key == "cb_config_list" else f"{key}={text(value)}"
            for key, value in values.items()
        ]
        if them:
            parts.append(":".join([pattern, *them]))
    return ",".join(parts)
