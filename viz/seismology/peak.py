"""The product kind ``peak``: the greatest ground motion so far, as a map or as netCDF."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from burstlens.viz.colour_names import Colormap
from burstlens.viz.crop import Crop
from burstlens.viz.maps.layers import Contours, Place, Source
from burstlens.viz.maps.map import MapOptions
from burstlens.viz.product import Context, Made, PlainKind

if TYPE_CHECKING:
    from burstlens.viz.frame import FrameReader
    from burstlens.viz.inspection import Inspection


@dataclass(frozen=True, slots=True)
class PeakOptions:
    """Which peak of which motion, and how it is shown."""

    __pydantic_config__ = {"extra": "forbid", "use_attribute_docstrings": True}  # noqa: RUF012

    quantity: Literal["pgv", "pga", "pgd", "intensity"] = "pgv"
    """Peak ground velocity, acceleration or displacement, or the intensity that follows from one.
    What the file holds is differentiated or integrated over time once, as its units ask: what the
    frames' interval misses is lost (docs/seismology.md)."""

    components: tuple[str, ...] = ("vx", "vy")
    """Variables of the ground's displacement, velocity or acceleration at the surface, which their
    units tell. A single one may be the model's own running peak."""

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
    """The epicentre, as a star; `{}` where the file tells it."""

    relief: str | None = None
    """Shade the map by the slopes of this variable, which holds heights."""

    smooth: bool = True
    """Colours go over from point to point instead of filling cells; not those of times."""

    coast: bool = True
    """Coastlines and borders, where the frame is on the earth."""

    margin_km: float = 0.0
    """Show so much of the surroundings on each side."""

    width_px: int = 900
    """Width of the picture, in pixels."""

    height_px: int | None = None
    """Height of the picture, in pixels; by default as the domain's shape asks."""

    dpi: int = 100
    """Pixels per inch."""

    def __post_init__(self) -> None:
        if not 1 <= len(self.components) <= 3:
            raise ValueError("components: one, two or three variables")
        if self.magnitude is not None and (self.quantity != "intensity" or self.source is None):
            raise ValueError("magnitude goes with quantity = 'intensity' and a source")
        scaled = (self.limits, self.units, self.colormap, self.log or None)
        if (
            self.quantity == "intensity"
            and self.show == "peak"
            and any(v is not None for v in scaled)
        ):
            raise ValueError("intensity has its own steps: no limits, log, units or colormap")
        # What a map cannot be asked for is told by the map itself.
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
        measured = variable != "intensity"
        asked = {
            name: getattr(self, name)
            for name in (
                "crop", "title", "mark", "contours", "cities", "stations", "source", "relief",
                "smooth", "coast", "margin_km", "width_px", "height_px", "dpi",
            )
        }  # fmt: skip
        if variable == "time_of_peak":
            # The time leaps from one wave to the next: what lay between was at no time the peak's.
            asked["smooth"] = False
        if measured:
            usual = "cmcrameri.batlow" if variable == "time_of_peak" else "cmocean.amp"
            asked |= {"colormap": self.colormap or usual, "log": self.log}
            if limits or self.limits:
                asked["limits"] = self.limits or limits
        return MapOptions(variable, **asked)


class PeakKind(PlainKind):
    """Running peaks: each frame takes the last one's state further."""

    name: ClassVar[str] = "peak"
    options: ClassVar[type[PeakOptions]] = PeakOptions

    def preload(self) -> None:
        """Import what draws and writes."""
        from burstlens.viz.seismology import peak_product  # noqa: F401

    def chained(self, options: PeakOptions) -> bool:
        """Always: a peak is one of all frames so far."""
        return True

    def extensions(self, options: PeakOptions) -> tuple[str, ...]:
        """``png`` or ``nc``."""
        return ("nc",) if options.format == "netcdf" else ("png",)

    def ships(self, options: PeakOptions) -> tuple[str, ...]:
        """The CSV files of places."""
        return tuple(name for name in (options.cities, options.stations) if isinstance(name, str))

    def follows(self, options: PeakOptions) -> tuple[str, ...]:
        """The track that the crop follows."""
        return options.crop.tracks

    def inspect(self, options: PeakOptions, seen: Inspection) -> None:
        """Its components, which are motion of the ground, and the crop."""
        from burstlens.viz.inspection import numbered
        from burstlens.viz.seismology.ground_motion import motion_of

        for name in options.components:
            seen.plane(name, Crop(), level=options.level, path="components")
            found = seen.quiet(name)
            if found is not None:
                seen.noted("components", partial(motion_of, found.name, found.units))
        seen.crop(options.crop, options.components[:1])
        if options.format == "png":
            own = ("pgv", "pga", "pgd", "intensity", "time_of_peak")
            for at, line in numbered("contours", options.contours):
                if line.variable not in own:
                    seen.plane(line.variable, options.crop, level=line.level, at=f"{at}.")
            seen.places(options.cities, "cities")
            seen.places(options.stations, "stations", each=True)
        if options.source is not None:
            seen.source(options.source, "source")

    def make(self, options: PeakOptions, frame: FrameReader, out: Path, context: Context) -> Made:
        """Take the peak one frame further, and write it and its state.

        FrameError when a component is missing, is no ground motion or lies on another grid than
        the state, or when the state is damaged.
        """
        from burstlens.viz.seismology.peak_product import write_peak

        return write_peak(options, frame, out, context)
