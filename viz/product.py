"""A product: what it needs beside its frame, what is known of it when it is made.

Importable on a login node: without numpy, netCDF4 or matplotlib.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from burstlens.core.errors import StagingError
from burstlens.core.renamed import moved
from burstlens.viz.seams import OpenFrame


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in a frame to be marked: the file's index by dimension, and a few words.

    ``value`` is what was found there in ``units``, if it is a number: a picture gives it in its
    own units, in the place of ``label``."""

    variable: str
    index: Mapping[str, int]
    label: str
    value: float | None = None
    units: str = ""


@dataclass(frozen=True, slots=True)
class Context:
    """What a product needs to know beside its frame; plain values, so that it pickles.

    ``time`` is the frame's valid-time key and ``start`` that of the model's start (None: as in
    the file). ``limits`` are the colour limits of the series so far, ``size`` the pixels of its
    pictures, for a placeholder to have the same. ``files`` is the folder that holds the functions
    and scripts shipped with the run. A command is ended when the file ``cancel`` appears. ``marks``
    are what guards found in the frame. ``state`` is where a chained product writes its state, see
    :class:`Wants`; ``values`` a folder for the values beside a picture (None: not wanted).
    ``time_variable`` is the model's variable with the times of a file's records, ``calendar`` the
    one in which they count, empty where that is Gregorian. ``points`` are those that earlier
    pictures of the series show, by variable and further dimension.
    """

    run: str
    title: str
    product: str
    stream: str
    time: str
    files: Path
    start: str | None = None
    limits: tuple[float, float] | None = None
    size: tuple[int, int] | None = None
    attempt: int = 1
    version: str = ""
    cancel: Path | None = None
    marks: tuple[Mark, ...] = ()
    state: Path | None = None
    values: Path | None = None
    time_variable: str = ""
    calendar: str = ""
    points: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Wants:
    """What a product needs beside its frame, which waits for it.

    ``chained``: frames are made in order of valid time, one at a time. ``frame.previous`` is the
    state that the product wrote for the newest frame before this one (None: there is none), and
    ``make`` writes this one's as ``context.state``: a small file of any form, kept with the run,
    so that a resume and a restart of the model continue from it.

    ``follows``: names of chained products, of the same stream; ``frame.followed`` holds their
    newest states up to this valid time. ``beside``: streams; ``frame.beside`` holds their newest
    frames up to this valid time that are still there. Missing ones are not in these mappings.
    """

    chained: bool = False
    follows: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.chained or bool(self.follows or self.beside)


@dataclass(frozen=True, slots=True)
class Made:
    """A complete product: its extension without the dot, and facts for the index.

    ``facts`` holds JSON values only. ``limits`` are the colour limits that its series has with this
    frame: the context's, or wider ones; None where they do not follow the frames.
    """

    extension: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    limits: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Beside:
    """The newest frame of another stream, to be opened by ``open_frame``."""

    paths: tuple[Path, ...]
    record: int
    stream: str
    time: str


class ProductFrame(OpenFrame, Protocol):
    """The frame of a product: its files, and what the product asked for by its `Wants`."""

    paths: tuple[Path, ...]
    stream: str
    previous: Path | None
    followed: Mapping[str, Path]
    beside: Mapping[str, Beside]


@contextmanager
def whole_file(out: Path) -> Iterator[None]:
    """Remove ``out`` when the block fails, and turn its OSError into StagingError."""
    try:
        yield
    except OSError as error:
        out.unlink(missing_ok=True)
        raise StagingError.of(error, "the product cannot be written", out) from error
    except BaseException:
        out.unlink(missing_ok=True)
        raise


def __getattr__(name: str) -> object:
    return moved(__name__, name)
