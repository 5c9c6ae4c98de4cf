"""A recipe: what to run, what to make of it and what to bring home, independent of the site.

Written in TOML or built in Python from the same dataclasses. Every field's docstring is its
description in ``burstlens schema``.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag

from burstlens.core.allowance import memory_of
from burstlens.core.plugins import load
from burstlens.core.quantity import parse_duration
from burstlens.core.toml.table import Name
from burstlens.viz.kinds.base import ProductKind
from burstlens.workflows.hints import delivery
from burstlens.workflows.hints.stripes import Bytes, Stripe, check_patterns
from burstlens.workflows.models.base import Model
from burstlens.workflows.models.continuation import StopBy
from burstlens.workflows.notify.options import Notify

if TYPE_CHECKING:
    from burstlens.workflows.guards.guard import Guard


def inside(pattern: str) -> str:
    """The pattern, if it cannot match files outside of the model's folder; else ValueError."""
    if pattern.startswith("/") or ".." in Path(pattern).parts or not pattern:
        raise ValueError("a pattern must stay inside the model's folder: no leading '/', no '..'")
    return pattern


MOST_SEGMENTS = 1000
_LONGEST_PATH, _LONGEST_FILE_NAME = 4000, 255
Memory = Annotated[Bytes, AfterValidator(memory_of)]
Seconds = Annotated[
    float, Field(gt=0), BeforeValidator(parse_duration, json_schema_input_type=str | float)
]
Pattern = Annotated[
    str,
    AfterValidator(inside),
    Field(json_schema_extra={"pattern": r"^(?!/)(?!(.*/)?\.\.(/|$))."}),
]


def _possible(path: str) -> str:
    """A path that some file system could have: others raise errors of many kinds."""
    if (
        "\0" in path
        or len(path.encode(errors="replace")) > _LONGEST_PATH
        or any(len(part.encode(errors="replace")) > _LONGEST_FILE_NAME for part in path.split("/"))
    ):
        raise ValueError("no file system has a path like this one")
    return path


def option_text(value: str | bool | int | float) -> str:
    """A value of a recipe as a person would give it on the command line."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class OnFailure:
    """``on_failure`` of ``[simulation]``."""

    set: Mapping[str, str | bool | int | float]
    """Settings of the model by name, such as `{ "namelist.domains.time_step" = 20 }`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """The common keys of ``[simulation]``; the model's own stand beside them."""

    inputs: Annotated[str, AfterValidator(_possible)]
    """A folder with everything the model reads; staged in to the buffer, links followed."""
    nodes: Annotated[int, Field(ge=1)] = 1
    """Nodes of the simulation's job."""
    ranks_per_node: Annotated[int, Field(ge=1)] = 1
    """MPI ranks on each node; models without MPI ignore it."""
    walltime: Seconds = 3600.0
    """Longest time the simulation may take, such as "02:00:00"."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables to add to the model's environment."""
    mpiio_hints: Mapping[Pattern, Mapping[str, str | bool | int]] = field(default_factory=dict)
    """MPI-IO hints for each pattern of file names, such as
    `"wrfout_*" = { romio_cb_write = "enable", cb_nodes = 8 }`; given to the site's MPI as it takes
    them, which for others than Cray MPICH is one set for all files."""
    mpiio_report: bool = False
    """Whether the MPI is to show in the model's log what it does: Cray MPICH the hints, counts and
    times of MPI-IO, ROMIO the hints in force, Open MPI those that the program gives."""
    stripes: Mapping[Pattern, Stripe] = field(default_factory=dict)
    """The stripes on Lustre or DataWarp for each pattern of file names, such as
    `"wrfout_*" = { count = 64, size = "4 MiB" }`; without effect on other file systems."""
    leave: tuple[Pattern, ...] = ()
    """Globs of input files not to stage in; output of earlier runs is never staged in."""
    segments: Annotated[int, Field(ge=1, le=MOST_SEGMENTS)] | Literal["until done"] = 1
    """Into how many stretches the model's time is cut, each an attempt that resumes from the
    checkpoint of the one before; with a scheduler the most jobs, each as long as `walltime`."""
    retries: Annotated[int, Field(ge=0, le=100)] = 0
    """How many attempts that fail are followed by another one, from the newest good checkpoint."""
    on_failure: OnFailure | None = None
    """What an attempt changes that follows a failed one."""

    def __post_init__(self) -> None:
        delivery.check_spelling(self.mpiio_hints)
        check_patterns(self.stripes)

    @property
    def is_cut(self) -> bool:
        """Whether it may take several attempts that resume from each other."""
        return self.segments != 1

    @property
    def ranks(self) -> int:
        """MPI ranks in all."""
        return self.nodes * self.ranks_per_node


