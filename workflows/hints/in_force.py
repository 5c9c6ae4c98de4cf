"""Which of the hints that were asked for are in force, by what the probe prints."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from burstlens.cluster_configs.site import Mpi
from burstlens.workflows.hints.delivery import Hints, deliver, text
from burstlens.workflows.hints.names import STRIPING, parameter, understood

MARK = "burstlens-probe"
_LIBRARIES: tuple[tuple[str, Mpi], ...] = (
    (r"cray mpich", "cray-mpich"),
    (r"open mpi", "openmpi"),
    (r"mpich|mvapich", "romio"),
)
"""What ``MPI_Get_library_version`` says, the most exact first."""
_STRIPED = re.compile(r"lustre|datawarp|\bdw\b", re.IGNORECASE)


@dataclass(slots=True)
class Printed:
    """What the probe printed: the MPI library, the ranks, the hints of each file, variables of
    MPI_T, why files were refused. ``whole``: it came to its end."""

    mpi_library: str = ""
    ranks: int = 0
    hints: dict[str, dict[str, str]] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One hint: ``asked`` for files of ``pattern`` ``by`` a variable, ``in_force`` (None: the MPI
    shows no value), the ``verdict`` in words, and whether it ``arrived``."""

    pattern: str
    hint: str
    asked: str
    by: str
    in_force: str | None
    verdict: str
    arrived: bool


def read_printed(output: str) -> Printed:
    """The probe's lines among whatever else MPI and launchers print."""
    found = Printed()
    for line in output.splitlines():
        words = line.rstrip().split("\t")
        match words:
            case [mark, *_] if mark != MARK:
                continue
            case [_, "mpi", *name]:
                found.mpi_library = " ".join(" ".join(name).partition(",")[0].split())
            case [_, "ranks", number] if number.isdecimal():
                found.ranks = int(number)
            case [_, "hint", file, key, *value]:
                found.hints.setdefault(file, {})[key] = " ".join(value).strip()
            case [_, "variable", name, *value]:
                found.variables[name] = " ".join(value).strip()
            case [_, "refused", file, *why]:
                found.refused[file] = " ".join(why)
            case [_, "end"]:
                found.whole = True
    return found


def mpi_of_library(library: str) -> Mpi | None:
    """The MPI that a library's version names, as a site file calls it."""
    names = (mpi for sign, mpi in _LIBRARIES if re.search(sign, library, re.IGNORECASE))
    return next(names, None)


def example(pattern: str) -> str:
    """A file that the pattern matches: ``out/wrf_probe`` of ``out/wrf_*``."""
    name = re.sub(r"\[([^\]!])[^\]]*\]", r"\1", pattern.strip("/")).replace("?", "x")
    return name.replace("*", "probe")


def variables_of(hints: Hints) -> list[str]:
    """The MCA parameters that Open MPI gets, for the probe to print."""
    found = (parameter(key, text(value)) for one in hints.values() for key, value in one.items())
    return list(dict.fromkeys(one[0] for one in found if one))


def rows(hints: Hints, mpi: Mpi | None, printed: Printed) -> list[Row]:
    """One row for each hint, in the order of the recipe, with those that Burstlens adds."""
    if mpi == "openmpi":
        return list(_of_parameters(hints, printed))
    if mpi == "romio":
        (lines,) = deliver(hints, mpi).files.values()
        them = [line.partition(" ") for line in lines.splitlines()]
        shown = next(iter(printed.hints.values()), {})
        return [_row("*", key, value, "ROMIO_HINTS", shown, printed) for key, _, value in them]
    found = []
    for pattern, values in hints.items():
        shown = printed.hints.get(example(pattern), {})
        for key, value in values.items():
            found.append(_row(pattern, key, text(value), "MPICH_MPIIO_HINTS", shown, printed))
    return found


def _of_parameters(hints: Hints, printed: Printed) -> Iterator[Row]:
    for pattern, values in hints.items():
        for key, value in values.items():
            taken = parameter(key, text(value))
            if taken is None:
                known = understood("openmpi", key, text(value))
                verdict = "its default" if known else "no such hint"
                yield Row(pattern, key, text(value), "", None, verdict, known)
                continue
            name, asked = taken
            shown = printed.variables.get(name)
            arrived = shown is not None and _same(asked, shown)
            verdict = "in force" if arrived else "not in force"
            if shown is None and name.startswith("fs_lustre"):
                verdict, arrived = "no effect without Lustre", True
            elif shown is None:  # a parameter of a newer or an older Open MPI
                verdict = "no such parameter"
            yield Row(pattern, key, asked, f"OMPI_MCA_{name}", shown or None, verdict, arrived)


def _row(
    pattern: str, key: str, asked: str, by: str, shown: dict[str, str], printed: Printed
) -> Row:
    value = shown.get(key)
    driver = shown.get("romio_filesystem_type", "")
    striped = not driver or bool(_STRIPED.search(driver))
    if key in STRIPING and not striped:
        verdict, arrived = f"no effect on {driver.partition(':')[0]}", True
    elif value is not None and _same(asked, value):
        verdict, arrived = "in force", True
    elif key == "cb_nodes" and value == str(printed.ranks) and int(asked or 0) > printed.ranks:
        verdict, arrived = f"in force for {printed.ranks} ranks", True
    elif key == "cb_nodes" and value is not None and asked.isdecimal() and int(value) < int(asked):
        verdict, arrived = "lowered", False
    else:
        verdict, arrived = "not in force", False
    return Row(pattern, key, asked, by, value, verdict, arrived)


def _same(asked: str, shown: str) -> bool:
    truths = {"true": "1", "false": "0"}
    return asked == shown or truths.get(asked, asked) == truths.get(shown, shown)
