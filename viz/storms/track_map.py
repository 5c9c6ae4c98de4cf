"""The product kind ``track-map``: a storm's way so far on a map, and how strong it was, below."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from burstlens.viz.colour_names import Colormap
from burstlens.viz.maps.layers import Place, names_file
from burstlens.viz.picture import check_limits, check_size
from burstlens.viz.product import Context, Made, PlainKind

if TYPE_CHECKING:
    from burstlens.viz.frame import FrameReader


@dataclass(frozen=True, slots=True)
class TrackMapOptions:
    """Which track is shown, and how."""

    __pydantic_config__ = {"extra": "forbid", "use_attribute_docstrings": True}  # noqa: RUF012

    track: str
    """The name of a product of the kind `track`."""

    margin_km: float | None = None
    """Show so much around the track; by default the whole domain."""

    limits: tuple[float, float] | None = None
    """Limits of the dots' colours and of the curve, in the track's units; by default round numbers
    about what there was so far."""

    colormap: Colormap | None = None
    """A colour map of cmocean, cmcrameri or matplotlib; by default one that suits the quantity."""

    title: str | None = None
    """The title, instead of what is followed in words."""

    cities: tuple[Place, ...] | str = ()
    """Named points, as on a map."""

    coast: bool = True
    """Coastlines and borders, where the frame is on the earth."""

    width_px: int = 900
    """Width of the picture, in pixels; its height is as the map's shape asks."""

    dpi: int = 100
    """Pixels per inch: how large letters and lines are against the picture."""

    def __post_init__(self) -> None:
        if not self.track or names_file(self.track):
            raise ValueError(f"track is the name of a product, not {self.track!r}")
        check_limits(self.limits)
        if self.margin_km is not None and not 0 < self.margin_km <= 20000:
            raise ValueError("margin_km must be above 0, and 20000 at most")
        check_size(self.width_px, None, self.dpi, least=(200, 150))


class TrackMapKind(PlainKind):
    """Maps of tracks with their intensity, as PNG."""

    name: ClassVar[str] = "track-map"
    options: ClassVar[type[TrackMapOptions]] = TrackMapOptions

    def preload(self) -> None:
        """Import matplotlib and the colour maps, which takes a worker about a second."""
        import pyproj  # noqa: F401

        from burstlens.viz import style
        from burstlens.viz.storms import track_figure  # noqa: F401

        style.colormap("batlow")

    def extensions(self, options: TrackMapOptions) -> tuple[str, ...]:
        """Always PNG."""
        return ("png",)

    def ships(self, options: TrackMapOptions) -> tuple[str, ...]:
        """The CSV file of cities."""
        return (options.cities,) if isinstance(options.cities, str) else ()

    def follows(self, options: TrackMapOptions) -> tuple[str, ...]:
        """The track that is shown."""
        return (options.track,)

    def make(
        self, options: TrackMapOptions, frame: FrameReader, out: Path, context: Context
    ) -> Made:
        """Draw the PNG. FrameError when the track has no position yet."""
        from burstlens.viz.storms.track import followed_track
        from burstlens.viz.storms.track_figure import draw_track_map
        from burstlens.viz.times import lead

        track = followed_track(frame, options.track)
        drawn = draw_track_map(frame, track, options, out, context, lead=lead(frame, context))
        return Made("png", track.facts() | drawn)
