"""The product kind ``section``: a PNG of a vertical section, between points or by a storm."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from burstlens.viz.kinds.base import ProductKind
from burstlens.viz.kinds.section.options import SectionOptions
from burstlens.viz.product import Context, Made, ProductFrame

if TYPE_CHECKING:
    from burstlens.viz.inspection import Inspection


class SectionKind(ProductKind[SectionOptions]):
    """Vertical sections: drawn by matplotlib's Agg canvas, without a display."""

    name = "section"
    options = SectionOptions

    def preload(self) -> None:
        from burstlens.viz.drawing import style
        from burstlens.viz.kinds.section import draw  # noqa: F401

        style.colormap("batlow")

    def follows(self, options: SectionOptions) -> tuple[str, ...]:
        return (options.track,) if options.track else ()

    def widens(self, options: SectionOptions) -> bool:
        return options.limits is None

    def inspect(self, options: SectionOptions, seen: Inspection) -> None:
        from burstlens.viz.geometry.crop import Crop

        seen.choose(Crop())
        from burstlens.viz.inspection import numbered

        seen.columns(options.variable, "variable", options.units, "units")
        for at, line in numbered("contours", options.contours):
            seen.columns(line.variable, f"{at}.variable", line.units, f"{at}.units")
        if options.vertical == "pressure":
            seen.needs(("pressure",), "vertical")
        if options.wind is not None:
            seen.needs(("u_earth", "v_earth") if options.wind == "barbs" else ("U", "V", "W"),
                       "wind")  # fmt: skip
        seen.top(options.top, options.vertical)
        ends = {"start": options.start, "end": options.end}
        if isinstance(options.path, tuple):
            ends |= {f"path.{number}": end for number, end in enumerate(options.path)}
        seen.ends({path: end for path, end in ends.items() if end is not None}, options.variable)

    def make(
        self, options: SectionOptions, frame: ProductFrame, out: Path, context: Context
    ) -> Made:
        from burstlens.viz.diagnostics.derived import choosing
        from burstlens.viz.drawing.limits import fitted
        from burstlens.viz.frames.times import lead
        from burstlens.viz.kinds.section.draw import draw
        from burstlens.viz.kinds.section.read import read_sections

        frame = choosing(frame, {})
        sections = read_sections(options, frame)
        context = fitted(context, options, sections.field)
        drawn = draw(sections, options, out, context, lead(frame, context))
        return Made("png", drawn, context.limits)
