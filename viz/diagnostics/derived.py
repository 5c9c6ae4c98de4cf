"""A frame with diagnostics: quantities that its files lack are computed where that is possible."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from numpy.typing import NDArray

from burstlens.core.errors import FrameError
from burstlens.core.nearness import NEAR, did_you_mean
from burstlens.viz.diagnostics import formula, general, table
from burstlens.viz.diagnostics.level import AT
from burstlens.viz.diagnostics.slabs import Computation, by_slabs
from burstlens.viz.diagnostics.synonyms import SYNONYMS
from burstlens.viz.diagnostics.table import DIAGNOSTICS
from burstlens.viz.frames.held import Held
from burstlens.viz.frames.record import own_fields
from burstlens.viz.product import Beside, ProductFrame
from burstlens.viz.seams import OpenFrame, Stored, Variable, Window

_ON_WRF = {"south_north", "west_east"}
"""Only a frame with these dimensions can have WRF's diagnostics."""


class DerivedFrame:
    """A frame as a product reads it: stored variables, diagnostics, levels, expressions by name.

    It is a :class:`.ProductFrame`: ``paths`` are the frame's files, ``previous``, ``followed`` and
    ``beside`` what its product asked for, see :class:`.Wants`. Use it through :func:`open_frame`.
    """

    def __init__(
        self,
        frame: OpenFrame,
        *,
        paths: Sequence[Path] = (),
        stream: str = "",
        previous: Path | None = None,
        followed: Mapping[str, Path] = MappingProxyType({}),
        beside: Mapping[str, Beside] = MappingProxyType({}),
    ) -> None:
        self.paths = tuple(paths)
        self.stream = stream
        self.previous = previous
        self.followed = followed
        self.beside = beside
        self._frame = frame
        self._held = Held()
        self._described: dict[str, Variable] = {}

    @property
    def attributes(self) -> Mapping[str, Any]:
        """As :attr:`.OpenFrame.attributes`."""
        return self._frame.attributes

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all variables that are stored."""
        return self._frame.names

    @property
    def dimensions(self) -> Mapping[str, int]:
        """As :attr:`.OpenFrame.dimensions`."""
        return self._frame.dimensions

    @property
    def time(self) -> str:
        """As :attr:`.OpenFrame.time`."""
        return self._frame.time

    @property
    def start(self) -> str | None:
        """As :attr:`.OpenFrame.start`."""
        return self._frame.start

    @property
    def record(self) -> int:
        """As :attr:`.OpenFrame.record`."""
        return self._frame.record

    def __str__(self) -> str:
        return str(self._frame)

    def __contains__(self, name: object) -> bool:
        """Whether a variable is stored."""
        return name in self._frame

    def variable(self, name: str) -> Variable:
        """Describes a variable as the file does, or one that is computed.

        FrameError with near names if there is no such variable, or with what a diagnostic needs.
        """
        if name in self._frame:
            return self._frame.variable(name)
        if formula.is_formula(name):
            return formula.describe(self, name)
        if self._is_general(name):
            if name not in self._described:
                self._described[name] = general.describe(self, name)
            return self._described[name]
        if table.is_derived(name):
            return table.describe(self, name)
        raise FrameError(f"{self} has no variable {name!r}{self._near(name)}")

    def read(self, name: str, window: Window | None = None) -> NDArray[Any]:
        """As :meth:`.OpenFrame.read`; what is not stored is computed (docs/diagnostics.md)."""
        if name in self._frame:
            return self._frame.read(name, window)
        held = self._held.get(self.variable(name), window)
        if held is not None:
            return held
        try:
            return by_slabs(self, self._plan(name, window), over)
        except MemoryError:
            raise FrameError(
                f"{self}: there is not enough memory for {name}: a crop, fewer workers, or less "
                "memory for each (memory of the recipe's or the site's [viewing]) need less"
            ) from None

    def stored(self, name: str, window: Window | None = None) -> Stored:
        """As :meth:`.OpenFrame.stored`; a level that a column does not reach is NaN."""
        if name in self._frame:
            return self._frame.stored(name, window)
        return Stored(self.read(name, window), (float("nan"),) if AT in name else ())

    def hold(self, name: str, window: Window | None, values: NDArray[Any]) -> None:
        """As :meth:`.OpenFrame.hold`."""
        if name in self._frame:
            self._frame.hold(name, window, values)
        else:
            self._held.add(self.variable(name), window, values)

    def _plan(self, name: str, window: Window | None) -> Computation:
        """How a quantity that is not stored is computed."""
        if formula.is_formula(name):
            return formula.plan(self, name, window, self._needs)
        if self._is_general(name):
            return general.plan(self, name, window)
        return table.plan(self, name, window)

    def _needs(self, name: str) -> tuple[list[str], int | None]:
        """The stored variables of a quantity, and how many points around a column it needs."""
        if name in self._frame:
            return [name], 0
        return general.needs(self, name) if self._is_general(name) else table.needs(self, name)

    def _is_general(self, name: str) -> bool:
        """Whether a name stands for something computed on another grid than WRF's."""
        if self.dimensions.keys() >= _ON_WRF:
            return False
        return name in general.NAMES or AT in name

    def _near(self, name: str) -> str:
        """The end of an error message for an unknown name: near names, else the frame's fields."""
        own = own_fields(self)
        if self.dimensions.keys() >= _ON_WRF:
            if name.casefold() in SYNONYMS:
                return f"{NEAR} {SYNONYMS[name.casefold()]}?"
            near = did_you_mean(name, (*own, *DIAGNOSTICS))
            if near.startswith(NEAR):
                return near
        return did_you_mean(name, own)


def over(product: ProductFrame, frame: OpenFrame) -> DerivedFrame:
    """A product's frame, with its values read from another."""
    return DerivedFrame(
        frame, paths=product.paths, stream=product.stream,
        previous=product.previous, followed=product.followed, beside=product.beside,
    )  # fmt: skip


@contextmanager
def open_frame(
    paths: Sequence[str | Path],
    record: int = 0,
    *,
    stream: str = "",
    time: str = "",
    time_variable: str = "",
    previous: Path | None = None,
    followed: Mapping[str, Path] = MappingProxyType({}),
    beside: Mapping[str, Beside] = MappingProxyType({}),
) -> Iterator[DerivedFrame]:
    """Open a frame that was declared ready, read-only and without locks.

    ``paths`` are absolute: one file, or every tile of an io_form 102 frame in rank order, which
    are joined by their ``..._PATCH_START_...`` attributes. ``record`` counts along the dimension of
    ``time_variable``, by default of the time that CF's attributes show, else the unlimited one; a
    file without times is one record. Raises FrameError when a file is
    missing, empty, truncated or not netCDF, or holds another time than ``time``.
    """
    from burstlens.viz.frames.reader import FrameReader  # loads HDF5, which a command need not

    reader = FrameReader([Path(path) for path in paths], record, stream, time, time_variable)
    try:
        reader.open()
        yield DerivedFrame(
            reader, paths=reader.paths, stream=stream,
            previous=previous, followed=followed, beside=beside,
        )  # fmt: skip
    finally:
        reader.close()
