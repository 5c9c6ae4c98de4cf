"""The survey of a recipe: faults that its inputs show, one finding after the other.

It opens files on file systems that may not answer, and headers that may crash a library. So
:mod:`burstlens.workflows.recipe.preflight` runs it in a separate process, which is this module as
a program: a pickled recipe and site on its standard input, one line of JSON per finding on its
output.
"""

from __future__ import annotations

import json
import pickle
import signal
import sys
from collections.abc import Iterator
from dataclasses import asdict

from burstlens.cluster_configs.site import Site
from burstlens.core.allowance import DEFAULT_MEMORY
from burstlens.core.quantity import show_bytes
from burstlens.core.version import answer
from burstlens.workflows.models.inputs import MOST_SHOWN, dead_links, matches
from burstlens.workflows.recipe.checkpoint_room import checkpoint_room
from burstlens.workflows.recipe.continuing import continuing
from burstlens.workflows.recipe.findings import ERROR, WARNING, Finding
from burstlens.workflows.recipe.misfits import misfits
from burstlens.workflows.recipe.recipe import Recipe

_ERROR = "error: "


def survey(recipe: Recipe, site: Site | None = None) -> Iterator[Finding]:
    """Findings on the inputs and the recipe's own files, for a run on that site."""
    inputs = recipe.inputs
    if not inputs.is_dir():
        yield Finding(ERROR, f"simulation.inputs: there is no folder {inputs}", "simulation.inputs")
        yield from _files(recipe)
        return
    for text in recipe.model.check(inputs):
        level = ERROR if text.startswith(_ERROR) else WARNING
        yield Finding(level, text.removeprefix(_ERROR), "simulation.inputs")
    yield from _lacks(recipe)
    yield from _dead_links(recipe)
    facts = recipe.model.facts(inputs)
    yield from _output(recipe, facts.output_bytes)
    others = recipe.model.runs() and not recipe.model.mpi
    if recipe.simulation.mpiio_hints and facts.serial_classic and not others:
        yield Finding(WARNING, _unhinted(recipe), "simulation.mpiio_hints")
    yield from _files(recipe)
    yield from continuing(recipe, site)
    yield from checkpoint_room(recipe, facts, site)
    if site is not None and site.buffer.node_local and recipe.simulation.nodes > 1:
        yield from _unseen_writers(recipe, site)
    own = site.viewing.memory if site is not None else None
    yield from misfits(recipe, facts.streams, recipe.viewing.memory or own or DEFAULT_MEMORY)


def _unhinted(recipe: Recipe) -> str:
    """Why hints have no effect on frames that one process writes."""
    if recipe.model.name == "command":
        return (
            "hints have no effect on frames that one process writes, as the recipe says by "
            "parallel = false; for a program that writes through MPI-IO say parallel = true"
        )
    text = f"{recipe.model.name} writes its frames from one process and not through MPI-IO"
    text += " (io_form 2 or 102, not 11)" if recipe.model.mpi else ""
    return f"{text}: hints have no effect on them"


def _files(recipe: Recipe) -> Iterator[Finding]:
    """Files of the recipe's folder that products need and that are missing."""
    for product in recipe.products:
        for name in product.kind.ships(product.options):
            if not (recipe.folder / name).is_file():
                path = f"product.{product.name}"
                yield Finding(ERROR, f"{path}: there is no file {recipe.folder / name}", path)


def _dead_links(recipe: Recipe) -> Iterator[Finding]:
    """Dangling links among the inputs: they are not staged in."""
    leave = recipe.simulation.leave
    names = [name for name in dead_links(recipe.inputs) if not matches(name, leave)]
    if names:
        shown = ", ".join([*names[:MOST_SHOWN], *(["..."] if len(names) > MOST_SHOWN else [])])
        text = f"links among the inputs lead nowhere and are left behind: {shown}"
        yield Finding(WARNING, text, "simulation.inputs")


def _output(recipe: Recipe, expected: int | None) -> Iterator[Finding]:
    capacity = recipe.buffer.capacity
    if expected is not None and expected > capacity and recipe.buffer.raw == "keep":
        yield Finding(
            WARNING,
            f"about {show_bytes(expected)} of output are expected and buffer.capacity is "
            f'{show_bytes(capacity)}; raise it, or release frames with buffer.raw = "release"',
            "buffer.capacity",
        )


def _lacks(recipe: Recipe) -> Iterator[Finding]:
    """Files that the model will not find; a step before it may make them."""
    steps = [step for step in recipe.steps if step.phase == "before"]
    for lack in recipe.model.configured(recipe.inputs).lacks(recipe.inputs):
        if any(lack.file in word for step in steps for word in step.command):
            continue
        level, text = (ERROR if lack.sure else WARNING), lack.text
        if steps and not lack.named:
            level = WARNING
            text += f": step.{steps[-1].name} would have to make it"
        yield Finding(level, text, "simulation.inputs")


def _unseen_writers(recipe: Recipe, site: Site) -> Iterator[Finding]:
    """Output on the disks of nodes other than the first, which is neither watched nor kept."""
    nodes, path = recipe.simulation.nodes, "simulation.nodes"
    apart = f"{nodes} nodes of site {site.name} have a disk each, only the first is watched"
    others = recipe.model.other_writers(recipe.inputs)
    if others is None:
        text = f"{path}: {apart}: {recipe.model.name} has to write its frames there"
        yield Finding(WARNING, text, path)
        return
    for text in others:
        remedy = "change the setting, or take one node or a site whose buffer all nodes see"
        yield Finding(ERROR, f"{text}; {apart}: {remedy}", path)


def main(limit_s: float) -> None:
    """The program: each finding is printed as soon as it is known, for ``limit_s`` seconds."""
    recipe: Recipe
    site: Site | None
    recipe, site = pickle.load(sys.stdin.buffer)  # noqa: S301  (of this user's own process)
    # A Python handler would not interrupt a call into a library.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, limit_s)
    for finding in survey(recipe, site):
        print(json.dumps(asdict(finding)), flush=True)


if __name__ == "__main__":
    answer(__doc__)
    main(float(sys.argv[1]))
