"""The one batch job that has the buffer, in which everything on the buffer runs.

The job's host starts the supervisors, and the viewing block is a step of it. The job of the next
attempt, with a buffer of its own, is submitted ahead in ``steps/ahead-<n>``: once its buffer is
that of the run, ``steps/host-<n>`` is a link to that folder.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from burstlens.cluster_configs.directives import directives
from burstlens.cluster_configs.inside import Inside
from burstlens.cluster_configs.scheduler import BatchJob, JobState, QueuePlace
from burstlens.cluster_configs.site import Site
from burstlens.core.durable import make_folders, read_json, write_json, write_whole
from burstlens.core.errors import GivenUpError, SiteError
from burstlens.core.existence import again, check_existence, surely_exists
from burstlens.core.run.directory import RunDir
from burstlens.workflows.placement import host as hosts
from burstlens.workflows.placement.batch import BatchLauncher
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.placement.buffer_origin import BufferOrigin
from burstlens.workflows.placement.launch import Launcher
from burstlens.workflows.placement.waiting_jobs import folders_ahead
from burstlens.workflows.recipe.recipe import Recipe

ROOT = "BURSTLENS_JOB_BUFFER"
"""The variable that holds the root of a buffer of kind ``posix``, in all processes of the job."""
LOOK_S = 0.5
"""How often a file is looked for."""


class HostedLauncher(Launcher):
    """Asks the job's host (:mod:`.placement.host`). Ids: ``hosted:NUMBER:NAME``."""

    def __init__(self, batch: BatchLauncher) -> None:
        self.batch = batch
        self.unreported: set[Path] = set()
        self.host = Path()
        """The folder of the host that serves now."""
        self.idle_s = 0.0
        """For how long it had waited for a driver when its buffer became the run's."""

    @property
    def waits(self) -> Mapping[str, str]:
        """The host's own job."""
        return self.batch.waits

    @property
    def place(self) -> QueuePlace | None:
        """The host's own."""
        return self.batch.place

    def submit(self, job_folder: Path) -> str:
        """Put the folder's name into the host's queue."""
        write_whole(self.host / "queue" / job_folder.name, str(job_folder))
        return self._id(job_folder.name)

    def find(self, job_folder: Path) -> str | None:
        """By the name in the host's queue. Raises OSError while that cannot be seen."""
        asked = check_existence(self.host / "queue" / job_folder.name)
        return self._id(job_folder.name) if asked else None

    def alive(self, job_id: str) -> bool:
        """Whether the host lives and has not seen the supervisor end."""
        name = job_id.rpartition(":")[2]
        over = surely_exists(self.host / "queue" / f"{name}.over")  # else it is asked again
        return not over and self.batch.stands(self._job())

    def fate(self, job_id: str | None, job_folder: Path) -> str:
        """A supervisor that was killed, or the end of the whole job. Raises OSError while that
        cannot be seen."""
        if check_existence(self.host / "queue" / f"{job_folder.name}.over"):
            return f"its supervisor was killed, see {job_folder / 'supervisor.log'}"
        return self.batch.fate(self._job(), job_folder)

    def remark(self, job_id: str, *, well: bool, grace_s: float | None) -> str:
        """What the scheduler says of the host's job, when the program did not end well. That job
        goes on."""
        return "" if well else self.batch.remark(self._job(), well=True, grace_s=None)

    def ended_by(self, job_id: str) -> str:
        """What the scheduler did to the host's job."""
        return self.batch.ended_by(self._job())

    def cancel_waiting(self) -> None:
        """Cancel the hosts' jobs that were submitted ahead. Raises SchedulerError, OSError."""
        self.batch.cancel_waiting()

    def _id(self, name: str) -> str:
        return f"hosted:{self._job().partition(':')[2]}:{name}"

    def _job(self) -> str:
        found = self.batch.find(self.host)
        if found is None:
            raise SiteError(f"the job of {self.host} is not known to {self.batch.scheduler.title}")
        return found


