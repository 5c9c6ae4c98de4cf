"""A volume as the file that VTK and ParaView read: XML, compressed XML, or VTKHDF."""

from __future__ import annotations

from pathlib import Path

from burstlens.viz.kinds.vtk.options import VtkOptions
from burstlens.viz.kinds.vtk.pvd import time_value
from burstlens.viz.kinds.vtk.read import Volume
from burstlens.viz.product import Context, Made


def draw(
    volume: Volume, options: VtkOptions, out: Path, context: Context, start: str | None
) -> Made:
    """Write the file; ``start`` is the valid-time key of the model's start. StagingError when
    ``out`` cannot be written."""
    # TimeValue is the name under which ParaView looks for a file's own time.
    fields: dict[str, float | str] = {
        "TimeValue": time_value(context.time, start),
        "ValidTime": context.time,
        "Coordinates": volume.coordinates,
        "Projection": volume.projection or "none",
        "Exaggeration": volume.exaggeration,
        "Source": f"run {context.run}, attempt {context.attempt}, stream {context.stream}",
        "Software": f"Burstlens {context.version}".rstrip(),
    }
    fields |= {f"{name} units": units for name, units in volume.units.items()}
    if options.format != "xml":
        from burstlens.viz.kinds.vtk.hdf_file import write_vtkhdf

        layout = write_vtkhdf(
            out, volume.points, volume.arrays, fields=fields, compress=options.compress
        )
        return Made("vtkhdf", volume.facts() | {"layout": layout})
    if options.compress:
        from burstlens.viz.kinds.vtk.zlib_file import write_vtk_zlib as write
    else:
        from burstlens.viz.kinds.vtk.xml_file import write_vtk as write
    write(out, volume.mesh, volume.arrays, fields=fields)
    return Made(volume.mesh.extension, volume.facts())
