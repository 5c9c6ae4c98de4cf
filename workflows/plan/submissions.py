"""The batch scripts that a run would submit, for ``--dry-run``. Nothing is submitted or written.

They come from the same code that submits them. Missing are only names that a run chooses, and
values that Parsl has when it has started.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from burstlens.cluster_configs.batch_script import batch_script
from burstlens.cluster_configs.directives import directives
from burstlens.cluster_configs.schedulers import LOCAL, scheduler
from burstlens.cluster_configs.site import Site
from burstlens.core.run.directory import RunDir, runs_folder
from burstlens.core.run.history import replay
from burstlens.workflows.models.inputs import selected
from burstlens.workflows.placement.batch import BatchLauncher
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.placement.job_buffer import HostedLauncher, JobBuffer
from burstlens.workflows.placement.job_file import JobFile
from burstlens.workflows.placement.persistent_buffer import CREATE, DESTROY, Persistent
from burstlens.workflows.placement.provision import Folder, Provision
from burstlens.workflows.recipe.recipe import Recipe

RUN = "RUN"
"""Stands for the run's id, which is made from its start time."""
TOKEN = "RUN-TOKEN"  # noqa: S105
"""Stands for the run's folder on the buffer, and the prefix of its jobs' names."""


@dataclass(frozen=True, slots=True)
class Submission:
    """One batch script: what it is for, and its text."""

    name: str
    script: str


def submissions(recipe: Recipe, site: Site, *, driver: bool = False) -> tuple[Submission, ...]:
    """The scripts in the order of their submission; none on a site without a scheduler. ``driver``:
    the driver is a batch job as well. Raises SiteError for values invalid in a script."""
    if site.scheduler == LOCAL or not recipe.inputs.is_dir():
        return ()
    to, run = scheduler(site.scheduler)(site.batch), RunDir(runs_folder() / RUN)
    batch = BatchLauncher(to, site, run, TOKEN)
    made = _in_one if site.viewing.placement == "same-job" else _each
    return (*(_driver(batch) if driver else ()), *made(batch, recipe))


def _driver(batch: BatchLauncher) -> Iterator[Submission]:
    from burstlens.workflows.driver.detach import driver_job

    job = driver_job(batch.run, batch.site, TOKEN, 1)
    yield Submission("driver", batch_script(job, batch.scheduler))


def _in_one(batch: BatchLauncher, recipe: Recipe) -> Iterator[Submission]:
    host = batch.run.path / "steps" / "host-1"
    own = JobBuffer(batch.site, batch.run, HostedLauncher(batch), recipe, TOKEN, lambda: False)
    yield Submission("the job with the buffer", batch_script(own.job(host), batch.scheduler))


def _each(batch: BatchLauncher, recipe: Recipe) -> Iterator[Submission]:
    site, run, to = batch.site, batch.run, batch.scheduler
    space: Provision
    if site.buffer.kind == "posix":
        space = Folder(site, TOKEN, recipe.buffer.capacity)
        buffer = BufferRef("posix", site.buffer.folders[0], TOKEN)
    else:
        space = own = Persistent(site, run, batch, recipe.buffer, TOKEN, lambda: False)
        buffer = own.reference(own.name)
        line = directives(site.buffer).create(own.name, recipe.buffer.capacity)
        mark = run.path / "steps" / f"{CREATE}-1"
        yield Submission("make the buffer", batch_script(own.job(mark, line), to))
    jobs = JobFile(run, recipe, site, replay([]), space)
    files = list(selected(recipe.inputs, recipe.model, recipe.simulation.leave).files)
    jobs.plan(buffer, 1, files)
    steps = [step for step in recipe.steps if step.where == "buffer"]

    def of_steps(phase: str) -> Iterator[Submission]:
        for step in steps:
            if step.phase == phase:
                name = f"step-{step.name}-1" if phase == "before" else f"step-{step.name}-1.1"
                job = batch.job(run.job(name), jobs.step(step, name))
                yield Submission(f"step {step.name}", batch_script(job, to))

    yield from of_steps("before")
    job = batch.job(run.job("attempt-1"), jobs.simulation("attempt-1"))
    yield Submission("simulation", batch_script(job, to))
    yield Submission("viewing block", _viewing(batch, recipe, space.lines(buffer)))
    yield from of_steps("beside")
    yield from of_steps("after")
    if site.buffer.kind != "posix" and buffer.owned and recipe.buffer.destroy == "on-success":
        line = directives(site.buffer).destroy(own.name)
        mark = run.path / "steps" / f"{DESTROY}-1"
        yield Submission("give the buffer back", batch_script(own.job(mark, line), to))


def _viewing(batch: BatchLauncher, recipe: Recipe, lines: tuple[str, ...]) -> str:
    from burstlens.cluster_configs.parsl_config import Block, block_script

    site = batch.site
    block = Block(
        scheduler=batch.scheduler, comment=batch.run.id, token=TOKEN, lines=lines,
        walltime_s=site.viewing.walltime or recipe.simulation.walltime,
    )  # fmt: skip
    return block_script(site.allowing(recipe.viewing.memory), block, batch.run.parsl)