@dataclass(frozen=True, slots=True)
class JobBuffer:
    """The job with the buffer, submitted when the run begins, or ahead of the next attempt; the
    buffer goes when it ends."""

    site: Site
    run: RunDir
    launcher: HostedLauncher
    recipe: Recipe
    folder: str
    leaving: Callable[[], bool]
    lasts: bool = False
    name: str = ""

    def provide(self, known: BufferRef | None) -> tuple[BufferRef, bool]:
        """The live host's buffer, else that of the job that was submitted ahead, else that of a new
        one, when it has begun."""
        batch = self.launcher.batch
        number = self._hosts()
        while number and self._brings_home(self._host(number)):
            if self.leaving() or self.run.stop_requested() is not None:
                break
            time.sleep(LOOK_S)
        found = bool(number) and self._serves(self._host(number))
        host = self._host(number if found else number + 1)
        if not (found or self._takes_up(host)):
            self._hand_in(host)
        self.launcher.host = host
        while not surely_exists(host / "host.json"):
            job_id = batch.find(host)
            if job_id is None or not again(partial(batch.stands, job_id)):
                if host.is_symlink():  # of what was submitted ahead, nothing has come
                    self.launcher.host = host = self._host(self._hosts() + 1)
                    self._hand_in(host)
                    found = False
                    continue
                raise SiteError(f"the job with the buffer ended: {self._fate(job_id, host)}")
            if self.run.stop_requested() is not None:
                self._leave(host)
                number_ = job_id.partition(":")[2]
                raise GivenUpError(f"job {number_}, which was to have the buffer, is cancelled")
            if self.leaving():
                raise SiteError("left while it waited for the job with the buffer")
            time.sleep(LOOK_S)
        # Where nothing was ever started, the driver before may have died before it knew the buffer.
        used = any(again(lambda: [*(host / "queue").iterdir()]))
        return self._reference(), found and used

    def submit_ahead(self, host: Path) -> str:
        """Submit the job of a host in that folder, to begin when the current one has ended, or find
        it again; returns its id. Raises SiteError, OSError."""
        batch = self.launcher.batch
        found = batch.find(host)
        return found or self._hand_in(host, after=batch.find(self.launcher.host) or "")

    def _hand_in(self, host: Path, after: str = "") -> str:
        """Submit the job of a host in that folder; returns its id."""
        make_folders(host, below=self.run.path)
        write_json(host / "job.json", self._of_scheduler())
        job = replace(self.job(host), after_end=after.partition(":")[2])
        return self.launcher.batch.hand_in(host, job)

    def _takes_up(self, host: Path) -> bool:
        """Have the host that was submitted ahead and stands serve as that one; whether there is
        one. Raises OSError."""
        batch = self.launcher.batch
        for folder in again(partial(folders_ahead, self.run)):
            job_id = batch.find(folder)
            if job_id is None or surely_exists(folder / "leave") or not batch.stands(job_id):
                continue
            facts = read_json(folder / "host.json") or {}
            self.launcher.idle_s = max(0.0, time.time() - float(facts.get("started", math.inf)))
            with suppress(FileExistsError):  # another driver has just done so
                host.symlink_to(folder.name)
            return True
        return False

    def origin(self, buffer: BufferRef) -> BufferOrigin | None:
        """None: it is always the run's own."""
        return None

    def left(self, known: BufferRef | None) -> BufferRef | None:
        """The buffer while its job waits or runs. Raises SchedulerError."""
        number = self._hosts()
        self.launcher.host = self._host(number)
        job_id = self.launcher.batch.find(self.launcher.host) if number else None
        if job_id is None or self.launcher.batch.is_over(job_id):
            return None
        return known or self._reference()

    def job_now(self) -> JobState | None:
        """What the scheduler says now of the job with the buffer; None where it knows no such job.
        Raises SchedulerError, OSError."""
        batch = self.launcher.batch
        job_id = batch.find(self.launcher.host)
        return None if job_id is None else batch.scheduler.look(job_id.partition(":")[2])

    def give_back(
        self, buffer: BufferRef, others: Sequence[str] = (), *, discard: bool = False
    ) -> None:
        """Let the job end; its buffer goes with it. Raises GivenUpError, SiteError."""
        self._leave(self._host(self._hosts()))

    def lines(self, buffer: BufferRef) -> tuple[str, ...]:
        """None: everything runs inside the one job."""
        return ()

    def inside(self) -> Inside:
        """What the viewing block has to know of the job."""
        facts = read_json(self.launcher.host / "host.json") or {}
        cpus = int(facts.get("cpus") or 1)
        node = str(facts.get("node") or "")
        job_id = (self.launcher.batch.find(self.launcher.host) or "").partition(":")[2]
        return Inside(job_id, self._variable, str(facts["root"]), cpus, node)

    def _leave(self, host: Path) -> None:
        """End the host's job: one that waits is cancelled, one that runs ends by itself."""
        (host / "leave").touch()
        batch = self.launcher.batch
        job_id = batch.find(host)
        if job_id is None:
            return
        number = job_id.partition(":")[2]
        if batch.scheduler.look(number).waiting:
            batch.scheduler.cancel([number])
        batch.await_end(job_id, lambda: self.leaving() or self.run.stop_requested() == "stop-now")
        if self.run.stop_requested() == "stop-now" and not batch.is_over(job_id):
            raise GivenUpError(
                f"job {number} with the buffer is ending: burstlens free {self.run.id} "
                "shows when it is gone"
            )

    def _fate(self, job_id: str | None, host: Path) -> str:
        """The job's state in the scheduler's words, and the last line of the host's log."""
        fate = self.launcher.batch.fate(job_id, host)
        try:
            said = (host / "host.log").read_text(errors="replace").strip().splitlines()
        except OSError:
            said = []
        return f"{fate}; {said[-1]}" if said else fate

    def _reference(self) -> BufferRef:
        return BufferRef(self.site.buffer.kind, f"${self._variable}", self.folder)

    @property
    def _variable(self) -> str:
        if self.site.buffer.kind == "posix":
            return ROOT
        return directives(self.site.buffer).variable("run", persistent=False)

    def _hosts(self) -> int:
        return len(list((self.run.path / "steps").glob("host-*")))

    def _host(self, number: int) -> Path:
        return self.run.path / "steps" / f"host-{number}"

    def _serves(self, host: Path) -> bool:
        job_id = self.launcher.batch.find(host)
        if job_id is None or again(lambda: check_existence(host / "leave")):
            return False
        # Asked now: a job that `free` has cancelled a moment ago brings no buffer.
        return not self.launcher.batch.is_over(job_id)

    def _brings_home(self, host: Path) -> bool:
        """Whether a host without a driver is bringing results home: these are waited for."""
        if not surely_exists(host / hosts.LEAVING) or surely_exists(host / hosts.HOME):
            return False
        job_id = self.launcher.batch.find(host)
        return job_id is not None and not self.launcher.batch.is_over(job_id)

    def _of_scheduler(self) -> dict[str, Any]:
        """By what its jobs know their id, node and CPUs, and how a program starts on each node."""
        scheduler, nodes = self.launcher.batch.scheduler, self.recipe.simulation.nodes
        return {
            "job_id_variable": scheduler.variables.job_id,
            "node_variable": scheduler.variables.node,
            "cpus": scheduler.cpus_on_node,
            "each_node": scheduler.each_node(nodes) if nodes > 1 else [],
        }

    def job(self, host: Path) -> BatchJob:
        """The one job, with its marks in that folder."""
        simulation = self.recipe.simulation
        steps = [step for step in self.recipe.steps if step.where == "buffer" and not step.beside]
        buffer, capacity = self.site.buffer, self.recipe.buffer.capacity
        posix = buffer.kind == "posix"
        own = () if posix else (directives(buffer).own("run", capacity),)
        # The host expands them: a login node has other variables and other disks.
        choice = (str(capacity), *buffer.folders) if posix else ()
        program = (sys.executable, "-P", hosts.__file__, str(host), self._variable, self.folder)
        return BatchJob(
            name=f"{self.launcher.batch.token}-{host.name}",
            comment=self.run.id,
            argv=(*program, *choice),
            output=host / "host.log",
            nodes=simulation.nodes,
            tasks_per_node=simulation.ranks_per_node,
            walltime_s=simulation.walltime + sum(step.walltime for step in steps),
            buffer_lines=own,
            options=self.site.batch.options,
            init=self.site.batch.job_init,
        )
