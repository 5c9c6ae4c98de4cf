"""The product kind ``scene``: a PNG of a frame in three dimensions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from burstlens.viz.diagnostics.interval import of_interval
from burstlens.viz.kinds.base import ProductKind
from burstlens.viz.kinds.scene.options import SceneOptions
from burstlens.viz.product import Context, Made, ProductFrame

if TYPE_CHECKING:
    from burstlens.viz.inspection import Inspection


class SceneKind(ProductKind[SceneOptions]):
    """Scenes: rendered by VTK off screen, without X or a GPU, in a process of its own."""

    name = "scene"
    options = SceneOptions

    def preload(self) -> None:
        """Import what reads and draws, and start the process that renders."""
        from burstlens.viz.drawing import style
        from burstlens.viz.kinds.scene import draw  # noqa: F401
        from burstlens.viz.kinds.scene.renderer import renderer

        style.colormap("batlow")
        renderer()

    def follows(self, options: SceneOptions) -> tuple[str, ...]:
        return options.crop.tracks

    def chained(self, options: SceneOptions) -> bool:
        names = [asked.variable for asked in options.seen]
        return of_interval((*names, options.variable or "", options.crop.follow or ""))

    def widens(self, options: SceneOptions) -> bool:
        return options.variable is not None and options.limits is None

    def inspect(self, options: SceneOptions, seen: Inspection) -> None:
        seen.choose(options.crop)
        from burstlens.viz.inspection import numbered

        for key, given in (("isosurfaces", options.isosurfaces), ("haze", options.haze)):
            for at, one in numbered(key, given):
                seen.columns(one.variable, f"{at}.variable", one.units, f"{at}.units")
        names = [one.variable for one in options.seen]
        if options.variable is not None:
            found = seen.variable(options.variable, "variable")
            seen.units(found, options.units, "units")
            if options.slices is not None:
                seen.columns(options.variable, "variable")
                cuts = {key: getattr(options.slices, key) for key in ("x", "y", "lon", "lat")}
                seen.cuts(cuts, "slices")
                seen.heights(options.slices.height, "slices.height")
            elif found is not None and seen.is_deep(options.variable):
                seen.add(
                    "variable", f"{options.variable} has levels: say by slices where it is shown"
                )
            names.append(options.variable)
        seen.crop(options.crop, names[:1])
        seen.whole(names, options.crop, "isosurfaces" if options.seen else "variable")

    def make(self, options: SceneOptions, frame: ProductFrame, out: Path, context: Context) -> Made:
        from burstlens.viz.diagnostics.derived import choosing
        from burstlens.viz.diagnostics.rain import keep_totals
        from burstlens.viz.diagnostics.storms.track import centred
        from burstlens.viz.drawing.limits import fitted
        from burstlens.viz.frames.times import lead
        from burstlens.viz.kinds.scene.draw import draw
        from burstlens.viz.kinds.scene.read import read_scene

        frame = choosing(frame, options.crop.index)
        options = replace(options, crop=centred(options.crop, frame))
        scene = read_scene(options, frame)
        if self.chained(options):
            keep_totals(frame, context)
        if scene.coloured is not None:
            context = fitted(context, options, scene.coloured)
        drawn = draw(scene, options, out, context, lead(frame, context))
        return Made("png", drawn, context.limits)
