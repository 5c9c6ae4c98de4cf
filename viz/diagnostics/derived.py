"""A frame with diagnostics: quantities that its files lack are computed where that is possible."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from copy import copy
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Any

from numpy.typing import NDArray

from burstlens.core.allowance import allowance
from burstlens.core.errors import FrameError
from burstlens.core.model import KnownPoints
from burstlens.core.nearness import NEAR, did_you_mean
from burstlens.viz.diagnostics import formula, general, table
from burstlens.viz.diagnostics.interval import of_interval
from burstlens.viz.diagnostics.level import AT
from burstlens.viz.diagnostics.slabs import Computation, by_slabs
from burstlens.viz.diagnostics.synonyms import SYNONYMS, same_quantity
from burstlens.viz.diagnostics.table import DIAGNOSTICS
from burstlens.viz.frames.choice import ChosenFrame
from burstlens.viz.frames.held import Held
from burstlens.viz.frames.record import own_fields
from burstlens.viz.product import Beside, ProductFrame
from burstlens.viz.seams import FrameWrapper, OpenFrame, Stored, Variable, Window

_ON_WRF = {"south_north", "west_east"}
"""Only a frame with these dimensions can have WRF's diagnostics."""
ChoiceKey = tuple[object, ...]
"""The index of a crop by the names of its dimensions, and the number of its chosen frame."""
SHARED_PART = 0.25
"""The part of a worker's memory for inflated chunks that several products of a frame read."""


class DerivedFrame(FrameWrapper):
    """A frame as a product reads it: stored variables, diagnostics, levels, expressions by name.

    It is a :class:`.ProductFrame`: ``paths`` are the frame's files, ``previous``, ``followed`` and
    ``beside`` what its product asked for, see :class:`.Wants`. ``known`` are points of further
    dimensions that earlier pictures of the product show, ``shown`` those that were chosen here, by
    variable: the ``points``, and in ``words``. Use it through :func:`open_frame`.
    """

    frame: ChosenFrame

    def __init__(
        self,
        frame: OpenFrame,
        *,
        paths: Sequence[Path] = (),
        stream: str = "",
        previous: Path | None = None,
        followed: Mapping[str, Path] = MappingProxyType({}),
        beside: Mapping[str, Beside] = MappingProxyType({}),
        held: Held | None = None,
        keeps: bool = False,
        chosen: dict[ChoiceKey, ChosenFrame] | None = None,
        known: KnownPoints = MappingProxyType({}),
    ) -> None:
        super().__init__(frame if isinstance(frame, ChosenFrame) else ChosenFrame(frame))
        self.paths = tuple(paths)
        self.stream = stream
        self.previous = previous
        self.followed = followed
        self.beside = beside
        self._held = held or Held()
        self._keeps = keeps
        self._chosen = {} if chosen is None else chosen
        self._known = known
        self.shown: dict[str, dict[str, Any]] = {}
        self._described: dict[str, Variable] = {}

    def variable(self, name: str) -> Variable:
        """Describes a variable as the file does, or one that is computed.

        FrameError with near names if there is no such variable, or with what a diagnostic needs.
        """
        if name in self.frame:
            found = self.frame.variable(name)
            if points := self.frame.points.get(name):
                self.shown[name] = {"points": dict(points), "words": found.choice}
            return found
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
        if name in self.frame:
            values = self.frame.read(name, window)
            if self._keeps and _is_plane(values):
                self.frame.hold(name, window, values.copy())
            return values
        own = of_interval((name,))  # of this product's previous frame: another's is not its value
        held = None if own else self._held.get(self.variable(name), window)
        if held is not None:
            return held
        try:
            values = by_slabs(self, self._plan(name, window), over)
        except MemoryError:
            raise FrameError(
                f"{self}: there is not enough memory for {name}: a crop, fewer workers, or less "
                "memory for each (memory of the recipe's or the site's [viewing]) need less"
            ) from None
        if self._keeps and not own and _is_plane(values):
            self._held.add(self.variable(name), window, values.copy())
        return values

    def stored(self, name: str, window: Window | None = None) -> Stored:
        """As :meth:`.OpenFrame.stored`; a level that a column does not reach is NaN."""
        if name in self.frame:
            return self.frame.stored(name, window)
        return Stored(self.read(name, window), (float("nan"),) if AT in name else ())

    def hold(self, name: str, window: Window | None, values: NDArray[Any]) -> None:
        """As :meth:`.OpenFrame.hold`."""
        if name in self.frame:
            self.frame.hold(name, window, values)
        else:
            self._held.add(self.variable(name), window, values)

    def choosing(self, index: Mapping[str, Any] | None = None) -> DerivedFrame:
        """The same for a picture: each variable at one point of its further dimensions, of members
        say. ``index`` is the index of a crop. Pictures with the same index share what is read to
        choose and what is computed, unless points are known to them that differ."""
        for number in count():
            key = *sorted((index or {}).items()), number
            if key not in self._chosen:
                self._chosen[key] = ChosenFrame(
                    self.frame.frame, chooses=True, index=index, known=self._known
                )
            if self._chosen[key].shares(self._known):
                break
        chosen = copy(self)
        chosen.frame, chosen._held = self._chosen[key], Held(key, self._held)
        chosen._described = {}
        return chosen

    def _plan(self, name: str, window: Window | None) -> Computation:
        """How a quantity that is not stored is computed."""
        if formula.is_formula(name):
            return formula.plan(self, name, window, self._needs)
        if self._is_general(name):
            return general.plan(self, name, window)
        return table.plan(self, name, window)

    def _needs(self, name: str) -> tuple[list[str], int | None]:
        """The stored variables of a quantity, and how many points around a column it needs."""
        if name in self.frame:
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
        if found := same_quantity(name, own):
            return f"{NEAR} {found}?"
        if self.dimensions.keys() >= _ON_WRF:
            if name.casefold() in SYNONYMS:
                return f"{NEAR} {SYNONYMS[name.casefold()]}?"
            near = did_you_mean(name, (*own, *DIAGNOSTICS))
            if near.startswith(NEAR):
                return near
        return did_you_mean(name, own)


