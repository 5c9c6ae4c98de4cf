"""A future frame: what is known of it before the model has started.

It behaves like an open frame, so that diagnostics, levels, expressions, crops and planes are
checked by the code that will read the frames. It has no values except coordinates.
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
    """The requested information is known only when there is a frame."""


@dataclass(frozen=True, slots=True)
class Column:
    """The vertical extent of a domain: heights in m, the pressure of its top in Pa if that is
    known. ``is_depth``: its heights are negated depths below the surface."""

    bottom_m: float
    top_m: float
    top_pa: float | None = None
    is_depth: bool = False


Described = tuple[tuple[str, ...], Mapping[str, Any]]
"""Dimensions without time, and attributes."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a stream's frames.

    ``variables`` by name; None if only the name is known. ``sizes`` are those of the known
    dimensions. ``attributes`` are the global ones, None if they, and with them the position of the
    domain, are not known. ``coordinates`` reads the values of a variable of at most two
    dimensions; it raises KeyError for unknown ones. ``doubtful`` are variables that the model may
    write with other settings, ``unwritten`` those that it computes but writes to no stream by
    default; ``doubt`` says which settings enable them.
    ``remedy`` is what to do if a name is wrongly reported as unknown.
    """

    variables: Mapping[str, Described | None]
    sizes: Mapping[str, int]
    attributes: Mapping[str, Any] | None = None
    coordinates: Callable[[str], Array] | None = None
    doubtful: Mapping[str, Described | None] = field(default_factory=dict)
    unwritten: Mapping[str, Described | None] = field(default_factory=dict)
    unlisted: frozenset[str] = frozenset()
    """Variables that are not suggested for an unknown name."""
    doubt: str = ""
    remedy: str = ""
    column: Callable[[], Column | None] | None = None
    """Reads the vertical extent of the domain."""
    silent: str = ""
    """Why there will be no frame; empty if there will be frames."""
    is_complete: bool = True
    """Whether no other variables are possible: settings that are not known may add more."""
    texts: frozenset[str] = frozenset()
    """Variables whose values are texts."""
    is_placed: bool = True
    """Whether the domain's position is certain: a nest may move, a step may make it anew."""


class Outline:
    """The frame expected from a stream's description: an :class:`.OpenFrame` without times."""

    time = ""
    start = None
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
        """As of a frame; a dimension of unknown size has 0 points."""
        if name not in self:
            raise FrameError(f"{self} has no variable {name!r}{did_you_mean(name, self.names)}")
        described = self.known.variables[name]
        if described is None:
            raise UnknownYet(f"only the name of {name} is known yet")
        dimensions, attributes = described
        shape = tuple(self.known.sizes.get(dimension, 0) for dimension in dimensions)
        return Variable(name, dimensions, shape, attributes, is_text=name in self.known.texts)

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
        """The same with the doubtful variables; with ``widest`` also the unwritten ones."""
        known = self.known
        variables = {**known.variables, **known.doubtful}
        if widest:
            variables = {**known.unwritten, **variables}
        return Outline(self.stream, replace(known, variables=variables))
