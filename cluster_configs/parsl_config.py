"""Parsl's configuration for a site: one viewing block and threads for what the login node does.

Each setting that differs from Parsl's default was measured; docs/decisions/0003-parsl.md.
"""

from __future__ import annotations

import contextlib
import socket
import sys
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import burstlens.cluster_configs.unmonitored  # noqa: F401  (before Parsl)

# isort: split
from parsl.addresses import address_by_hostname, address_by_interface
from parsl.config import Config
from parsl.executors import HighThroughputExecutor, ThreadPoolExecutor
from parsl.jobs.states import JobState, JobStatus
from parsl.launchers import SimpleLauncher
from parsl.launchers.base import Launcher
from parsl.providers import LocalProvider

from burstlens.cluster_configs.batch_script import BLOCK_VARIABLE, VIEWING, clock
from burstlens.cluster_configs.inside import Inside
from burstlens.cluster_configs.parsl_internals import (
    SUBMIT_SCRIPTS,
    BlockInternals,
    KeepsScript,
    ProviderInternals,
    ScriptKeptError,
    least_loaded,
    pool_command,
    write_scripts_in,
)
from burstlens.cluster_configs.programs import ensure_programs
from burstlens.cluster_configs.scheduler import BlockJob, Scheduler
from burstlens.cluster_configs.schedulers import scheduler
from burstlens.cluster_configs.site import Site, half
from burstlens.core.allowance import CORES_VARIABLE, MALLOC, MEMORY_VARIABLE
from burstlens.core.errors import BurstlensError, SiteError
from burstlens.core.run.log_level import VARIABLE, log_level
from burstlens.core.run.logs import RUN_VARIABLE

JOBS = "jobs"
"""Label of the threads that start and await supervised jobs."""
RETRIES = 2
HEARTBEAT_S = 2
LOST_S = 10
"""A killed worker is noticed after one heartbeat; an orphaned block ends after this time."""
CPUS = 2
"""CPUs that a block asks for on each node if the site does not say how many workers it has."""
_COUNTED = "cpus=%s\nexport PARSL_CORES=$((cpus < 4 ? 2 : cpus / 2 + 1))\n"
"""A worker for every second CPU that the job was given, and one that watches; ``%s`` stands for
the scheduler's expression of their number."""
_CORES = f"export {CORES_VARIABLE}=$((cpus < 4 ? cpus : 2))\n"
"""What that leaves to each worker that makes products."""

# The interchange leaves the terminal's process group, so that Ctrl-C reaches the driver alone,
# and gets SIGTERM when the driver dies, so that no worker outlives it for long.
_INTERCHANGE = (
    *("setsid", "setpriv", "--pdeathsig", "TERM"),
    *(sys.executable, "-P", "-m", "burstlens.cluster_configs.interchange"),
)
_POOL = pool_command(f"{Path(sys.executable).name} -P -m burstlens.cluster_configs.worker_pool")


def _cost(error: Exception, _task: Any) -> float:
    """How many retries a failure costs: a worker that died one, an error of Burstlens all."""
    return RETRIES + 1.0 if isinstance(error, BurstlensError) else 1.0


def config(site: Site, parsl_folder: Path, jobs: int) -> Config:
    """A configuration without a viewing block yet; ``jobs`` supervised jobs may run at once."""
    return Config(
        executors=[ThreadPoolExecutor(label=JOBS, max_threads=jobs)],
        run_dir=str(parsl_folder),
        retries=RETRIES,
        retry_handler=_cost,
        strategy="none",
        strategy_period=0.5,
        # A record of each task at INFO costs ten times the submission itself.
        initialize_logging=False,
        usage_tracking=0,
        exit_mode="cleanup",
    )


