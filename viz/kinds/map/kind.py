"""The product kind ``map``: a PNG of a 2-D field, or of one level of a 3-D one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from burstlens.viz.drawing.maps.layers import Wind, components_of
from burstlens.viz.kinds.base import ProductKind
from burstlens.viz.kinds.map.options import MapOptions
from burstlens.viz.product import Context, Made, ProductFrame

if TYPE_CHECKING:
    from burstlens.viz.inspection import Inspection


class MapKind(ProductKind[MapOptions]):
    """Maps: drawn by matplotlib's Agg canvas, without pyplot and without a display."""

    name = "map"
    options = MapOptions

    def preload(self) -> None:
        """Import matplotlib and the colour maps, which takes a worker about a second."""
        import pyproj  # noqa: F401

        from burstlens.viz.drawing import style
        from burstlens.viz.kinds.map import draw  # noqa: F401

        style.colormap("batlow")

    def ships(self, options: MapOptions) -> tuple[str, ...]:
        """The CSV files of places and tracks."""
        named = (options.cities, options.stations, () if options.storm else options.track)
        return tuple(name for name in named if isinstance(name, str))

    def follows(self, options: MapOptions) -> tuple[str, ...]:
        drawn = (options.storm,) if options.storm else ()
        return tuple(dict.fromkeys((*options.crop.tracks, *drawn)))

    def beside(self, options: MapOptions) -> tuple[str, ...]:
        """The streams of the nests."""
        return tuple(nest for nest in options.nests if isinstance(nest, str))

    def chained(self, options: MapOptions) -> bool:
        return options.of_interval

    def widens(self, options: MapOptions) -> bool:
        return options.limits is None and not options.in_steps

    def inspect(self, options: MapOptions, seen: Inspection) -> None:
        seen.choose(options.crop)
        seen.plane(options.variable, options.crop, level=options.level, units=options.units)
        seen.crop(options.crop, (options.variable,))
        seen.isolines(options.contours, options.crop)
        for how in ("barbs", "vectors", "streamlines"):
            wind: Wind | None = getattr(options, how)
            if wind is not None:
                wind = components_of(seen.frame, wind)
                knots = "kn" if how == "barbs" else None
                for key, name in (("u", wind.u), ("v", wind.v)):
                    seen.plane(name, options.crop, level=wind.level, path=key, at=f"{how}.")
                    seen.units(seen.quiet(name), knots, f"{how}.{key}")
        if options.relief is not None:
            seen.plane(options.relief, options.crop, path="relief")
            seen.units(seen.quiet(options.relief), "m", "relief")
        seen.places(options.cities, "cities")
        seen.places(options.stations, "stations", each=True)
        if not options.storm:
            seen.places(options.track, "track")
        if options.source is not None:
            seen.source(options.source, "source")

    def make(self, options: MapOptions, frame: ProductFrame, out: Path, context: Context) -> Made:
        from burstlens.viz.diagnostics.derived import choosing
        from burstlens.viz.diagnostics.rain import keep_totals
        from burstlens.viz.diagnostics.storms.track import centred
        from burstlens.viz.drawing.limits import fitted
        from burstlens.viz.frames.times import lead
        from burstlens.viz.geometry.field import read_field
        from burstlens.viz.kinds.map.draw import draw
        from burstlens.viz.kinds.map.nesting import read_nests
        from burstlens.viz.kinds.map.read import read_layers

        frame = choosing(frame, options.crop.index)
        options = replace(options, crop=centred(options.crop, frame))
        shown = read_field(
            frame, options.variable, level=options.level, crop=options.crop, units=options.units
        )
        nests = read_nests(options, frame, shown.plane)
        layers = replace(read_layers(options, frame, context.files), nests=nests)
        inside = [nest.shown for nest in nests if nest.shown is not None]
        context = fitted(context, options, shown, *inside)
        drawn = draw(shown, options, out, context, lead=lead(frame, context), layers=layers)
        if options.of_interval:
            keep_totals(frame, context)
        reported = {"nests": [dict(nest.facts) for nest in nests]} if nests else {}
        return Made("png", shown.facts() | drawn | reported, context.limits)
