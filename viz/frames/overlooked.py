"""Attributes of missing values and of packing that netCDF4 passes over: those of another type.

It masks no ``missing_value`` that the variable's type does not hold exactly, such as one of 8 bytes
beside values of 4, and none that is text; ranges of valid values likewise. Nor does it unpack by
numbers that are text, or know other names of a missing value. Tools write all of these (NCL, GrADS,
ncatted), against CF conventions 1.11, sections 2.5.1 and 8.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
_PACKING = {"scale_factor": 1.0, "add_offset": 0.0}
MISSING = (
    "missing_value", "fill_value", "FillValue", "fillvalue", "missing_data", "nodata", "no_data",
    "nodata_value", "NODATA_value",
)  # fmt: skip
"""CF's name of missing values, and others."""
_RANGES = ("valid_min", "valid_max", "valid_range")
ODD = frozenset({*_PACKING, *MISSING, *_RANGES})
"""Attributes that may be of a type, or have a name, which netCDF4 passes over."""


def is_packed_by_text(attributes: Mapping[str, Any]) -> bool:
    """Whether numbers that unpack are text."""
    return any(isinstance(attributes.get(key), str) for key in _PACKING)


def with_overlooked(values: Array, attributes: Mapping[str, Any], kind: np.dtype[Any]) -> Array:
    """Values with what netCDF4 leaves undone: unpacked by text, NaN where they are missing.

    ``values`` are floating point where some are missing already; ``kind`` is the type as stored.
    """
    if is_packed_by_text(attributes):
        scale, offset = _packing(attributes)
        values = np.asarray(values * scale + offset)
    missing = _overlooked(attributes, kind)
    low, high = _valid_range(attributes, kind)
    if kind.kind == "f" and (low, high) != (-np.inf, np.inf):
        values = np.where((values < low) | (values > high), values.dtype.type(np.nan), values)
    if not missing:
        return values
    scale, offset = _packing(attributes)
    is_packed = (scale, offset) != (1.0, 0.0)
    absent = np.zeros(values.shape, bool)
    for number in missing:
        if not is_packed:
            absent |= values == values.dtype.type(number)
            continue
        # A whole number stands for a stored one; others are in the units of the values.
        target = number * scale + offset if float(number).is_integer() else number
        absent |= np.abs(values - target) <= abs(scale) / 2
    if absent.any():
        values = values.astype(values.dtype if values.dtype.kind == "f" else np.float64)
        values[absent] = np.nan
    return values


def _overlooked(attributes: Mapping[str, Any], kind: np.dtype[Any]) -> list[float]:
    found: list[float] = []
    for key in MISSING:
        given = attributes.get(key)
        if given is not None:
            is_odd = key != MISSING[0] or isinstance(given, str)
            found += [one for one in _numbers(given) if is_odd or not _is_exact(one, kind)]
    return found


def _valid_range(attributes: Mapping[str, Any], kind: np.dtype[Any]) -> tuple[float, float]:
    """The ends of the valid values as far as netCDF4 passes them over, else infinite."""
    low, high = -np.inf, np.inf
    for key in _RANGES:
        given = attributes.get(key)
        numbers = [] if given is None else _numbers(given)
        if not isinstance(given, str) and all(_is_exact(one, kind) for one in numbers):
            continue
        if key == "valid_range" and len(numbers) == 2:
            low, high = max(low, numbers[0]), min(high, numbers[1])
        elif key == "valid_min" and numbers:
            low = max(low, numbers[0])
        elif key == "valid_max" and numbers:
            high = min(high, numbers[0])
    return low, high


def _is_exact(number: float, kind: np.dtype[Any]) -> bool:
    """Whether a type holds a number as it is; also one too large for it, which no value can be."""
    if kind.kind == "f":
        return not abs(number) <= float(np.finfo(kind).max) or float(kind.type(number)) == number
    return number.is_integer() and np.iinfo(kind).min <= number <= np.iinfo(kind).max


def _packing(attributes: Mapping[str, Any]) -> tuple[float, float]:
    scale, offset = (
        next(iter(_numbers(attributes.get(key, usual))), usual) for key, usual in _PACKING.items()
    )
    return scale, offset


def _numbers(given: Any) -> list[float]:
    """The numbers of an attribute, also of one that is text (``-9999``, ``-9999.f``)."""
    if not isinstance(given, str):
        listed = np.atleast_1d(given).ravel()
        return [float(one) for one in listed] if listed.dtype.kind in "fiu" else []
    found = []
    for word in given.replace(",", " ").split():
        try:
            found.append(float(word.rstrip("fFdD")))
        except ValueError:
            return []
    return found
