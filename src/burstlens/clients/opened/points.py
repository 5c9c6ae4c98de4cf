"""The point of values that lies at a place, in any frame's grid; grids are read once."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

from burstlens.clients.opened.spot import Spot
from burstlens.core.errors import RunError, ValuesError
from burstlens.core.run.index import grid_path, product_path
from burstlens.viz.values.lookup import Grid

LARGEST_BYTES = 128 * 2**20
"""Of a file of values: 4000 x 4000 points of 16 bits with their overlay have half of it."""
GRIDS = 16
POINTS = 4096
_HASH = re.compile(r"[0-9a-f]{1,64}")


@dataclass(frozen=True, slots=True)
class Point:
    """A point of values: the hash of its grid, row and column from the top of the picture, the
    file's own index by dimension, and rows and columns of the grid."""

    grid: str
    row: int
    column: int
    index: Mapping[str, int]
    shape: tuple[int, int]


class Files:
    """Files of a run's products by the names that another user may have written: as
    :func:`product_path`, but each folder is resolved once."""

    def __init__(self, products: Path) -> None:
        self.products = products
        self._folders: dict[str, str] = {}

    def regular(self, name: str) -> Path:
        """The regular file of that name. Raises RunError and OSError, as where it leads out of the
        products, or is a pipe."""
        folder, _, last = name.rpartition("/")
        if folder not in self._folders:
            self._folders[folder] = str(product_path(self.products, folder))
        path = f"{self._folders[folder]}/{last}"
        status = os.lstat(path)
        if stat.S_ISLNK(status.st_mode):
            path = str(product_path(self.products, name))
            status = os.stat(path)
        if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST_BYTES:
            raise RunError(f"{path} is not a regular file of at most {LARGEST_BYTES >> 20} MiB")
        return Path(path)


class Grids:
    """Grids of one or several runs, the most recently used ones held. Any thread may call it."""

    def __init__(self, most: int = GRIDS) -> None:
        self._grid = lru_cache(most)(_read_grid)
        self._point = lru_cache(POINTS)(partial(_find_point, self._grid))

    def grid(self, files: Files, name: str) -> Grid:
        """The grid whose hash is ``name``. Raises ValuesError, RunError and OSError."""
        return self._grid(files.products, name)

    def point(self, files: Files, name: str, spot: Spot) -> Point | None:
        """The point nearest to a place in that grid; None outside of it.

        Raises as :meth:`grid`, also where such a place has no meaning on the plane.
        """
        return self._point(files.products, name, spot)


def _read_grid(products: Path, name: str) -> Grid:
    if _HASH.fullmatch(name) is None:
        raise ValuesError(f"{name[:80]!r} does not name a grid")
    path = grid_path(products, name).relative_to(products)
    return Grid.read(Files(products).regular(path.as_posix()))


def _find_point(
    grid_of: Callable[[Path, str], Grid], products: Path, name: str, spot: Spot
) -> Point | None:
    grid = grid_of(products, name)
    at = grid.point(spot.on(grid))
    return None if at is None else Point(name, *at, grid.index(*at), (grid.rows, grid.columns))
