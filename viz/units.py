"""Units as files write them: converted where it is asked for, and set as in print."""

from __future__ import annotations

import re

from burstlens.errors import RecipeError
from burstlens.nearness import did_you_mean

_CONVERSIONS: dict[tuple[str, str], tuple[float, float]] = {
    ("K", "degC"): (1.0, -273.15),
    ("K", "degF"): (1.8, -459.67),
    ("Pa", "hPa"): (0.01, 0.0),
    ("Pa", "kPa"): (1e-3, 0.0),
    ("Pa", "MPa"): (1e-6, 0.0),
    ("m", "km"): (1e-3, 0.0),
    ("m", "mm"): (1e3, 0.0),
    ("m s-1", "cm s-1"): (100.0, 0.0),
    ("m s-1", "mm s-1"): (1e3, 0.0),
    ("m s-1", "km h-1"): (3.6, 0.0),
    ("m s-1", "kn"): (3600 / 1852, 0.0),
    ("kg kg-1", "g kg-1"): (1e3, 0.0),
    ("1", "%"): (100.0, 0.0),
}
_SPELLINGS = {"m/s": "m s-1", "meters": "m", "metres": "m", "meter": "m", "kelvin": "K"}
_PRINTED = {"degC": "°C", "degF": "°F", "1": "", "-": "", "dimensionless": ""}
_POWER = re.compile(r"(?<=[A-Za-z)])(?:\^|\*\*)?([+-]?\d+)")
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "+")


def conversion(units: str, wanted: str) -> tuple[float, float]:
    """Factor and offset: ``value * factor + offset`` in ``units`` is the value in ``wanted``.

    RecipeError with the units that can be had when there is no such conversion.

    >>> conversion("K", "degC")
    (1.0, -273.15)
    """
    have = _SPELLINGS.get(units, units)
    if _SPELLINGS.get(wanted, wanted) == have:
        return 1.0, 0.0
    if (have, wanted) not in _CONVERSIONS:
        known = [target for source, target in _CONVERSIONS if source == have]
        near = did_you_mean(wanted, known)
        raise RecipeError(f"units: {units or 'no unit'} cannot be shown as {wanted!r}{near}")
    return _CONVERSIONS[have, wanted]


def printed(units: str) -> str:
    """Units as in print.

    >>> printed("kg m-2 s-1")
    'kg m⁻² s⁻¹'
    """
    text = _SPELLINGS.get(units, units)
    return _PRINTED.get(text, _POWER.sub(lambda m: m[1].translate(_SUPERSCRIPT), text))
