"""Space for a run, asked for where no buffer can be seen: made, found again, given back.

A persistent buffer is made and destroyed by batch jobs of their own. Slurm's ``scontrol show
burst`` tells what there is; that this run asked for it stands in the run directory.
"""

from __future__ import annotations

import getpass
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from burstlens.cluster_configs.batch_script import VIEWING, BatchJob
from burstlens.cluster_configs.directives import directives
from burstlens.cluster_configs.inside import Inside
from burstlens.cluster_configs.site import Site
from burstlens.cluster_configs.slurm import Burst, Pool, Slurm
from burstlens.durable import read_json
from burstlens.errors import SiteError
from burstlens.quantity import show_bytes
from burstlens.run_dir import RunDir, facts_of
from burstlens.workflows import host as hosts
from burstlens.workflows.buffer import BufferRef, prepare
from burstlens.workflows.launch_batch import BatchLauncher, growing
from burstlens.workflows.launch_hosted import HostedLauncher
from burstlens.workflows.recipe import Buffer, Recipe

LOOK_S = 0.5
"""How often a file is looked for."""
FIRST_LOOK_S = 0.5
"""How soon Slurm is asked whether a buffer stands; then ever later, up to the interval."""


class Provision(Protocol):
    """One kind of space."""

    def provide(self, known: BufferRef | None) -> tuple[BufferRef, bool]:
        """The space, and whether it is the ``known`` one of this run. Raises SiteError."""

    def give_back(self, buffer: BufferRef) -> None:
        """Give it back whole, if this run made it. Raises SiteError, with what to do."""

    def lines(self, buffer: BufferRef) -> tuple[str, ...]:
        """What a batch script says to see it."""

    @property
    def lasts(self) -> bool:
        """Whether it can wait for somebody to look after it when a run has failed."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of the run's own on a directory that every job sees."""

    site: Site
    folder: str
    capacity: int
    lasts: bool = True

    def provide(self, known: BufferRef | None) -> tuple[BufferRef, bool]:
        """The first candidate with room, or the folder there was."""
        return prepare(self.site.buffer.folders, self.folder, self.capacity, known)

    def give_back(self, buffer: BufferRef) -> None:
        """Nothing: who sees the directory deletes the folder."""

    def lines(self, buffer: BufferRef) -> tuple[str, ...]:
        """Nothing has to be said."""
        return ()


