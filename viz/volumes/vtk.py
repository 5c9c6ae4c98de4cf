"""The product kind ``vtk``: a crop of several variables with its coordinates, for ParaView."""

from __future__ import annotations

import math
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

Coordinates = Literal["auto", "projection", "lonlat", "sphere"]


@dataclass(frozen=True, slots=True)
class WindVector:
    """The three components of a wind. WRF's, when nothing is said."""

    __pydantic_config__ = {"extra": "forbid", "use_attribute_docstrings": True}  # noqa: RUF012

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
class VtkOptions:
    """What goes into a VTK file, and on which grid."""

    __pydantic_config__ = {"extra": "forbid", "use_attribute_docstrings": True}  # noqa: RUF012

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
    centre of the earth. `auto`: the model's plane where the frame tells it, else degrees."""

    exaggeration: float = 1.0
    """Heights are so many times as high as they are. Winds are not changed."""

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


class VtkKind(PlainKind):
    """VTK files: image data, rectilinear or structured grids, whichever the points allow."""

    name: ClassVar[str] = "vtk"
    options: ClassVar[type[VtkOptions]] = VtkOptions

    def preload(self) -> None:
        """Import what reads and writes."""
        import burstlens.viz.volumes.volume  # noqa: F401

    def extensions(self, options: VtkOptions) -> tuple[str, ...]:
        """Only the frame's coordinates tell which XML file it becomes."""
        if options.format == "vtkhdf":
            return ("vtkhdf",)
        only = options.grid == "curvilinear" or options.coordinates == "sphere"
        return ("vts",) if only else ("vti", "vtr", "vts")

    def follows(self, options: VtkOptions) -> tuple[str, ...]:
        """The track that the crop follows."""
        return options.crop.tracks

    def chained(self, options: VtkOptions) -> bool:
        """Whether a variable is of the time since the frame before."""
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

    def make(self, options: VtkOptions, frame: FrameReader, out: Path, context: Context) -> Made:
        """Write the crop. FrameError when variables are missing or lie on different grids."""
        from burstlens.viz.diagnostics.rain_totals import keep_totals
        from burstlens.viz.volumes.pvd import time_value
        from burstlens.viz.volumes.volume import read_volume

        in_xml = options.format == "xml"
        volume = read_volume(
            frame, options.variables, options.crop, units=options.units, wind=options.wind,
            simplest=in_xml and options.grid == "auto", coordinates=options.coordinates,
            exaggeration=options.exaggeration, surface=options.surface,
        )  # fmt: skip
        if self.chained(options):
            keep_totals(frame, context)
        # TimeValue is the name under which ParaView looks for a file's own time.
        fields: dict[str, float | str] = {
            "TimeValue": time_value(context.time, context.start or frame.start),
            "ValidTime": context.time,
            "Coordinates": volume.coordinates,
            "Projection": volume.projection or "none",
            "Exaggeration": volume.exaggeration,
            "Source": f"run {context.run}, attempt {context.attempt}, stream {context.stream}",
            "Software": f"Burstlens {context.version}".rstrip(),
        }
        fields |= {f"{name} units": units for name, units in volume.units.items()}
        if not in_xml:
            from burstlens.viz.volumes.vtkhdf import write_vtkhdf

            layout = write_vtkhdf(
                out, volume.points, volume.arrays, fields=fields, compress=options.compress
            )
            return Made("vtkhdf", volume.facts() | {"layout": layout})
        if options.compress:
            from burstlens.viz.volumes.vtk_zlib import write_vtk_zlib as write
        else:
            from burstlens.viz.volumes.vtk_file import write_vtk as write
        write(out, volume.mesh, volume.arrays, fields=fields)
        return Made(volume.mesh.extension, volume.facts())