class ViewingBlock(BlockInternals, HighThroughputExecutor):  # type: ignore[misc]  # Parsl has no types
    """An executor that Parsl's poller leaves alone; the driver starts and replaces its block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """What is specific to the viewing blocks of one run, where they are batch jobs.

    ``comment`` and the start of their names, ``token``, find them again; ``lines`` mount the
    buffer; ``walltime_s`` is the longest lifetime of one.
    """

    scheduler: Scheduler
    comment: str
    token: str
    walltime_s: float
    lines: tuple[str, ...] = ()

    @property
    def drain_s(self) -> float:
        """How long before its end a block takes no new tasks."""
        return min(120.0, self.walltime_s / 4)


class BlockJobs(ProviderInternals):
    """Mixed into Parsl's provider for a scheduler: the scheduler itself is asked about its jobs, as
    seldom as the site says, and the jobs have the run's own name."""

    block: Block
    after: str | None = None
    """A job that must have begun first: a block is of no use before the simulation."""
    refusal = ""
    """Why the latest submission has failed: Parsl keeps that to itself."""

    def submit(self, command: str, tasks_per_node: int, job_name: str = "parsl") -> str:
        """Submit the block's job; returns its id."""
        scheduler = self.block.scheduler
        after = f"\n{scheduler.after(self.after)}\n" if self.after else ""
        name = f"{self.block.token}-{VIEWING}-{job_name}"
        try:
            found = self.submit_with(after, command, tasks_per_node, name)
        except Exception as error:  # Parsl raises many kinds
            said = getattr(error, "stderr", None) or getattr(error, "stdout", None) or error
            self.refusal = str(said).strip() or type(error).__name__
            raise
        scheduler.submitted(found)
        return found

    def job_status(self, job_id: str) -> JobStatus:
        """The status of a job by the scheduler's word; one that will never begin is over."""
        state = self.block.scheduler.state(job_id)
        known = (
            JobState.COMPLETED if state.over or state.hopeless
            else JobState.PENDING if state.waiting else JobState.RUNNING
        )  # fmt: skip
        return JobStatus(known, message=state.reason)


def block_provider(block: Block, site: Site, worker_init: str, *mixins: type) -> Any:
    """Parsl's provider for the site's scheduler, with :class:`BlockJobs`."""
    viewing = site.viewing
    base, arguments = block.scheduler.provider(
        BlockJob(
            comment=block.comment,
            nodes=viewing.nodes,
            cpus=viewing.workers or CPUS,
            lines=block.lines,
            options=viewing.options,
        )
    )
    made: Any = type("ViewingProvider", (*mixins, BlockJobs, base), {})(
        **arguments,
        nodes_per_block=viewing.nodes,
        init_blocks=0,
        min_blocks=0,
        max_blocks=1,
        walltime=clock(block.walltime_s),
        worker_init=worker_init,
        cmd_timeout=60,
    )
    made.block = block
    return made


class StepLauncher(Launcher):  # type: ignore[misc]  # Parsl has no types
    """Starts workers as a step of a running job, on its first node, where the model's first rank
    writes, on so many of its CPUs there."""

    def __init__(self, scheduler: Scheduler, inside: Inside, cpus: int, debug: bool = True) -> None:
        super().__init__(debug=debug)
        self.inside = inside
        # At the lowest priority it would starve on one CPU that the model keeps busy.
        cpus = inside.cpus if inside.lowest else min(cpus, inside.cpus)
        self.words = scheduler.step_words(inside, cpus)

    def __call__(
        self, command: str, tasks_per_node: int, nodes_per_block: int, script_dir: str = ""
    ) -> str:
        """The command of the step."""
        return self.inside.step(self.words, command)


