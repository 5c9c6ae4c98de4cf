"""The options of the product kind."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from burstlens.viz.diagnostics.formula import check_names
from burstlens.viz.diagnostics.level import AT
from burstlens.viz.drawing.colour_names import Colormap
from burstlens.viz.drawing.maps.layers import Contours
from burstlens.viz.drawing.picture import Limits, check_limits, check_size
from burstlens.viz.geometry.place import End
from burstlens.viz.kinds.base import OptionsTable
from burstlens.viz.values.options import Values

_TRACK = "track:"


@dataclass(frozen=True, slots=True)
class SectionOptions(OptionsTable):
    """What a section shows, and how."""

    variable: str
    """A 3-D variable, as the file calls it (`W`, `QRAIN`), or a diagnostic (`theta_e`)."""

    start: End | None = None
    """Where it begins, on the left: `{ lat = 25, lon = -92 }`."""

    end: End | None = None
    """Where it ends."""

    path: tuple[End, ...] | str = ()
    """Instead of `start` and `end`: the points that it goes through, in order; or along the
    track of a storm so far, `track:NAME`, with the name of a product of the kind `track`."""

    follow: str | None = None
    """Instead of these: through a storm's position in this frame: `track:NAME`."""

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

    values: Values | Literal[False] = field(default_factory=Values)
    """The values beside the picture, as of a map; `false`: none."""

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
        self._check_route()

    def _check_route(self) -> None:
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
        given = [self.start is not None, bool(self.path), self.follow is not None]
        if sum(given) != 1:
            raise ValueError("a section needs start and end, or path, or follow")

    @property
    def track(self) -> str | None:
        """The name of the track that the section follows or goes along."""
        asked = self.path if isinstance(self.path, str) else self.follow
        return asked.removeprefix(_TRACK) if asked else None
