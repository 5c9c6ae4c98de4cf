"""Units of length and of angle as files write them: symbols, words, SI prefixes, a factor.

UDUNITS names (udunits2-common.xml, udunits2-prefixes.xml), without regard to case where a word is
written out. ``nm`` is no unit here: files of maps mean nautical miles by it, UDUNITS nanometres.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from functools import lru_cache

_PREFIXES = {
    "exa": ("E", 18), "peta": ("P", 15), "tera": ("T", 12), "giga": ("G", 9), "mega": ("M", 6),
    "kilo": ("k", 3), "hecto": ("h", 2), "deca": ("da", 1), "deka": ("da", 1), "deci": ("d", -1),
    "centi": ("c", -2), "milli": ("m", -3), "micro": ("u", -6),
}  # fmt: skip
_POWERS = {"": Fraction(1), **{symbol: Fraction(10) ** n for symbol, n in _PREFIXES.values()}}
_NAMES = {"": "", **{name: symbol for name, (symbol, _) in _PREFIXES.items()}}
_MICRO = str.maketrans("µμ", "uu")
_LENGTHS = {
    "m": Fraction(1), "in": Fraction("0.0254"), "ft": Fraction("0.3048"), "yd": Fraction("0.9144"),
    "ftm": Fraction("1.8288"), "mi": Fraction("1609.344"), "nmi": Fraction(1852),
    "US survey ft": Fraction(1200, 3937), "US survey mi": Fraction(5280 * 1200, 3937),
}  # fmt: skip
"""Metres in one."""
_ANGLES = {
    "rad": 1.0, "degrees": math.pi / 180, "arcmin": math.pi / 10_800, "arcsec": math.pi / 648_000,
}  # fmt: skip
"""Radians in one."""
_WORDS = {
    "meter": "m", "metre": "m", "inch": "in", "inches": "in", "foot": "ft", "feet": "ft",
    "international foot": "ft", "international feet": "ft", "international ft": "ft",
    "yard": "yd", "fathom": "ftm", "mile": "mi", "statute mile": "mi", "international mile": "mi",
    "nautical mile": "nmi", "international nautical mile": "nmi", "nmile": "nmi",
    "us survey foot": "US survey ft", "us survey feet": "US survey ft", "us ft": "US survey ft",
    "survey foot": "US survey ft", "survey feet": "US survey ft", "us foot": "US survey ft",
    "us feet": "US survey ft", "ftus": "US survey ft", "foot us": "US survey ft",
    "us survey ft": "US survey ft", "us survey mile": "US survey mi", "us mi": "US survey mi",
    "us statute mile": "US survey mi", "us survey mi": "US survey mi",
    "radian": "rad", "degree": "degrees", "deg": "degrees", "°": "degrees",
    "degree north": "degrees", "degree east": "degrees", "degrees north": "degrees",
    "degrees east": "degrees", "degree n": "degrees", "degree e": "degrees",
    "degrees n": "degrees", "degrees e": "degrees", "arc degree": "degrees",
    "arc minute": "arcmin", "arcminute": "arcmin",
    "arc second": "arcsec", "arcsecond": "arcsec", "minute of arc": "arcmin",
    "second of arc": "arcsec",
}  # fmt: skip
_SYMBOLS = {
    **{symbol: ("", symbol) for symbol in (*_LENGTHS, *_ANGLES)},
    **{prefix + symbol: (prefix, symbol) for prefix, _ in _PREFIXES.values()
       for symbol in ("m", "ft", "rad")},
}  # fmt: skip
_CAPITALS = {"M": "m", "NM": "nmi", "KM": "km", "Km": "km"}
_LEAST = Fraction(1, 10**30)
_FACTOR = re.compile(
    r"(?P<number>\+?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,2})?)"
    r"(?:(?:\^|\*\*)(?P<power>[+-]?\d{1,2}))?"
    r"\s*[*·x]?\s*(?P<unit>[^\d\s].*)"
)


def metres(units: str) -> float | None:
    """Metres in one unit of a length; None if the units are not a length.

    >>> metres("kilometers"), metres("100 km"), metres("nautical mile"), metres("K")
    (1000.0, 100000.0, 1852.0, None)
    """
    found = exact_metres(units)
    return None if found is None else float(found)


@lru_cache(maxsize=256)
def exact_metres(units: str) -> Fraction | None:
    """As :func:`metres`, as a fraction."""
    factor, (prefix, unit) = _read(units)
    return None if unit not in _LENGTHS else factor * _POWERS[prefix] * _LENGTHS[unit]


@lru_cache(maxsize=256)
def radians(units: str) -> float | None:
    """Radians in one unit of an angle; None if the units are not an angle.

    >>> radians("microradian"), round(radians("degrees_east"), 7)
    (1e-06, 0.0174533)
    """
    factor, (prefix, unit) = _read(units)
    return None if unit not in _ANGLES else float(factor * _POWERS[prefix]) * _ANGLES[unit]


@lru_cache(maxsize=256)
def spelled(units: str) -> str:
    """The symbol of a length that is written as a word; any other units unchanged.

    >>> spelled("kilometers"), spelled("US_survey_foot"), spelled("hPa")
    ('km', 'US survey ft', 'hPa')
    """
    text = units.strip()
    prefix, unit = _unit(text)
    is_symbol = text.translate(_MICRO) in _SYMBOLS or text == "M"
    return prefix + unit if unit in _LENGTHS and not is_symbol else units


def _read(units: str) -> tuple[Fraction, tuple[str, str]]:
    """The factor before a unit, and the symbols of its prefix and of the unit; "" for none."""
    text = " ".join(units.strip().strip("[]()").split())
    match = _FACTOR.fullmatch(text)
    if match is None:
        return Fraction(1), _unit(text)
    number = Fraction(match["number"])
    if match["power"] and number:
        number **= int(match["power"])
    if number and not _LEAST <= number <= 1 / _LEAST:
        return Fraction(1), ("", "")  # no length of anything, nor a floating-point number
    return number, _unit(match["unit"]) if number else ("", "")


def _unit(text: str) -> tuple[str, str]:
    text = _CAPITALS.get(text, text).translate(_MICRO)
    if text in _SYMBOLS:
        return _SYMBOLS[text]
    word = re.sub(r"[\s_-]+", " ", text).lower()
    for name, prefix in _NAMES.items():
        if word.startswith(name):
            rest = word.removeprefix(name).lstrip()
            for known in (rest, rest.removesuffix("s")):
                if known in _WORDS:
                    return prefix, _WORDS[known]
    return "", ""
