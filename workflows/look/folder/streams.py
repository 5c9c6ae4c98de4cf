"""What the frames of each stream hold: by one of its files, else by what the model will write."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from burstlens.core.errors import BurstlensError
from burstlens.core.record_axis import time_variable
from burstlens.workflows.frames.contents import Content, Contents
from burstlens.workflows.look.folder.content import record_dimension
from burstlens.workflows.look.folder.found import Found, StreamFound
from burstlens.workflows.look.folder.sampling import Sampler
from burstlens.workflows.models import registry
from burstlens.workflows.models.base import Facts, Model

if TYPE_CHECKING:
    from burstlens.viz.frames.outline import Array, Known

PLACEHOLDER = ("sh", "-c", "echo 'simulation.command: put here what starts your model' >&2; exit 1")
"""What stands for the program of a model that others have started."""
_DIGITS = str.maketrans("123456789", "000000000")
_WHOLE = {"west_east": "WEST-EAST_GRID_DIMENSION", "south_north": "SOUTH-NORTH_GRID_DIMENSION"}
"""The sizes of the domain, staggered, in a tile of WRF."""


def adapter(folder: Path, found: Found) -> Model:
    """The model's adapter with what was found in its folder."""
    settings = dict(found.settings)
    if found.model == "command":
        settings["argv"] = PLACEHOLDER
    return registry.load(found.model)(**settings).configured(folder)


class Streams:
    """The streams of a folder; their files are opened when they are asked for, once."""

    def __init__(self, folder: Path, found: Found, sampler: Sampler) -> None:
        self._folder, self._sampler = folder, sampler
        self.model = adapter(folder, found)
        self.facts: Facts = self.model.facts(folder)
        self.there: dict[str, StreamFound] = {one.name: one for one in found.streams}
        self._time: str = found.settings.get("time_variable", self.model.time_variable)
        self._contents: dict[str, Contents | None] = {}
        self._known: dict[str, Known | None] = {}

    @property
    def names(self) -> list[str]:
        """Those with files, the main one first, else those that the settings ask for."""
        main = self.main
        return sorted(self.there or self.facts.streams, key=lambda name: name != main)

    @property
    def main(self) -> str:
        """The stream of products that name none."""
        main = self.model.main_stream(self._folder) or ""
        return main if main in self.there or not self.there else next(iter(self.there))

    def absent(self, stream: str) -> str:
        """Why there will be no frame of a stream; "" if there are some, or may be."""
        # The streams of a command are those that were found by their files' names.
        may_come = stream in self.facts.streams and self.model.name != "command"
        if stream in self.there or may_come or not (self.there or self.facts.streams):
            return ""
        there = ", ".join(self.names)
        return f"there are no files of the stream {stream} (there are: {there})"

    def contents(self, stream: str) -> Contents | None:
        """Of the newest file that can be read, or of the one before it; None if there is none."""
        if stream not in self._contents:
            self._contents[stream] = self._read(stream)
        return self._contents[stream]

    def time(self, stream: str) -> str | None:
        """The time variable of a stream's files; None where they have none."""
        contents = self.contents(stream)
        if contents is None:
            return self._time or None
        if not self._time:
            return None
        return self._time if self._time in contents.variables else time_variable(contents.variables)

    def known(self, stream: str) -> Known | None:
        """What is known of a stream's frames; None if nothing is."""
        if stream not in self._known:
            contents = self.contents(stream)
            self._known[stream] = (
                self._outlined(stream) if contents is None
                else known_of(contents, self.time(stream))
            )  # fmt: skip
        return self._known[stream]

    def _read(self, stream: str) -> Contents | None:
        about = self.there.get(stream)
        if about is None or about.newest is None:
            return None
        found = self._sampler.readable(about.newest)
        if found is None and (earlier := _before(self._folder, about.newest)):
            return self._sampler.readable(earlier)
        return found

    def _outlined(self, stream: str) -> Known | None:
        with suppress(BurstlensError):
            return None if stream in self.there else self.model.outline(self._folder, stream)
        return None


def known_of(contents: Contents, time: str | None) -> Known:
    """A file's contents as what is known of frames: without the dimension of its records."""
    from burstlens.viz.frames.outline import Known

    record = record_dimension(contents, time)
    sizes = {name: size for name, size in contents.sizes.items() if name != record}
    for dimension, key in _WHOLE.items():
        whole = contents.attributes.get(key)
        if dimension in sizes and isinstance(whole, int) and "TITLE" in contents.attributes:
            sizes[dimension] = whole - 1
            if f"{dimension}_stag" in sizes:
                sizes[f"{dimension}_stag"] = whole
    return Known(
        {name: _described(one, record) for name, one in contents.variables.items()},
        sizes, dict(contents.attributes), partial(_ends, contents),
        texts=frozenset(name for name, one in contents.variables.items() if one.kind == "c"),
    )  # fmt: skip


def _ends(contents: Contents, name: str) -> Array:
    """The values of a further dimension of one or two points; KeyError for others."""
    import numpy as np

    from burstlens.viz.frames.further import is_further

    about = contents.variables[name]
    is_whole = about.ends is not None and 0 < about.shape[0] <= len(about.ends)
    if not is_whole or not is_further(name, about.attributes):
        raise KeyError(name)
    return np.array((about.ends or ())[: about.shape[0]])


def _described(one: Content, record: str | None) -> tuple[tuple[str, ...], dict[str, object]]:
    return tuple(d for d in one.dimensions if d != record), dict(one.attributes)


def _before(folder: Path, newest: str) -> str | None:
    """The name before the newest one among those that differ from it in digits only."""
    path = PurePosixPath(newest)
    skeleton = path.name.translate(_DIGITS)
    try:
        names = os.listdir(folder / path.parent)
    except OSError:
        return None
    # Of names with digits in the same places the order of texts is that of numbers.
    last = path.name
    earlier = [name for name in names if name < last and name.translate(_DIGITS) == skeleton]
    return str(path.parent / max(earlier)) if earlier else None
