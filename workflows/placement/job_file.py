"""The job file of a supervised job: what its supervisor is to do, as ``job.json``."""

from __future__ import annotations

import os
from typing import Any

from burstlens.cluster_configs.directives import directives
from burstlens.cluster_configs.schedulers import LOCAL, job_id_variable, scheduler
from burstlens.cluster_configs.site import Site
from burstlens.core.errors import RecipeError, SiteError
from burstlens.core.run.directory import RunDir
from burstlens.core.run.history import History
from burstlens.core.run.log_level import log_level
from burstlens.workflows.hints.delivery import Delivery, deliver
from burstlens.workflows.hints.names import mpi_of
from burstlens.workflows.hints.stripes import folder_stripes, striped_hints
from burstlens.workflows.models.base import SIMULATION_LOG
from burstlens.workflows.models.continuation import Continuation
from burstlens.workflows.models.inputs import input_files
from burstlens.workflows.notify.options import wants_of_anyone
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.placement.provision import Provision
from burstlens.workflows.placement.stage_in import LIST, write_list
from burstlens.workflows.recipe.lead import lead_s
from burstlens.workflows.recipe.recipe import Recipe, Step

MOST_DIRECTIVES = 200
_OF_WAITING = ("run_dir", "name", "log_level", "job_id_variable")
"""What a job needs that has no attempt yet."""
SENTINEL_S = 10.0
"""How long a driver's heartbeat stands still before the sentinel evaluates the guards."""

HOME_S = 600.0
"""Left of a job's walltime, at most a quarter of it, for what comes home before its buffer goes."""


def hints_of(recipe: Recipe, site: Site) -> Delivery:
    """How the model gets the recipe's MPI-IO hints on that site."""
    simulation = recipe.simulation
    report, stripes = simulation.mpiio_report, simulation.stripes
    if not (simulation.mpiio_hints or stripes or report):
        return Delivery()
    mpi, hints = mpi_of(site), simulation.mpiio_hints
    if mpi in {None, "cray-mpich"}:  # the others have one set for all files of the program
        hints = striped_hints(hints, stripes, recipe.ranks)
    return deliver(hints, mpi, nodes=simulation.nodes, report=report)


