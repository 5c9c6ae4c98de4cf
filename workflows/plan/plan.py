"""The plan of a run, made from recipe and site. Pure; ``--dry-run`` prints it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from burstlens.cluster_configs.site import Site
from burstlens.core.quantity import counted, show_bytes, show_duration
from burstlens.workflows.guards.guard import Guard
from burstlens.workflows.notify.options import Notify, allowed, settings
from burstlens.workflows.notify.way import parse_way
from burstlens.workflows.plan.capacity import granularity
from burstlens.workflows.plan.hints import hint_nodes
from burstlens.workflows.plan.submissions import Submission
from burstlens.workflows.recipe.recipe import Recipe, Step


@dataclass(frozen=True, slots=True)
class Node:
    """One node of the graph: its name, where it runs, what it does and what it waits for."""

    name: str
    where: str
    what: str
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """The nodes that are known before the run; each ready frame adds its own.

    ``notes`` are the findings of ``check``, each with its level before it.
    """

    title: str
    recipe: str
    site: str
    nodes: tuple[Node, ...]
    frame_nodes: tuple[Node, ...]
    notes: tuple[str, ...] = ()
    scripts: tuple[Submission, ...] = ()
    """The batch scripts that would be submitted."""
    raw_files: str = ""
    """What becomes of the raw files."""
    right: bool = True
    """Whether the run would not be refused."""

    def text(self) -> str:
        """The plan for people: the nodes in order, and the graph."""
        lines = [f"{self.title}  ({self.recipe} on {self.site})", ""]
        known = (*self.nodes, *self.frame_nodes)
        width = max(16, *(len(node.name) for node in known))
        rows = [f"  {node.name:<{width}} {node.where:<10} {node.what}" for node in known]
        lines += rows[: len(self.nodes)]
        if self.frame_nodes:
            lines += ["", "each ready frame adds:", *rows[len(self.nodes) :]]
        lines += ["", self.raw_files, "", "graph:"]
        lines += [f"  {before} -> {node.name}" for node in known for before in node.after]
        for one in self.scripts:
            lines += ["", f"batch script, {one.name}:", *one.script.rstrip().splitlines()]
        if self.notes:
            lines += ["", *self.notes]
        return "\n".join(lines)

    def value(self) -> dict[str, object]:
        """The plan as JSON values."""
        return asdict(self)


def assemble(
    recipe: Recipe,
    site: Site,
    notes: tuple[str, ...] = (),
    scripts: tuple[Submission, ...] = (),
    words: tuple[Node, ...] = (),
) -> Plan:
    """The plan of a recipe on a site; ``notes`` are what ``check`` found in the inputs, ``scripts``
    the batch scripts that the run would submit, ``words`` who gets word of it."""
    simulation = recipe.simulation
    batch = site.scheduler != "local"
    by = ", by the first job" if site.job_stages_in else ""
    by += " to each node" if site.buffer.node_local and simulation.nodes > 1 else ""
    nodes = [
        Node("buffer", "login" if batch else "buffer", _space(recipe, site)),
        Node("stage in", "buffer", f"{recipe.inputs}, links followed, old output left behind{by}",
             ("buffer",)),
    ]  # fmt: skip
    last = "stage in"
    for step in _steps(recipe, "before"):
        nodes.append(_step(step, (last,)))
        last = step.name
    command = " ".join(recipe.model.command())
    limit = show_duration(simulation.walltime)
    size = [counted(simulation.nodes, "node")] if batch else []
    size += [counted(simulation.ranks, "MPI rank")] if recipe.model.mpi else []
    size += [_stretches(simulation.segments, batch)] if simulation.is_cut else []
    limit += " each" if simulation.is_cut else ""
    what = f"{recipe.model.name}: {command} ({', '.join([*size, f'at most {limit}'])})"
    nodes.append(Node("simulation", "buffer", what, (last,)))
    nodes += [Node(name, "buffer", what) for name, what in hint_nodes(recipe, site)]
    nodes += [_step(step, (last,)) for step in _steps(recipe, "beside")]
    nodes.append(Node("watch", "buffer", f"look every {site.viewing.poll_interval_s:g} s", (last,)))
    nodes += [_guard(guard) for guard in recipe.guards if not guard.of_frames]
    after = "simulation"
    for step in _steps(recipe, "after"):
        nodes.append(_step(step, (after,)))
        after = step.name
    keep = ", ".join(recipe.stage_out.keep) or "no raw files"
    ends = tuple(dict.fromkeys((after, "watch", *(s.name for s in _steps(recipe, "beside")))))
    nodes.append(Node("bring home", "buffer", f"logs, settings, {keep}", ends))
    if site.viewing.placement == "same-job":
        nodes.append(Node("free", "login", "the buffer ends with its job", ("bring home",)))
    elif recipe.buffer.destroy == "on-success":
        nodes.append(Node("free", "buffer", "the run's space, when all went well", ("bring home",)))
    nodes += words
    known = tuple(nodes), tuple(_frame_nodes(recipe)), notes, scripts
    return Plan(recipe.title, recipe.name, site.name, *known, raw_files_text(recipe, site))


def _stretches(segments: int | str, batch: bool) -> str:
    """How the model's time is cut."""
    if not isinstance(segments, int):
        return "in attempts that continue from each other until it is done"
    return f"in {'at most ' if batch else ''}{segments} attempts that continue from each other"


