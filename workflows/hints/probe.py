"""A small MPI program that shows which hints are in force, built and started once on a site.

``probe.c`` is built by the site's compiler and started by its launcher, with the variables and
files that a model would get. Both are other people's programs: each has a time limit.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from burstlens.cluster_configs.schedulers import LOCAL, own_job, scheduler
from burstlens.cluster_configs.site import Mpi, Site
from burstlens.core.errors import SiteError
from burstlens.core.quantity import counted
from burstlens.workflows.hints.delivery import Hints, deliver
from burstlens.workflows.hints.in_force import (
    Printed,
    Row,
    example,
    mpi_of_library,
    read_printed,
    rows,
    variables_of,
)
from burstlens.workflows.hints.names import mpi_of, search_path
from burstlens.workflows.hints.striping import file_system

SOURCE = Path(__file__).with_name("probe.c")
BUILD_LIMIT_S = 120.0
RUN_LIMIT_S = 60.0
QUEUE_LIMIT_S = 900.0
"""Limit where the launcher has to wait for nodes first."""
END_S = 5.0
_LAST = 3
"""Lines of a failed program to show."""


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
        """Whether every hint did."""
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

    Raises SiteError, with the last lines of a compiler or launcher that fails.
    """
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

    Raises SiteError where the launcher cannot ask for a node itself.
    """
    values = {"ranks": ranks, "ranks_per_node": ranks}
    words = [word.format(**values) for word in site.mpi_launcher]
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