@dataclass(frozen=True, slots=True)
class Persistent:
    """A persistent buffer of DataWarp or Rabbit: made for the run, or there before it."""

    site: Site
    run: RunDir
    launcher: BatchLauncher
    wanted: Buffer
    folder: str
    leaving: Callable[[], bool]
    lasts: bool = True

    @property
    def slurm(self) -> Slurm:
        """The scheduler."""
        return self.launcher.slurm

    def provide(self, known: BufferRef | None) -> tuple[BufferRef, bool]:
        """The buffer of that name when there is one, else a new one, when it is allocated."""
        name = known.name if known else self.wanted.name or own_name(self.folder)
        pools, bursts = self.slurm.buffers()
        burst = next((burst for burst in bursts if burst.name == name), None)
        mark = self._mark("create")
        asked = (mark / "submitting").exists()
        if burst is not None and burst.user != getpass.getuser():
            raise SiteError(
                f"a buffer {name} exists and belongs to {burst.user}; buffer.name names another"
            )
        if burst is None and not asked:
            self._require_room(pools)
        if asked or burst is None:
            create = directives(self.site.buffer).create(name, self.wanted.capacity)
            self._carry_out("create", create, _allocated, name)
        # A mark outlives whatever was killed between the making and the journal's line.
        owned = any((self.run.path / "steps").glob("buffer-create-*/submitting"))
        lines = directives(self.site.buffer)
        variable = lines.variable(name, persistent=True)
        found = known is not None and burst is not None
        return BufferRef(self.site.buffer.kind, f"${variable}", self.folder, name, owned), found

    def give_back(self, buffer: BufferRef) -> None:
        """Destroy it by a job, and see that it is gone. One that the run did not make stays."""
        if not buffer.owned or self.slurm.buffer(buffer.name) is None:
            return
        self.slurm.cancel_all(self.run.id, f"{self.launcher.token}-{VIEWING}")
        use = f"name={buffer.name}"
        for pause in growing(FIRST_LOOK_S, self.site.slurm.query_interval_s):
            # A job that has ended may still be coming to its end, with the buffer mounted.
            held = [one for one in self.slurm.holders()
                    if any(use in line.split() for line in one.lines)]  # fmt: skip
            if not held or self.leaving():
                break
            time.sleep(pause)
        destroy = directives(self.site.buffer).destroy(buffer.name)
        self._carry_out("destroy", destroy, lambda burst: burst is None, buffer.name)

    def lines(self, buffer: BufferRef) -> tuple[str, ...]:
        """The line that mounts it."""
        return (directives(self.site.buffer).use(buffer.name),)

    def _carry_out(
        self, what: str, line: str, holds: Callable[[Burst | None], bool], name: str
    ) -> None:
        """Let a job say ``line``, unless it was said already, and wait until ``holds``."""
        if holds(self.slurm.buffer(name)):
            return
        mark = self._mark(what)
        job_id = self.launcher.find(mark)
        if job_id is not None and self._is_over(job_id) and not holds(self.slurm.buffer(name)):
            (mark / "done").touch()  # it did its work, and somebody has undone it
            mark, job_id = self._mark(what), None
        if job_id is None:
            job_id = self._hand_in(mark, line)
        self._await(job_id, mark, holds, name)
        (mark / "done").touch()
        if what == "destroy":
            self.launcher.await_end(job_id, self.leaving)

    def _is_over(self, job_id: str) -> bool:
        return self.slurm.look(job_id.partition(":")[2]).over

    def _hand_in(self, mark: Path, line: str) -> str:
        job = BatchJob(
            name=f"{self.launcher.token}-{mark.name}",
            comment=self.run.id,
            argv=("true",),
            output=mark / "said.log",
            buffer_lines=(line,),
        )
        return self.launcher.hand_in(mark, job)

    def _await(
        self, job_id: str, mark: Path, holds: Callable[[Burst | None], bool], name: str
    ) -> None:
        for pause in growing(FIRST_LOOK_S, self.site.slurm.query_interval_s):
            if holds(self.slurm.buffer(name)):
                return
            if not self.launcher.alive(job_id) and not holds(self.slurm.buffer(name)):
                raise SiteError(
                    f"{mark.name} of buffer {name} failed: {self.launcher.fate(job_id, mark)}"
                )
            end = time.monotonic() + pause
            while time.monotonic() < end:
                if self.leaving():
                    raise SiteError(f"left while it waited for {mark.name} of buffer {name}")
                time.sleep(0.1)

    def _require_room(self, pools: list[Pool]) -> None:
        pool = next((pool for pool in pools if pool.total), None)
        if pool is not None and self.wanted.capacity > pool.total:
            raise SiteError(
                f"buffer.capacity asks for {show_bytes(self.wanted.capacity)}, and pool "
                f"{pool.name} has {show_bytes(pool.total)} in all"
            )

    def _mark(self, what: str) -> Path:
        """The folder of the first such job of this run that is not known to have done its work."""
        number = 1
        while (self.run.path / "steps" / f"buffer-{what}-{number}" / "done").exists():
            number += 1
        return self.run.path / "steps" / f"buffer-{what}-{number}"


def own_name(folder: str) -> str:
    """The buffer that a run makes for itself, by the name of its folder on it."""
    return "bl_" + re.sub(r"\W", "_", folder)