def viewing_block(
    site: Site,
    label: str,
    parsl_folder: Path,
    place: Block | Inside | None = None,
    batch: Scheduler | None = None,
) -> HighThroughputExecutor:
    """The executor of one viewing block: its product workers and one worker that watches.

    Every process of the block has ``parsl_folder`` in its environment. It is a batch job
    (``place`` is a Block), a step of one (Inside, of a job of ``batch`` or else of the site's
    scheduler), or of this machine. Raises SiteError when Parsl's programs or util-linux are
    missing.
    """
    ensure_programs()
    job = place if isinstance(place, Block) else None
    counts_itself = job is not None and site.viewing.workers is None
    counts = job.scheduler.cpus_on_node if job is not None and counts_itself else ""
    workers = site.workers()
    if job is not None:
        provider = block_provider(job, site, _worker_init(site, parsl_folder, counts))
    else:
        worker_init = _worker_init(site, parsl_folder)
        launcher = SimpleLauncher()
        if isinstance(place, Inside):
            workers = site.viewing.workers or half(place.cpus)
            batch = batch or scheduler(site.scheduler)(site.batch)
            launcher = StepLauncher(batch, place, workers)
        provider = LocalProvider(
            init_blocks=0, min_blocks=0, max_blocks=1, worker_init=worker_init, launcher=launcher
        )
    return ViewingBlock(
        label=label,
        address=_address(site.viewing.address),
        encrypted=True,
        drain_period=None if job is None else int(job.walltime_s - job.drain_s),
        max_workers_per_node=None if counts_itself else workers + 1,
        # max_workers_per_node alone decides, or else what the job counts as its cores.
        cores_per_worker=1.0 if counts_itself else 1e-6,
        heartbeat_period=HEARTBEAT_S,
        heartbeat_threshold=LOST_S,
        poll_period=1000,
        launch_cmd=_POOL,
        interchange_launch_cmd=_INTERCHANGE,
        manager_selector=least_loaded(),
        block_error_handler=False,  # the driver replaces a block; it never fails the tasks
        provider=provider,
    )


def block_script(site: Site, block: Block, parsl_folder: Path) -> str:
    """The batch script of a viewing block, as Parsl would submit it.

    The worker pool's own options, such as the driver's address and ports, are known only when
    Parsl has started; ``...`` stands for them, ``SIMULATION`` for the number of its job.
    """
    counts = "" if site.viewing.workers else block.scheduler.cpus_on_node
    provider = block_provider(block, site, _worker_init(site, parsl_folder, counts), KeepsScript)
    provider.after = "SIMULATION"
    with TemporaryDirectory() as folder:
        write_scripts_in(provider, folder)
        with contextlib.suppress(ScriptKeptError):
            provider.submit("process_worker_pool.py ...", 1)
        (script,) = Path(folder).iterdir()
        return script.read_text().replace(folder, str(parsl_folder / SUBMIT_SCRIPTS))


def _worker_init(site: Site, parsl_folder: Path, counts: str = "") -> str:
    """Shell lines before the workers; ``counts`` is the expression of the job's CPUs, where the
    block counts its workers itself."""
    here = Path(sys.executable).parent
    return (
        f"export PATH={_quoted(here)}:$PATH\n"
        f"export {BLOCK_VARIABLE}={_quoted(parsl_folder)}\n"
        f"export {RUN_VARIABLE}={_quoted(parsl_folder.parent)} {VARIABLE}={log_level()}\n"
        f"export {' '.join(f'{name}={value}' for name, value in MALLOC.items())}\n{_memory(site)}"
        "export HDF5_USE_FILE_LOCKING=FALSE MPLBACKEND=Agg OMP_NUM_THREADS=1\n"
        f"{_COUNTED % counts if counts else ''}{_cores(site, counts)}{site.viewing.worker_init}"
    )


def _memory(site: Site) -> str:
    """The line that says how much a worker may use, if the site or the recipe does."""
    memory = site.viewing.memory
    return "" if memory is None else f"export {MEMORY_VARIABLE}={memory}\n"


def _cores(site: Site, counts: str) -> str:
    """The line that says how many cores a worker has: the block's own, where it counts them."""
    return _CORES if counts and site.viewing.placement == "separate" else ""


def _address(said: str) -> str:
    # Parsl's own search for all addresses asks a server on the internet.
    interfaces = [name for _, name in socket.if_nameindex()]
    try:
        if said == "hostname":
            return str(address_by_hostname())
        return str(address_by_interface(said)) if said in interfaces else str(ip_address(said))
    except (OSError, ValueError) as error:
        raise SiteError(
            f'viewing.address "{said}" is not an address or an interface of this machine '
            f"({', '.join(interfaces)})"
        ) from error


def _quoted(path: Path) -> str:
    from shlex import quote

    return quote(str(path))
