"""A site: what is specific to one machine, so that recipes need not say it."""

from __future__ import annotations

import os
import re
import socket
import tomllib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Annotated, Any, Literal

from platformdirs import user_config_path
from pydantic import AfterValidator, BeforeValidator, Field

from burstlens.cluster_configs.scheduler import BatchSite, Seconds
from burstlens.cluster_configs.schedulers import FIRST, LOCAL, require_scheduler, scheduler
from burstlens.core.allowance import memory_of
from burstlens.core.errors import SiteError
from burstlens.core.fault import Place
from burstlens.core.nearness import did_you_mean
from burstlens.core.quantity import parse_bytes
from burstlens.core.renamed import METHODS
from burstlens.core.toml.faults import Faults, dotted, report
from burstlens.core.toml.places import places
from burstlens.core.toml.table import read_table

SITES = Path(__file__).parent / "sites"
_FORMER = {old: new for (owner, old), new in METHODS.items() if owner == "BatchSite"}
"""Former names of keys in the scheduler's table."""


def _require(name: str) -> str:
    """The name of a scheduler. Raises ValueError when there is none."""
    if name != LOCAL:
        try:
            require_scheduler(name)
        except SiteError as error:
            raise ValueError(str(error)) from error
    return name


Mpi = Literal["cray-mpich", "romio", "openmpi", "none"]
Bytes = Annotated[int, BeforeValidator(parse_bytes, json_schema_input_type=str | int)]
Memory = Annotated[Bytes, AfterValidator(memory_of)]


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferSite:
    """``[buffer]``: the fast temporary space."""

    kind: Literal["posix", "datawarp", "rabbit"] = "posix"
    """``posix``: a plain directory that the simulation and the viewing block both see.
    ``datawarp``: Cray DataWarp, requested by `#DW` lines. ``rabbit``: HPE's successor to it."""
    lifetime: Literal["persistent", "job"] = "persistent"
    """For DataWarp and Rabbit: a buffer that jobs share, or one that lives with the simulation's
    job; then the viewing block's placement is `same-job`."""
    folders: tuple[str, ...] = ()
    """Candidates for kind `posix`, the fastest first; ``$NAME`` and ``~`` are expanded, with
    placement `same-job` on the job's first node. The first one with room is used."""
    node_local: bool = False
    """The folders are a disk of each node, which the other nodes of the job do not see: each node
    gets the inputs, and only the first one's output is watched. With placement `same-job`."""
    limit: Bytes | None = None
    """The most that one run may take there."""
    granule: Bytes | None = None
    """The pool's allocation unit; a request is rounded up to a multiple of it."""
    nodes: Annotated[int, Field(ge=1)] | None = None
    """Nodes that serve the buffer, for planning."""
    node_capacity: Bytes | None = None
    """Capacity of one such node, for planning."""
    node_rate: Bytes | None = None
    """Bytes per second that a tuned program writes to one such node, for planning: measured."""
    frame_overhead_s: Annotated[float, Field(ge=0)] = 0.0
    """Seconds of each frame that more such nodes do not shorten, for planning: measured."""
    pool: str | None = None
    """The pool, if it is not the default one."""
    access: str = "striped"
    """Access mode of DataWarp: `striped`, perhaps with modifiers, `striped(client_cache=yes)`. In
    another one the model's nodes would not see one buffer."""
    options: tuple[str, ...] = ()
    """Further words of `#DW jobdw`, such as `optimization_strategy=bandwidth`, of a DataWarp buffer
    that lives with its job; a persistent one takes none."""
    type: str = "scratch"
    """`scratch` of DataWarp; the file system of Rabbit: `lustre`, `gfs2`, `xfs`."""
    stage_in: Literal["api", "directive"] = "api"
    """How the inputs come: by the simulation's job through the library, or by the scheduler
    through `#DW stage_in` lines before the job starts."""
    stager: str | None = None
    """What moves files between buffer and target: `posix`, `datawarp`, or a plugin's. By default
    `datawarp` on a DataWarp buffer, else `posix`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParallelSite:
    """``[parallel]``: rates of the parallel file system, for planning. All are measured."""

    targets: Annotated[int, Field(ge=1)] | None = None
    """Storage targets (Lustre's OSTs) that a file can be striped over."""
    target_rate: Bytes | None = None
    """Bytes per second that a program writes to one of them."""
    node_rate: Bytes | None = None
    """The most bytes per second that one compute node writes."""
    frame_overhead_s: Annotated[float, Field(ge=0)] = 0.0
    """Seconds of each frame that more targets do not shorten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewingSite:
    """``[viewing]``: the Parsl block that watches and makes products."""

    placement: Literal["local", "separate", "same-job"] = "local"
    """``local``: on this machine. ``separate``: a job of its own that sees the buffer.
    ``same-job``: inside the simulation's job, for a buffer that only this job sees."""
    workers: Annotated[int, Field(ge=1, le=256)] | None = None
    """Workers per node that make products, each on a CPU that the block asks for; one more watches,
    which uses hardly any CPU. By default one for every second CPU that the block gets, and two CPUs
    are requested: nodes that are not shared give all of theirs."""
    nodes: Annotated[int, Field(ge=1)] = 1
    """Nodes of the block."""
    walltime: Seconds | None = None
    """The block's walltime; by default the simulation's. A block that ends before the model is
    replaced ahead of its end."""
    options: tuple[str, ...] = ()
    """Further options of the block's jobs, such as `--cpus-per-task=8` of sbatch."""
    poll_interval_s: Annotated[float, Field(gt=0, le=60)] = 1.0
    """How often the watcher looks. Where only this machine can write, changes wake it as well."""
    address: str = "127.0.0.1"
    """Where Parsl's workers reach the driver: on a cluster, the login node on the network that
    compute nodes see. An address, the name of a network interface such as `ib0`, or `hostname`:
    the address of the host's name. Nothing else of Burstlens listens there."""
    memory: Memory | None = None
    """What one worker may use, 1 GB by default; a recipe may say another size. Fields are computed
    in parts that fit, whatever the frame's size."""
    worker_init: str = ""
    """Shell lines before a worker starts, such as ``module load``: the site's, never a recipe's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LookSite:
    """``[look]``: bounds of what users can ask ``look`` for, beside runs that they did not start
    with Burstlens."""

    workers: Annotated[int, Field(ge=1, le=256)] | None = None
    """The most workers on this machine; by default its cores."""
    max_read_rate: Bytes | None = None
    """The most bytes of frames per second that one look reads."""
    poll_s: Annotated[float, Field(gt=0, le=60)] | None = None
    """How often a folder is looked at; by default as `viewing.poll_interval_s`."""
    login_nodes: Literal["allow", "refuse"] = "allow"
    """Whether login nodes may make products, at the lowest priority."""
    enter_jobs: bool = False
    """Whether ``--job`` may run the viewing block as an overlapping step of a user's own job, where
    the folder is on a disk that only the job's node sees; at the lowest priority."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A machine. Chosen by ``--site``, else by host name, else ``local``."""

    name: str
    """The site's name, as ``--site`` takes it."""
    description: str = ""
    """One line for ``burstlens sites``."""
    hosts: tuple[str, ...] = ()
    """Patterns of the host names of its login nodes."""
    scheduler: Annotated[str, AfterValidator(_require)] = LOCAL
    """``local``: processes of this machine. ``slurm``, or a plugin's: batch jobs."""
    mpi_launcher: tuple[str, ...] = ("mpiexec", "-n", "{ranks}")
    """What starts an MPI program; ``{ranks}`` and ``{ranks_per_node}`` are filled in."""
    mpi: Mpi | None = None
    """Which MPI the site's programs use, so that a recipe's `mpiio_hints` reach it. ``cray-mpich``;
    ``romio``: MPICH, MVAPICH and others that read `ROMIO_HINTS`; ``openmpi``: Open MPI with OMPIO;
    ``none``: hints have no effect. Not set: on this machine the launcher is asked for its version;
    on a cluster the hints are written as Cray MPICH takes them, and `check` warns."""
    mpi_compiler: Annotated[tuple[str, ...], Field(min_length=1)] = ("mpicc",)
    """What compiles a C program with that MPI, such as `cc` on a Cray; for `sites --probe-io`."""
    node_mtbf: Seconds | None = None
    """Mean time between failures of one compute node, such as "40000 h": `check` proposes from it
    how often a model should write checkpoints. By default 5 years."""
    buffer: BufferSite = field(default_factory=BufferSite)
    """The fast temporary space."""
    parallel: ParallelSite = field(default_factory=ParallelSite)
    """Rates of the parallel file system."""
    viewing: ViewingSite = field(default_factory=ViewingSite)
    """The Parsl block that watches and makes products."""
    look: LookSite = field(default_factory=LookSite)
    """What `look` may do on this machine."""
    batch: BatchSite = field(default_factory=BatchSite)
    """What each job is submitted with: the file's table is named after the scheduler."""

    def __post_init__(self) -> None:
        batch = self.scheduler != LOCAL
        if batch != (self.viewing.placement != "local"):
            raise ValueError(
                'viewing.placement "local" goes with scheduler "local", and only with it'
            )
        if self.buffer.kind != "posix" and not batch:
            raise ValueError(f"a {self.buffer.kind} buffer needs a scheduler that asks for it")
        if batch:
            self._check_offers()
        if self.buffer.kind == "datawarp" and not re.match(r"striped\b", self.buffer.access):
            raise ValueError(
                f'buffer.access "{self.buffer.access}": a run needs a buffer that is "striped"'
            )
        if self.buffer.options and (self.buffer.kind, self.buffer.lifetime) != ("datawarp", "job"):
            raise ValueError('buffer.options go with buffer.kind "datawarp" and lifetime "job"')
        shared = self.buffer.kind == "posix" or self.buffer.lifetime == "persistent"
        if not shared and self.viewing.placement == "separate":
            raise ValueError(
                'a buffer that lives with its job is seen by no other: viewing.placement "same-job"'
            )
        same_job = self.viewing.placement == "same-job"
        if self.buffer.node_local and not (self.buffer.kind == "posix" and same_job):
            raise ValueError(
                'buffer.node_local goes with buffer.kind "posix" and viewing.placement "same-job"'
            )
        if same_job and "--requeue" in self.batch.options:
            raise ValueError(
                f'{self.scheduler}.options "--requeue" does not go with viewing.placement '
                '"same-job": a job that begins again has an empty buffer'
            )
        if self.buffer.kind == "posix" and same_job and not self.buffer.folders:
            raise ValueError(
                "buffer.folders must name where compute nodes have the job's own folder, such as "
                '"$TMPDIR"'
            )

    def _check_offers(self) -> None:
        try:
            found = scheduler(self.scheduler)
        except SiteError as error:
            raise ValueError(f"scheduler: {error}") from error
        for key, wanted in (("buffer.kind", self.buffer.kind),
                            ("viewing.placement", self.viewing.placement)):  # fmt: skip
            if wanted not in {"posix", "separate"} | found.offers:
                raise ValueError(f'{key} "{wanted}" cannot be had from {found.title}')

    @property
    def job_stages_in(self) -> bool:
        """Whether the first job on the buffer brings the inputs there; else the viewing block."""
        return self.viewing.placement == "separate" or self.buffer.node_local

    def allowing(self, memory: int | None) -> Site:
        """The site with the memory of a worker that a recipe says, None: its own."""
        if memory is None:
            return self
        return replace(self, viewing=replace(self.viewing, memory=memory))

    def workers(self) -> int:
        """Workers per node that make products; of a batch block that counts its CPUs itself, the
        least that it may have."""
        if self.viewing.workers is not None:
            return self.viewing.workers
        return half(os.cpu_count() or 2) if self.scheduler == LOCAL else 1


def half(cpus: int) -> int:
    """Workers that make products in a block with so many CPUs."""
    return max(1, cpus // 2)


def batch_table(scheduler: object) -> str:
    """The name of the table with a scheduler's settings: the scheduler's own. A file that sets
    ``local`` for a while keeps the table of the first one."""
    return scheduler if isinstance(scheduler, str) and scheduler != LOCAL else FIRST


def known() -> dict[str, Path]:
    """Site files by name: ``$BURSTLENS_SITES``, the user's, then those that ship."""
    found: dict[str, Path] = {}
    folders = [Path(part) for part in os.environ.get("BURSTLENS_SITES", "").split(":") if part]
    for folder in [*folders, user_config_path("burstlens") / "sites", SITES]:
        for path in sorted(folder.glob("*.toml")):
            found.setdefault(path.stem, path)
    return found


def read(path: Path) -> Site:
    """The site in that file. Raises SiteError that lists all of its faults."""
    try:
        text = path.read_text(encoding="utf-8")
        table = tomllib.loads(text)
    except OSError as error:
        raise SiteError(f"cannot read {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SiteError(f"{path} is not TOML: {error}") from error
    faults = Faults()
    batch = batch_table(table.get("scheduler"))
    table, former = with_new_keys(table)
    for new, old in former.items():
        note = f"{path}: {batch}.{old} is now {batch}.{new}; the old key goes in 0.4"
        warnings.warn(note, DeprecationWarning, stacklevel=2)
    named = {("batch" if key == batch else key): value for key, value in table.items()}
    if "batch" in table and batch != "batch":
        faults.add(("batch",), f"unknown key; the scheduler's table is [{batch}]")
    site = read_table(Site, {"name": path.stem, **named}, (), faults, also=(batch,))
    if faults or site is None:
        raise _faulty(path, text, faults, "batch" if "batch" in table else batch, former)
    return site


def with_new_keys(table: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """A site file's table with the keys that the scheduler's table has now, and the former names of
    those that it had."""
    batch = batch_table(table.get("scheduler"))
    given = table.get(batch)
    if not isinstance(given, dict):
        return table, {}
    former = {new: old for old, new in _FORMER.items() if old in given and new not in given}
    names = {old: new for new, old in former.items()}
    return {**table, batch: {names.get(key, key): value for key, value in given.items()}}, former


def _faulty(
    path: Path, text: str, faults: Faults, batch: str, former: Mapping[str, str]
) -> SiteError:
    """All faults of a site's file with their lines; a missing key has the line of its table,
    ``batch`` is the name there of the scheduler's table, ``former`` are names of keys there."""
    known = places(text)
    found = []
    for fault in faults:
        steps = fault.path
        if steps[:1] == ("batch",):
            steps = (batch, *(former.get(str(step), step) for step in steps[1:]))
        depths = range(len(steps), 0, -1)
        at = next((known[steps[:n]] for n in depths if steps[:n] in known), (0, 0))
        found.append(replace(fault, path=steps, key=dotted(steps), place=Place(path, *at)))
    error = SiteError(report(f"site {path}", found, faults.more))
    error.faults = tuple(found)
    return error


def choose(name: str | None = None) -> Site:
    """The site of that name (or file), else the one whose host pattern matches, else ``local``.

    Raises SiteError with near names.
    """
    found = known()
    if name is not None:
        if name.endswith(".toml"):
            return read(Path(os.path.expanduser(name)))
        if name not in found:
            raise SiteError(f'there is no site "{name}"{did_you_mean(name, found)}')
        return read(found[name])
    host = socket.gethostname()
    for path in found.values():
        site = read(path)
        if any(fnmatch(host, pattern) for pattern in site.hosts):
            return site
    return read(SITES / "local.toml")
