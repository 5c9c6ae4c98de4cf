"""The options of the product kind."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from burstlens.viz.diagnostics.formula import check_names
from burstlens.viz.drawing.colour_names import Colormap, Colour
from burstlens.viz.drawing.picture import Limits, check_limits, check_size
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.kinds.base import OptionsTable


@dataclass(frozen=True, slots=True)
class Isosurface(OptionsTable):
    """Where a 3-D variable has one value."""

    variable: str
    """The variable, as the file calls it, or a diagnostic."""

    value: float
    """In `units`."""

    units: str | None = None
    """By default the file's."""

    colour: Colour | None = None
    """A name that matplotlib knows, or `#rrggbb`. By default one of its own."""

    opacity: float = 1.0
    """From 0 (invisible) to 1 (opaque)."""

    def __post_init__(self) -> None:
        check_names((self.variable,))
        if not math.isfinite(self.value):
            raise ValueError("isosurfaces: value must be a finite number")
        if not 0 < self.opacity <= 1:
            raise ValueError("isosurfaces: opacity must be above 0 and not above 1")


@dataclass(frozen=True, slots=True)
class Haze(OptionsTable):
    """A 3-D variable as a haze that is denser where the value is higher (volume rendering)."""

    variable: str
    """The variable, as the file calls it, or a diagnostic."""

    range: tuple[float, float]
    """In `units`: where the haze begins, and where it is densest."""

    units: str | None = None
    """By default the file's."""

    colour: Colour | None = None
    """A name that matplotlib knows, or `#rrggbb`. By default one of its own."""

    opacity: float = 0.8
    """The part of the background that the densest haze hides, where it is as thick as a tenth of
    the box's height."""

    def __post_init__(self) -> None:
        check_names((self.variable,))
        if not (all(map(math.isfinite, self.range)) and self.range[0] < self.range[1]):
            raise ValueError("haze: range is two numbers, the first below the second")
        if not 0 < self.opacity <= 1:
            raise ValueError("haze: opacity must be above 0 and not above 1")


@dataclass(frozen=True, slots=True)
class Slices(OptionsTable):
    """Planes on which a 3-D variable is shown."""

    x: tuple[float, ...] = ()
    """Vertical planes at these x, in km, as numbered along the box."""

    y: tuple[float, ...] = ()
    """The same along y."""

    lon: tuple[float, ...] = ()
    """On the earth: vertical planes along the columns that are nearest to these degrees east in the
    middle of the domain."""

    lat: tuple[float, ...] = ()
    """The same along rows, in degrees north."""

    height: tuple[float, ...] = ()
    """Horizontal planes at these heights, in km."""

    def __post_init__(self) -> None:
        if not (self.x or self.y or self.lon or self.lat or self.height):
            raise ValueError("slices need x, y, lon, lat or height")
        if (self.x or self.y) and (self.lon or self.lat):
            raise ValueError("slices take x and y, or lon and lat")


@dataclass(frozen=True, slots=True)
class Camera(OptionsTable):
    """The camera. It stays in one place for the whole series."""

    azimuth: float = 205.0
    """The side on which the camera stands, in degrees from north, clockwise: 180 in the south."""

    elevation: float = 25.0
    """How high it stands, in degrees above the horizon."""

    zoom: float = 1.0
    """1 shows the whole box."""

    def __post_init__(self) -> None:
        if not 0 <= self.elevation <= 85:
            raise ValueError("camera: elevation must be 0 to 85")
        if not 0.1 <= self.zoom <= 20:
            raise ValueError("camera: zoom must be 0.1 to 20")
        if not math.isfinite(self.azimuth):
            raise ValueError("camera: azimuth must be a number of degrees")


@dataclass(frozen=True, slots=True)
class SceneOptions(OptionsTable):
    """What a scene shows, and how."""

    isosurfaces: tuple[Isosurface, ...] = ()
    """Surfaces of equal value: `[{ variable = "W", value = 10, colour = "crimson" }]`."""

    variable: str | None = None
    """What is shown in colours: a 3-D variable on the `slices`, a 2-D one on the ground."""

    slices: Slices | None = None
    """Where a 3-D `variable` is shown: `{ y = [40], height = [1.5] }`, in km, on
    the earth `{ lat = [25.5], height = [1.5] }`."""

    haze: tuple[Haze, ...] = ()
    """Variables from thin to dense: `[{ variable = "QCLOUD", range = [0.05, 1.5],
    units = "g kg-1" }]`."""

    crop: Crop = field(default_factory=Crop)
    """The part of the domain that is shown."""

    exaggeration: float | None = None
    """Factor by which heights are stretched. By default a round one, so that the box is about
    a third as high as it is wide; never below 1."""

    camera: Camera = field(default_factory=Camera)
    """The camera: `{ azimuth = 205, elevation = 25, zoom = 1 }`."""

    limits: Limits = None
    """Colour limits of `variable`: `[low, high]`; by default as for maps."""

    centred: bool | None = None
    """Colours that diverge from zero in the middle; by default for velocities of both signs."""

    log: bool = False
    """Logarithmic colours; for values above zero only."""

    colormap: Colormap | None = None
    """A colour map of cmocean, cmcrameri or matplotlib. By default one that suits the quantity."""

    units: str | None = None
    """Show `variable` in these units. By default the file's."""

    coast: bool = True
    """Coastlines and borders on the ground, where the frame is on the earth."""

    title: str | None = None
    """The title, instead of the variables' names in words."""

    width_px: int = 900
    """Width of the picture, in pixels."""

    height_px: int = 600
    """Height of the picture, in pixels."""

    dpi: int = 100
    """Pixels per inch: how large letters and lines are against the picture."""

    def __post_init__(self) -> None:
        if self.slices is not None and self.variable is None:
            raise ValueError("slices need a variable")
        if self.variable is not None:
            check_names((self.variable,))
        check_limits(self.limits, log=self.log, centred=self.centred)
        if self.exaggeration is not None and not 0 < self.exaggeration < math.inf:
            raise ValueError("exaggeration must be above zero")
        check_size(self.width_px, self.height_px, self.dpi, least=(300, 300))
        if not self.isosurfaces and not self.haze and self.variable is None:
            raise ValueError("a scene needs isosurfaces, haze or a variable")

    @property
    def seen(self) -> tuple[Isosurface | Haze, ...]:
        """Isosurfaces and hazes, in the order of their colours."""
        return (*self.isosurfaces, *self.haze)
