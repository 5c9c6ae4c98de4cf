"""The product kind ``netcdf``: a crop as CF netCDF, with its coordinates and its provenance."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from burstlens.viz.diagnostics.interval import of_interval
from burstlens.viz.kinds.base import ProductKind
from burstlens.viz.kinds.netcdf.options import NetcdfOptions
from burstlens.viz.product import Context, Made, ProductFrame

if TYPE_CHECKING:
    from burstlens.viz.inspection import Inspection


class NetcdfKind(ProductKind[NetcdfOptions]):
    """Crops as CF-1.8 netCDF files of one time each."""

    name = "netcdf"
    options = NetcdfOptions

    def preload(self) -> None:
        import burstlens.viz.kinds.netcdf.draw  # noqa: F401

    def extensions(self, options: NetcdfOptions) -> tuple[str, ...]:
        return ("nc",)

    def follows(self, options: NetcdfOptions) -> tuple[str, ...]:
        return options.crop.tracks

    def chained(self, options: NetcdfOptions) -> bool:
        return of_interval((*options.variables, options.crop.follow or ""))

    def inspect(self, options: NetcdfOptions, seen: Inspection) -> None:
        for name in options.variables:
            seen.units(seen.variable(name, "variables"), options.units.get(name), f"units.{name}")
        seen.crop(options.crop, options.variables)
        seen.whole(options.variables, options.crop)

    def make(
        self, options: NetcdfOptions, frame: ProductFrame, out: Path, context: Context
    ) -> Made:
        from burstlens.viz.diagnostics.rain import keep_totals
        from burstlens.viz.diagnostics.storms.track import centred
        from burstlens.viz.kinds.netcdf.draw import write_netcdf

        facts = write_netcdf(
            frame, options.variables, centred(options.crop, frame), out, context,
            units=options.units,
            classic=options.format == "classic", compression=options.compression,
        )  # fmt: skip
        if self.chained(options):
            keep_totals(frame, context)
        return Made("nc", facts)