@dataclass(frozen=True, slots=True)
class JobBuffer:
    """The buffer of one batch job, in which everything on the buffer runs: the job's host starts
    the supervisors, and the viewing block is a step of it."""

    site: Site
    run: RunDir
    launcher: HostedLauncher
    recipe: Recipe
    folder: str
    leaving: Callable[[], bool]
    lasts: bool = False

    def provide(self, known: BufferRef | None) -> tuple[BufferRef, bool]:
        """The live host's buffer, else that of a new job, when it has begun."""
        batch = self.launcher.batch
        number = self._hosts()
        found = bool(number) and self._serves(self._host(number))
        host = self._host(number if found else number + 1)
        if not found:
            batch.hand_in(host, self._job(host))
        self.launcher.host = host
        while not (host / "host.json").exists():
            job_id = batch.find(host)
            if job_id is None or not batch.alive(job_id):
                raise SiteError(f"the job with the buffer ended: {batch.fate(job_id, host)}")
            if self.leaving():
                raise SiteError("left while it waited for the job with the buffer")
            time.sleep(LOOK_S)
        return BufferRef(self.site.buffer.kind, f"${self._variable}", self.folder), found

    def give_back(self, buffer: BufferRef) -> None:
        """Let the job end; its buffer goes with it."""
        host = self._host(self._hosts())
        (host / "leave").touch()
        job_id = self.launcher.batch.find(host)
        if job_id is not None:
            self.launcher.batch.await_end(job_id, self.leaving)

    def lines(self, buffer: BufferRef) -> tuple[str, ...]:
        """Nothing: all is inside the one job."""
        return ()

    def inside(self) -> Inside:
        """The job, as the viewing block has to know it."""
        told = read_json(self.launcher.host / "host.json") or {}
        return Inside(str(told["job_id"]), self._variable, str(told["root"]))

    @property
    def _variable(self) -> str:
        if self.site.buffer.kind != "posix":
            return directives(self.site.buffer).variable("run", persistent=False)
        return next(folder[1:] for folder in self.site.buffer.folders if folder.startswith("$"))

    def _hosts(self) -> int:
        return len(list((self.run.path / "steps").glob("host-*")))

    def _host(self, number: int) -> Path:
        return self.run.path / "steps" / f"host-{number}"

    def _serves(self, host: Path) -> bool:
        job_id = self.launcher.batch.find(host)
        waits_or_runs = job_id is not None and self.launcher.batch.alive(job_id)
        return waits_or_runs and not (host / "leave").exists()

    def _job(self, host: Path) -> BatchJob:
        simulation, slurm = self.recipe.simulation, self.site.slurm
        steps = [step for step in self.recipe.steps if step.where == "buffer" and not step.beside]
        own = () if self.site.buffer.kind == "posix" else (
            directives(self.site.buffer).own("run", self.recipe.buffer.capacity),
        )  # fmt: skip
        return BatchJob(
            name=f"{self.launcher.batch.token}-{host.name}",
            comment=self.run.id,
            argv=(sys.executable, "-P", hosts.__file__, str(host), self._variable, self.folder),
            output=host / "host.log",
            nodes=simulation.nodes,
            tasks_per_node=simulation.ranks_per_node,
            walltime_s=simulation.walltime + sum(step.walltime for step in steps),
            buffer_lines=own,
            options=slurm.options,
            init=slurm.job_init,
        )


def _allocated(burst: Burst | None) -> bool:
    return burst is not None and burst.state == "allocated"


def provision(
    site: Site,
    run: RunDir,
    recipe: Recipe,
    launcher: BatchLauncher | HostedLauncher | None,
    leaving: Callable[[], bool],
) -> Provision:
    """How this run gets its space on that site."""
    folder = str(facts_of(run, "buffer_folder")["buffer_folder"])
    if isinstance(launcher, HostedLauncher):
        return JobBuffer(site, run, launcher, recipe, folder, leaving)
    if site.buffer.kind == "posix" or launcher is None:
        return Folder(site, folder, recipe.buffer.capacity)
    return Persistent(site, run, launcher, recipe.buffer, folder, leaving)
