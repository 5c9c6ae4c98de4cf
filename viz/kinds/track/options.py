"""The options of the product kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from burstlens.core.errors import RecipeError
from burstlens.core.units import conversion
from burstlens.viz.diagnostics.interval import of_interval
from burstlens.viz.diagnostics.level import check_levels
from burstlens.viz.geometry.place import Place
from burstlens.viz.kinds.base import OptionsTable


@dataclass(frozen=True, slots=True)
class TrackOptions(OptionsTable):
    """Which extreme is followed, and how it is looked for."""

    variable: str
    """The field that has the extreme: a variable of the file, a diagnostic (`slp`), or either one
    at a level (`vorticity@850hPa`)."""

    extreme: Literal["min", "max"] = "min"
    """Whether its smallest or its largest value is followed."""

    level: int | None = None
    """Which level of a 3-D variable, from 0 in the file's order; -1 is the last."""

    units: str | None = None
    """Values in these units: `hPa`. By default the file's."""

    smoothing_km: float = 20.0
    """Standard deviation of the Gaussian under which the extreme is looked for; 0 for none."""

    search_km: float = 200.0
    """How far the storm may be from its expected position, for each interval of output since it
    was seen. The expected position continues its latest positions."""

    first_guess: Place | None = None
    """Where it should be in the first frame: `{ lat = 25.7, lon = -87.6 }`, or `{ x = 0.0,
    y = 5e4 }` in the unit of an idealized plane. By default the extreme of the whole field."""

    wind_km: float = 200.0
    """The strongest 10 m wind is taken within this many km, where the file has U10 and V10."""

    wind_units: str = "kn"
    """Units of that wind."""

    format: Literal["csv", "geojson"] = "csv"
    """The file that each frame gets, with the whole track so far."""

    def __post_init__(self) -> None:
        check_levels((self.variable,))
        if of_interval((self.variable,)):
            raise ValueError(f"variable: {self.variable} is of the time since the frame before")
        for name in ("smoothing_km", "search_km", "wind_km"):
            value = getattr(self, name)
            if not 0 <= value <= 5000 or (value == 0 and name != "smoothing_km"):
                raise ValueError(f"{name} must be above 0, and 5000 at most")
        try:
            conversion("m s-1", self.wind_units)
        except RecipeError as error:
            raise ValueError(f"wind_{error}") from None
