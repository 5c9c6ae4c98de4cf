"""The product kind ``map``: a PNG of a 2-D field, or of one level of a 3-D one."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from burstlens.viz.colour_names import Colormap
from burstlens.viz.crop import Crop
from burstlens.viz.diagnostics.formula import check_names
from burstlens.viz.diagnostics.interval import INTERVALS, of_interval
from burstlens.viz.maps.layers import Contours, Nest, Place, Source, Wind, names_file
from burstlens.viz.picture import Limits, check_limits, check_size
from burstlens.viz.product import Context, Made, PlainKind
from burstlens.viz.style import SCALES

if TYPE_CHECKING:
    from burstlens.viz.frame import FrameReader
    from burstlens.viz.inspection import Inspection


@dataclass(frozen=True, slots=True)
class MapOptions:
    """What a map shows, and how."""

    __pydantic_config__ = {"extra": "forbid", "use_attribute_docstrings": True}  # noqa: RUF012

    variable: str
    """The variable, as the file calls it (`T2`, `W`, `vz`), a diagnostic (`slp`), or either one at
    a level (`temperature@850hPa`)."""

    level: int | None = None
    """Which level of a 3-D variable, from 0 in the file's order; -1 is the last."""

    crop: Crop = field(default_factory=Crop)
    """The part of the domain that is shown."""

    limits: Limits = None
    """Colour limits in the shown units: `[low, high]`. By default the usual range of the quantity,
    or round limits that all pictures of the run share and that widen with the field."""

    centred: bool | None = None
    """Colours that diverge from zero in the middle; by default for velocities of both signs."""

    log: bool = False
    """Logarithmic colours; for values above zero only."""

    colormap: Colormap | None = None
    """A colour map of cmocean, cmcrameri or matplotlib: `thermal`, `batlow`, `viridis`. By
    default one that suits the quantity."""

    units: str | None = None
    """Show in these units: `degC`, `hPa`, `mm s-1`, `g kg-1`. By default the file's."""

    title: str | None = None
    """The title, instead of the variable's name in words."""

    mark: Literal["min", "max", "both"] | None = None
    """Mark where the smallest or largest value is."""

    contours: Contours | tuple[Contours, ...] = ()
    """Lines of equal value of a variable: `{ variable = "slp", units = "hPa", interval = 4 }`, or
    a list of such."""

    barbs: Wind | None = None
    """Wind barbs in knots: `{}` for WRF's 10 m wind, else `{ u = "U", v = "V", level = 12 }`."""

    vectors: Wind | None = None
    """The wind as arrows."""

    streamlines: Wind | None = None
    """The wind as streamlines."""

    cities: tuple[Place, ...] | str = ()
    """Named points: `[{ name = "Havana", lat = 23.13, lon = -82.38 }]`, or a CSV file of the
    recipe's folder with the columns name, lat, lon (or name, x, y)."""

    stations: tuple[Place, ...] | str = ()
    """The same, with triangles."""

    track: tuple[Place, ...] | str = ()
    """Points that a line joins, in the order given: a list or a CSV file as for `cities`; or the
    name of a product of the kind `track`, for its storm's way so far."""

    source: Source | None = None
    """The epicentre, as a star: `{ lat = 35.77, lon = -117.6 }`, `{ x = 4500, y = 9500 }`, or `{}`
    where the file tells it."""

    relief: str | None = None
    """Shade the map by the slopes of this variable, which holds heights: `HGT`."""

    smooth: bool = False
    """Colours go over from point to point, as values of waves do, instead of filling cells."""

    nests: tuple[Nest | str, ...] = ()
    """Domains inside this one, to be outlined: by their streams, `["d02", "d03"]`, where their
    own files say that they are, or as `namelist.input` tells them."""

    nest_fields: bool = False
    """Inside its outline, show the values of a nest's own finer grid."""

    coast: bool = True
    """Coastlines, borders and what goes with them, where the frame is on the earth."""

    lakes: bool = True
    """The shores of lakes."""

    states: bool = True
    """Borders of the states of Australia, Brazil, Canada and the United States, on maps that do
    not span half a continent and more."""

    margin_km: float = 0.0
    """Show so much of the surroundings on each side, to tell where a small domain lies."""

    width_px: int = 900
    """Width of the picture, in pixels."""

    height_px: int | None = None
    """Height of the picture, in pixels; by default as the domain's shape asks."""

    dpi: int = 100
    """Pixels per inch: how large letters and lines are against the picture."""

    def __post_init__(self) -> None:
        check_names((self.variable,))
        check_limits(self.limits, log=self.log, centred=self.centred)
        if self.colormap in SCALES and (self.log or self.centred or self.limits):
            raise ValueError(
                f"{self.colormap} has its own steps: no limits, log or centred with it"
            )
        check_size(self.width_px, self.height_px, self.dpi, least=(200, 150))
        if not 0 <= self.margin_km <= 20000:
            raise ValueError("margin_km must be 0 to 20000")
        if self.nest_fields and of_interval((self.variable,)):
            raise ValueError(
                f"nest_fields: {self.variable} is of the time since the frame before, which is "
                "known of the product's own stream alone"
            )
        if self.nest_fields and not any(isinstance(nest, str) for nest in self.nests):
            raise ValueError("nest_fields needs the streams of nests: nests = ['d02']")

    @property
    def of_interval(self) -> bool:
        """Whether something that is shown is of the time since the frame before."""
        lines = self.contours if isinstance(self.contours, tuple) else (self.contours,)
        names = (self.variable, self.crop.follow or "", *(asked.variable for asked in lines))
        return of_interval(names)

    @property
    def in_steps(self) -> bool:
        """Whether the colours of such a field have steps of their own."""
        plain = self.colormap is None and not self.log and not self.centred
        return plain and self.variable in INTERVALS and self.units in (None, "mm", "mm h-1")

    @property
    def storm(self) -> str | None:
        """The product whose track is drawn; None when `track` lists points, or names a file."""
        return self.track if isinstance(self.track, str) and not names_file(self.track) else None


