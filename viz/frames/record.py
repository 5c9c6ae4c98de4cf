"""Along which dimension of an open file its records lie, and which of its variables are times.

A dimension of fixed length, as xarray writes it, holds records too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from burstlens.core.errors import FrameError
from burstlens.core.printable import file_text
from burstlens.core.record_axis import TIME_NAMES as TIME_NAMES
from burstlens.core.record_axis import record_dimension
from burstlens.viz.seams import OpenFrame

_ABOUT = ("standard_name", "axis", "units", "calendar", "calendar_type")


class _StoredVariable:
    """A variable of an open file, as the rule sees it."""

    def __init__(self, variable: Any) -> None:
        self._variable = variable

    @property
    def dimensions(self) -> tuple[str, ...]:
        return tuple(self._variable.dimensions)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self._variable.shape)

    @property
    def kind(self) -> str:
        kind = "U" if self._variable.dtype is str else str(self._variable.dtype.kind)
        return "c" if kind in "SU" else kind

    @property
    def size(self) -> int:
        return 0 if self._variable.dtype is str else int(self._variable.dtype.itemsize)

    @property
    def sample(self) -> str:
        if 0 in self.shape or not 1 <= len(self.shape) <= 2:
            return ""
        row = np.asarray(np.ma.filled(self._variable[0], b""))
        return file_text(row.tobytes()).strip() if row.dtype.kind == "S" else str(row)

    @property
    def attributes(self) -> Mapping[str, Any]:
        names = self._variable.ncattrs()
        return {key: self._variable.getncattr(key) for key in _ABOUT if key in names}


def stored_variables(data: Any) -> Mapping[str, _StoredVariable]:
    """The variables of an open file, as the rule sees them: read as far as they are asked for."""
    return {name: _StoredVariable(variable) for name, variable in data.variables.items()}


def time_dimension(data: Any, time_variable: str = "") -> str | None:
    """The dimension of an open file along which its records lie; None: the file is one frame.

    ``time_variable`` is the model adapter's; see :func:`.record_dimension`.
    """
    unlimited = (name for name, one in data.dimensions.items() if one.isunlimited())
    return record_dimension(stored_variables(data), data.dimensions, unlimited, time_variable)


def is_time(name: str, attributes: Any) -> bool:
    """Whether a variable's name or attributes make it a time, also one of reference."""
    standard, axis = (str(attributes.get(key, "")).strip() for key in ("standard_name", "axis"))
    if name in TIME_NAMES or standard == "time":
        return True
    is_dated = " since " in str(attributes.get("units", "")).lower()
    return not standard and (is_dated or axis.upper() == "T")


def own_fields(frame: OpenFrame) -> list[str]:
    """The variables of a frame that are neither coordinates nor times."""
    sizes = frame.dimensions
    return [name for name in frame.names if name not in sizes and not _is_time(frame, name)]


def _is_time(frame: OpenFrame, name: str) -> bool:
    try:
        return is_time(name, frame.variable(name).attributes)
    except FrameError:  # a future frame of which only the names are known
        return False
