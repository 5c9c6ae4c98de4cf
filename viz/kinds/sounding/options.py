"""The options of the product kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from burstlens.viz.drawing.picture import check_size
from burstlens.viz.geometry.place import End
from burstlens.viz.kinds.base import OptionsTable


@dataclass(frozen=True, slots=True)
class SoundingOptions(OptionsTable):
    """Where a sounding is, and how it looks."""

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
