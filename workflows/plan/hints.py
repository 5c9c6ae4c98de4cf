"""A recipe's MPI-IO hints and stripes on a site: remarks for ``check``, lines for the plan."""

from __future__ import annotations

from collections.abc import Iterator

from burstlens.cluster_configs.site import Site
from burstlens.core.errors import SiteError
from burstlens.core.run.directory import runs_folder
from burstlens.workflows.hints.advice import Place, advise, by_themselves
from burstlens.workflows.hints.delivery import Hints
from burstlens.workflows.hints.names import mpi_of
from burstlens.workflows.hints.stripes import folder_stripes
from burstlens.workflows.hints.striping import file_system, stripe_text
from burstlens.workflows.placement.buffer import candidate_root
from burstlens.workflows.placement.job_file import hints_of
from burstlens.workflows.plan.capacity import granularity
from burstlens.workflows.recipe.findings import NOTE, WARNING, Finding
from burstlens.workflows.recipe.recipe import Recipe


def hint_findings(recipe: Recipe, site: Site) -> Iterator[Finding]:
    """What is risky about the recipe's hints and stripes on that site."""
    hints, stripes = recipe.simulation.mpiio_hints, recipe.simulation.stripes
    if any(hints.values()) or stripes:
        place = _place(recipe, site)
        for one in advise(hints, place):
            yield Finding(one.level, one.text, one.key)
        yield from _striped(recipe, place)
    if recipe.stage_out.stripes and (kind := file_system(runs_folder())) not in {"", "lustre"}:
        text = f"the run directory is on {kind}: stripes have no effect"
        yield Finding(NOTE, text, "stage_out.stripes")


def tried_findings(hints: Hints, recipe: Recipe, site: Site) -> Iterator[Finding]:
    """Whether hints that a tuning of the recipe tries can have an effect on that site; what their
    values are worth it measures."""
    for one in by_themselves(hints, _place(recipe, site)):
        yield Finding(one.level, one.text, one.key)


def hint_nodes(recipe: Recipe, site: Site) -> Iterator[tuple[str, str]]:
    """What the plan shows: a name and what is done, for hints and for stripes."""
    if lines := list(hints_of(recipe, site).lines()):
        yield "MPI-IO hints", "; ".join(lines)
    parts = (
        ("stripes", recipe.simulation.stripes, "the model's folder", buffer_file_system(site)),
        ("stripes home", recipe.stage_out.stripes, "output/", file_system(runs_folder())),
    )
    for name, stripes, own, kind in parts:
        if kind == "datawarp":
            for pattern, stripe in stripes.items():
                text = stripe_text(stripe.number(recipe.ranks), stripe.size)
                yield name, f"{pattern}: {text}, {_way(kind, own)}"
            continue
        for one in folder_stripes(stripes, recipe.ranks):
            what = f"{', '.join(one.patterns)}: {stripe_text(one.count, one.size)}"
            yield name, f"{what}, {_way(kind, one.folder or own)}"


def _way(kind: str, folder: str) -> str:
    """How files in that folder get their stripes on a file system of that kind."""
    if kind == "lustre":
        return f"by lfs setstripe of {folder} while it is empty"
    if kind == "datawarp":
        return "by hints, if the MPI is Cray MPICH"
    return f"if {folder} is on Lustre" if not kind else f"without effect on {kind}"


def _striped(recipe: Recipe, place: Place) -> Iterator[Finding]:
    """Stripes that nothing will set, or that are more than the ranks can use."""
    key, stripes = "simulation.stripes", recipe.simulation.stripes
    if not stripes:
        return
    by_name = place.mpi in {None, "cray-mpich"}
    if place.file_system not in {"", "lustre", "datawarp"}:
        text = f"the buffer of site {place.site} is on {place.file_system}: stripes have no effect"
        yield Finding(NOTE, text, key)
        return
    if place.file_system == "datawarp" and not by_name:
        text = f"only Cray MPICH sets stripes on DataWarp, and site {place.site} has {place.mpi}"
        yield Finding(WARNING, f"{text}: they have no effect", key)
        return
    for one in folder_stripes(stripes, place.ranks):
        if one.other and not by_name:
            text = (
                f"{', '.join(one.other)} lie in one folder with {', '.join(one.patterns)}, and "
                f"the folder gets {stripe_text(one.count, one.size)}: only Cray MPICH takes "
                "stripes by the names of files"
            )
            yield Finding(WARNING, text, key)
    for pattern, stripe in stripes.items():
        count, ranks = stripe.number(place.ranks), place.ranks
        if ranks is not None and count > ranks:
            text = f"{pattern!r} gets {count} stripes, more than there are ranks, {ranks}"
            yield Finding(WARNING, text, key)


def _place(recipe: Recipe, site: Site) -> Place:
    """Where the recipe's model would write on that site."""
    simulation = recipe.simulation
    return Place(
        site=site.name,
        mpi=mpi_of(site),
        nodes=simulation.nodes,
        ranks=recipe.ranks,
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
