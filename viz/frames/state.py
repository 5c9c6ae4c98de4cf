"""Arrays that a chained product passes from one frame to the next, as a versioned file."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.core.errors import StateError
from burstlens.viz.product import whole_file

Array = NDArray[Any]


def write_arrays(path: Path, kind: str, arrays: Mapping[str, Array]) -> None:
    """Write named arrays as an uncompressed npz that records its ``kind``.

    ``kind`` names the format and its version (``peak 1``). StagingError if it cannot be written.
    """
    with whole_file(path), path.open("wb") as file:
        named: dict[str, Any] = {"kind": np.array(kind), **arrays}
        np.savez(file, **named)


def read_arrays(path: Path, kind: str) -> dict[str, Array]:
    """The arrays of a file of that ``kind``. StateError if it is damaged or of another kind."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            found = str(stored["kind"])
            arrays = {name: stored[name] for name in stored.files if name != "kind"}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise StateError(f"the state {path.name} cannot be read: {error}") from error
    if found != kind:
        raise StateError(f"the state {path.name} has the format {found!r}, not {kind!r}")
    return arrays
