"""A frame with more variables than its files: those that a product has computed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from burstlens.viz.frames.held import slices
from burstlens.viz.geometry.field import Field
from burstlens.viz.seams import FrameWrapper, OpenFrame, Stored, Variable, Window


class EnrichedFrame(FrameWrapper):
    """A frame with further variables on the points of ``like``, a whole field of it.

    ``added`` maps names to long name, units and values (y, x). Their names are accepted wherever a
    variable's name is: layers, netCDF. It is an :class:`.OpenFrame`.
    """

    def __init__(
        self, frame: OpenFrame, like: Field, added: Mapping[str, tuple[str, str, NDArray[Any]]]
    ) -> None:
        super().__init__(frame)
        where = frame.variable(like.name).attributes.get("coordinates")
        placed = {} if where is None else {"coordinates": where}
        self._variables = {
            name: Variable(
                name, like.dimensions, values.shape,
                {"long_name": long_name, "units": units} | placed,
            )
            for name, (long_name, units, values) in added.items()
        }  # fmt: skip
        self._values = {name: values for name, (_, _, values) in added.items()}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the frame's variables and of those added."""
        return (*self.frame.names, *self._values)

    def __contains__(self, name: object) -> bool:
        return name in self._values or name in self.frame

    def variable(self, name: str) -> Variable:
        return self._variables.get(name) or self.frame.variable(name)

    def read(self, name: str, window: Window | None = None) -> NDArray[Any]:
        if name not in self._values:
            return self.frame.read(name, window)
        return self._values[name][slices(self._variables[name], window)]

    def stored(self, name: str, window: Window | None = None) -> Stored:
        if name not in self._values:
            return self.frame.stored(name, window)
        return Stored(self.read(name, window), ())

    def hold(self, name: str, window: Window | None, values: NDArray[Any]) -> None:
        """As :meth:`.OpenFrame.hold`; added variables are in memory."""
        if name not in self._values:
            self.frame.hold(name, window, values)