class MapKind(PlainKind):
    """Maps: drawn by matplotlib's Agg canvas, without pyplot and without a display."""

    name: ClassVar[str] = "map"
    options: ClassVar[type[MapOptions]] = MapOptions

    def preload(self) -> None:
        """Import matplotlib and the colour maps, which takes a worker about a second."""
        import pyproj  # noqa: F401

        from burstlens.viz import style
        from burstlens.viz.maps import figure  # noqa: F401

        style.colormap("batlow")

    def extensions(self, options: MapOptions) -> tuple[str, ...]:
        """Always PNG."""
        return ("png",)

    def ships(self, options: MapOptions) -> tuple[str, ...]:
        """The CSV files of places and tracks."""
        track = () if options.storm else options.track
        named = (options.cities, options.stations, track)
        return tuple(name for name in named if isinstance(name, str))

    def follows(self, options: MapOptions) -> tuple[str, ...]:
        """The tracks that the crop follows and that are drawn."""
        drawn = (options.storm,) if options.storm else ()
        return tuple(dict.fromkeys((*options.crop.tracks, *drawn)))

    def beside(self, options: MapOptions) -> tuple[str, ...]:
        """The streams of the nests."""
        return tuple(nest for nest in options.nests if isinstance(nest, str))

    def chained(self, options: MapOptions) -> bool:
        """Whether it shows what is of the time since the frame before."""
        return options.of_interval

    def widens(self, options: MapOptions) -> bool:
        """Whether the limits follow the frames: none are given, and colours have no steps."""
        return options.limits is None and not options.in_steps

    def inspect(self, options: MapOptions, seen: Inspection) -> None:
        """Its field, layers and crop."""
        seen.plane(options.variable, options.crop, level=options.level, units=options.units)
        seen.crop(options.crop, (options.variable,))
        seen.isolines(options.contours, options.crop)
        for how in ("barbs", "vectors", "streamlines"):
            wind: Wind | None = getattr(options, how)
            if wind is not None:
                knots = "kn" if how == "barbs" else None
                for key, name in (("u", wind.u), ("v", wind.v)):
                    seen.plane(name, options.crop, level=wind.level, path=key, at=f"{how}.")
                    seen.units(seen.quiet(name), knots, f"{how}.{key}")
        if options.relief is not None:
            seen.plane(options.relief, options.crop, path="relief")
            seen.units(seen.quiet(options.relief), "m", "relief")
        seen.places(options.cities, "cities")
        seen.places(options.stations, "stations", each=True)
        if not options.storm:
            seen.places(options.track, "track")
        if options.source is not None:
            seen.source(options.source, "source")

    def make(self, options: MapOptions, frame: FrameReader, out: Path, context: Context) -> Made:
        """Draw the PNG. FrameError when all values are NaN."""
        from burstlens.viz.diagnostics.rain_totals import keep_totals
        from burstlens.viz.field import read_field
        from burstlens.viz.limits import fitted
        from burstlens.viz.maps.figure import draw
        from burstlens.viz.maps.layering import read_layers
        from burstlens.viz.maps.nesting import read_nests
        from burstlens.viz.times import lead

        shown = read_field(
            frame, options.variable, level=options.level, crop=options.crop, units=options.units
        )
        nests = read_nests(options, frame, shown.plane)
        layers = replace(read_layers(options, frame, context.files), nests=nests)
        inside = [nest.shown for nest in nests if nest.shown is not None]
        context = fitted(context, options, shown, *inside)
        drawn = draw(shown, options, out, context, lead=lead(frame, context), layers=layers)
        if options.of_interval:
            keep_totals(frame, context)
        told = {"nests": [dict(nest.facts) for nest in nests]} if nests else {}
        return Made("png", shown.facts() | drawn | told, context.limits)
