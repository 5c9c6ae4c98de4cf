"""A volume as the file that VTK and ParaView read: XML, compressed XML, or VTKHDF."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from burstlens.viz.kinds.vtk.facts import Form, check_values, field_data, joined_facts
from burstlens.viz.kinds.vtk.options import VtkOptions
from burstlens.viz.kinds.vtk.read import Box
from burstlens.viz.kinds.vtk.split import Part
from burstlens.viz.kinds.vtk.volume import Volume
from burstlens.viz.kinds.vtk.xml_file import MeshPart, write_vtk_parts
from burstlens.viz.product import Context, Made, whole_file


def draw(
    volume: Volume, options: VtkOptions, out: Path, context: Context, start: str | None
) -> Made:
    """Write the file; ``start`` is the valid-time key of the model's start. StagingError when
    ``out`` cannot be written, FrameError when a variable of a whole volume is all NaN."""
    facts = volume.facts()
    if volume.mesh.shape == volume.whole:
        check_values(facts)
    about = field_data(facts, context, start)
    if options.format != "xml":
        from burstlens.viz.kinds.vtk.hdf_file import write_vtkhdf

        layout = write_vtkhdf(
            out, volume.points, volume.arrays, fields=about, compress=options.compress
        )
        return Made("vtkhdf", facts | {"layout": layout})
    if options.compress:
        from burstlens.viz.kinds.vtk.zlib_file import write_vtk_zlib as write
    else:
        from burstlens.viz.kinds.vtk.xml_file import write_vtk as write
    write(out, volume.mesh, volume.arrays, fields=about, first=volume.first)
    return Made(volume.mesh.extension, facts)


def draw_slabs(
    box: Box, part: Part, slabs: Sequence[Part], options: VtkOptions, out: Path, context: Context,
    start: str | None,
) -> tuple[Made, Form]:  # fmt: skip
    """Write a part of a box, or all of it, as an uncompressed file, slab by slab; values and errors
    are those of :func:`draw`. Returns what a table must know as well."""
    facts: list[dict[str, Any]] = []
    forms: list[Form] = []
    shape, first, corner = box.shape_of(part), box.first_of(part), box.corner()

    def each() -> Iterator[MeshPart]:
        for slab in slabs:
            volume = box.read(slab)
            facts.append(volume.facts())
            forms.append(volume.form())
            z, y, x = (a - b for a, b in zip(volume.first, first, strict=True))
            yield volume.mesh, volume.arrays, (z, y, x)

    about = field_data(corner.facts(), context, start)
    extension, layout = corner.mesh.extension, {}
    with whole_file(out):
        if options.format == "xml":
            write_vtk_parts(out, shape, each(), fields=about, first=first)
        else:
            from burstlens.viz.kinds.vtk.hdf_file import write_vtkhdf_parts

            extension = "vtkhdf"
            layout = {"layout": write_vtkhdf_parts(out, shape, each(), fields=about)}
        known = joined_facts(facts)
        if shape == box.shape:
            check_values(known)
    return Made(extension, known | layout), replace(forms[0], first=first, shape=shape)
