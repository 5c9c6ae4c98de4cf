"""Further dimensions: along which each point is another thing, not another height or place.

Members of an ensemble, ERA5's ``expver``, steps of a forecast, quantiles, months, frequencies.
Known by CF standard names, units of the coordinate, else by usual names. Their points are named by
text: few digits are typed, dates are many.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from burstlens.core.digits import format_ticks
from burstlens.core.lengths import metres
from burstlens.core.printable import printable

_NAMES = re.compile(
    r"(?!.*(?:lev|depth|height|layer))"
    r"(?:expver|ensembles?|n?ens|n?members?|numbers?|reali[sz]ations?|experiments?|scenarios?|steps?"
    r"|lead_?(?:times?)?|leads|(?:forecast|fcst|f)_?(?:period|hours?|days?|hr|step|reference_time)"
    r"|ref(?:erence)?_?time|quantiles?|percentiles?|return_?periods?|thresholds?|months?|seasons?"
    r"|dayofyear|doy|basins?|regions?"
    r"|(?:(?:soil|veg|vegetation|land|surface|sfc|crop|plant|cloud|precip|ice|area)_?)?types?"
    r"|category|categories|ncat|class(?:es)?|nc"
    r"|n?bands?|n?channels?|wl|wavelengths?|wave_?numbers?|freq(?:uency|uencies)?|directions?|dir"
    r"|species|tracers?|aerosols?|n?tiles?|n?pfts?|nvegtyp|land_cat|soil_cat"
    r"|(?:(?!(?:\w+_)?(?:[ijpxyz]|lat\w*|lon\w*|rows?|col(?:umn)?s?|north\w*|east\w*|vert\w*|alt\w*"
    r"|range|distance|azimuth|density|rho|grid|cell|point)_)\w+_)?(?:types?|n?bins?)"
    r"|polari[sz]ations?|samples?|replicates?|iterations?|n?runs?|n?models?|rcps?|ssps?|sources?"
    r"|modes?|n?components?|parameters?|variables?|stat(?:istic)?s?|hours?|days?|years?|dates?"
    r"|time\w*|init\w*)(?:_(?!(?:[xyij]|lat\w*|lon\w*|rows?|columns?)$).*)?",
    re.IGNORECASE,
)
_STANDARD = re.compile(
    r"realization|time|forecast_(?:period|reference_time)|area_type|region|quantile|platform_\w+"
    r"|.*(?:frequency|wavelength|wavenumber|_band|_direction).*"
)
_UNITS = re.compile(
    r"(?:h|hrs?|hours?|d|days?|months?|years?)|hz|s-1|nm|nanomet(?:er|re)s?|um|µm|microns?"
    r"|micromet(?:er|re)s?|cm-1"
)
"""Not degrees, in which grids lie, nor seconds, in which depths of seismology are given."""
_PLACES = re.compile(r"(?:deg(?:ree)?s?[ _]?|°\s*)(?:n(?:orth)?|e(?:ast)?)", re.IGNORECASE)
"""Units of latitude and longitude."""
_LENGTH_M = 0.01
"""Lengths in smaller units than it are those of particles or of rain, others those of places."""
_HAS_LENGTH = re.compile(r"thresholds?(?:_.*)?|wavelengths?|wl", re.IGNORECASE)
"""Further dimensions that may be lengths in any unit."""
_WORDS = re.compile(
    r"\b(?:ensemble|member|reali[sz]ation|lead|forecast (?:period|step)|quantile|percentile"
    r"|frequency|wavelength|category)\b",
    re.IGNORECASE,
)
"""Words in a coordinate's long name."""
_UPWARDS = re.compile(
    r".*(?:lev|depth|height|layer|altitude|isobar|pressure|sigma|hybrid|theta|isentrop).*|z\w?|nz\w*|k"
    r"|alt|eta|s_rho|s_w|bottom_top.*|soil_(?!type|cat).*|num_.*_levels.*|pfull|phalf|isopycnal|rho|sig\w*",
    re.IGNORECASE,
)
JOINED = re.compile(r"expver", re.IGNORECASE)
"""ERA5's versions: the later one holds what the first one does not have yet."""
_NEAR, _BESIDE = 1e-5, 0.01
"""How far a value that is asked for may be off, as a part of itself, and of the distance to the
next one: few digits are typed, and dates are near each other."""
_WHOLE = 1e10
"""Whole numbers below it, such as dates, are shown with all of their digits."""


def is_further(dimension: str, attributes: Mapping[str, Any]) -> bool:
    """Whether a dimension is one, by its name and its coordinate's attributes.

    >>> is_further("number", {}), is_further("depth", {"units": "m"})
    (True, False)
    """
    axis = str(attributes.get("axis", "")).upper()
    if axis in ("X", "Y", "Z") or attributes.keys() & {"positive", "formula_terms"}:
        return False
    standard = str(attributes.get("standard_name", ""))
    if standard and not _STANDARD.fullmatch(standard):
        return False
    text = str(attributes.get("units", "")).strip()
    units, length = text.lower(), metres(text) or 0.0
    if standard or axis == "T" or " since " in units or _UNITS.fullmatch(units):
        return True
    is_long = length >= _LENGTH_M and not _HAS_LENGTH.fullmatch(dimension)
    if is_long or _PLACES.fullmatch(text):
        return False
    if _WORDS.search(str(attributes.get("long_name", ""))):
        return True
    return bool(_NAMES.fullmatch(dimension) and not _UPWARDS.fullmatch(dimension))


def is_upwards(dimension: str, attributes: Mapping[str, Any]) -> bool:
    """Whether a dimension is known to be one of levels."""
    known = attributes.keys() & {"positive", "formula_terms"}
    is_known = bool(known) or str(attributes.get("axis", "")).upper() == "Z"
    return is_known or bool(_UPWARDS.fullmatch(dimension))


def find_point(values: Sequence[Any], text: str) -> int | None:
    """The place of the value that a text names, as it is, as it is shown, or as a number near it;
    None if none is near enough.

    >>> find_point([0.25, 0.5], "0.5"), find_point(["rcp45"], "rcp85")
    (1, None)
    """
    for known in (values, point_texts(values)):
        if text in known:
            return known.index(text)
    try:
        wanted = float(text)
    except ValueError:
        return None
    return _nearest(values, wanted)


def point_texts(values: Sequence[Any]) -> list[str]:
    """The values of a coordinate as text that tells them apart."""
    if any(isinstance(value, str) for value in values):
        return [printable(value) for value in values]
    if all(_is_whole(value) for value in values):
        return [f"{value:.0f}" for value in values]
    return format_ticks(values)


def _nearest(values: Sequence[Any], wanted: float) -> int | None:
    """The place of the value that is meant by a number; None if none is near enough."""
    numbers = [value for value in values if isinstance(value, float) and math.isfinite(value)]
    if not numbers:
        return None
    value = min(numbers, key=lambda one: abs(one - wanted))
    beside = min((abs(one - value) for one in numbers if one != value), default=math.inf)
    off = min(_NEAR * max(abs(value), _NEAR), _BESIDE * beside, 0.5 if _is_whole(value) else beside)
    return values.index(value) if abs(value - wanted) <= off else None


def _is_whole(value: float) -> bool:
    return value.is_integer() and abs(value) < _WHOLE
