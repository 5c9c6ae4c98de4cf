"""The product kind ``section``: a PNG of a vertical section, between points or by a storm."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from burstlens.viz.colour_names import Colormap
from burstlens.viz.diagnostics.formula import check_names
from burstlens.viz.diagnostics.level import AT
from burstlens.viz.maps.layers import Contours
from burstlens.viz.picture import Limits, check_limits, check_size
from burstlens.viz.product import Context, Made, PlainKind

if TYPE_CHECKING:
    from burstlens.viz.frame import FrameReader
    from burstlens.viz.inspection import Inspection

_TRACK = "track:"
_CONFIG = {"extra": "forbid", "use_attribute_docstrings": True}


@dataclass(frozen=True, slots=True)
class End:
    """An end of a section: by latitude and longitude, by x and y, or by grid point."""

    __pydantic_config__ = _CONFIG

    lat: float | None = None
    """Degrees north."""

    lon: float | None = None
    """Degrees east."""

    x: float | None = None
    """For planes that are not on the earth, in the file's units (WRF: metres)."""

    y: float | None = None
    """For planes that are not on the earth."""

    i: float | None = None
    """The number of the grid point along x (`west_east`), from 0."""

    j: float | None = None
    """The same along y (`south_north`)."""

    def __post_init__(self) -> None:
        given = [
            value is not None for value in (self.lat, self.lon, self.x, self.y, self.i, self.j)
        ]
        pairs = [given[0:2], given[2:4], given[4:6]]
        if sorted(pairs) != [[False, False], [False, False], [True, True]]:
            raise ValueError("an end of a section needs lat and lon, or x and y, or i and j")
        if self.lat is not None and not -90 <= self.lat <= 90:
            raise ValueError(f"lat must be -90 to 90, not {self.lat:g}")
        if min(self.i or 0, self.j or 0) < 0:
            raise ValueError("i and j count from 0")

    def __str__(self) -> str:
        pairs = (("lat", "lon"), ("x", "y"), ("i", "j"))
        given = next(pair for pair in pairs if getattr(self, pair[0]) is not None)
        return ", ".join(f"{name} {getattr(self, name):g}" for name in given)


@dataclass(frozen=True, slots=True)
class SectionOptions:
    """What a section shows, and how."""

    __pydantic_config__ = _CONFIG

    variable: str
    """A 3-D variable, as the file calls it (`W`, `QRAIN`), or a diagnostic (`theta_e`)."""

    start: End | None = None
    """Where it begins, on the left: `{ lat = 25, lon = -92 }`."""

    end: End | None = None
    """Where it ends."""

    path: tuple[End, ...] | str = ()
    """Instead of `start` and `end`: the points that it goes through, in order; or along the way of
    a storm so far, `track:NAME`, with the name of a product of the kind `track`."""

    follow: str | None = None
    """Instead of them: through a storm, wherever it is in this frame: `track:NAME`."""

    azimuth: float = 90.0
    """With `follow`: towards the right end, in degrees from north (off the earth from y),
    clockwise."""

    half_width_km: float | None = None
    """With `follow`: how far it reaches on both sides of the storm, within the domain."""

    vertical: Literal["height", "pressure"] = "height"
    """The axis on the left: heights above the sea in km, or pressure in hPa, by its logarithm."""

    top: float | None = None
    """Up to this height in km, or this pressure in hPa; by default the highest level."""

    levels: Literal["interpolated", "mass"] = "interpolated"
    """`interpolated`: linear between the model's levels; `mass`: the model's own cells."""

    limits: Limits = None
    """Colour limits in the shown units, as of a map."""

    centred: bool | None = None
    """Colours that diverge from zero in the middle, as of a map."""

    log: bool = False
    """Logarithmic colours; for values above zero only."""

    colormap: Colormap | None = None
    """A colour map of cmocean, cmcrameri or matplotlib."""

    units: str | None = None
    """Show in these units. By default the file's."""

    title: str | None = None
    """The title, instead of the variable's name in words."""

    contours: Contours | tuple[Contours, ...] = ()
    """Lines of equal value of a 3-D variable, as of a map: `{ variable = "theta", interval = 2 }`,
    or a list of such."""

    wind: Literal["along", "barbs"] | None = None
    """`along`: arrows of the wind in the plane of the section, whose upward part is stretched as
    the picture is. `barbs`: the horizontal wind in knots, north upwards. WRF only."""

    width_px: int = 900
    """Width of the picture, in pixels."""

    height_px: int = 560
    """Height of the picture, in pixels."""

    dpi: int = 100
    """Pixels per inch: how large letters and lines are against the picture."""

    def __post_init__(self) -> None:
        check_names((self.variable,))
        lines = self.contours if isinstance(self.contours, tuple) else (self.contours,)
        for name in (self.variable, *(asked.variable for asked in lines)):
            if AT in name:
                raise ValueError(f"{name} is of one level, and a section shows all of them")
        if any(asked.level is not None for asked in lines):
            raise ValueError("contours: a section shows all levels, so level means nothing")
        check_limits(self.limits, log=self.log, centred=self.centred)
        if self.top is not None and not self.top > 0:
            raise ValueError("top must be above zero")
        check_size(self.width_px, self.height_px, self.dpi, least=(300, 200))
        self._check_way()

    def _check_way(self) -> None:
        if (self.start is None) != (self.end is None):
            raise ValueError("start and end go together")
        if self.start is not None and self.start == self.end:
            raise ValueError("start and end are the same point")
        for name, asked in (("path", self.path), ("follow", self.follow)):
            if isinstance(asked, str) and not (asked.startswith(_TRACK) and asked != _TRACK):
                raise ValueError(f"{name}: 'track:NAME', with the name of a track, not {asked!r}")
        if isinstance(self.path, tuple) and len(self.path) == 1:
            raise ValueError("path needs two points and more")
        if (self.follow is None) != (self.half_width_km is None):
            raise ValueError("follow and half_width_km go together")
        if self.half_width_km is not None and not 0 < self.half_width_km <= 10000:
            raise ValueError("half_width_km must be above 0, and 10000 at most")
        ways = [self.start is not None, bool(self.path), self.follow is not None]
        if sum(ways) != 1:
            raise ValueError("a section needs start and end, or path, or follow")

    @property
    def track(self) -> str | None:
        """The name of the track that the section follows or goes along."""
        asked = self.path if isinstance(self.path, str) else self.follow
        return asked.removeprefix(_TRACK) if asked else None


