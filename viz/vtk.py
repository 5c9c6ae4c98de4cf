"""The product kind ``vtk``: a crop of several variables with its coordinates, for ParaView."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from burstlens.viz.crop import Crop
from burstlens.viz.level import check_levels
from burstlens.viz.product import Context, Made

if TYPE_CHECKING:
    from burstlens.viz.frame import FrameReader


@dataclass(frozen=True, slots=True)
class VtkOptions:
    """What goes into a VTK file, and on which grid."""

    __pydantic_config__ = {"extra": "forbid", "use_attribute_docstrings": True}  # noqa: RUF012

    variables: tuple[str, ...]
    """The variables, as the file calls them, or diagnostics. All are put on the cell centres:
    staggered ones are averaged from the two faces."""

    crop: Crop = field(default_factory=Crop)
    """The part of the domain that is kept."""

    grid: Literal["auto", "curvilinear"] = "auto"
    """`auto` writes the simplest file that holds the coordinates (.vti, .vtr or .vts),
    `curvilinear` always .vts."""

    horizontal: Literal["auto", "model"] = "auto"
    """`auto`: longitude and latitude in degrees where the file has them. `model`: metres on the
    model's own plane, with longitude and latitude as arrays beside."""

    compress: bool = False
    """Compress with zlib: smaller by a quarter or so, and many times slower to write."""

    units: dict[str, str] = field(default_factory=dict)
    """Stored in these units, by variable: `{ slp = "hPa" }`. By default the file's."""

    def __post_init__(self) -> None:
        if not self.variables:
            raise ValueError("variables must name at least one variable")
        if len(set(self.variables)) < len(self.variables):
            raise ValueError("variables names one twice")
        check_levels(self.variables)
        strange = [name for name in self.units if name not in self.variables]
        if strange:
            raise ValueError(f"units names {strange[0]}, which is not among the variables")


class VtkKind:
    """VTK XML files: image data, rectilinear or structured grids, whichever the points allow."""

    name: ClassVar[str] = "vtk"
    options: ClassVar[type[VtkOptions]] = VtkOptions

    def preload(self) -> None:
        """Import what reads and writes."""
        import burstlens.viz.volume  # noqa: F401

    def extensions(self, options: VtkOptions) -> tuple[str, ...]:
        """Only the frame's coordinates tell which one it becomes."""
        return ("vts",) if options.grid == "curvilinear" else ("vti", "vtr", "vts")

    def ships(self, options: VtkOptions) -> tuple[str, ...]:
        """Nothing."""
        return ()

    def follows(self, options: VtkOptions) -> tuple[str, ...]:
        """The track that the crop follows."""
        return options.crop.tracks

    def wants_limits(self, options: VtkOptions) -> int:
        """None: a file for ParaView holds values, not colours."""
        return 0

    def measure(self, options: VtkOptions, frame: FrameReader) -> tuple[float, float] | None:
        """Nothing to measure."""
        return None

    def make(self, options: VtkOptions, frame: FrameReader, out: Path, context: Context) -> Made:
        """Write the crop. FrameError when variables are missing or lie on different grids."""
        from burstlens.viz.pvd import time_value
        from burstlens.viz.volume import read_volume

        volume = read_volume(
            frame, options.variables, options.crop, units=options.units,
            simplest=options.grid == "auto", model_plane=options.horizontal == "model",
        )  # fmt: skip
        # TimeValue is the name under which ParaView looks for a file's own time.
        fields: dict[str, float | str] = {
            "TimeValue": time_value(context.time, context.start or frame.start),
            "ValidTime": context.time,
            "Coordinates": volume.coordinates,
            "Source": f"run {context.run}, attempt {context.attempt}, stream {context.stream}",
            "Software": f"Burstlens {context.version}".rstrip(),
        }
        fields |= {f"{name} units": units for name, units in volume.units.items()}
        if options.compress:
            from burstlens.viz.vtk_zlib import write_vtk_zlib as write
        else:
            from burstlens.viz.vtk_file import write_vtk as write
        write(out, volume.mesh, volume.arrays, fields=fields)
        return Made(volume.mesh.extension, volume.facts())