def _is_plane(values: NDArray[Any]) -> bool:
    """Whether values are kept for other products: volumes would use up the memory."""
    return len([size for size in values.shape if size > 1]) < 3


def choosing(frame: ProductFrame, index: Mapping[str, Any]) -> ProductFrame:
    """The frame of a picture, see :meth:`DerivedFrame.choosing`."""
    return frame.choosing(index) if isinstance(frame, DerivedFrame) else frame


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
    files = [Path(path) for path in paths]
    shared = SharedFrame(files, record, stream=stream, time=time, time_variable=time_variable)
    with closing(shared):
        yield shared.view(previous=previous, followed=followed, beside=beside)


class SharedFrame:
    """An open frame for several products, as :func:`open_frame` for one."""

    def __init__(
        self, paths: Sequence[Path], record: int, *, stream: str, time: str, time_variable: str
    ) -> None:
        # Loads HDF5, which a command need not.
        from burstlens.viz.frames.reader import FrameReader
        from burstlens.viz.geometry.ordered import OrderedFrame

        self._reader = FrameReader(paths, record, stream, time, time_variable)
        self._stored = ChosenFrame(OrderedFrame(self._reader))
        self._held = Held()
        self._chosen: dict[ChoiceKey, ChosenFrame] = {}
        self._shares = False
        try:
            self._reader.open()
        except BaseException:
            self._reader.close()
            raise

    def view(
        self,
        *,
        keeps: bool = False,
        previous: Path | None = None,
        followed: Mapping[str, Path] = MappingProxyType({}),
        beside: Mapping[str, Beside] = MappingProxyType({}),
        known: KnownPoints = MappingProxyType({}),
    ) -> DerivedFrame:
        """The frame for one product. With ``keeps``, planes and inflated chunks are kept for later
        ones, chunks in a part of the worker's memory."""
        if keeps and not self._shares:
            self._shares = True
            self._reader.share(round(SHARED_PART * allowance().memory))
        return DerivedFrame(
            self._stored, paths=self._reader.paths, stream=self._reader.stream, previous=previous,
            followed=followed, beside=beside, held=self._held, keeps=keeps, chosen=self._chosen,
            known=known,
        )  # fmt: skip

    @property
    def has_own_time(self) -> bool | None:
        """Whether the file says that its record has the frame's time; None where it says none."""
        return self._reader.has_own_time

    def close(self) -> None:
        """Close the files."""
        self._reader.close()
        self._held.clear()
