"""The header of a file among the inputs, read like a frame: names, sizes, attributes.

Only the values of coordinates are read, and only when they are asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_KNOWN = 16
_known: dict[tuple[tuple[int, ...], ...], Header] = {}
"""The latest headers, by the files' identities: each stream of a domain asks for the same one."""


@dataclass(frozen=True, slots=True)
class Header:
    """``variables`` by name, with their dimensions without time and their attributes; ``sizes`` of
    the dimensions; the global ``attributes``."""

    paths: tuple[Path, ...]
    variables: Mapping[str, tuple[tuple[str, ...], Mapping[str, Any]]]
    sizes: Mapping[str, int]
    attributes: Mapping[str, Any]
    _read: dict[str, NDArray[Any]] = field(default_factory=dict, compare=False, repr=False)
    """Coordinates already read: every product asks for the same ones."""

    def coordinates(self, name: str) -> NDArray[Any]:
        """The values of a variable. KeyError when the file has no such variable, or no values."""
        from burstlens.core.errors import FrameError
        from burstlens.viz.diagnostics.derived import open_frame

        if name not in self.variables:
            raise KeyError(name)
        if name not in self._read:
            try:
                with open_frame(self.paths) as frame:
                    self._read[name] = frame.read(name)
            except FrameError as error:
                raise KeyError(name) from error
        return self._read[name]

    def extremes(self, name: str, dimension: str, number: int) -> tuple[float, float]:
        """The least and the greatest value at one place along a dimension, -1 for the last one.
        KeyError as above."""
        from burstlens.core.errors import FrameError
        from burstlens.viz.diagnostics.derived import open_frame

        if dimension not in self.variables.get(name, ((), {}))[0]:
            raise KeyError(name)
        at = number % self.sizes[dimension]
        try:
            with open_frame(self.paths) as frame:
                values = frame.read(name, {dimension: slice(at, at + 1, 1)})
        except FrameError as error:
            raise KeyError(name) from error
        return float(values.min()), float(values.max())


def read_header(paths: Sequence[Path]) -> Header:
    """The header of a file, or of the tiles of one. FrameError when it cannot be read."""
    try:
        stats = tuple(path.stat() for path in paths)
    except OSError:
        return _read(paths)  # which says what is wrong
    identities = tuple((stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns) for stat in stats)
    header = _known.get(identities)
    if header is None:
        header = _known[identities] = _read(paths)
        while len(_known) > _MOST_KNOWN:
            del _known[next(iter(_known))]
    return replace(header, paths=tuple(paths))


def _read(paths: Sequence[Path]) -> Header:
    from burstlens.viz.diagnostics.derived import open_frame

    with open_frame(paths) as frame:
        variables = {}
        for name in frame.names:
            found = frame.variable(name)
            variables[name] = found.dimensions, dict(found.attributes)
        return Header(tuple(paths), variables, frame.dimensions, frame.attributes)
