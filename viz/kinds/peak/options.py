"""The options of the product kind."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from burstlens.viz.drawing.colour_names import Colormap
from burstlens.viz.drawing.maps.layers import Contours
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.geometry.place import Place, Source
from burstlens.viz.kinds.base import OptionsTable
from burstlens.viz.kinds.map.options import MapOptions
from burstlens.viz.values.options import Values


@dataclass(frozen=True, slots=True)
class PeakOptions(OptionsTable):
    """Which peak of which motion, and how it is shown."""

    quantity: Literal["pgv", "pga", "pgd", "intensity"] = "pgv"
    """Peak ground velocity, acceleration or displacement, or the intensity that follows from one.
    The file's motion is differentiated or integrated over time once, as its units require: peaks
    between two frames are missed (docs/seismology.md)."""

    components: tuple[str, ...] = ("vx", "vy")
    """Variables of the ground's displacement, velocity or acceleration at the surface; their
    units show which. A single one may be the model's own running peak."""

    combine: Literal["vector", "larger", "geometric-mean"] | None = None
    """Of several components: the length of their vector, the larger one, or the geometric mean of
    their own peaks. By default the vector, for `intensity` the larger one."""

    show: Literal["peak", "time"] = "peak"
    """In pictures, the peak or the time at which it came."""

    by: Literal["pgv", "pga"] = "pgv"
    """The motion that `intensity` follows from."""

    magnitude: float | None = None
    """Moment magnitude: with it and `source`, `intensity` takes the terms of magnitude and
    distance as well."""

    format: Literal["png", "netcdf"] = "png"
    """A map; or peak, its time and the intensity as CF netCDF."""

    level: int | None = None
    """Which level of 3-D components, from 0 in the file's order; -1 is the last."""

    crop: Crop = field(default_factory=Crop)
    """The part of the domain that is shown."""

    limits: tuple[float, float] | None = None
    """Colour limits in the shown units; by default from 0 to a round number that grows."""

    log: bool = False
    """Logarithmic colours."""

    colormap: Colormap | None = None
    """A colour map, as for a map."""

    units: str | None = None
    """Of the peak; by default `cm s-1` (velocity), `%g` (acceleration), `cm` (displacement)."""

    title: str | None = None
    """The title, instead of the quantity in words."""

    mark: Literal["min", "max", "both"] | None = None
    """Mark where the smallest or largest value is."""

    contours: Contours | tuple[Contours, ...] = ()
    """Lines of equal value, as on a map; of `pgv`, `pga` or `pgd`, too."""

    cities: tuple[Place, ...] | str = ()
    """Named points, as on a map."""

    stations: tuple[Place, ...] | str = ()
    """The same, with triangles."""

    source: Source | None = None
    """The epicentre, as a star; `{}` where the file has it."""

    relief: str | None = None
    """Shade the map by the slopes of this variable, which holds heights."""

    smooth: bool = True
    """Interpolate colours between points instead of filling cells; not for times."""

    coast: bool = True
    """Coastlines and borders, where the frame is on the earth."""

    margin_km: float = 0.0
    """Width of the surroundings on each side, in km."""

    width_px: int = 900
    """Width of the picture, in pixels."""

    height_px: int | None = None
    """Height of the picture, in pixels; by default it follows from the domain's shape."""

    dpi: int = 100
    """Pixels per inch."""

    values: Values | Literal[False] = field(default_factory=Values)
    """The values beside the picture, as of a map; `false`: none."""

    def __post_init__(self) -> None:
        if not 1 <= len(self.components) <= 3:
            raise ValueError("components: one, two or three variables")
        if self.magnitude is not None and (self.quantity != "intensity" or self.source is None):
            raise ValueError("magnitude goes with quantity = 'intensity' and a source")
        scaled = (self.limits, self.units, self.colormap, self.log or None)
        if self.shown == "intensity" and any(v is not None for v in scaled):
            raise ValueError("intensity has its own steps: no limits, log, units or colormap")
        # The map's own options refuse what a map cannot show.
        self.as_map(self.shown, None)

    @property
    def shown(self) -> str:
        """The variable that is on the map."""
        return "time_of_peak" if self.show == "time" else self.quantity

    @property
    def motion(self) -> Literal["pgv", "pga", "pgd"]:
        """The peak that is followed from frame to frame."""
        return self.by if self.quantity == "intensity" else self.quantity

    def as_map(self, variable: str, limits: tuple[float, float] | None) -> MapOptions:
        """The options of the map that shows ``variable``, a peak or its time."""
        asked = {
            name: getattr(self, name)
            for name in (
                "crop", "title", "mark", "contours", "cities", "stations", "source", "relief",
                "smooth", "coast", "margin_km", "width_px", "height_px", "dpi", "values",
            )
        }  # fmt: skip
        if variable == "time_of_peak":
            # The time jumps from one wave to the next: values between them are not times of a peak.
            asked["smooth"] = False
        if variable != "intensity":
            usual = "cmcrameri.batlow" if variable == "time_of_peak" else "cmocean.amp"
            asked |= {"colormap": self.colormap or usual, "log": self.log}
            asked["limits"] = self.limits or limits
        return MapOptions(variable, **asked)
