"""The options of the product kind."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

from burstlens.viz.diagnostics.formula import check_names
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.kinds.base import OptionsTable

Coordinates = Literal["auto", "projection", "lonlat", "sphere"]


@dataclass(frozen=True, slots=True)
class WindVector(OptionsTable):
    """The three components of a wind. WRF's by default."""

    u: str = "U"
    """The component along x, as the file calls it."""

    v: str = "V"
    """The component along y."""

    w: str = "W"
    """The upward component."""

    relative_to: Literal["grid", "earth"] = "grid"
    """Whether u and v are along the model's grid (as WRF writes them) or eastward and
    northward."""


@dataclass(frozen=True, slots=True)
class VtkOptions(OptionsTable):
    """What goes into a VTK file, and on which grid."""

    variables: tuple[str, ...] = ()
    """The variables, as the file calls them, or diagnostics. All are put on the cell centres:
    staggered ones are averaged from the two faces."""

    crop: Crop = field(default_factory=Crop)
    """The part of the domain that is kept."""

    wind: WindVector | None = None
    """The wind as one array of vectors, `wind`: `{}` for WRF's U, V and W. They are turned to
    the coordinates, so that arrows and streamlines point the right way."""

    grid: Literal["auto", "curvilinear"] = "auto"
    """`auto` writes the simplest file that holds the coordinates (.vti, .vtr or .vts),
    `curvilinear` always .vts."""

    coordinates: Coordinates = "auto"
    """`projection`: metres on the model's own plane. `lonlat`: degrees. `sphere`: metres from the
    centre of the earth. `auto`: the model's plane where the frame has it, else degrees; of a grid
    around a pole a plane there, and the sphere where degrees would tear cells apart."""

    exaggeration: float = 1.0
    """Factor by which heights are stretched. Winds are not changed."""

    surface: str | None = None
    """2-D variables lie on this one, in metres, instead of at 0: `HGT` for the terrain."""

    format: Literal["xml", "vtkhdf"] = "xml"
    """`xml` (.vti, .vtr, .vts), which any ParaView opens, or `vtkhdf`, with one file for the
    whole series beside: ParaView 6.2 and later."""

    compress: bool = False
    """Compress with zlib: smaller by a quarter or so, and many times slower to write."""

    units: dict[str, str] = field(default_factory=dict)
    """Stored in these units, by variable: `{ slp = "hPa" }`. By default the file's."""

    def __post_init__(self) -> None:
        if not self.variables and self.wind is None:
            raise ValueError("variables must name at least one variable")
        if len(set(self.variables)) < len(self.variables):
            raise ValueError("variables names one twice")
        if self.wind is not None and "wind" in self.variables:
            raise ValueError("wind is the name of the vectors: leave it out of variables")
        check_names(self.variables)
        if not (math.isfinite(self.exaggeration) and self.exaggeration > 0):
            raise ValueError("exaggeration must be above zero")
        strange = [name for name in self.units if name not in self.variables]
        if strange:
            raise ValueError(f"units names {strange[0]}, which is not among the variables")
