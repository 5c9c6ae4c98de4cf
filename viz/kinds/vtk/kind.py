"""The product kind ``vtk``: a crop of several variables with its coordinates, for ParaView."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from burstlens.viz.diagnostics.interval import of_interval
from burstlens.viz.product import Context, Made, PlainKind

if TYPE_CHECKING:
    from burstlens.viz.inspection import Inspection
    from burstlens.viz.product import ProductFrame
from burstlens.viz.kinds.vtk.options import VtkOptions


class VtkKind(PlainKind):
    """VTK files: image data, rectilinear or structured grids, whichever the points allow."""

    name: ClassVar[str] = "vtk"
    options: ClassVar[type[VtkOptions]] = VtkOptions

    def preload(self) -> None:
        """Import what reads and writes."""
        from burstlens.viz.kinds.vtk import draw, read  # noqa: F401

    def extensions(self, options: VtkOptions) -> tuple[str, ...]:
        """Only the frame's coordinates decide which XML file it becomes."""
        if options.format == "vtkhdf":
            return ("vtkhdf",)
        only = options.grid == "curvilinear" or options.coordinates == "sphere"
        return ("vts",) if only else ("vti", "vtr", "vts")

    def follows(self, options: VtkOptions) -> tuple[str, ...]:
        """The track that the crop follows."""
        return options.crop.tracks

    def chained(self, options: VtkOptions) -> bool:
        """Whether a variable covers the interval since the frame before."""
        return of_interval((*options.variables, options.crop.follow or ""))

    def inspect(self, options: VtkOptions, seen: Inspection) -> None:
        """Its variables, which share a grid, and the crop."""
        wind = () if options.wind is None else (options.wind.u, options.wind.v, options.wind.w)
        seen.volume(options.variables, "variables")
        if wind and seen.needs(wind, "wind"):
            seen.volume((*options.variables[:1], *wind), "wind")
        for name, units in options.units.items():
            seen.units(seen.quiet(name), units, f"units.{name}")
        if options.surface is not None:
            seen.units(seen.variable(options.surface, "surface"), "m", "surface")
        seen.crop(options.crop, (*options.variables, *wind)[:1])
        seen.whole((*options.variables, *wind), options.crop)

    def make(self, options: VtkOptions, frame: ProductFrame, out: Path, context: Context) -> Made:
        """Write the crop. FrameError when variables are missing or lie on different grids."""
        from burstlens.viz.diagnostics.rain_totals import keep_totals
        from burstlens.viz.diagnostics.storms.track import centred
        from burstlens.viz.kinds.vtk.draw import draw
        from burstlens.viz.kinds.vtk.read import read_volume

        options = replace(options, crop=centred(options.crop, frame))
        in_xml = options.format == "xml"
        volume = read_volume(
            frame, options.variables, options.crop, units=options.units, wind=options.wind,
            simplest=in_xml and options.grid == "auto", coordinates=options.coordinates,
            exaggeration=options.exaggeration, surface=options.surface,
        )  # fmt: skip
        if self.chained(options):
            keep_totals(frame, context)
        return draw(volume, options, out, context, context.start or frame.start)
