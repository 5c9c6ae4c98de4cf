"""The product kind ``netcdf``: a crop as CF netCDF, with its coordinates and where it is from."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from burstlens.viz.crop import Crop
from burstlens.viz.diagnostics.formula import check_names
from burstlens.viz.diagnostics.interval import of_interval
from burstlens.viz.product import Context, Made, PlainKind

if TYPE_CHECKING:
    from burstlens.viz.frame import FrameReader
    from burstlens.viz.inspection import Inspection


@dataclass(frozen=True, slots=True)
class NetcdfOptions:
    """What goes into a netCDF file, and how it is stored."""

    __pydantic_config__ = {"extra": "forbid", "use_attribute_docstrings": True}  # noqa: RUF012

    variables: tuple[str, ...]
    """The variables, as the file calls them, each on its own points; or diagnostics."""

    crop: Crop = field(default_factory=Crop)
    """The part of the domain that is kept."""

    format: Literal["netcdf4", "classic"] = "netcdf4"
    """`netcdf4` (HDF5 inside) or `classic` (CDF-2, 64-bit offsets)."""

    compression: int = 1
    """zlib level, 0 (none) to 9, after byte shuffling; for `netcdf4` only."""

    units: dict[str, str] = field(default_factory=dict)
    """Stored in these units, by variable: `{ slp = "hPa" }`. By default the file's."""

    def __post_init__(self) -> None:
        if not self.variables:
            raise ValueError("variables must name at least one variable")
        if len(set(self.variables)) < len(self.variables):
            raise ValueError("variables names one twice")
        check_names(self.variables)
        strange = [name for name in self.units if name not in self.variables]
        if strange:
            raise ValueError(f"units names {strange[0]}, which is not among the variables")
        if not 0 <= self.compression <= 9:
            raise ValueError("compression must be 0 to 9")


class NetcdfKind(PlainKind):
    """Crops as CF-1.8 netCDF files of one time each."""

    name: ClassVar[str] = "netcdf"
    options: ClassVar[type[NetcdfOptions]] = NetcdfOptions

    def preload(self) -> None:
        """Import what reads and writes."""
        import burstlens.viz.netcdf_file  # noqa: F401

    def extensions(self, options: NetcdfOptions) -> tuple[str, ...]:
        """Always ``nc``."""
        return ("nc",)

    def follows(self, options: NetcdfOptions) -> tuple[str, ...]:
        """The track that the crop follows."""
        return options.crop.tracks

    def chained(self, options: NetcdfOptions) -> bool:
        """Whether a variable is of the time since the frame before."""
        return of_interval((*options.variables, options.crop.follow or ""))

    def inspect(self, options: NetcdfOptions, seen: Inspection) -> None:
        """Its variables, each on its own points, and the crop."""
        for name in options.variables:
            seen.units(seen.variable(name, "variables"), options.units.get(name), f"units.{name}")
        seen.crop(options.crop, options.variables)

    def make(self, options: NetcdfOptions, frame: FrameReader, out: Path, context: Context) -> Made:
        """Write the crop. FrameError when a variable is missing or the crop is outside."""
        from burstlens.viz.diagnostics.rain_totals import keep_totals
        from burstlens.viz.netcdf_file import write_netcdf

        facts = write_netcdf(
            frame, options.variables, options.crop, out, context,
            units=options.units,
            classic=options.format == "classic", compression=options.compression,
        )  # fmt: skip
        if self.chained(options):
            keep_totals(frame, context)
        return Made("nc", facts)
