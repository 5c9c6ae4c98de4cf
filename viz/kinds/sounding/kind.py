"""The product kind ``sounding``: a PNG of the column over a point, as a skew-T log-p diagram."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from burstlens.viz.kinds.base import ProductKind
from burstlens.viz.kinds.sounding.options import SoundingOptions
from burstlens.viz.product import Context, Made, ProductFrame

if TYPE_CHECKING:
    from burstlens.viz.inspection import Inspection


class SoundingKind(ProductKind[SoundingOptions]):
    """Soundings of WRF columns: drawn by matplotlib's Agg canvas, without a display."""

    name = "sounding"
    options = SoundingOptions

    def preload(self) -> None:
        """Import matplotlib, and the compiled parcels."""
        from burstlens.viz.kinds.sounding import draw  # noqa: F401

    def inspect(self, options: SoundingOptions, seen: Inspection) -> None:
        names = ("pressure", "temperature", "QVAPOR", "dew_point", "u_earth", "v_earth")
        seen.needs(names, "kind")
        seen.ends({"at": options.at}, "T")

    def make(
        self, options: SoundingOptions, frame: ProductFrame, out: Path, context: Context
    ) -> Made:
        from burstlens.viz.frames.times import lead
        from burstlens.viz.kinds.sounding.draw import draw
        from burstlens.viz.kinds.sounding.read import read_column

        column = read_column(frame, options.at, most_unstable=options.parcel == "most_unstable")
        return Made("png", draw(column, options, out, context, lead(frame, context)))
