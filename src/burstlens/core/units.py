"""Units as files write them: converted on request, and typeset.

A difference of temperatures is converted without an offset: one of 1 K is one of 1 degC. CF
conventions 1.11: ``units_metadata`` (3.1.2); older files show it by the standard name, the cell
methods (7.3) or in words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from burstlens.core.errors import RecipeError
from burstlens.core.lengths import exact_metres, spelled
from burstlens.core.nearness import did_you_mean

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The size of each unit of a quantity in the quantity's first unit. A unit may measure several
# quantities: a millimetre of water is a kilogram per square metre.
_QUANTITIES: tuple[dict[str, str], ...] = (
    {"K": "1", "degC": "1", "degF": "5/9"},
    {"Pa": "1", "hPa": "100", "kPa": "1000", "MPa": "1000000", "inHg": "3386.389"},
    {"m": "1", "km": "1000", "cm": "1/100", "mm": "1/1000", "in": "0.0254", "ft": "0.3048"},
    {"kg m-2": "1", "mm": "1", "cm": "10", "in": "25.4"},
    {
        "m s-1": "1", "cm s-1": "1/100", "mm s-1": "1/1000", "km h-1": "5/18", "kn": "1852/3600",
        "mph": "0.44704",
    },
    {"m s-2": "1", "cm s-2": "1/100", "Gal": "1/100", "g": "9.80665", "%g": "0.0980665"},
    {"kg kg-1": "1", "g kg-1": "1/1000"},
    {
        "mm h-1": "1", "kg m-2 s-1": "3600", "kg m-2 d-1": "1/24", "in h-1": "25.4",
        "mm d-1": "1/24", "mm s-1": "3600", "m s-1": "3600000",
    },
    {"1": "1", "%": "1/100"},
    {"K m-1": "1", "K km-1": "1/1000"},
)  # fmt: skip
_MADE = frozenset({"W m-2", "J kg-1", "m2 s-2", "J m-2", "m2", "m3", "N m-2", "m3 s-1"})
"""Units that nothing converts, in the spelling that colours and ranges know."""
_ZEROS = {"degC": "273.15", "degF": "45967/180"}
"""The zero point of a unit in the first unit, where it is not zero."""
_SPELLINGS = {
    "m/s": "m s-1", "cm/s": "cm s-1", "m/s2": "m s-2", "m/s^2": "m s-2", "cm/s2": "cm s-2",
    "kelvin": "K", "mb": "hPa", "mbar": "hPa", "millibar": "hPa", "millibars": "hPa", "C": "degC",
    "pa": "Pa", "kt": "kn", "knots": "kn", "percent": "%",
    "degree": "degrees", "deg": "degrees", "fraction": "1", "none": "1",
}  # fmt: skip
_OF_DEGREES = r"(?:deg(?:ree)?s?|[°ºo˚])[ _]?"
_TEMPERATURES = {
    unit: re.compile(rf"{_OF_DEGREES}(?:{letter}|{words})|{words}{more}", re.IGNORECASE)
    for unit, letter, words, more in (
        ("degC", "c", "celsius|centigrade", "|℃"), ("degF", "f", "fahrenheit", "|℉"),
        ("K", "k", "kelvins?", ""),
    )
}  # fmt: skip
"""Temperatures in words and with a sign of degrees, in any case."""
_WORDS = {
    "meter": "m", "meters": "m", "metre": "m", "metres": "m", "second": "s", "seconds": "s",
    "sec": "s", "hour": "h", "hr": "h", "day": "d", "days": "d",
    "watt": "W", "watts": "W", "pa": "Pa",
}  # fmt: skip
_PRODUCT = re.compile(r"[A-Za-zµ%]+(?:(?:\^|\*\*)?\{?[+-]?\d+\}?)?(?:[ .*/]+(?=\S)|$)")
_FACTOR = re.compile(r"([ .*/]*)([A-Za-zµ%]+)(?:\^|\*\*)?\{?([+-]?\d+)?\}?")
_PRINTED = {"degC": "°C", "degF": "°F", "degrees": "°", "1": "", "-": "", "dimensionless": ""}
_POWER = re.compile(r"(?<=[A-Za-z)])(?<![0-9.]e)(?<![0-9.]E)(?:\^|\*\*)?([+-]?\d+)")
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "+")
DIFFERENCE = "temperature: difference"
ON_SCALE = "temperature: on_scale"
"""The ``units_metadata`` of a difference, and of a temperature."""
_STANDARD_DIFFERENCES = re.compile(
    r"(?:^|_)(?:anomaly|tendency|difference|excess|departure|increment|deficit|depression|change)"
    r"(?:_|$)|standard_error|uncertainty"
)
_METHODS_OF_DIFFERENCES = re.compile(r":\s*(?:standard_deviation|range|mean_absolute_deviation)\b")
_WORDS_OF_DIFFERENCES = re.compile(
    r"anomal|differences?\b|deviation|departure|increment|tendenc|\btrends?\b|spread\b"
    r"|(?:standard|analysis|estimated|rms|mean square) error|uncertaint|depression|amplitude"
    r"|temperature range|perturbation|\bdelta\b|\bbias(?![ -]?(?:adjust|correct))"
    r"|\bstd\.?(?:dev)?\b|\bminus\b",
    re.IGNORECASE,
)
_NAMES_OF_DIFFERENCES = re.compile(
    r"anom|(?:^|_)(?:diff|difference|std|stdev|stddev|sd|bias|spread|sprd|err|error|incr?|increment"
    r"|tend|tendency|delta|trend)(?:_|\d|$)|^d(?:elta)?_?(?:t2m?|sst|tas|temp)(?:_|$)",
    re.IGNORECASE,
)
_OF_DIFFERENCES = ("units_metadata", "standard_name", "cell_methods", "long_name", "description")
"""Attributes that may say it."""


@lru_cache(maxsize=256)
def usual(units: str) -> str:
    """The usual spelling of units as models write them; any others unchanged.

    >>> usual("kg/m**2/s"), usual("m s^{-1}"), usual("degK"), usual("kilometers"), usual("dBZ")
    ('kg m-2 s-1', 'm s-1', 'K', 'km', 'dBZ')
    """
    text = " ".join(units.split())
    if text in _SPELLINGS:
        return _SPELLINGS[text]
    for temperature, spelling in _TEMPERATURES.items():
        if spelling.fullmatch(text):
            return temperature
    if exact_metres(text) is not None:
        return spelled(text)
    if not re.search(r"[ .*/^]|\d", text) or not re.fullmatch(rf"(?:{_PRODUCT.pattern})+", text):
        return units
    factors = []
    for between, name, power in _FACTOR.findall(text):
        number = int(power or 1) * (-1 if "/" in between else 1)
        factors.append(f"{_WORDS.get(name, name)}{'' if number == 1 else number}")
    found = " ".join(factors)
    return found if any(found in quantity for quantity in _QUANTITIES) or found in _MADE else units


def conversion(units: str, wanted: str, *, difference: bool = False) -> tuple[float, float]:
    """Factor and offset: ``value * factor + offset`` in ``units`` is the value in ``wanted``.

    The offset of a ``difference`` of two values is 0. Raises RecipeError, with the possible units,
    when they cannot be converted.

    >>> conversion("K", "degC"), conversion("K", "degC", difference=True)
    ((1.0, -273.15), (1.0, 0.0))
    """
    have, want = usual(units), usual(wanted)
    if have == want:
        return 1.0, 0.0
    measured = [quantity for quantity in _QUANTITIES if have in quantity]
    for quantity in measured:
        if want in quantity:
            # Exact fractions, so that there and back changes no digit.
            per_unit = Fraction(quantity[want])
            shift = Fraction(_ZEROS.get(have, "0")) - Fraction(_ZEROS.get(want, "0"))
            offset = 0.0 if difference else float(shift / per_unit)
            return float(Fraction(quantity[have]) / per_unit), offset
    lengths = exact_metres(have), exact_metres(want)
    if lengths[0] is not None and lengths[1] is not None:
        return float(lengths[0] / lengths[1]), 0.0
    near = did_you_mean(wanted, [unit for quantity in measured for unit in quantity])
    if not units:
        near = '; an expression takes its unit in brackets, as "2 * W [m s-1]"'
    raise RecipeError(f"units: {units or 'no unit'} cannot be shown as {wanted!r}{near}")


def is_temperature(units: str) -> bool:
    """Whether a quantity in these units is a temperature, or a difference of two."""
    return usual(units) in _TEMPERATURES


def is_difference(name: str, attributes: Mapping[str, Any]) -> bool:
    """Whether a variable with these attributes is a difference, if it is a temperature.

    >>> is_difference("sst", {"long_name": "Monthly Anomaly of SST", "units": "K"})
    True
    """
    text = {key: str(attributes.get(key, "")) for key in _OF_DIFFERENCES}
    if "temperature:" in text["units_metadata"]:
        return DIFFERENCE in text["units_metadata"]
    return bool(
        _STANDARD_DIFFERENCES.search(text["standard_name"])
        or _METHODS_OF_DIFFERENCES.search(text["cell_methods"])
        or any(_WORDS_OF_DIFFERENCES.search(text[key]) for key in ("long_name", "description"))
        or _NAMES_OF_DIFFERENCES.search(name)
    )


def convert(
    values: NDArray[Any], units: str, wanted: str, *, difference: bool = False
) -> NDArray[Any]:
    """Values in other units, floating point in its own width; RecipeError as :func:`conversion`."""
    import numpy as np

    factor, offset = conversion(units, wanted, difference=difference)
    if (factor, offset) == (1.0, 0.0):
        return values
    kind = values.dtype.type if values.dtype.kind == "f" else np.float64
    return np.asarray(values * kind(factor) + kind(offset))


def printed(units: str) -> str:
    """Units, typeset.

    >>> printed("kg m-2 s-1")
    'kg m⁻² s⁻¹'
    """
    text = usual(units)
    return _PRINTED.get(text, _POWER.sub(lambda m: m[1].translate(_SUPERSCRIPT), text))
