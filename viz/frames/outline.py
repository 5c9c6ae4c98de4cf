"""A frame that is still to come: what is known of it before the model has started.

It answers like an open frame, so that diagnostics, levels, expressions, crops and planes are looked
up in it by the code that will read the frames themselves. It has no values but coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from numpy.typing import NDArray

from burstlens.core.errors import FrameError
from burstlens.core.nearness import did_you_mean
from burstlens.viz.seams import Stored, Variable, Window

Array = NDArray[Any]


class UnknownYet(FrameError):  # noqa: N818  (a FrameError that is not a fault)
    """What is asked for is known only when there is a frame."""


@dataclass(frozen=True, slots=True)
class Column:
    """How far a domain reaches upwards: heights in m, the pressure of its top in Pa where that is
    known. ``is_depth``: its heights are depths below the surface with the sign turned."""

    bottom_m: float
    top_m: float
    top_pa: float | None = None
    is_depth: bool = False


Described = tuple[tuple[str, ...], Mapping[str, Any]]
"""Dimensions without time, and attributes."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a stream's frames.

    ``variables`` by name; None where only the name is known. ``sizes`` those of the
    dimensions that are known. ``attributes`` are the global ones, None where they are not known,
    and with them the place of the domain. ``coordinates`` reads the values of a variable of at
    most two dimensions; it raises KeyError for what it does not know. ``doubtful`` are variables
    that the model may write with other settings, ``unwritten`` those that it computes and writes
    to no stream by itself; ``doubt`` says which settings ask for them.
    ``remedy`` is what to do about a name that is wrongly called unknown.
    """

    variables: Mapping[str, Described | None]
    sizes: Mapping[str, int]
    attributes: Mapping[str, Any] | None = None
    coordinates: Callable[[str], Array] | None = None
    doubtful: Mapping[str, Described | None] = field(default_factory=dict)
    unwritten: Mapping[str, Described | None] = field(default_factory=dict)
    unlisted: frozenset[str] = frozenset()
    """Variables that are not suggested for a name that is unknown."""
    doubt: str = ""
    remedy: str = ""
    column: Callable[[], Column | None] | None = None
    """Reads how far the domain reaches upwards."""
    silent: str = ""
    """Why there will be no frame; empty where there will."""
    is_complete: bool = True
    """Whether there can be no variables but those: settings that are not there may ask for more."""
    is_placed: bool = True
    """Whether the domain lies there for certain: a nest may move, a step may make it anew."""


class Outline:
    """The frame that a stream's description promises: an :class:`.OpenFrame`."""

    time = ""
    """Not known."""
    start = None
    """Not known."""
    record = 0

    def __init__(self, stream: str, known: Known) -> None:
        self.stream = stream
        self.known = known

    @property
    def attributes(self) -> dict[str, Any]:
        """The global attributes. UnknownYet where they are not known."""
        if self.known.attributes is None:
            raise UnknownYet("the attributes of the frames are not known yet")
        return dict(self.known.attributes)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables that a frame may have, without the unlisted ones."""
        return tuple(name for name in self.known.variables if name not in self.known.unlisted)

    @property
    def dimensions(self) -> dict[str, int]:
        """The sizes that are known."""
        return dict(self.known.sizes)

    def __str__(self) -> str:
        return f"the stream {self.stream}"

    def __contains__(self, name: object) -> bool:
        return name in self.known.variables

    def variable(self, name: str) -> Variable:
        """As of a frame; a dimension whose size is not known has 0 points."""
        if name not in self:
            raise FrameError(f"{self} has no variable {name!r}{did_you_mean(name, self.names)}")
        described = self.known.variables[name]
        if described is None:
            raise UnknownYet(f"of {name} only the name is known yet")
        dimensions, attributes = described
        shape = tuple(self.known.sizes.get(dimension, 0) for dimension in dimensions)
        return Variable(name, dimensions, shape, attributes)

    def read(self, name: str, window: Window | None = None) -> Array:
        """The values of a coordinate. UnknownYet for anything else."""
        variable = self.variable(name)
        if self.known.coordinates is None or len(variable.dimensions) > 2:
            raise UnknownYet(f"the values of {name} are not known yet")
        try:
            values = self.known.coordinates(name)
        except KeyError:
            raise UnknownYet(f"the values of {name} are not known yet") from None
        part = (window or {}).get
        return values[tuple(part(dimension, slice(None)) for dimension in variable.dimensions)]

    def stored(self, name: str, window: Window | None = None) -> Stored:
        """As :meth:`read`."""
        return Stored(self.read(name, window), ())

    def hold(self, name: str, window: Window | None, values: Array) -> None:
        """No-op: what is known is in memory."""

    def wider(self, *, widest: bool = False) -> Outline:
        """The same with the doubtful variables; ``widest``: and with those that are unwritten."""
        known = self.known
        variables = {**known.variables, **known.doubtful}
        if widest:
            variables = {**known.unwritten, **variables}
        return Outline(self.stream, replace(known, variables=variables))
