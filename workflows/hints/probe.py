"""A small MPI program that shows which hints are in force, built and started once on a site.

``probe.c`` is built by the site's compiler and started by its launcher, with the variables and
files that a model would get. Both are other people's programs: each has a time limit. What it
prints is compared with the hints that were asked for.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from burstlens.cluster_configs.schedulers import LOCAL, own_job, scheduler
from burstlens.cluster_configs.site import Mpi, Site
from burstlens.core.errors import SiteError
from burstlens.core.quantity import counted
from burstlens.workflows.hints.delivery import Hints, deliver, text
from burstlens.workflows.hints.names import STRIPING, mpi_of, parameter, search_path, understood
from burstlens.workflows.hints.striping import file_system

MARK = "burstlens-probe"
_LIBRARIES: tuple[tuple[str, Mpi], ...] = (
    (r"cray mpich", "cray-mpich"),
    (r"open mpi", "openmpi"),
    (r"mpich|mvapich", "romio"),
)
"""What ``MPI_Get_library_version`` says, the most exact first."""
_STRIPED = re.compile(r"lustre|datawarp|\bdw\b", re.IGNORECASE)
SOURCE = Path(__file__).with_name("probe.c")
BUILD_LIMIT_S = 120.0
RUN_LIMIT_S = 60.0
QUEUE_LIMIT_S = 900.0
"""Limit where the launcher has to wait for nodes first."""
END_S = 5.0
_LAST = 3
"""Lines of a failed program to show."""


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


@dataclass(frozen=True, slots=True)
class Probed:
    """The probe's result on a site: ``mpi`` is what the hints were written for, ``library`` what
    the program was linked with, ``file_system`` where its files were, ``rows`` one per hint."""

    site: str
    mpi: Mpi | None
    mpi_library: str
    ranks: int
    file_system: str
    rows: tuple[Row, ...]

    @property
    def arrived(self) -> bool:
        return all(row.arrived for row in self.rows)

    @property
    def suggestion(self) -> str:
        """What to write in the site file, if the library is not the one that it names; nothing
        where all hints arrived, as with ROMIO inside Open MPI."""
        found = mpi_of_library(self.mpi_library)
        if self.arrived or found is None or found == self.mpi:
            return ""
        said = f'mpi = "{self.mpi}"' if self.mpi else "no mpi"
        return (
            f'the site file has {said}, and this is {self.mpi_library}: write mpi = "{found}" in it'
        )


def probe(
    site: Site, hints: Hints, *, ranks: int, build: Path, folder: Path, limit_s: float | None = None
) -> Probed:
    """Build the probe in ``build`` and start it in ``folder``, both empty folders, on one node.
    Raises SiteError, with the last lines of a compiler or launcher that fails."""
    mpi = mpi_of(site)
    if mpi == "none":
        raise SiteError(f'site {site.name} has mpi = "none": there is nothing to probe')
    program = build / "probe"
    _require_compiler(site)
    init = site.batch.job_init
    words = [*site.mpi_compiler, "-O1", str(SOURCE), "-o", str(program)]
    _run(words, build, {}, "the compiler", BUILD_LIMIT_S, init)
    made = deliver(hints, mpi)
    environment = dict(made.environment)
    for variable, lines in made.files.items():
        path = folder / f".{variable.lower()}"
        path.write_text(lines, encoding="utf-8")
        environment[variable] = str(path)
    names = dict.fromkeys(map(example, hints))
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
    words = [str(program), *names, "--", *variables_of(hints)]
    queued = site.scheduler != LOCAL and own_job() is None
    limit = limit_s or (QUEUE_LIMIT_S if queued else RUN_LIMIT_S)
    words = [*launcher_words(site, ranks), *words]
    output = _run(words, folder, environment, "the probe", limit, init)
    printed = read_printed(output)
    _require_whole(printed, output, ranks)
    return Probed(
        site.name, mpi, printed.mpi_library, printed.ranks, file_system(folder),
        tuple(rows(hints, mpi, printed)),
    )  # fmt: skip


def launcher_words(site: Site, ranks: int) -> list[str]:
    """The launcher for one node; from a login node with what its scheduler needs to give one.
    Raises SiteError where the launcher cannot ask for a node itself."""
    words = [word.format(ranks=ranks, ranks_per_node=ranks) for word in site.mpi_launcher]
    if site.scheduler == LOCAL or own_job() is not None:
        return words
    asking = scheduler(site.scheduler)(site.batch).ask_for_node(words, ranks)
    if asking is None:
        raise SiteError(
            f"{words[0]} cannot ask for nodes by itself: run this inside a job of site {site.name}"
        )
    return asking


def _require_compiler(site: Site) -> None:
    name = site.mpi_compiler[0]
    if shutil.which(name, path=search_path()) is None and not site.batch.job_init:
        raise SiteError(
            f"there is no {name} on PATH to build the probe with: load the module of the MPI, "
            "install its package for developers, or set mpi_compiler in a site file"
        )


def _run(
    words: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    what: str,
    limit_s: float,
    init: str,
) -> str:
    """A program's output. Raises SiteError when it cannot be started, fails or takes too long."""
    if init:
        words = ["bash", "-c", f'{init}\nexec "$@"', "probe", *words]
    shown = shlex.join(words)
    try:
        child = subprocess.Popen(
            words,
            cwd=folder,
            env={**os.environ, "PATH": search_path(), **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        raise SiteError(f"{what} cannot be started: {words[0]}: {error.strerror}") from error
    try:
        output = child.communicate(timeout=limit_s)[0].decode(errors="replace")
    except BaseException as error:  # also Ctrl-C: nothing that was started stays behind
        _end(child)
        if isinstance(error, subprocess.TimeoutExpired):
            raise SiteError(f"{what} did not end within {limit_s:g} s: {shown}") from None
        raise
    if child.returncode:
        raise SiteError(f"{what} failed with {child.returncode}: {_last(output)}\n  {shown}")
    return output


def _end(child: subprocess.Popen[bytes]) -> None:
    """End a program and what it has started: a launcher passes SIGTERM on to its ranks."""
    for number, grace_s in ((signal.SIGTERM, END_S), (signal.SIGKILL, END_S)):
        try:
            os.killpg(child.pid, number)
            child.communicate(timeout=grace_s)
            return
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue


def _require_whole(printed: Printed, output: str, ranks: int) -> None:
    if printed.refused:
        file, why = next(iter(printed.refused.items()))
        raise SiteError(f"the probe cannot write {file}: {why}")
    if not printed.whole:
        raise SiteError(f"the probe printed no end: {_last(output) or 'nothing at all'}")
    if printed.ranks != ranks:
        raise SiteError(
            f"the launcher started programs of {counted(printed.ranks, 'rank')} instead of one of "
            f"{ranks}: it is not that of the MPI which the compiler links, "
            f"{printed.mpi_library}, or lacks an option such as --mpi=pmi2 of srun"
        )


def _last(output: str) -> str:
    """The line that names an error, as compilers do, else the last ones."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    named = next((line for line in lines if re.search(r"\b(fatal )?error: ", line)), None)
    return named or " | ".join(lines[-_LAST:])


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
