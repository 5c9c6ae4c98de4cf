"""The product kind ``peak``: the greatest ground motion so far, as a map or as netCDF."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from burstlens.viz.geometry.crop import Crop
from burstlens.viz.kinds.base import ProductKind
from burstlens.viz.kinds.peak.options import PeakOptions
from burstlens.viz.product import Context, Made, ProductFrame

if TYPE_CHECKING:
    from burstlens.viz.inspection import Inspection


class PeakKind(ProductKind[PeakOptions]):
    """Running peaks: each frame updates the state of the frame before."""

    name = "peak"
    options = PeakOptions

    def preload(self) -> None:
        from burstlens.viz.kinds.peak import draw  # noqa: F401

    def chained(self, options: PeakOptions) -> bool:
        """Always: a peak covers all frames so far."""
        return True

    def extensions(self, options: PeakOptions) -> tuple[str, ...]:
        return ("nc",) if options.format == "netcdf" else ("png",)

    def ships(self, options: PeakOptions) -> tuple[str, ...]:
        """The CSV files of places."""
        return tuple(name for name in (options.cities, options.stations) if isinstance(name, str))

    def follows(self, options: PeakOptions) -> tuple[str, ...]:
        return options.crop.tracks

    def inspect(self, options: PeakOptions, seen: Inspection) -> None:
        from burstlens.viz.diagnostics.seismology.ground_motion import motion_of
        from burstlens.viz.inspection import numbered

        for name in options.components:
            seen.plane(name, Crop(), level=options.level, path="components")
            found = seen.quiet(name)
            if found is not None:
                seen.noted("components", partial(motion_of, found.name, found.units))
        seen.crop(options.crop, options.components[:1])
        if options.format == "png":
            own = ("pgv", "pga", "pgd", "intensity", "time_of_peak")
            for at, line in numbered("contours", options.contours):
                if line.variable not in own:
                    seen.plane(line.variable, options.crop, level=line.level, at=f"{at}.")
            seen.places(options.cities, "cities")
            seen.places(options.stations, "stations", each=True)
        if options.source is not None:
            seen.source(options.source, "source")

    def make(self, options: PeakOptions, frame: ProductFrame, out: Path, context: Context) -> Made:
        """FrameError when a component is missing, is not ground motion or lies on another grid than
        the state, or when the state is damaged."""
        from burstlens.viz.diagnostics.storms.track import centred
        from burstlens.viz.kinds.peak.draw import draw
        from burstlens.viz.kinds.peak.read import read_peaks

        options = replace(options, crop=centred(options.crop, frame))
        peaks = read_peaks(options, frame, context)
        made = draw(options, peaks, out, context)
        if context.state is not None:
            peaks.state.write(context.state)
        about = {"frames": peaks.state.frames, "components": peaks.shaken}
        return replace(made, facts={**made.facts, **about})
