"""Attributes of missing values and of packing that netCDF4 passes over: those of another type.

It masks no ``missing_value`` that the variable's type does not hold exactly, such as one of 8 bytes
beside values of 4, and none that is text; ranges of valid values likewise. Nor does it unpack by
numbers that are text, or know other names of a missing value. Tools write all of these (NCL, GrADS,
ncatted), against CF conventions 1.11, sections 2.5.1 and 8.1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.core.packing import read_numbers

Array = NDArray[Any]
_PACKING = {"scale_factor": 1.0, "add_offset": 0.0}
_MISSING = ("_FillValue", "missing_value")
"""CF's names of missing values."""
_OTHERS = (
    "fill_value", "FillValue", "fillvalue", "missing_data", "nodata", "no_data", "nodata_value",
    "NODATA_value",
)  # fmt: skip
"""Other names, which count where neither of CF's is there: tools copy them along."""
_RANGES = ("valid_min", "valid_max", "valid_range")
ODD = frozenset({*_PACKING, *_MISSING[1:], *_OTHERS, *_RANGES})
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
        target = number * scale + offset if number % 1 == 0 else number
        absent |= np.abs(values - target) <= abs(scale) / 2
    if absent.any():
        values = values.astype(values.dtype if values.dtype.kind == "f" else np.float64)
        values[absent] = np.nan
    return values


def _overlooked(attributes: Mapping[str, Any], kind: np.dtype[Any]) -> list[float]:
    given = attributes.get("missing_value")
    if given is None and "_FillValue" in attributes:
        return []
    found = missing_numbers(attributes, kind)
    # netCDF4 takes all of its numbers or, where one is not of the type, none.
    if given is None or isinstance(given, str):
        return found
    is_known = all(one in found and _is_exact(one, kind) for one in read_numbers(given))
    return [] if is_known else found


def missing_numbers(attributes: Mapping[str, Any], kind: np.dtype[Any]) -> list[float]:
    """The numbers that mark missing values of a type, by all of a variable's attributes.

    Those that no value can be are left out: NaN, too large ones, fractions among whole numbers. A
    fraction counts where whole numbers are packed. Under other names than CF's, 0 is a value.
    """
    if kind.kind not in "fiu":
        return []
    found = [one for key in _MISSING for one in read_numbers(attributes.get(key))]
    if not attributes.keys() & set(_MISSING):
        others = (one for key in _OTHERS for one in read_numbers(attributes.get(key)))
        found = [one for one in others if one or kind.kind != "f"]
    if kind.kind == "f":
        largest = float(np.finfo(kind).max)
        return [one for one in found if abs(one) <= largest or math.isinf(one)]
    finite = [one for one in found if math.isfinite(one)]
    if attributes.keys() & _PACKING.keys():
        return finite
    ends = np.iinfo(kind)
    low, high = int(ends.min), int(ends.max)
    if str(attributes.get("_Unsigned", "")).strip().lower() == "true" and low:
        finite = [one + (high - low + 1) * (one < 0) for one in finite]
        low, high = 0, high - low
    return [one for one in finite if one % 1 == 0 and low <= one <= high]


def _valid_range(attributes: Mapping[str, Any], kind: np.dtype[Any]) -> tuple[float, float]:
    """The ends of the valid values as far as netCDF4 passes them over, else infinite."""
    low, high = -np.inf, np.inf
    for key in _RANGES:
        given = attributes.get(key)
        numbers = read_numbers(given)
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
    return number % 1 == 0 and np.iinfo(kind).min <= number <= np.iinfo(kind).max


def _packing(attributes: Mapping[str, Any]) -> tuple[float, float]:
    scale, offset = (
        next(iter(read_numbers(attributes.get(key))), usual) for key, usual in _PACKING.items()
    )
    return scale, offset
