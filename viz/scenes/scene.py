"""The product kind ``scene``: a PNG of a frame in three dimensions."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from burstlens.viz.colour_names import Colormap, Colour
from burstlens.viz.crop import Crop
from burstlens.viz.diagnostics.formula import check_names
from burstlens.viz.diagnostics.interval import of_interval
from burstlens.viz.picture import Limits, check_limits, check_size
from burstlens.viz.product import Context, Made, PlainKind

if TYPE_CHECKING:
    from burstlens.viz.frame import FrameReader
    from burstlens.viz.inspection import Inspection

_CONFIG = {"extra": "forbid", "use_attribute_docstrings": True}


@dataclass(frozen=True, slots=True)
class Isosurface:
    """Where a 3-D variable has one value."""

    __pydantic_config__ = _CONFIG

    variable: str
    """The variable, as the file calls it, or a diagnostic."""

    value: float
    """In `units`."""

    units: str | None = None
    """By default the file's."""

    colour: Colour | None = None
    """A name that matplotlib knows, or `#rrggbb`. By default one of its own."""

    opacity: float = 1.0
    """From 0, not to be seen, to 1, not to be seen through."""

    def __post_init__(self) -> None:
        check_names((self.variable,))
        if not math.isfinite(self.value):
            raise ValueError("isosurfaces: value must be a finite number")
        if not 0 < self.opacity <= 1:
            raise ValueError("isosurfaces: opacity must be above 0 and not above 1")


@dataclass(frozen=True, slots=True)
class Haze:
    """A 3-D variable as a haze, the denser the more there is of it (volume rendering)."""

    __pydantic_config__ = _CONFIG

    variable: str
    """The variable, as the file calls it, or a diagnostic."""

    range: tuple[float, float]
    """In `units`: where the haze begins, and where it is densest."""

    units: str | None = None
    """By default the file's."""

    colour: Colour | None = None
    """A name that matplotlib knows, or `#rrggbb`. By default one of its own."""

    opacity: float = 0.8
    """How much of what is behind it the densest haze hides, as thick as a tenth of the box is
    high."""

    def __post_init__(self) -> None:
        check_names((self.variable,))
        if not (all(map(math.isfinite, self.range)) and self.range[0] < self.range[1]):
            raise ValueError("haze: range is two numbers, the first below the second")
        if not 0 < self.opacity <= 1:
            raise ValueError("haze: opacity must be above 0 and not above 1")


@dataclass(frozen=True, slots=True)
class Slices:
    """Planes on which a 3-D variable is shown."""

    __pydantic_config__ = _CONFIG

    x: tuple[float, ...] = ()
    """Vertical ones at these x, in km, as the numbers along the box are."""

    y: tuple[float, ...] = ()
    """The same along y."""

    lon: tuple[float, ...] = ()
    """On the earth: vertical ones along the columns that are nearest to these degrees east in the
    middle of the domain."""

    lat: tuple[float, ...] = ()
    """The same along rows, in degrees north."""

    height: tuple[float, ...] = ()
    """Level ones, at so many km."""

    def __post_init__(self) -> None:
        if not (self.x or self.y or self.lon or self.lat or self.height):
            raise ValueError("slices need x, y, lon, lat or height")
        if (self.x or self.y) and (self.lon or self.lat):
            raise ValueError("slices take x and y, or lon and lat")


@dataclass(frozen=True, slots=True)
class Camera:
    """Where the scene is looked at from. It stays where it is for the whole series."""

    __pydantic_config__ = _CONFIG

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
class SceneOptions:
    """What a scene shows, and how."""

    __pydantic_config__ = _CONFIG

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
    """Heights are so many times as high as they are. By default round, so that the box is about
    a third as high as it is wide; never below 1."""

    camera: Camera = field(default_factory=Camera)
    """Where the scene is looked at from: `{ azimuth = 205, elevation = 25, zoom = 1 }`."""

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
        """What stands in the air, in the order of its colours."""
        return (*self.isosurfaces, *self.haze)


class SceneKind(PlainKind):
    """Scenes: rendered by VTK off screen, without X or a GPU, in a process of its own."""

    name: ClassVar[str] = "scene"
    options: ClassVar[type[SceneOptions]] = SceneOptions

    def preload(self) -> None:
        """Import what reads and draws, and start the process that renders."""
        from burstlens.viz import style
        from burstlens.viz.scenes import figure as scene_figure  # noqa: F401
        from burstlens.viz.scenes.renderer import renderer

        style.colormap("batlow")
        renderer()

    def extensions(self, options: SceneOptions) -> tuple[str, ...]:
        """Always PNG."""
        return ("png",)

    def follows(self, options: SceneOptions) -> tuple[str, ...]:
        """The track that the crop follows."""
        return options.crop.tracks

    def chained(self, options: SceneOptions) -> bool:
        """Whether a variable is of the time since the frame before."""
        names = [asked.variable for asked in options.seen]
        return of_interval((*names, options.variable or "", options.crop.follow or ""))

    def widens(self, options: SceneOptions) -> bool:
        """Whether the limits follow the frames: something is in colours, and none are given."""
        return options.variable is not None and options.limits is None

    def inspect(self, options: SceneOptions, seen: Inspection) -> None:
        """What stands in the air, on one grid; what is in colours; the crop."""
        from burstlens.viz.inspection import numbered

        for key, given in (("isosurfaces", options.isosurfaces), ("haze", options.haze)):
            for at, one in numbered(key, given):
                seen.columns(one.variable, f"{at}.variable", one.units, f"{at}.units")
        names = [one.variable for one in options.seen]
        if options.variable is not None:
            found = seen.variable(options.variable, "variable")
            seen.units(found, options.units, "units")
            if options.slices is not None:
                seen.columns(options.variable, "variable")
                cuts = {key: getattr(options.slices, key) for key in ("x", "y", "lon", "lat")}
                seen.cuts(cuts, "slices")
                seen.heights(options.slices.height, "slices.height")
            elif found is not None and seen.is_deep(options.variable):
                seen.add(
                    "variable", f"{options.variable} has levels: say by slices where it is shown"
                )
            names.append(options.variable)
        seen.crop(options.crop, names[:1])

    def make(self, options: SceneOptions, frame: FrameReader, out: Path, context: Context) -> Made:
        """Draw the PNG. FrameError when all values are NaN, when a slice lies outside of the
        domain, and when it cannot be rendered on this machine."""
        from burstlens.viz.diagnostics.rain_totals import keep_totals
        from burstlens.viz.limits import fitted
        from burstlens.viz.scenes.bodies import read_scene
        from burstlens.viz.scenes.figure import draw
        from burstlens.viz.times import lead

        scene = read_scene(options, frame)
        if self.chained(options):
            keep_totals(frame, context)
        if scene.coloured is not None:
            context = fitted(context, options, scene.coloured)
        drawn = draw(scene, options, out, context, lead(frame, context))
        return Made("png", drawn, context.limits)
