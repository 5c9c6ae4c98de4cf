"""``burstlens sites --probe-io``: where the probe runs, and which hints it asks for."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from burstlens.cluster_configs.site import Mpi, Site, choose
from burstlens.core.errors import RecipeError, SiteError
from burstlens.core.run.directory import runs_folder
from burstlens.workflows.hints.delivery import Hints
from burstlens.workflows.hints.names import mpi_of
from burstlens.workflows.hints.probe import Probed, probe
from burstlens.workflows.placement.buffer import with_room
from burstlens.workflows.recipe.file import read
from burstlens.workflows.recipe.load import check

RANKS = 4
ROOM = 2**20
_COLLECTIVE: dict[str, str | int] = {"cb_nodes": 2, "cb_buffer_size": 2**23}
_ROMIO = {**_COLLECTIVE, "romio_cb_write": "enable", "romio_ds_write": "disable"}
_USUAL: dict[Mpi, Hints] = {
    "cray-mpich": {"*": _ROMIO},
    "romio": {"*": {**_ROMIO, "ind_wr_buffer_size": 2**20}},
    "openmpi": {"*": {**_COLLECTIVE, "romio_ds_write": "disable"}},
}
"""Hints that differ from the defaults of each MPI, so that a default is not taken for one."""


def probe_io(
    name: str | None = None,
    recipe: str | None = None,
    settings: Sequence[str] = (),
    ranks: int = RANKS,
) -> Probed:
    """Which hints are in force on a site: those of a recipe, by default some usual ones.

    Raises SiteError and RecipeError.
    """
    site = choose(name)
    mpi = mpi_of(site)
    hints = _USUAL["cray-mpich" if mpi is None or mpi == "none" else mpi]
    if recipe is not None:
        loaded, _ = check(read(recipe), settings)
        hints = loaded.simulation.mpiio_hints
        if not any(hints.values()):
            raise RecipeError(f"recipe {recipe} has no simulation.mpiio_hints to probe")
    with _folders(site) as (build, folder):
        return probe(site, hints, ranks=ranks, build=build, folder=folder)


def value(probed: Probed) -> dict[str, Any]:
    """The result as JSON values."""
    return {
        "site": probed.site,
        "mpi": probed.mpi,
        "library": probed.mpi_library,
        "ranks": probed.ranks,
        "file_system": probed.file_system,
        "arrived": probed.arrived,
        "suggestion": probed.suggestion,
        "hints": [asdict(row) for row in probed.rows],
    }


@contextmanager
def _folders(site: Site) -> Iterator[tuple[Path, Path]]:
    """Two empty folders: one to build in, which the site's nodes see, and one on the buffer, or
    beside the runs where a buffer exists in jobs only. Both are deleted in the end."""
    local = site.scheduler == "local"
    above = None if local else runs_folder()
    made = []
    try:
        if above is not None:
            above.mkdir(parents=True, exist_ok=True)
        build = Path(tempfile.mkdtemp(prefix="burstlens-probe-", dir=above))
        made.append(build)
        folder = build / "files"
        if site.buffer.kind == "posix" and site.viewing.placement != "same-job":
            folder = with_room(site.buffer.folders, ROOM, build.name) / build.name
            made.append(folder)
        else:
            folder.mkdir()
        yield build, folder
    except OSError as error:
        raise SiteError(f"cannot make {error.filename}: {error.strerror}") from error
    finally:
        for path in made:
            shutil.rmtree(path, ignore_errors=True)
