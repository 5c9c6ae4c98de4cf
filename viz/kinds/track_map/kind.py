"""The product kind ``track-map``: a storm's track so far on a map, its intensity below."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from burstlens.viz.product import Context, Made, PlainKind

if TYPE_CHECKING:
    from burstlens.viz.product import ProductFrame
from burstlens.viz.kinds.track_map.options import TrackMapOptions


class TrackMapKind(PlainKind):
    """Maps of tracks with their intensity, as PNG."""

    name: ClassVar[str] = "track-map"
    options: ClassVar[type[TrackMapOptions]] = TrackMapOptions

    def preload(self) -> None:
        """Import matplotlib and the colour maps, which takes a worker about a second."""
        import pyproj  # noqa: F401

        from burstlens.viz.drawing import style
        from burstlens.viz.kinds.track_map import draw  # noqa: F401

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
        self, options: TrackMapOptions, frame: ProductFrame, out: Path, context: Context
    ) -> Made:
        """Draw the PNG. FrameError when the track has no position yet."""
        from burstlens.viz.frames.times import lead
        from burstlens.viz.kinds.track_map.draw import draw_track_map
        from burstlens.viz.kinds.track_map.read import read_track_map

        shown = read_track_map(options, frame, context.files)
        drawn = draw_track_map(shown, options, out, context, lead=lead(frame, context))
        return Made("png", shown.track.facts() | drawn)
