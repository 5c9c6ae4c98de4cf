"""The product kind ``profile``: a PNG of vertical profiles, at a point or as means of an area."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from burstlens.viz.kinds.base import ProductKind
from burstlens.viz.kinds.profile.options import ProfileOptions
from burstlens.viz.product import Context, Made, ProductFrame

if TYPE_CHECKING:
    from burstlens.viz.inspection import Inspection


class ProfileKind(ProductKind[ProfileOptions]):
    """Profiles of columns: drawn by matplotlib's Agg canvas, without a display."""

    name = "profile"
    options = ProfileOptions

    def preload(self) -> None:
        from burstlens.viz.kinds.profile import draw  # noqa: F401

    def follows(self, options: ProfileOptions) -> tuple[str, ...]:
        return options.crop.tracks

    def inspect(self, options: ProfileOptions, seen: Inspection) -> None:
        seen.choose(options.crop)
        for name in options.variables:
            seen.columns(name, "variables", options.units.get(name), f"units.{name}")
        if options.vertical == "pressure":
            seen.needs(("pressure",), "vertical")
        seen.top(options.top, options.vertical)
        if options.at is not None:
            seen.ends({"at": options.at}, options.variables[0])
        seen.crop(options.crop, options.variables)

    def make(
        self, options: ProfileOptions, frame: ProductFrame, out: Path, context: Context
    ) -> Made:
        from burstlens.viz.diagnostics.derived import choosing
        from burstlens.viz.diagnostics.storms.track import centred
        from burstlens.viz.frames.times import lead
        from burstlens.viz.kinds.profile.draw import draw
        from burstlens.viz.kinds.profile.read import read_profiles

        frame = choosing(frame, options.crop.index)
        options = replace(options, crop=centred(options.crop, frame))
        profiles = read_profiles(options, frame)
        return Made("png", draw(profiles, options, out, context, lead(frame, context)))