def word_nodes(recipe: Recipe, asked: Sequence[str]) -> tuple[Node, ...]:
    """Who gets word of the run, and when: by the recipe, by the user's configuration and by
    ``--notify``. Raises RecipeError for a faulty configuration."""
    may, mine = allowed(), settings()
    found = [(way, recipe.notify.when) for way in recipe.notify.ways("recipe") if way.kind in may]
    found += [(way, mine.when) for way in mine.ways()]
    also = ", ".join([Notify().when, *recipe.notify.times, *mine.times])
    found += [(parse_way(text), also) for text in asked]
    return tuple(Node("notify", "login", f"{way.does}: {when}") for way, when in found)


def _space(recipe: Recipe, site: Site) -> str:
    """The buffer, with the grant for the request if space comes in granules."""
    asked, per_job = recipe.buffer.capacity, site.buffer.lifetime == "job"
    if site.buffer.kind == "posix":
        of = " in each node" if site.buffer.node_local else ""
        return f"posix buffer{of} with room for {show_bytes(asked)}"
    handed_out = granularity(site.buffer)
    size = handed_out.grant(asked).text if handed_out else show_bytes(asked)
    name = f" {recipe.buffer.name}" if recipe.buffer.name else ""
    return f"{'job' if per_job else 'persistent'} {site.buffer.kind} buffer{name}: {size}"


def _steps(recipe: Recipe, phase: str) -> list[Step]:
    return [step for step in recipe.steps if step.phase == phase]


def _step(step: Step, after: tuple[str, ...]) -> Node:
    return Node(step.name, step.where, " ".join(step.command), after)


def _guard(guard: Guard) -> Node:
    what = f"{guard.text}; else {', '.join(guard.consequences) or 'an alarm'}"
    return Node(f"guard {guard.called}", "buffer", what, ("watch",))


def _frame_nodes(recipe: Recipe) -> Iterator[Node]:
    for guard in recipe.guards:
        if guard.of_frames:
            yield _guard(guard)
    for product in recipe.products:
        stream = f" of {product.common.stream}" if product.common.stream else ""
        every = f", each {product.common.every}th frame" if product.common.every > 1 else ""
        name, what = product.name, f"make {product.kind.name}{stream}{every}, stage out, verify"
        yield Node(name, "buffer", what, ("watch",))
        yield Node(f"publish {name}", "login", "journal, rename, index", (name,))


def raw_files_text(recipe: Recipe, site: Site) -> str:
    """Which raw files will be deleted, and which ``[stage_out] keep`` brings home."""
    keep = ", ".join(recipe.stage_out.keep)
    home = f"{keep} come home to output/ ([stage_out] keep)"
    if recipe.buffer.raw == "release":
        when = "when their products are made"
    elif site.viewing.placement == "same-job":
        when = "at the latest when its job ends, with the buffer"
    elif recipe.buffer.destroy == "on-success":
        when = "at the latest when the run is done, with the buffer"
    else:
        stay = 'raw files stay on the buffer ([buffer] destroy = "never")'
        return f"{stay}; {home}" if keep else stay
    if not keep:
        return f"all raw files are deleted {when}: [stage_out] keep names none"
    return f"raw files are deleted {when}; {home}"
