"""The inputs of a model: the files in their folder, and which are output of earlier runs."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

from burstlens.core.existence import PASSING, again
from burstlens.core.quantity import counted
from burstlens.workflows.models.base import Model, OutputName

MOST_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Selected:
    """What is to be staged in.

    ``files`` are pairs of source and name relative to the model's folder, ``folders`` relative
    names, parents first: those of the inputs, also empty ones, and those that the model needs.
    ``left`` is the number of files left behind, including dangling links.
    """

    files: tuple[tuple[str, str], ...]
    folders: tuple[str, ...]
    left: int


def selected(inputs: Path, model: Model, leave: Sequence[str]) -> Selected:
    """The inputs that the model gets, without its old output and what matches ``leave``.

    Raises OSError where their folder does not answer.
    """
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
    """Each file below ``inputs`` with its relative name, links followed, loops left out.

    Folders that cannot be listed are left out; ``strict``: raises OSError for one that does not
    answer.
    """
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
