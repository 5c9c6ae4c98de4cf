"""The product kind ``track``: where a storm was, frame after frame, as a table or as GeoJSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from burstlens.viz.kinds.base import ProductKind
from burstlens.viz.kinds.track.options import TrackOptions
from burstlens.viz.product import Context, Made, ProductFrame

if TYPE_CHECKING:
    from burstlens.viz.inspection import Inspection


class TrackKind(ProductKind[TrackOptions]):
    """Tracks of storms, which maps, volumes and crops of the same recipe can follow."""

    name = "track"
    options = TrackOptions

    def preload(self) -> None:
        from burstlens.viz.kinds.track import draw, read  # noqa: F401

    def extensions(self, options: TrackOptions) -> tuple[str, ...]:
        return (options.format,)

    def chained(self, options: TrackOptions) -> bool:
        """Each frame's search begins where the frames before lead to."""
        return True

    def inspect(self, options: TrackOptions, seen: Inspection) -> None:
        from burstlens.viz.geometry.crop import Crop

        seen.choose(Crop())
        seen.plane(options.variable, Crop(), level=options.level, units=options.units)
        if options.first_guess is not None:
            seen.places((options.first_guess,), "first_guess")

    def make(self, options: TrackOptions, frame: ProductFrame, out: Path, context: Context) -> Made:
        from burstlens.viz.diagnostics.derived import choosing
        from burstlens.viz.diagnostics.storms.track import read_track
        from burstlens.viz.kinds.track.draw import write_track
        from burstlens.viz.kinds.track.read import find_storm, first_guess, start_track

        frame = choosing(frame, {})
        track = start_track(frame, options)
        if frame.previous is not None:
            track = track.continued(read_track(frame.previous)).before(frame.time)
        guess = track.guess(frame.time) or first_guess(options, track)
        track = track.with_point(find_storm(frame, options, guess))
        write_track(track, out, options.format, context)
        if context.state is not None:
            track.write(context.state)
        return Made(options.format, track.facts())
