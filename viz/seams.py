"""The seam of frames: the interface for all code that reads one.

A file, joined tiles, a frame that is still to come and one with computed diagnostics all have
it. This module imports nothing of ``viz`` and no numpy at run time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from burstlens.core.printable import printable
from burstlens.core.units import convert, is_difference, usual

if TYPE_CHECKING:
    from numpy.typing import NDArray

Window = Mapping[str, slice]
"""The part of each dimension that is wanted; dimensions not named are taken whole."""

_COLDEST_K = 60.0
"""A field that is nowhere above is not of temperatures: it is one of differences."""


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable of a frame; dimensions and shape are those of one record, without time.

    ``chunks`` is the shape in which a file compresses it, each inflated as a whole; empty where any
    part can be read alone. ``choice`` says in words at which point of further dimensions, of
    members say, it is taken; ``further`` are those along which none was named. ``is_text``: its
    values are texts.
    """

    name: str
    dimensions: tuple[str, ...]
    shape: tuple[int, ...]
    attributes: Mapping[str, Any]
    chunks: tuple[int, ...] = ()
    choice: str = ""
    further: tuple[str, ...] = ()
    is_text: bool = False

    @property
    def units(self) -> str:
        """The unit as the file writes it; empty when it names none."""
        return str(self.attributes.get("units", "")).strip()

    @property
    def long_name(self) -> str:
        """What the variable is, in words (CF ``long_name``, WRF ``description``), or its name."""
        for key in ("long_name", "description", "longname", "standard_name"):
            text = " ".join(printable(str(self.attributes.get(key, ""))).split())
            if text:
                return text
        return self.name

    @property
    def words(self) -> str:
        """What it is, in words, with what was chosen of it."""
        return ", ".join(filter(None, (self.long_name, self.choice)))

    @property
    def is_difference(self) -> bool:
        """Whether it is a difference of temperatures, as an anomaly is."""
        return is_difference(self.name, self.attributes)

    def are_differences(self, values: NDArray[Any]) -> bool:
        """Whether values of the variable are differences: also where no temperature is that low."""
        return self.is_difference or (
            usual(self.units) == "K" and values.size > 0 and not (values > _COLDEST_K).any()
        )

    def converted(self, values: NDArray[Any], wanted: str) -> NDArray[Any]:
        """Values of the variable in other units; RecipeError when they cannot be converted."""
        difference = self.are_differences(values)
        return convert(values, self.units, wanted, difference=difference)


@dataclass(frozen=True, slots=True)
class Stored:
    """Values as the file holds them: NaN and infinities stay. ``fills`` mark missing values."""

    values: NDArray[Any]
    fills: tuple[float, ...]


class OpenFrame(Protocol):
    """One frame, open for reading: arrays without the time dimension, missing values as NaN.

    ``str()`` gives its name for messages.
    """

    @property
    def attributes(self) -> Mapping[str, Any]:
        """The global attributes, of the first tile where there are several."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all variables that are stored."""

    @property
    def dimensions(self) -> Mapping[str, int]:
        """The size of each dimension of the whole domain, without time."""

    @property
    def time(self) -> str:
        """The valid-time key that the frame was opened with; empty where none was given."""

    @property
    def start(self) -> str | None:
        """The valid-time key of the model's start, where the file has it."""

    @property
    def record(self) -> int:
        """The frame's index along time in its files."""

    def __contains__(self, name: object) -> bool: ...

    def variable(self, name: str) -> Variable:
        """What is known of a variable; FrameError with near names when there is none."""

    def read(self, name: str, window: Window | None = None) -> NDArray[Any]:
        """The values of a variable within a window, one axis for each of its dimensions.

        Floating point keeps its width; missing values are NaN (integers that have some become
        float64). Raises FrameError when the variable is not there or cannot be read.
        """

    def stored(self, name: str, window: Window | None = None) -> Stored:
        """The values of a variable as the model wrote them, for checks of the model.

        Unlike ``read`` it masks nothing: values outside ``valid_range`` are there, and a NaN is one
        even if the file says that NaN stands for a missing value. Packed values are
        unpacked, their missing ones NaN; so are those of a level that a column does not reach.
        Raises FrameError.
        """

    def hold(self, name: str, window: Window | None, values: NDArray[Any]) -> None:
        """Keep what ``stored`` gave until the frame is closed, so that the same part, or any
        part of a whole variable, is read from the disk once.

        Only for values of which none is missing: ``read`` would mask those.
        """


class FrameWrapper:
    """What an :class:`OpenFrame` over another one, ``frame``, has of that one unless it says
    otherwise."""

    def __init__(self, frame: OpenFrame) -> None:
        self.frame = frame

    @property
    def attributes(self) -> Mapping[str, Any]:
        return self.frame.attributes

    @property
    def names(self) -> tuple[str, ...]:
        return self.frame.names

    @property
    def dimensions(self) -> Mapping[str, int]:
        return self.frame.dimensions

    @property
    def time(self) -> str:
        return self.frame.time

    @property
    def start(self) -> str | None:
        return self.frame.start

    @property
    def record(self) -> int:
        return self.frame.record

    def __str__(self) -> str:
        return str(self.frame)

    def __contains__(self, name: object) -> bool:
        return name in self.frame
