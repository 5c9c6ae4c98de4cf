"""The inputs of a model: the files in their folder, which are output of earlier runs, and the
header of one, read like a frame: only values of coordinates are read, when they are asked for."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from burstlens.core.errors import FrameError
from burstlens.core.existence import PASSING, again
from burstlens.core.quantity import counted
from burstlens.workflows.models.base import Model, OutputName

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Selected:
    """What is to be staged in. ``files`` are pairs of source and name relative to the model's
    folder, ``folders`` relative names, parents first: those of the inputs, also empty ones, and
    those that the model needs. ``left`` is the number of files left behind, including dangling
    links."""

    files: tuple[tuple[str, str], ...]
    folders: tuple[str, ...]
    left: int


def selected(inputs: Path, model: Model, leave: Sequence[str]) -> Selected:
    """The inputs that the model gets, without its old output and what matches ``leave``. Raises
    OSError where their folder does not answer."""
    model = model.configured(inputs)
    found = again(lambda: input_files(inputs, strict=True))
    files = tuple(
        (str(source), relative)
        for source, relative in found
        if not model.is_leftover(relative) and not matches(relative, leave) and not _is_dead(source)
    )
    folders = {
        folder
        for folder in again(lambda: input_folders(inputs, strict=True))
        if not matches(folder, leave)
    }
    folders.update(model.output_names(inputs).folders)
    return Selected(files, tuple(sorted(folders)), len(found) - len(files))


def earlier_frame(
    inputs: Path, identify: Callable[[str], OutputName | None], stream: str
) -> tuple[Path, ...]:
    """A frame of that stream from an earlier run: the newest, with all of its tiles."""
    times: dict[str, list[Path]] = {}
    for path, relative in input_files(inputs):
        named = identify(relative)
        if named is not None and named.stream == stream:
            times.setdefault(named.time or relative, []).append(path)
    return tuple(sorted(times[max(times)])) if times else ()


def input_files(inputs: Path, *, strict: bool = False) -> list[tuple[Path, str]]:
    """Each file below ``inputs`` with its relative name, links followed, loops left out. Folders
    that cannot be listed are left out; ``strict``: raises OSError for one that does not answer."""
    return [
        (Path(path, name), _relative(path, name, inputs))
        for path, _, files in _walk(inputs, strict=strict)
        for name in sorted(files)
    ]


def dead_links(inputs: Path) -> list[str]:
    """The relative names of the dangling links below ``inputs``."""
    return [relative for source, relative in input_files(inputs) if _is_dead(source)]


def _is_dead(path: Path) -> bool:
    """Whether it is a dangling link, rather than one whose target may not be accessed."""
    if not os.path.islink(path):
        return False
    try:
        path.stat()
    except OSError as error:
        return error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
    return False


def input_folders(inputs: Path, *, strict: bool = False) -> list[str]:
    """The relative name of each folder below ``inputs``, as :func:`input_files` finds them."""
    found = _walk(inputs, strict=strict)
    return [_relative(path, "", inputs) for path, _, _ in found if path != str(inputs)]


def old_output(inputs: Path, is_leftover: Callable[[str], bool]) -> list[str]:
    """A message on the output of earlier runs among the inputs; empty if there is none."""
    old = [name for _, name in input_files(inputs) if is_leftover(name)]
    if not old:
        return []
    shown = ", ".join([*old[:MOST_SHOWN], *(["..."] if len(old) > MOST_SHOWN else [])])
    return [
        "the inputs hold output of an earlier run, which is not taken along: "
        f"{counted(len(old), 'file')} ({shown})"
    ]


def _walk(inputs: Path, *, strict: bool = False) -> Iterator[tuple[str, list[str], list[str]]]:
    def lost(error: OSError) -> None:
        if strict and error.errno in PASSING:
            raise error

    above: dict[str, frozenset[str]] = {}
    for path, names, files in os.walk(inputs, followlinks=True, onerror=lost):
        real, parents = os.path.realpath(path), above.get(os.path.dirname(path), frozenset())
        if real in parents:  # a link that leads back up
            names.clear()
            continue
        above[path] = parents | {real}
        yield path, names, files


def _relative(path: str, name: str, inputs: Path) -> str:
    return str(PurePosixPath(os.path.relpath(path, inputs), name))


def matches(name: str, patterns: Sequence[str]) -> bool:
    """Whether one of these globs, which may span folders, matches the name."""
    return any(fnmatch(name, pattern) for pattern in patterns)


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
        if name not in self._read:
            self._read[name] = self._values(name)
        return self._read[name]

    def extremes(self, name: str, dimension: str, number: int) -> tuple[float, float]:
        """The least and the greatest value at one place along a dimension, -1 for the last one.
        KeyError as above."""
        if dimension not in self.variables.get(name, ((), {}))[0]:
            raise KeyError(name)
        at = number % self.sizes[dimension]
        values = self._values(name, {dimension: slice(at, at + 1, 1)})
        return float(values.min()), float(values.max())

    def _values(self, name: str, window: Mapping[str, slice] | None = None) -> NDArray[Any]:
        from burstlens.viz.diagnostics.derived import open_frame

        if name not in self.variables:
            raise KeyError(name)
        try:
            with open_frame(self.paths) as frame:
                return frame.read(name, window)
        except FrameError as error:
            raise KeyError(name) from error


def read_header(paths: Sequence[Path]) -> Header:
    """The header of a file, or of the tiles of one. FrameError when it cannot be read."""
    try:
        stats = [path.stat() for path in paths]
    except OSError:
        return _read(tuple(paths))  # which says what is wrong
    identities = tuple((stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns) for stat in stats)
    return _read_known(tuple(paths), identities)


def known_header(paths: Sequence[Path]) -> Header | None:
    """The same; None where there is no file, or it cannot be read."""
    try:
        return read_header(paths) if paths else None
    except FrameError:
        return None


@lru_cache(maxsize=16)  # each stream of a domain asks for the same one
def _read_known(paths: tuple[Path, ...], _: tuple[tuple[int, ...], ...]) -> Header:
    """The header, as long as the files have these identities."""
    return _read(paths)


def _read(paths: tuple[Path, ...]) -> Header:
    from burstlens.viz.diagnostics.derived import open_frame

    with open_frame(paths) as frame:
        found = {name: frame.variable(name) for name in frame.names}
        variables = {
            name: (variable.dimensions, dict(variable.attributes))
            for name, variable in found.items()
        }
        return Header(paths, variables, frame.dimensions, frame.attributes)
