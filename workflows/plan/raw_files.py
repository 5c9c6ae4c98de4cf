"""What becomes of a run's raw files, in one line, before it starts."""

from __future__ import annotations

from burstlens.cluster_configs.site import Site
from burstlens.workflows.recipe.recipe import Recipe


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
