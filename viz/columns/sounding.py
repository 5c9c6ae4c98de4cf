"""The product kind ``sounding``: a PNG of the column over a point, as a skew-T log-p diagram."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from burstlens.viz.columns.section import End
from burstlens.viz.picture import check_size
from burstlens.viz.product import Context, Made, PlainKind

if TYPE_CHECKING:
    from burstlens.viz.frame import FrameReader
    from burstlens.viz.inspection import Inspection


@dataclass(frozen=True, slots=True)
class SoundingOptions:
    """Where a sounding is, and how it looks."""

    __pydantic_config__ = {"extra": "forbid", "use_attribute_docstrings": True}  # noqa: RUF012

    at: End
    """The point: `{ lat = 29.95, lon = -90.07 }`; between grid points it is interpolated."""

    parcel: Literal["surface", "most_unstable"] = "surface"
    """Which parcel is lifted: that of the lowest level, or that with the highest theta-e."""

    top: float = 100.0
    """Up to this pressure, in hPa."""

    temperatures: tuple[float, float] = (-40.0, 50.0)
    """The lowest and the highest temperature at 1000 hPa, in degC."""

    title: str | None = None
    """The title, instead of "Sounding"."""

    width_px: int = 720
    """Width of the picture, in pixels."""

    height_px: int = 760
    """Height of the picture, in pixels."""

    dpi: int = 100
    """Pixels per inch: how large letters and lines are against the picture."""

    def __post_init__(self) -> None:
        if not 1 <= self.top <= 900:
            raise ValueError("top must be 1 to 900 hPa")
        if not self.temperatures[0] < self.temperatures[1]:
            raise ValueError("temperatures: the first number must be below the second")
        check_size(self.width_px, self.height_px, self.dpi, least=(400, 400))


class SoundingKind(PlainKind):
    """Soundings of WRF columns: drawn by matplotlib's Agg canvas, without a display."""

    name: ClassVar[str] = "sounding"
    options: ClassVar[type[SoundingOptions]] = SoundingOptions

    def preload(self) -> None:
        """Import matplotlib, and the compiled parcels."""
        from burstlens.viz.columns import skew_t  # noqa: F401

    def extensions(self, options: SoundingOptions) -> tuple[str, ...]:
        """Always PNG."""
        return ("png",)

    def inspect(self, options: SoundingOptions, seen: Inspection) -> None:
        """What a column needs, and its point."""
        names = ("pressure", "temperature", "QVAPOR", "dew_point", "u_earth", "v_earth")
        seen.needs(names, "kind")
        seen.ends({"at": options.at}, "T")

    def make(
        self, options: SoundingOptions, frame: FrameReader, out: Path, context: Context
    ) -> Made:
        """Draw the PNG. FrameError when the point is outside of the domain or a variable lacks."""
        from burstlens.viz.columns.column import read_column
        from burstlens.viz.columns.skew_t import draw
        from burstlens.viz.times import lead

        column = read_column(frame, options.at, most_unstable=options.parcel == "most_unstable")
        return Made("png", draw(column, options, out, context, lead(frame, context)))