class SectionKind(PlainKind):
    """Vertical sections: drawn by matplotlib's Agg canvas, without a display."""

    name: ClassVar[str] = "section"
    options: ClassVar[type[SectionOptions]] = SectionOptions

    def preload(self) -> None:
        """Import matplotlib and the colour maps."""
        from burstlens.viz import style
        from burstlens.viz.columns import section_figure  # noqa: F401

        style.colormap("batlow")

    def extensions(self, options: SectionOptions) -> tuple[str, ...]:
        """Always PNG."""
        return ("png",)

    def follows(self, options: SectionOptions) -> tuple[str, ...]:
        """The track that gives its way."""
        return (options.track,) if options.track else ()

    def widens(self, options: SectionOptions) -> bool:
        """Whether the limits follow the frames: none are given."""
        return options.limits is None

    def inspect(self, options: SectionOptions, seen: Inspection) -> None:
        """Its fields of levels, and whether its points lie in the domain."""
        from burstlens.viz.inspection import numbered

        seen.columns(options.variable, "variable", options.units, "units")
        for at, line in numbered("contours", options.contours):
            seen.columns(line.variable, f"{at}.variable", line.units, f"{at}.units")
        if options.vertical == "pressure":
            seen.needs(("pressure",), "vertical")
        if options.wind is not None:
            seen.needs(("u_earth", "v_earth") if options.wind == "barbs" else ("U", "V", "W"),
                       "wind")  # fmt: skip
        seen.top(options.top, options.vertical)
        ends = {"start": options.start, "end": options.end}
        if isinstance(options.path, tuple):
            ends |= {f"path.{number}": end for number, end in enumerate(options.path)}
        seen.ends({path: end for path, end in ends.items() if end is not None}, options.variable)

    def make(
        self, options: SectionOptions, frame: FrameReader, out: Path, context: Context
    ) -> Made:
        """Draw the PNG. FrameError when an end is outside of the domain or all values are NaN."""
        from burstlens.viz.columns.cross_section import read_sections
        from burstlens.viz.columns.section_figure import draw
        from burstlens.viz.limits import fitted
        from burstlens.viz.times import lead

        sections = read_sections(options, frame)
        context = fitted(context, options, sections.field)
        drawn = draw(sections, options, out, context, lead(frame, context))
        return Made("png", drawn, context.limits)
