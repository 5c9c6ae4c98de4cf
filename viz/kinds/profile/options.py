"""The options of the product kind."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from burstlens.viz.diagnostics.formula import check_names
from burstlens.viz.diagnostics.interval import of_interval
from burstlens.viz.diagnostics.level import AT
from burstlens.viz.drawing.picture import check_size
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.geometry.place import End
from burstlens.viz.kinds.base import OptionsTable

_MOST = 4


@dataclass(frozen=True, slots=True)
class ProfileOptions(OptionsTable):
    """Which profiles, and where."""

    variables: tuple[str, ...]
    """3-D variables, as the file calls them, or diagnostics: one panel each, at most four."""

    at: End | None = None
    """The point: `{ lat = 29.95, lon = -90.07 }`, interpolated between grid points. By default the
    mean over the crop, level by level, with the range of nine tenths of the values."""

    crop: Crop = field(default_factory=Crop)
    """Without `at`: the part of the domain that is averaged."""

    vertical: Literal["height", "pressure"] = "height"
    """The axis on the left: heights above the sea in km, or pressure in hPa, by its logarithm."""

    top: float | None = None
    """Up to this height in km, or this pressure in hPa; by default the highest level."""

    units: dict[str, str] = field(default_factory=dict)
    """Show in these units, by variable: `{ theta = "degC" }`. By default the file's."""

    limits: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Ends of the axes below, by variable; by default what the frame holds."""

    title: str | None = None
    """The title, instead of the variables' names in words."""

    width_px: int = 900
    """Width of the picture, in pixels."""

    height_px: int = 560
    """Height of the picture, in pixels."""

    dpi: int = 100
    """Pixels per inch: how large letters and lines are against the picture."""

    def __post_init__(self) -> None:
        if not 1 <= len(self.variables) <= _MOST:
            raise ValueError(f"variables: one to {_MOST}, one panel each")
        if len(set(self.variables)) < len(self.variables):
            raise ValueError("variables names one twice")
        for name in self.variables:
            if AT in name:
                raise ValueError(f"{name} is of one level, and a profile shows all of them")
        check_names(self.variables)
        if of_interval(self.variables):
            raise ValueError("variables: what fell since the frame before has no profile")
        for name, given in (("units", self.units), ("limits", self.limits)):
            strange = [key for key in given if key not in self.variables]
            if strange:
                raise ValueError(f"{name} names {strange[0]}, which is not among the variables")
        if any(not low < high for low, high in self.limits.values()):
            raise ValueError("limits: the first number must be below the second")
        if self.at is not None and self.crop != Crop():
            raise ValueError("at and crop do not go together")
        if self.top is not None and not self.top > 0:
            raise ValueError("top must be above zero")
        check_size(self.width_px, self.height_px, self.dpi, least=(300, 300))