@dataclass(frozen=True, slots=True, kw_only=True)
class Buffer:
    """``[buffer]``: the fast temporary space of the run."""

    name: Name | None = None
    """A persistent buffer to use. An existing one is never destroyed; a missing one is made. By
    default the run makes its own."""
    capacity: Bytes = 10 * 1024**3
    """Space that the run needs there, such as "600 GiB"."""
    raw: Literal["keep", "release"] = "keep"
    """Whether raw frames stay until the end or are deleted once all their products are done."""
    on_pressure: Literal["release", "spill", "stop"] = "release"
    """What to do when the buffer fills: release published frames, bring raw frames home
    first (spill), or stop the model."""
    reserve: Annotated[float, Field(ge=0, lt=1)] = 0.1
    """Fraction of the capacity kept free for products; reaching it is pressure."""
    destroy: Literal["on-success", "never"] = "on-success"
    """Whether the space is freed when the run is done."""


def _one_file(name: str) -> str:
    """The name of one file in the model's folder; else ValueError."""
    if set(name) & set("*?[]") or not Path(inside(name)).name:
        raise ValueError("the name of one file is expected, without wildcards")
    return name


StopName = Annotated[Pattern, AfterValidator(_one_file)]
StopSignal = Literal["SIGHUP", "SIGINT", "SIGTERM", "SIGUSR1", "SIGUSR2"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StopFile:
    """``stop_by`` of ``[checkpoint]`` as a file."""

    file: StopName
    """The file's name, relative to the model's folder."""


StopByOfRecipe = Annotated[
    Annotated[StopSignal, Tag("signal")] | Annotated[StopFile, Tag("file")],
    Discriminator(lambda value: "file" if isinstance(value, Mapping | StopFile) else "signal"),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """``witness`` of ``[checkpoint]``, where it is neither the files' bytes nor their names."""

    flag: Pattern | None = None
    """The file that the program writes after them, with the places of `files`."""
    log: str | None = None
    """A regular expression for the line of its output that says so, with a group `file`, `time` or
    `step`, and perhaps `seconds`, which the checkpoint took."""

    def __post_init__(self) -> None:
        if (self.flag is None) == (self.log is None):
            raise ValueError("say one of flag and log")


WitnessOfFiles = Annotated[
    Annotated[Literal["bytes", "name"], Tag("word")] | Annotated[Witness, Tag("table")],
    Discriminator(lambda value: "table" if isinstance(value, Mapping | Witness) else "word"),
]
"""One fault for one value: a plain union has one for each of its members."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """``[checkpoint]``: what the model writes so that a later attempt can resume from there."""

    every: Seconds | None = None
    """Model time from one checkpoint to the next, such as "30 min"; by default as the model's own
    settings say."""
    stop_by: StopByOfRecipe | None = None
    """How the model `command` is asked to write a checkpoint and stop: a signal, `"SIGUSR2"`, or
    `{ file = "STOP" }`, a file that is made in its folder. Stopped so it ends with exit code 0, or
    by that signal."""
    lead: Seconds | None = None
    """How long before its job ends the model is asked to stop, such as "10 min". By default a
    minute, of a short job a quarter of its time; later as checkpoints take, with a margin."""
    keep: Annotated[int, Field(ge=1)] = 2
    """How many good ones stay on the buffer, and of those that came home there; older ones are
    deleted."""
    files: tuple[Pattern, ...] | Pattern = ()
    """Of the model `command`: the names of one checkpoint's files, with `{time}` or `{step}`, and
    `{rank}` where each rank writes one: `"restart_{step}_{rank}.bin"`."""
    witness: WitnessOfFiles | None = None
    """Of `command`: what proves these files whole. `"bytes"`: they are netCDF or HDF5, the default
    for files with such endings; `"name"`: the program renames them when they are whole."""
    tiles: Annotated[int, Field(ge=1)] | None = None
    """Of `command`: how many files have a `{rank}`; by default one for each MPI rank."""
    step: Seconds | None = None
    """Of `command`: the model time of one `{step}`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageOut:
    """``[stage_out]``: what is brought home besides logs and settings."""

    keep: tuple[Pattern, ...] = ()
    """Globs, in the model's folder, of raw files to bring home to ``output/`` at the end."""
    stripes: Mapping[Pattern, Stripe] = field(default_factory=dict)
    """The stripes of these files at home, as `simulation.stripes`, where the run directory is on
    Lustre."""

    def __post_init__(self) -> None:
        check_patterns(self.stripes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewing:
    """``[viewing]``: how products are made."""

    memory: Memory | None = None
    """What one worker may use, such as "2 GB"; by default what the site says, else 1 GB. Fields are
    computed in parts that fit, whatever the frame's size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A ``[[step]]``: a program that runs before, beside or after the simulation."""

    name: Name
    """The step's name."""
    command: Annotated[tuple[str, ...], Field(min_length=1)]
    """Program and arguments; no shell reads them."""
    before: Literal["simulation"] | None = None
    """Runs in the folder of the inputs, to its end, before the simulation starts."""
    beside: Literal["simulation"] | None = None
    """Starts with the simulation, in the model's folder."""
    after: Literal["simulation"] | None = None
    """Runs in the model's folder when the simulation has ended well."""
    where: Literal["buffer", "login"] = "buffer"
    """``login``: in the run directory on the login node, without access to the buffer."""
    walltime: Seconds = 3600.0
    """Longest time the step may take."""
    nodes: Annotated[int, Field(ge=1)] = 1
    """Nodes of the step's job, where there is a scheduler."""
    ranks_per_node: Annotated[int, Field(ge=1)] = 1
    """Tasks on each of its nodes; the command itself starts them (`srun`)."""

    def __post_init__(self) -> None:
        if sum(value is not None for value in (self.before, self.beside, self.after)) != 1:
            raise ValueError('say one of before, beside, after = "simulation"')

    @property
    def phase(self) -> str:
        """``before``, ``beside`` or ``after``."""
        return "before" if self.before else "beside" if self.beside else "after"


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """The common keys of a ``[[product]]``; the kind's own are in ``options``."""

    name: Name
    """The product's name: its folder under ``products/`` and the start of its file names."""
    kind: str
    """``map``, ``vtk``, ``netcdf``, ``python``, ``command`` or a plugin's."""
    stream: str | None = None
    """The stream whose frames it is made of; by default the model's main stream."""
    every: Annotated[int, Field(ge=1)] = 1
    """Make it of every n-th frame."""


@dataclass(frozen=True, slots=True)
class MadeProduct:
    """A product with its kind and checked options."""

    common: Product
    kind: ProductKind[Any]
    options: Any

    @property
    def name(self) -> str:
        """The product's name."""
        return self.common.name


EXTRA_TABLES = {
    "tune": (
        "burstlens.workflows.tuning.table:Tune",
        "What `burstlens tune` may vary, and how short its runs are.",
    ),
}
"""Tables that leaf rooms read, by name: their classes, and what they are for. Runs pass them over,
as does a copy of Burstlens that lacks the room."""


_TUNE_MOVED = "Recipe.tune is now Recipe.extra['tune']; the old name goes in 0.4"


class _TablesOf02(type):
    def __call__(cls, **values: Any) -> Any:
        if "tune" in values:
            warnings.warn(_TUNE_MOVED, DeprecationWarning, 2)
            values["extra"] = {**values.get("extra", {}), "tune": values.pop("tune")}
        return super().__call__(**values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(metaclass=_TablesOf02):
    """A whole recipe, checked. ``folder`` is where its relative paths start."""

    title: str
    simulation: Simulation
    model: Model
    folder: Path
    name: str
    description: str = ""
    buffer: Buffer = Buffer()
    checkpoint: Checkpoint = Checkpoint()
    stage_out: StageOut = StageOut()
    viewing: Viewing = Viewing()
    steps: tuple[Step, ...] = ()
    products: tuple[MadeProduct, ...] = ()
    guards: tuple[Guard, ...] = ()
    notify: Notify = field(default_factory=Notify)
    extra: Mapping[str, Any] = field(default_factory=dict)
    """What leaf rooms read of it: their tables, by name."""
    notes: tuple[str, ...] = ()
    """Warnings about how the recipe is written, such as a key that has a new name."""

    @property
    def stop_by(self) -> StopBy | None:
        """How the model is asked to write a checkpoint and stop; None where it cannot be."""
        given = self.checkpoint.stop_by
        if given is None or not self.model.obeys_recipe:
            return self.model.stop_by
        return StopBy(file=given.file) if isinstance(given, StopFile) else StopBy(signal=given)

    @property
    def ranks(self) -> int | None:
        """MPI ranks of the model; None if only its own command says how many there are."""
        ranks = self.simulation.ranks
        return ranks if self.model.mpi or ranks > 1 else None

    def with_walltime(self, seconds: float | None) -> Recipe:
        """The recipe with another longest time of its jobs; None: the same."""
        if seconds is None:
            return self
        return replace(self, simulation=replace(self.simulation, walltime=seconds))

    @property
    def inputs(self) -> Path:
        """The inputs' folder, absolute."""
        return (self.folder / os.path.expanduser(self.simulation.inputs)).resolve()

    @property
    def tune(self) -> Any:
        """The recipe's ``[tune]``, under its name of 0.2."""
        warnings.warn(_TUNE_MOVED, DeprecationWarning, 2)
        return self.extra.get("tune") or load(EXTRA_TABLES["tune"][0])()
