"""The options of the product kind."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from burstlens.viz.diagnostics.formula import check_names
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.kinds.base import OptionsTable


@dataclass(frozen=True, slots=True)
class NetcdfOptions(OptionsTable):
    """What goes into a netCDF file, and how it is stored."""

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
