"""A recipe's MPI-IO hints on a site, before the run: remarks for ``check``, lines for the plan."""

from __future__ import annotations

from collections.abc import Iterator

from burstlens.cluster_configs.site import Site
from burstlens.core.errors import SiteError
from burstlens.workflows.hints.advice import Place, advise
from burstlens.workflows.hints.file_system import file_system
from burstlens.workflows.hints.which_mpi import mpi_of
from burstlens.workflows.placement.buffer import candidate_root
from burstlens.workflows.plan.capacity import granularity
from burstlens.workflows.recipe.findings import Finding
from burstlens.workflows.recipe.recipe import Recipe


def hint_findings(recipe: Recipe, site: Site) -> Iterator[Finding]:
    """What is risky about the recipe's hints on that site."""
    hints = recipe.simulation.mpiio_hints
    if any(hints.values()):
        for one in advise(hints, hinted_place(recipe, site)):
            yield Finding(one.level, one.text, one.key)


def hinted_place(recipe: Recipe, site: Site) -> Place:
    """Where the recipe's model would write on that site."""
    simulation = recipe.simulation
    return Place(
        site=site.name,
        mpi=mpi_of(site),
        nodes=simulation.nodes,
        # Of any other program only its own command says how many ranks it has.
        ranks=simulation.ranks if recipe.model.mpi or simulation.ranks > 1 else None,
        buffer_nodes=_buffer_nodes(recipe, site),
        file_system=buffer_file_system(site),
    )


def buffer_file_system(site: Site) -> str:
    """``lustre``, ``datawarp`` or another one's name; empty where it cannot be seen from here."""
    if site.buffer.kind != "posix":
        return "datawarp" if site.buffer.kind == "datawarp" else site.buffer.type
    if site.buffer.node_local or site.viewing.placement == "same-job":
        return ""
    roots = (candidate_root(folder) for folder in site.buffer.folders)
    root = next((root for root in roots if root is not None), None)
    return file_system(root) if root is not None else ""


def _buffer_nodes(recipe: Recipe, site: Site) -> int | None:
    """How many DataWarp nodes would serve the buffer; None where that is not known."""
    handed_out = granularity(site.buffer) if site.buffer.kind == "datawarp" else None
    if handed_out is None:
        return None
    try:
        return handed_out.grant(recipe.buffer.capacity).nodes
    except SiteError:  # reported as a fault of the capacity
        return None
