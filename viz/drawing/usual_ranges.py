"""Ranges that forecasters use for known quantities: colour limits from the first frame on.

A quantity is listed if its range is the same in every place and season: a share, a direction,
a scale with classes. Temperatures, pressures and winds aloft are not listed: a range for all
climates would show a small domain in one colour, so their limits follow the frames.
"""

from __future__ import annotations

from burstlens.core.errors import RecipeError
from burstlens.core.units import conversion

_RANGES: tuple[tuple[tuple[str, ...], str, float, float], ...] = (
    # Shares and directions, by definition (WMO-No. 8, Guide to Instruments and Methods of
    # Observation).
    (("rh", "rh_2m"), "%", 0, 100),
    (("CLDFRA", "SNOWC", "SEAICE", "ALBEDO"), "1", 0, 1),
    (("wind_direction", "wind10_direction"), "degrees", 0, 360),
    # Beaufort scale (WMO-No. 8, part I, chapter 5): force 12 begins at 32.7 m s-1.
    (("wind10", "surface_wind"), "m s-1", 0, 40),
    # US National Weather Service: unstable from 1000, very from 2500, extremely from 4000 J kg-1.
    (("cape", "mu_cape"), "J kg-1", 0, 5000),
    # US National Weather Service: a lid beyond 200 J kg-1 is strong.
    (("cin", "mu_cin"), "J kg-1", -200, 0),
    # NOAA Storm Prediction Center: rotating updrafts are counted from 75 m2 s-2 on grids of 3 km.
    (("updraft_helicity",), "m2 s-2", -200, 200),
    # NOAA's maps of total precipitable water: the moistest tropical air holds about 75 mm.
    (("precipitable_water",), "kg m-2", 0, 75),
    # At the ground at noon in the tropics about 1100 W m-2 of a solar constant of 1361 (WMO-No. 8).
    (("SWDOWN",), "W m-2", 0, 1200),
    # NASA CERES: from high cloud over the tropics to cloudless desert.
    (("OLR",), "W m-2", 100, 350),
    # NOAA's infrared images of the GOES satellites: from overshooting tops to hot ground.
    (("cloud_top_temperature",), "K", 190, 320),
)
"""Names, unit, lowest and highest value."""


def usual_range(name: str, units: str) -> tuple[float, float] | None:
    """The range of a quantity in these units, at any level; None if there is no usual one.

    >>> usual_range("rh@850hPa", "1")
    (0.0, 1.0)
    """
    base = name.partition("@")[0]
    for names, unit, low, high in _RANGES:
        if base in names:
            try:
                factor, offset = conversion(unit, units or "1")
            except RecipeError:  # the file's variable is something else
                return None
            low, high = low * factor + offset, high * factor + offset
            if (factor, offset) == (1.0, 0.0):
                return low, high
            return float(f"{low:.2g}"), float(f"{high:.2g}")  # 40 m s-1 are 77.75 kn
    return None
