"""The options of the product kind."""

from __future__ import annotations

from dataclasses import dataclass

from burstlens.viz.drawing.colour_names import Colormap
from burstlens.viz.drawing.maps.layers import names_file
from burstlens.viz.drawing.picture import check_limits, check_size
from burstlens.viz.geometry.place import Place
from burstlens.viz.kinds.base import OptionsTable


@dataclass(frozen=True, slots=True)
class TrackMapOptions(OptionsTable):
    """Which track is shown, and how."""

    track: str
    """The name of a product of the kind `track`."""

    margin_km: float | None = None
    """Width of the surroundings of the track, in km; by default the whole domain."""

    limits: tuple[float, float] | None = None
    """Limits of the dots' colours and of the curve, in the track's units; by default round numbers
    around the values so far."""

    colormap: Colormap | None = None
    """A colour map of cmocean, cmcrameri or matplotlib; by default one that suits the quantity."""

    title: str | None = None
    """The title, instead of what is followed in words."""

    cities: tuple[Place, ...] | str = ()
    """Named points, as on a map."""

    coast: bool = True
    """Coastlines and borders, where the frame is on the earth."""

    width_px: int = 900
    """Width of the picture, in pixels; its height follows from the map's shape."""

    dpi: int = 100
    """Pixels per inch: how large letters and lines are against the picture."""

    def __post_init__(self) -> None:
        if not self.track or names_file(self.track):
            raise ValueError(f"track is the name of a product, not {self.track!r}")
        check_limits(self.limits)
        if self.margin_km is not None and not 0 < self.margin_km <= 20000:
            raise ValueError("margin_km must be above 0, and 20000 at most")
        check_size(self.width_px, None, self.dpi, least=(200, 150))
