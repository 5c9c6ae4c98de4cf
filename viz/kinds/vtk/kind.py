"""The product kind ``vtk``: a crop of several variables with its coordinates, for ParaView."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from burstlens.core.allowance import room
from burstlens.viz.diagnostics.interval import of_interval
from burstlens.viz.kinds.base import ProductKind
from burstlens.viz.kinds.vtk.options import Coordinates, VtkOptions
from burstlens.viz.product import Context, Made, ProductFrame

if TYPE_CHECKING:
    from burstlens.viz.inspection import Inspection
    from burstlens.viz.kinds.vtk.read import Box


class VtkKind(ProductKind[VtkOptions]):
    """VTK files: image data, rectilinear or structured grids, whichever the points allow."""

    name = "vtk"
    options = VtkOptions

    def preload(self) -> None:
        from burstlens.viz.kinds.vtk import draw, read  # noqa: F401

    def extensions(self, options: VtkOptions) -> tuple[str, ...]:
        """Only the frame's coordinates decide which XML file it becomes, and its size whether that
        is a table of pieces."""
        if options.format == "vtkhdf":
            return ("vtkhdf",)
        only = options.grid == "curvilinear" or options.coordinates == "sphere"
        of_one = ("vts",) if only else ("vti", "vtr", "vts")
        return of_one + tuple(f"p{extension}" for extension in of_one)

    def follows(self, options: VtkOptions) -> tuple[str, ...]:
        return options.crop.tracks

    def chained(self, options: VtkOptions) -> bool:
        return of_interval((*options.variables, options.crop.follow or ""))

    def inspect(self, options: VtkOptions, seen: Inspection) -> None:
        seen.choose(options.crop)
        wind = () if options.wind is None else (options.wind.u, options.wind.v, options.wind.w)
        seen.volume(options.variables, "variables")
        if wind and seen.needs(wind, "wind"):
            seen.volume((*options.variables[:1], *wind), "wind")
        for name, units in options.units.items():
            seen.units(seen.quiet(name), units, f"units.{name}")
        if options.surface is not None:
            seen.units(seen.variable(options.surface, "surface"), "m", "surface")
        seen.crop(options.crop, (*options.variables, *wind)[:1])
        if options.compress or self.chained(options):  # others are written in slabs, or in pieces
            seen.whole((*options.variables, *wind), options.crop)

    def pieces(self, options: VtkOptions, frame: ProductFrame, memory: int) -> int:
        """One that goes from frame to frame is not split."""
        from burstlens.viz.kinds.vtk.pieces import count_pieces, split_of

        if self.chained(options):
            return 1
        box = self.box(options, frame)
        # HDF5 makes a compressed file in memory, and hands it out as a copy.
        copies = 2 if options.format == "vtkhdf" and options.compress else 0
        split = split_of(box, shared=options.format == "xml")
        # Without compression each value's place in the file is known before any is read: slabs do.
        return count_pieces(box, split, memory, copies=copies, in_slabs=not options.compress)

    def make_piece(
        self, options: VtkOptions, frame: ProductFrame, out: Path, context: Context, piece: int,
        pieces: int,
    ) -> Made:  # fmt: skip
        """FrameError where the frame has too few points: it is not the one that was split."""
        from burstlens.viz.kinds.vtk.draw import draw, draw_slabs
        from burstlens.viz.kinds.vtk.pieces import slabs_of, split_of
        from burstlens.viz.kinds.vtk.table import PIECE, piece_facts

        # VTK's XML readers leave the gap between pieces without common points empty.
        box, shared = self.box(options, frame), options.format == "xml"
        start = context.start or frame.start
        split = split_of(box, shared=shared)
        part = split.parts(pieces)[piece]
        if options.compress:
            volume = box.read(part)
            made, form = draw(volume, options, out, context, start), volume.form()
        else:
            slabs = slabs_of(box, split, part, room())
            made, form = draw_slabs(box, part, slabs, options, out, context, start)
        known = piece_facts(form, part.axis, (piece, pieces), context, start, shared=shared)
        return replace(made, facts={**made.facts, PIECE: known})

    def join(
        self, options: VtkOptions, made: Sequence[Made], out: Path, context: Context,
        names: Sequence[str],
    ) -> Made:  # fmt: skip
        from burstlens.viz.kinds.vtk.table import join_pieces

        return join_pieces(made, options, out, context, names)

    def make(self, options: VtkOptions, frame: ProductFrame, out: Path, context: Context) -> Made:
        """Read and write it in slabs, but for compressed ones, which take all in memory."""
        from burstlens.viz.diagnostics.rain import keep_totals
        from burstlens.viz.kinds.vtk.draw import draw, draw_slabs
        from burstlens.viz.kinds.vtk.pieces import slabs_of, split_of

        box, start = self.box(options, frame), context.start or frame.start
        split = split_of(box, shared=False)
        whole = split.whole()
        slabs = (whole,) if options.compress else slabs_of(box, split, whole, room())
        if len(slabs) > 1:
            made, _ = draw_slabs(box, whole, slabs, options, out, context, start)
        else:
            made = draw(box.read(), options, out, context, start)
        if self.chained(options):
            keep_totals(frame, context)
        return made

    def box(self, options: VtkOptions, frame: ProductFrame) -> Box:
        """The part of the frame that the volume shows. FrameError when variables are missing or lie
        on different grids."""
        from burstlens.viz.diagnostics.derived import choosing
        from burstlens.viz.diagnostics.storms.track import centred
        from burstlens.viz.kinds.vtk.read import open_box

        frame = choosing(frame, options.crop.index)
        crop = centred(options.crop, frame)

        def opened(coordinates: Coordinates) -> Box:
            return open_box(
                frame, options.variables, crop, units=options.units, wind=options.wind,
                simplest=options.format == "xml" and options.grid == "auto",
                coordinates=coordinates, exaggeration=options.exaggeration, surface=options.surface,
            )  # fmt: skip

        box = opened(options.coordinates)
        # In degrees the cells at the seam and around poles would lie across all others.
        torn = options.coordinates == "auto" and box.plane.goes_around
        return opened("sphere") if torn else box
