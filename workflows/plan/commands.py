"""What the commands do before a run exists: load, check, plan, create."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace

from burstlens.cluster_configs.site import Site, choose
from burstlens.core.errors import RecipeError, SiteError
from burstlens.core.run.directory import RunDir
from burstlens.core.toml.text import parse
from burstlens.workflows.notify.asked import ask, valid_ways
from burstlens.workflows.plan.capacity import passed_over, require_capacity
from burstlens.workflows.plan.checkpoint_interval import checkpoint_notes
from burstlens.workflows.plan.hints import hint_findings
from burstlens.workflows.plan.plan import Plan, assemble, word_nodes
from burstlens.workflows.plan.submissions import submissions
from burstlens.workflows.recipe.file import known, read
from burstlens.workflows.recipe.findings import ERROR, WARNING, Finding
from burstlens.workflows.recipe.load import check
from burstlens.workflows.recipe.preflight import Look, preflight, require
from burstlens.workflows.recipe.recipe import Recipe


def check_recipe(
    recipe: str, site: str | None = None, settings: Sequence[str] = ()
) -> list[Finding]:
    """What is wrong or risky. Raises RecipeError and SiteError for faults in the files."""
    chosen = choose(site)
    loaded, _ = check(read(recipe), settings)
    return findings(loaded, chosen)


def findings(recipe: Recipe, site: Site | None, look: Look | None = None) -> list[Finding]:
    """What :func:`new_run` would refuse or warn about: the inputs; the space, the stager and MPI of
    the site, if it is known; how the recipe is written. ``look`` as for :func:`preflight`."""
    found = [*preflight(recipe, site, look), *(Finding(WARNING, note) for note in recipe.notes)]
    return [*(_of_site(recipe, site) if site else ()), *found]


def _of_site(recipe: Recipe, site: Site) -> Iterator[Finding]:
    from burstlens.stagers.registry import require_stager

    try:
        require_capacity(site, recipe.buffer.capacity)
        if other := passed_over(site, recipe.buffer.capacity):
            yield Finding(WARNING, other)
    except SiteError as error:
        yield Finding(ERROR, str(error), "buffer.capacity")
    try:
        if site.buffer.stager is not None:
            require_stager(site.buffer.stager)
    except SiteError as error:
        yield Finding(ERROR, f"buffer.stager of the site {site.name}: {error}")
    yield from _launcher(recipe, site)
    yield from checkpoint_notes(recipe, site)
    yield from hint_findings(recipe, site)


def _launcher(recipe: Recipe, site: Site) -> Iterator[Finding]:
    """An error if the model runs on this machine and its MPI launcher is missing."""
    if site.scheduler != "local" or not recipe.model.mpi or recipe.simulation.ranks == 1:
        return
    program = site.mpi_launcher[0]
    own = os.path.dirname(sys.executable)  # a run has it on its PATH
    if shutil.which(program, path=os.pathsep.join([own, os.environ.get("PATH", "")])) is None:
        text = (
            f"{recipe.simulation.ranks} ranks need {program}, which is not on PATH: install MPI, "
            "or set mpi_launcher in a site file"
        )
        yield Finding(ERROR, text, "simulation.ranks_per_node")


def make_plan(
    recipe: str,
    site: str | None = None,
    settings: Sequence[str] = (),
    *,
    batch: bool = False,
    notify: str | Sequence[str] = (),
) -> Plan:
    """The plan of a run that is not started, with its batch scripts.

    ``batch`` says that the driver is to be a batch job, ``notify`` are the ways of ``--notify``.
    Raises RecipeError, SiteError, RunError.
    """
    ways = valid_ways(notify)
    loaded, _ = check(read(recipe), settings)
    chosen = choose(site)
    found = findings(loaded, chosen)
    notes = tuple(f"{finding.level}: {finding.text}" for finding in found)
    scripts = submissions(loaded, chosen, driver=batch)
    plan = assemble(loaded, chosen, notes, scripts, word_nodes(loaded, ways))
    return replace(plan, right=all(finding.level != ERROR for finding in found))


def new_run(
    recipe: str,
    site: str | None = None,
    settings: Sequence[str] = (),
    name: str | None = None,
    *,
    batch: bool = False,
    notify: str | Sequence[str] = (),
) -> tuple[RunDir, list[str]]:
    """Check everything and make the run directory; returns it with the warnings.

    ``batch`` says that the driver is to be a batch job, which not every site has; ``notify`` are
    the ways of ``--notify``. Raises RecipeError, SiteError, RunError.
    """
    # These import the driver, which the other commands do not need.
    from burstlens.cluster_configs.schedulers import LOCAL, scheduler
    from burstlens.stagers.registry import require_stager
    from burstlens.workflows.driver.detach import require_batch
    from burstlens.workflows.driver.run import create
    from burstlens.workflows.hints.stripes import folder_stripes
    from burstlens.workflows.placement.buffer import stripe

    ways = valid_ways(notify)
    source = read(recipe)
    loaded, table = check(source, settings)
    chosen = choose(site)
    if batch:
        require_batch(chosen)
    if chosen.scheduler != LOCAL:
        scheduler(chosen.scheduler)(chosen.batch).require()
    if chosen.buffer.stager is not None:
        require_stager(chosen.buffer.stager)
    require_capacity(chosen, loaded.buffer.capacity)
    warnings = require(findings(loaded, chosen))
    # A site file is recorded by its absolute path, so that resume works from any folder.
    known_as = os.path.abspath(site) if site and site.endswith(".toml") else chosen.name
    made = create(loaded, table, source.path, known_as, name, complete=lambda made: ask(made, ways))
    at_home = folder_stripes(loaded.stage_out.stripes, loaded.ranks)
    return made, [*warnings, *stripe(made.output, [one.job() for one in at_home])]


def recipe_titles() -> list[dict[str, str]]:
    """Name, title and file of each known recipe; a broken one says so in its title."""
    rows = []
    for name, path in sorted(known().items()):
        try:
            title = str(parse(path).get("title", ""))
        except RecipeError as error:
            title = f"broken: {error}"
        rows.append({"name": name, "title": title, "path": str(path)})
    return rows
