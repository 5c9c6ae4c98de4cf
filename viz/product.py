"""The seam of product kinds: how a finished frame becomes one file.

Importable on a login node: neither this module nor the built-in kinds import numpy, netCDF4
or matplotlib before a product is made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol, runtime_checkable

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


def wants(kind: ProductKind, options: Any) -> Wants:
    """What a product of that kind needs: its ``chained``, ``follows`` and ``beside``, if any."""
    found = {
        name: getattr(kind, name)(options)
        for name in ("chained", "follows", "beside")
        if hasattr(kind, name)
    }
    return Wants(**found)


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


@runtime_checkable
class ProductKind(Protocol):
    """One kind of product. Built-in kinds and plugins are written alike, on :class:`PlainKind`.

    ``options`` is a frozen dataclass whose fields are the keys that a ``[[product]]`` table of
    this kind takes beside the common ones; it raises ValueError where they do not go together.
    A kind may also have ``preload()``, which imports what it needs before its first frame comes;
    ``inspect(options, inspection)``, which says by an :class:`.Inspection` what it will read, so
    that ``check`` finds what does not fit; ``runs(options)``, the code of the recipe's own that it
    runs, in words; and ``chained(options)``, ``follows(options)``, ``beside(options)``: parts of
    :class:`Wants`. One whose products may be larger than memory has all three of
    :class:`InPieces`.
    """

    name: ClassVar[str]
    options: ClassVar[type[Any]]

    def extensions(self, options: Any) -> tuple[str, ...]:
        """The extensions that a product may have; :attr:`Made.extension` is the one it has."""

    def ships(self, options: Any) -> tuple[str, ...]:
        """Files of the recipe's folder, by relative path, that travel with the run."""

    def widens(self, options: Any) -> bool:
        """Whether :attr:`Made.limits` may be wider than those of the pictures before, which are
        then made again: not for products that go from frame to frame."""

    def make(self, options: Any, frame: ProductFrame, out: Path, context: Context) -> Made:
        """Write the product, whole, as exactly ``out``; nothing is left there on failure.

        Raises FrameError when the frame is damaged or lacks what is needed, StagingError when
        ``out`` cannot be written, RecipeError when an option cannot be met.
        """


@runtime_checkable
class InPieces(Protocol):
    """What a kind has beside :class:`ProductKind` if large products of it are made in pieces.

    A piece is a file that is staged and published as a product is; the last file, the table, is
    published when all pieces are there, and is what people open.
    """

    def pieces(self, options: Any, frame: ProductFrame, memory: int) -> int:
        """Into how many pieces the product of this frame is split, each made within ``memory``
        bytes of arrays; 1: it is made as one file by ``make``.

        Raises as ``make`` does, and RecipeError where the smallest piece needs more.
        """

    def make_piece(
        self, options: Any, frame: ProductFrame, out: Path, context: Context, piece: int,
        pieces: int,
    ) -> Made:  # fmt: skip
        """Write one of ``pieces`` pieces, counted from 0, as ``make`` does a product."""

    def join(
        self, options: Any, made: Sequence[Made], out: Path, context: Context,
        names: Sequence[str],
    ) -> Made:  # fmt: skip
        """Write the table, whole, as exactly ``out``, from what the pieces' facts say; it opens
        neither a piece nor the frame.

        ``names`` are the paths that the pieces have in the end, relative to the table's folder.
        The extension and facts are the product's. Raises FrameError when a piece is missing or
        does not fit the others, StagingError when ``out`` cannot be written.
        """


class PlainKind:
    """Defaults that fit most kinds: no files travel with the run, no limits widen."""

    def ships(self, options: Any) -> tuple[str, ...]:
        """No files."""
        return ()

    def widens(self, options: Any) -> bool:
        """False."""
        return False


@contextmanager
def whole_file(out: Path) -> Iterator[None]:
    """Remove ``out`` when the block fails, and turn its OSError into StagingError."""
    try:
        yield
    except OSError as error:
        out.unlink(missing_ok=True)
        raise StagingError(
            "the product cannot be written", path=str(out), number=error.errno or 0
        ) from error
    except BaseException:
        out.unlink(missing_ok=True)
        raise


def __getattr__(name: str) -> object:
    return moved(__name__, name)
