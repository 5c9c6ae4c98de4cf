"""Along which dimension of a file its records lie: that of its time variable.

CF conventions 1.11, sections 4.4 (units "... since ..."), 4 (``axis``), 3.3 (``standard_name``),
5.7 (scalar coordinates). A dimension of fixed length, as xarray writes it, holds records too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from burstlens.core.errors import FrameError
from burstlens.viz.seams import OpenFrame

TIME_NAMES = ("Time", "time", "XTIME")
"""Usual names of the record dimension; CDO names WRF's after its coordinate, XTIME."""

_ABOUT = ("standard_name", "axis", "units")


def time_dimension(data: Any, time_variable: str = "") -> str | None:
    """The dimension of an open file along which its records lie; None: the file is one frame.

    That of ``time_variable`` (the model adapter's) if the file has it, then a dimension with a
    usual name, then that of a CF time coordinate, then the first unlimited one. A scalar time
    stands for the whole file, which then is one frame.
    """
    named = data.variables.get(time_variable)
    if named is not None:
        # Characters have a second dimension: the length of the text.
        return str(named.dimensions[0]) if named.dimensions else None
    for name in TIME_NAMES:  # tools may make another dimension unlimited
        if name in data.dimensions:
            return name
    for variable in _coordinates(data):
        return str(variable.dimensions[0]) if variable.dimensions else None
    open_ended = [name for name, dimension in data.dimensions.items() if dimension.isunlimited()]
    return open_ended[0] if open_ended else None


def is_time(name: str, attributes: Any) -> bool:
    """Whether a variable's name or attributes make it a time, also one of reference."""
    return name in TIME_NAMES or _is_dated(attributes) or _is_valid_time(attributes)


def _coordinates(data: Any) -> Iterator[Any]:
    """Time coordinates, the surest first: with the name of their dimension, marked as times."""
    scalars: list[Any] = []
    marked: list[Any] = []
    for name, variable in data.variables.items():
        if len(variable.dimensions) > 1:
            continue
        attributes = {key: getattr(variable, key, "") for key in _ABOUT}
        is_valid_time = _is_valid_time(attributes)
        own = variable.dimensions == (name,)
        if own and (is_valid_time or _is_dated(attributes)):
            yield variable
        elif is_valid_time or (not variable.dimensions and name in TIME_NAMES):
            (marked if variable.dimensions else scalars).append(variable)
    yield from marked
    yield from scalars


def _is_valid_time(attributes: Any) -> bool:
    standard, axis = (str(attributes.get(key, "")).strip() for key in ("standard_name", "axis"))
    return standard == "time" or (not standard and axis.upper() == "T")


def _is_dated(attributes: Any) -> bool:
    """Whether the units are a time since a date, and the standard name is not another time's."""
    standard = str(attributes.get("standard_name", "")).strip()
    since = " since " in str(attributes.get("units", "")).lower()
    return since and standard in ("", "time")


def own_fields(frame: OpenFrame) -> list[str]:
    """The variables of a frame that are neither coordinates nor times."""
    sizes = frame.dimensions
    return [name for name in frame.names if name not in sizes and not _is_time(frame, name)]


def _is_time(frame: OpenFrame, name: str) -> bool:
    try:
        return is_time(name, frame.variable(name).attributes)
    except FrameError:  # a future frame of which only the names are known
        return False
