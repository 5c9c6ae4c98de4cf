"""The product kind ``track-map``: a storm's track so far on a map, its intensity below."""

from __future__ import annotations

from pathlib import Path

from burstlens.viz.kinds.base import ProductKind
from burstlens.viz.kinds.track_map.options import TrackMapOptions
from burstlens.viz.product import Context, Made, ProductFrame


class TrackMapKind(ProductKind[TrackMapOptions]):
    """Maps of tracks with their intensity, as PNG."""

    name = "track-map"
    options = TrackMapOptions

    def preload(self) -> None:
        import pyproj  # noqa: F401

        from burstlens.viz.drawing import style
        from burstlens.viz.kinds.track_map import draw  # noqa: F401

        style.colormap("batlow")

    def ships(self, options: TrackMapOptions) -> tuple[str, ...]:
        """The CSV file of cities."""
        return (options.cities,) if isinstance(options.cities, str) else ()

    def follows(self, options: TrackMapOptions) -> tuple[str, ...]:
        return (options.track,)

    def make(
        self, options: TrackMapOptions, frame: ProductFrame, out: Path, context: Context
    ) -> Made:
        from burstlens.viz.frames.times import lead
        from burstlens.viz.kinds.track_map.draw import draw_track_map
        from burstlens.viz.kinds.track_map.read import read_track_map

        shown = read_track_map(options, frame, context.files)
        drawn = draw_track_map(shown, options, out, context, lead=lead(frame, context))
        return Made("png", shown.track.facts() | drawn)
