"""The product kind ``seismogram``: what stations have recorded so far, drawn or as MiniSEED."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from burstlens.viz.kinds.base import ProductKind
from burstlens.viz.kinds.seismogram.options import EXTENSIONS, SeismogramOptions
from burstlens.viz.product import Context, Made, ProductFrame

if TYPE_CHECKING:
    from burstlens.viz.inspection import Inspection


class SeismogramKind(ProductKind[SeismogramOptions]):
    """Seismograms: each frame adds its samples to the state of the frame before."""

    name = "seismogram"
    options = SeismogramOptions

    def preload(self) -> None:
        from burstlens.viz.kinds.seismogram import draw, read  # noqa: F401

    def chained(self, options: SeismogramOptions) -> bool:
        """Always: a seismogram covers all frames so far."""
        return True

    def extensions(self, options: SeismogramOptions) -> tuple[str, ...]:
        return (EXTENSIONS[options.format],)

    def ships(self, options: SeismogramOptions) -> tuple[str, ...]:
        """The CSV file of stations."""
        return (options.stations,) if isinstance(options.stations, str) else ()

    def inspect(self, options: SeismogramOptions, seen: Inspection) -> None:
        for name in options.components:
            seen.units(seen.variable(name, "components"), options.units, "units")
        seen.places(options.stations, "stations", each=True)

    def make(
        self, options: SeismogramOptions, frame: ProductFrame, out: Path, context: Context
    ) -> Made:
        from burstlens.viz.frames.times import lead
        from burstlens.viz.kinds.seismogram.draw import draw_section, write_beside
        from burstlens.viz.kinds.seismogram.file import write_traces
        from burstlens.viz.kinds.seismogram.read import read_seismograms
        from burstlens.viz.kinds.seismogram.spectra import draw_spectra

        traces, section = read_seismograms(options, frame, context)
        if options.format == "png":
            draw = draw_section if options.show == "traces" else draw_spectra
            made = Made("png", draw(section, options, out, context, lead(frame, context)))
        else:
            made = write_traces(section, options, out)
        if context.state is not None:
            traces.write(context.state)
        greatest = section.peaks.max(axis=1).tolist()
        known: dict[str, Any] = {
            "stations": traces.names.tolist(),
            "samples": int(traces.times.size),
            "step_s": round(traces.step_s, 9),
            "units": section.units,
            "max": dict(zip(options.components, greatest, strict=True)),
        }
        if options.beside and context.values is not None:
            known["traces"] = write_beside(section, options, out, context.values, context)
        return replace(made, facts=known | dict(made.facts))
