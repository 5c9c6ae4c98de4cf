"""When a burst buffer pays: the time of output there and on the parallel file system, compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace

from burstlens.cluster_configs.site import Site, choose
from burstlens.core.errors import RecipeError, SiteError
from burstlens.core.quantity import counted, show_bytes, show_duration
from burstlens.workflows.buffer_worth.output import Output, output_of
from burstlens.workflows.buffer_worth.storage import (
    AS_BTIO,
    OF_MODELS,
    SHARE,
    UNTUNED,
    Efficiency,
    Storage,
    affordable_every_s,
    affordable_frames,
    tail_s,
)
from burstlens.workflows.plan.capacity import granularity, show_exactly
from burstlens.workflows.recipe.file import read
from burstlens.workflows.recipe.load import check
from burstlens.workflows.recipe.recipe import Recipe

_SHARE = f"{100 * SHARE:g} %"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One way to write: seconds of a frame, of a run, and what output at 5 % allows."""

    storage: str
    targets: int
    frame_s: float
    run_s: float
    """Computing, output, stage-in, and what remains to be brought home at the end."""
    share: float
    """Part of the model's time that output takes."""
    every_s: float
    """Least computing between frames for a share of 5 %."""
    frames: int
    """The most frames at a share of 5 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Worth:
    """The comparison. ``rows`` begin with the parallel file system; then the buffer as the recipe
    asks for it, with default and with tuned hints."""

    recipe: str
    site: str
    output: Output
    rows: tuple[Row, ...]
    asked: int
    granted: str | None
    pays_from: int | None
    """Buffer nodes from which a tuned program writes a frame faster than on the parallel file
    system; None if no number is enough."""
    pays_untuned_from: int | None
    """The same with default hints."""
    nodes_for_share: int | None
    """Buffer nodes on which tuned output of all frames takes 5 % of the time."""
    capacity_to_pay: int | None
    """Bytes to ask for so that ``pays_from`` nodes serve the buffer."""
    notes: tuple[str, ...] = ()

    def value(self) -> dict[str, object]:
        """The comparison as JSON values."""
        return asdict(self)

    def verdict(self) -> Iterator[str]:
        """What follows, in sentences."""
        parallel, untuned, tuned = self.rows
        change = 100 * (tuned.run_s / parallel.run_s - 1)
        yield (
            f"tuned, the run takes {show_duration(tuned.run_s)} on the buffer and "
            f"{show_duration(parallel.run_s)} on the parallel file system: {change:+.1f} %; with "
            f"default hints {100 * (untuned.run_s / parallel.run_s - 1):+.1f} %"
        )
        if self.pays_from is None:
            yield "no number of buffer nodes writes a frame faster than the parallel file system"
        else:
            asks = self.capacity_to_pay
            size = f' (buffer.capacity = "{show_exactly(asks)}")'.replace(",", "") if asks else ""
            nodes = counted(self.pays_from, "buffer node")
            yield f"a frame is written faster from {nodes} on{size}, if the program is tuned"
            if self.pays_untuned_from is None:
                yield "with default hints no number of buffer nodes is faster"
            else:
                yield f"with default hints from {counted(self.pays_untuned_from, 'buffer node')} on"
        if self.nodes_for_share is None:
            yield f"no number of buffer nodes brings output to {_SHARE} of the time"
        else:
            nodes = counted(self.nodes_for_share, "buffer node")
            yield f"output takes {_SHARE} of the time or less from {nodes} on"
        yield (
            f"at {_SHARE} a frame is affordable every {show_duration(tuned.every_s)} of "
            f"computing on the buffer, every {show_duration(parallel.every_s)} on the parallel "
            "file system" + self._model_time(tuned, parallel)
        )

    def _model_time(self, tuned: Row, parallel: Row) -> str:
        if self.output.model_s is None:
            return ""
        per_s = self.output.model_s / self.output.compute_s
        times = (show_duration(row.every_s * per_s) for row in (tuned, parallel))
        return " ({} and {} of model time)".format(*times)


def buffer_worth(
    recipe: str,
    site: str | None = None,
    settings: Sequence[str] = (),
    *,
    frame_bytes: int | None = None,
    frames: int | None = None,
    compute_s: float | None = None,
    efficiency: float | None = None,
    parallel_efficiency: float | None = None,
) -> Worth:
    """Whether the buffer pays for a recipe on a site.

    What the recipe's model does not say of its output is given by ``frame_bytes`` and ``frames``;
    ``compute_s`` is the seconds of computing without output, by default the walltime.
    ``efficiency`` is that of the program's pattern on the buffer against tuned BTIO's,
    ``parallel_efficiency`` that on the parallel file system; by default those of the model, or 1.

    Raises RecipeError and SiteError, also if sizes or rates are missing, with their names.
    """
    chosen = choose(site)
    loaded, _ = check(read(recipe), settings)
    parallel, buffer = storages(chosen, loaded.simulation.nodes)
    output, notes = output_of(loaded, frame_bytes, frames, compute_s)
    known = OF_MODELS.get(loaded.model.name, AS_BTIO)
    found = Efficiency(
        known.parallel if parallel_efficiency is None else parallel_efficiency,
        known.buffer if efficiency is None else efficiency,
    )
    if found == known != AS_BTIO:
        notes.append(
            f"efficiency of {loaded.model.name}: {known.buffer:g} on the buffer, "
            f"{known.parallel:g} on the parallel file system, of one case (docs/buffer-worth.md)"
        )
    if not min(found.parallel, found.buffer) > 0:
        raise RecipeError("an efficiency must be above 0")
    return compare(loaded, chosen, output, (parallel, buffer), found, notes)


def storages(site: Site, nodes: int) -> tuple[Storage, Storage]:
    """The parallel file system and the whole burst buffer, for a job of so many nodes. Raises
    SiteError that names the missing keys of the site file."""
    parallel, buffer = site.parallel, site.buffer
    needed = {
        "parallel.targets": parallel.targets,
        "parallel.target_rate": parallel.target_rate,
        "buffer.node_rate": buffer.node_rate,
    }
    if missing := [key for key, value in needed.items() if value is None]:
        raise SiteError(
            f"site {site.name} has no {', '.join(missing)}: measure them with a study case "
            "(burstlens run io-btio on each storage) and write them in the site's file; "
            "docs/buffer-worth.md says how"
        )
    targets, rate, of_node = (needed[key] or 0 for key in needed)
    most = {} if parallel.node_rate is None else {"compute_rate": float(nodes * parallel.node_rate)}
    return (
        Storage("parallel file system", targets, rate, parallel.frame_overhead_s, **most),
        Storage("buffer", buffer.nodes or 1, of_node, buffer.frame_overhead_s),
    )  # fmt: skip


def compare(
    recipe: Recipe,
    site: Site,
    output: Output,
    storages: tuple[Storage, Storage],
    efficiency: Efficiency = AS_BTIO,
    notes: Sequence[str] = (),
) -> Worth:
    """The parallel file system and the buffer that the recipe asks for, for this output. Raises
    SiteError if the buffer cannot be had."""
    parallel, buffer = storages
    units, asked = granularity(site.buffer), recipe.buffer.capacity
    grant = units.grant(asked) if units else None
    served = replace(buffer, targets=(grant.nodes or grant.granules) if grant else buffer.targets)
    tuned = efficiency.buffer
    # The viewing block's nodes bring files in and out.
    viewing = site.viewing.nodes / recipe.simulation.nodes
    drain = replace(parallel, compute_rate=parallel.compute_rate * viewing).rate()
    rows = (
        _row(parallel, output, efficiency.parallel),
        _row(served, output, tuned * UNTUNED, drain, ", default hints"),
        _row(served, output, tuned, drain, ", tuned"),
    )

    def fewest(limit_s: float, efficiency: float) -> int | None:
        """Buffer nodes on which a frame takes no longer, if there are so many."""
        nodes = buffer.targets_for(output.frame_bytes, limit_s, efficiency)
        return nodes if nodes is not None and nodes <= buffer.targets else None

    pays = fewest(rows[0].frame_s, tuned)
    return Worth(
        recipe=recipe.name, site=site.name, output=output, rows=rows, asked=asked,
        granted=grant.text if grant else None,
        pays_from=pays, pays_untuned_from=fewest(rows[0].frame_s, tuned * UNTUNED),
        nodes_for_share=fewest(output.compute_s * SHARE / (1 - SHARE) / output.frames, tuned),
        capacity_to_pay=units.capacity(pays) if units and pays else None,
        notes=(*notes, *_risks(output, asked, recipe)),
    )  # fmt: skip


def _row(
    storage: Storage, output: Output, efficiency: float, drain: float | None = None, how: str = ""
) -> Row:
    """``drain`` is the rate to the parallel file system, for a buffer."""
    frame_s = storage.seconds(output.frame_bytes, efficiency=efficiency)
    model_s = output.compute_s + output.frames * frame_s
    run_s = model_s
    if drain is not None:
        run_s += output.staged_in / drain + tail_s(output.kept, output.frames, model_s, drain)
    return Row(
        storage=f"{storage.name}{how}", targets=storage.targets, frame_s=frame_s, run_s=run_s,
        share=output.frames * frame_s / model_s, every_s=affordable_every_s(frame_s),
        frames=affordable_frames(frame_s, output.compute_s),
    )  # fmt: skip


def _risks(output: Output, asked: int, recipe: Recipe) -> Iterator[str]:
    total = output.frame_bytes * output.frames + output.staged_in
    if total > asked and recipe.buffer.raw == "keep":
        yield (
            f"inputs and all frames take {show_bytes(total)}, buffer.capacity is "
            f'{show_bytes(asked)}: raise it, or release frames with buffer.raw = "release"'
        )
