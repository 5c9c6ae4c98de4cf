"""The files in a run directory after publications."""

from __future__ import annotations

NAME = "t2/t2_output_t00000001.000.png"


def content(run_dir) -> dict[str, bytes]:
    """The published files with their content, and what lies in ``.incoming``."""
    found = {}
    for path in run_dir.products.glob("*/*"):
        if path.parent.name != "live":
            found[str(path.relative_to(run_dir.products))] = path.read_bytes()
    return found
