"""A frame that has more variables than its files: what a product has computed beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from numpy.typing import NDArray

from burstlens.viz.field import Field
from burstlens.viz.frame import FrameReader, Variable, Window


def enriched(
    frame: FrameReader, like: Field, added: Mapping[str, tuple[str, str, NDArray[Any]]]
) -> FrameReader:
    """The frame with further variables on the points of ``like``, a whole field of it.

    ``added`` maps names to long name, units and values (y, x). Whatever takes a variable's name
    takes theirs: layers, netCDF.
    """
    return cast(FrameReader, _Enriched(frame, like, added))


class _Enriched:
    """Asks the frame for all that it does not have itself."""

    def __init__(
        self, frame: FrameReader, like: Field, added: Mapping[str, tuple[str, str, NDArray[Any]]]
    ) -> None:
        self._frame = frame
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

    def __getattr__(self, name: str) -> Any:
        return getattr(self._frame, name)

    def __contains__(self, name: object) -> bool:
        return name in self._values or name in self._frame

    @property
    def names(self) -> tuple[str, ...]:
        return (*self._frame.names, *self._values)

    def variable(self, name: str) -> Variable:
        return self._variables.get(name) or self._frame.variable(name)

    def read(self, name: str, window: Window | None = None) -> NDArray[Any]:
        if name not in self._values:
            return self._frame.read(name, window)
        part = tuple((window or {}).get(d, slice(None)) for d in self._variables[name].dimensions)
        return self._values[name][part]
