"""A published picture: shows itself in a notebook, and is a path and bytes everywhere else."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burstlens.clients.opened.file_errors import reading
from burstlens.clients.opened.table import time_label
from burstlens.core.errors import RunError
from burstlens.core.run.index import Published

# What notebooks show without running anything in it: an SVG may hold a script.
TYPES = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif",
         ".webp": "image/webp"}  # fmt: skip
LARGEST_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Picture:
    """The picture at ``path``, of one valid time. ``open(picture, "rb")`` works as well."""

    path: Path
    entry: Published

    @property
    def type(self) -> str:
        """Its media type."""
        return picture_type(self.path)

    @property
    def data(self) -> bytes:
        """The file's content. Raises RunError when it cannot be read or is far too large."""
        return read_picture(self.path)

    def __fspath__(self) -> str:
        return str(self.path)

    def __repr__(self) -> str:
        return f"{self.entry.product} at {time_label(self.entry.time)}: {self.path}"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """What IPython shows; without a path, which means nothing on another machine."""
        label = f"{self.entry.product} at {time_label(self.entry.time)}"
        return {"text/plain": label, self.type: base64.b64encode(self.data).decode("ascii")}


def is_picture(name: str) -> bool:
    """Whether a notebook can show a product of that name."""
    return Path(name).suffix.lower() in TYPES


def picture_type(path: Path) -> str:
    """The media type of a file for which :func:`is_picture` holds."""
    return TYPES[path.suffix.lower()]


def read_picture(path: Path) -> bytes:
    """A picture's bytes. Raises RunError when it cannot be read or is far too large."""
    with reading(path), path.open("rb") as stream:
        data = stream.read(LARGEST_BYTES + 1)
    if len(data) > LARGEST_BYTES:
        raise RunError(f"{path} is larger than {LARGEST_BYTES >> 20} MiB")
    return data