class JobFile:
    """Describes the jobs of one attempt on one buffer. Paths there are relative to its root."""

    def __init__(
        self, run: RunDir, recipe: Recipe, site: Site, history: History, provision: Provision
    ) -> None:
        self.run = run
        self.recipe = recipe
        self.site = site
        self.history = history
        self.provision = provision
        self.attempt = 0
        self.buffer = BufferRef("", "", "")
        self.continuation, self.written_by = Continuation(), 0
        self._files: list[tuple[str, str]] = []
        self._staging = False

    def open(
        self,
        buffer: BufferRef,
        attempt: int,
        continuation: Continuation | None = None,
        written_by: int = 0,
    ) -> None:
        """Describe jobs of this attempt from now on; write the list of inputs if its first job
        stages them in. The model starts as ``continuation`` says, from what the attempt
        ``written_by`` has written."""
        self.plan(buffer, attempt, [])
        self.continuation, self.written_by = continuation or Continuation(), written_by
        if self.site.job_stages_in:
            recipe, simulation = self.recipe, self.recipe.simulation
            stripes = folder_stripes(simulation.stripes, recipe.ranks)
            inputs, model, leave = recipe.inputs, recipe.model, simulation.leave
            self._files = write_list(self.run.path, buffer, inputs, model, leave, stripes)

    def plan(self, buffer: BufferRef, attempt: int, files: list[tuple[str, str]]) -> None:
        """Describe jobs of this attempt, whose first job stages in those files; write nothing."""
        self.buffer, self.attempt, self._files = buffer, attempt, files

    def _common(self, name: str) -> dict[str, Any]:
        return {
            "run_dir": str(self.run.path),
            "name": name,
            "root": self.buffer.path,
            "log_level": log_level(),
            "job_id_variable": job_id_variable(self.site.scheduler),
            "environment": {"BURSTLENS_RUN": self.run.id, "BURSTLENS_RUN_DIR": str(self.run.path)},
            "places": {
                "BURSTLENS_INPUTS": f"{self.buffer.folder}/inputs",
                "BURSTLENS_OUTPUT": f"{self.buffer.folder}/{self.attempt}",
            },
        }

    def simulation(self, name: str) -> dict[str, Any]:
        """The job file of an attempt of the model. Raises RecipeError where it cannot start so."""
        simulation, inputs = self.recipe.simulation, self.recipe.inputs
        model, job = self.recipe.model, self._common(name)
        settings = self.run.settings if self.run.settings.is_dir() else inputs
        start = model.start(settings, self.continuation)
        if fault := start.rank_fault(simulation.ranks):
            raise RecipeError(fault)
        own = {**model.environment(), **simulation.environment}
        hints = hints_of(self.recipe, self.site)
        job["environment"] |= {**hints.environment, **own}
        files = {f".{var.lower()}": text for var, text in hints.files.items() if var not in own}
        folder, stop_by = f"{self.buffer.folder}/{self.attempt}", self.recipe.stop_by
        job["places"] |= {name[1:].upper(): f"{folder}/{name}" for name in files}
        job |= self._batch(simulation.nodes, simulation.ranks_per_node, first=True)
        return job | {
            "folder": folder,
            "files": {**files, **start.files},
            **self._checkpoint(),
            "stripes": [one.job() for one in folder_stripes(simulation.stripes, self.recipe.ranks)],
            "inputs": f"{self.buffer.folder}/inputs",
            "executables": [name for path, name in input_files(inputs) if os.access(path, os.X_OK)],
            "argv": [*self._mpi_prefix(), *start.command],
            "walltime_s": simulation.walltime - self._home_s(),
            "log": SIMULATION_LOG,
            "unlinked": [*model.log_patterns, *([stop_by.file] if stop_by else [])],
            "copied": model.configured(inputs).output_names(inputs).copied,
            "keep_logs": [*model.keep_patterns, SIMULATION_LOG],
            **self._sentinel(),
            **self._end(),
        }

    def ahead(self, name: str, attempt: int) -> dict[str, Any]:
        """The job file of a batch job that waits for that attempt of the model, or a later one."""
        simulation = self.recipe.simulation
        job = {key: self._common(name)[key] for key in _OF_WAITING}
        job |= self._batch(simulation.nodes, simulation.ranks_per_node, first=False)
        return job | {"walltime_s": simulation.walltime, "first_attempt": attempt}

    def _end(self) -> dict[str, Any]:
        """When the simulation's job ends, and how the model is asked to stop ahead of that. Raises
        RecipeError where the job has no time left then."""
        recipe, stop_by, site = self.recipe, self.recipe.stop_by, self.site
        cost_s = self.history.checkpoints.longest_s if stop_by else None
        lead = lead_s(recipe.simulation.walltime, recipe.checkpoint.lead, cost_s)
        found: dict[str, Any] = {"lead_s": lead, "home_s": self._home_s()}
        if site.scheduler != LOCAL:
            batch = scheduler(site.scheduler)
            variable, command = batch.variables.job_end, batch.end_command
            found["job_end"] = {"variable": variable, "command": command}
            found["preempt_grace_s"] = site.batch.preempt_grace_s
        if stop_by is not None:
            found["stop_by"] = stop_by.job()
        return found

    def _home_s(self) -> float:
        """What is left of the job's time for products, kept files and the checkpoint to come home,
        where the buffer ends with its job and another one is to follow."""
        simulation = self.recipe.simulation
        if not (simulation.is_cut and self.site.viewing.placement == "same-job"):
            return 0.0
        return min(HOME_S, simulation.walltime / 4)

    def _checkpoint(self) -> dict[str, Any]:
        """The files of the checkpoint that the model continues from, with their sizes as they were
        found whole: linked on the buffer, or copied from the run directory where the buffer is
        another one than its writer's."""
        time = self.continuation.time or ""
        record = self.history.checkpoints.find(self.written_by, time)
        if record is not None and not record.on_buffer:
            home = self.run.checkpoint(record.attempt, record.time)
            return {"home": [[str(home / name), name, *sums] for name, *sums in record.home]}
        sizes = {} if record is None else record.size_of
        folder = f"{self.buffer.folder}/{self.written_by}"
        files = [[f"{folder}/{name}", name, sizes.get(name)] for name in self.continuation.files]
        return {"checkpoint": files, "checkpoint_copied": self.recipe.model.rewrites_checkpoint}

    def _sentinel(self) -> dict[str, Any]:
        """When the sentinel is to watch, and what for: guards that may have to stop the model,
        word to people that the driver has ended."""
        wanted = {
            "guards": any(guard.stops for guard in self.recipe.guards),
            "word": wants_of_anyone("needs-you", self.recipe.notify),
        }
        poll_s = self.site.viewing.poll_interval_s
        return {"sentinel": {"after_s": SENTINEL_S, "poll_s": poll_s, **wanted}}

    def _mpi_prefix(self) -> list[str]:
        """The words of the site's MPI launcher; none for one process."""
        simulation = self.recipe.simulation
        if not self.recipe.model.mpi or simulation.ranks == 1:
            return []
        values = {"ranks": simulation.ranks, "ranks_per_node": simulation.ranks_per_node}
        return [word.format(**values) for word in self.site.mpi_launcher]

    def step(self, step: Step, name: str) -> dict[str, Any]:
        """The job file of a program that runs before, beside or after the model."""
        job = self._common(name) | {
            "argv": list(step.command),
            "walltime_s": step.walltime,
            "log": f"{name}.log",
            "keep_logs": [f"{name}.log"],
            "stop_grace_s": 0.0,
        }
        if step.where == "login":
            return job | {"root": str(self.run.path), "places": {}, "folder": "files"}
        place = "inputs" if step.phase == "before" else str(self.attempt)
        first = step.phase == "before"
        job |= self._batch(step.nodes, step.ranks_per_node, first=first)
        return job | {"folder": f"{self.buffer.folder}/{place}"}

    def _batch(self, nodes: int, tasks_per_node: int, *, first: bool) -> dict[str, Any]:
        """What a batch job needs as well: its size, its buffer, the inputs to stage in, and how a
        program is started on each node where these have a disk of their own."""
        found: dict[str, Any] = {}
        if self.site.viewing.placement == "separate":
            found["batch"] = {
                "nodes": nodes,
                "tasks_per_node": tasks_per_node,
                "buffer_lines": [*self.provision.lines(self.buffer), *self._stage_in_lines(first)],
            }
        if first and self.site.job_stages_in:
            found["stage_in"] = {"list": LIST, "folder": self.buffer.folder}
        if first and self.site.buffer.node_local and self.recipe.simulation.nodes > 1:
            batch = scheduler(self.site.scheduler)(self.site.batch)
            found["each_node"] = batch.each_node(self.recipe.simulation.nodes)
            found["launcher_lines"] = batch.launcher_lines
        return found

    def _stage_in_lines(self, first: bool) -> list[str]:
        """The inputs as directives of the scheduler, where the site wants them, once per buffer."""
        wanted = first and self.site.buffer.stage_in == "directive" and not self._staging
        if not wanted or self.history.staged_in or not self.buffer.name:
            return []
        if len(self._files) > MOST_DIRECTIVES:
            raise SiteError(
                f"buffer.stage_in: {len(self._files)} input files are too many for directives "
                f'({MOST_DIRECTIVES}); "api" in the site file stages them in the job'
            )
        self._staging = True
        lines = directives(self.site.buffer)
        target = f"{self.buffer.path}/{self.buffer.folder}/inputs"
        return [lines.stage_in(source, f"{target}/{name}") for source, name in self._files]
