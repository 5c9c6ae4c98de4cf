"""The options of the product kind."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from burstlens.viz.diagnostics.formula import check_names
from burstlens.viz.diagnostics.interval import INTERVALS, of_interval
from burstlens.viz.drawing.colour_names import Colormap
from burstlens.viz.drawing.maps.layers import Contours, Nest, Wind, names_file
from burstlens.viz.drawing.picture import Limits, check_limits, check_size
from burstlens.viz.drawing.style import SCALES
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.geometry.place import Place, Source
from burstlens.viz.kinds.base import OptionsTable
from burstlens.viz.values.options import Values


@dataclass(frozen=True, slots=True)
class MapOptions(OptionsTable):
    """What a map shows, and how."""

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
    """Named points: `[{ name = "Havana", lat = 23.13, lon = -82.38 }]`, or a CSV file in the
    recipe's folder with the columns name, lat, lon (or name, x, y)."""

    stations: tuple[Place, ...] | str = ()
    """The same, with triangles."""

    track: tuple[Place, ...] | str = ()
    """Points that a line joins, in the order given: a list or a CSV file as for `cities`; or the
    name of a product of the kind `track`, for its storm's track so far."""

    source: Source | None = None
    """The epicentre, as a star: `{ lat = 35.77, lon = -117.6 }`, `{ x = 4500, y = 9500 }`, or `{}`
    where the file has it."""

    relief: str | None = None
    """Shade the map by the slopes of this variable, which holds heights: `HGT`."""

    smooth: bool = False
    """Interpolate colours between points, as suits waves, instead of filling cells."""

    nests: tuple[Nest | str, ...] = ()
    """Domains inside this one, outlined: by their streams, `["d02", "d03"]`, at the place that
    their own files give, or by the numbers of `namelist.input`."""

    nest_fields: bool = False
    """Inside its outline, show the values of a nest's own finer grid."""

    coast: bool = True
    """Coastlines, borders and what goes with them, where the frame is on the earth."""

    lakes: bool = True
    """The shores of lakes."""

    states: bool = True
    """Borders of the states of Australia, Brazil, Canada and the United States, on maps that
    are narrower than half a continent."""

    margin_km: float = 0.0
    """Width of the surroundings on each side, in km: they show where a small domain lies."""

    width_px: int = 900
    """Width of the picture, in pixels."""

    height_px: int | None = None
    """Height of the picture, in pixels; by default it follows from the domain's shape."""

    dpi: int = 100
    """Pixels per inch: how large letters and lines are against the picture."""

    values: Values | Literal[False] = field(default_factory=Values)
    """The field's values beside its picture, for the cursor, series and own colours on the page:
    `{ points = 500, bits = 12 }`; `false`: none."""

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
        """Whether something that is shown covers the interval since the frame before."""
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
