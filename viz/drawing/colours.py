"""Colours and limits of a field: those of the recipe, else defaults for the quantity."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from matplotlib.colors import BoundaryNorm, Colormap, LogNorm, Normalize

from burstlens.core.digits import NOTHING
from burstlens.core.errors import RecipeError
from burstlens.core.units import usual
from burstlens.viz.drawing import style
from burstlens.viz.product import Context


class LabelledField(Protocol):
    """A field with its name and units."""

    @property
    def name(self) -> str: ...
    @property
    def long_name(self) -> str: ...
    @property
    def units(self) -> str: ...


class Coloured(LabelledField, Protocol):
    """A field to be shown in colours."""

    @property
    def values(self) -> Any: ...

    def extent(self) -> tuple[float, float]:
        """The smallest and the largest finite value."""


class ColourOptions(Protocol):
    """Colour options of recipes; without two ``limits`` the context has those of the series."""

    @property
    def limits(self) -> Any: ...
    @property
    def centred(self) -> bool | None: ...
    @property
    def log(self) -> bool: ...
    @property
    def colormap(self) -> str | None: ...


def colours(
    field: Coloured, options: ColourOptions, context: Context
) -> tuple[str, tuple[float, float], tuple[float, ...]]:
    """The colour map's name, the limits, and the edges of the colours if these are steps.

    RecipeError if the steps of the colour map are in other units than the field.
    """
    scale = steps(field, options)
    if scale:
        edges, units = style.SCALES[scale].edges, style.SCALES[scale].units
        if usual(field.units) not in units:
            raise RecipeError(
                f"colormap: the steps of {scale} are in {units[0]}, "
                f"{field.name} is in {field.units or 'no unit'}"
            )
        return scale, (edges[0], edges[-1]), edges
    limits = _limits(field, options, context)
    signed = is_centred(field, options, limits)
    if signed:
        bound = max(abs(limits[0]), abs(limits[1]))
        limits = (-bound, bound)
    name = options.colormap or style.colormap_name(field.units, field.long_name, signed)
    return name, limits, ()


def steps(field: Coloured, options: ColourOptions) -> str:
    """The name of the steps of colour (:data:`style.SCALES`) of a field; empty for most."""
    if options.colormap:
        return options.colormap if options.colormap in style.SCALES else ""
    if options.log or options.centred or isinstance(options.limits, tuple):
        return ""
    return style.scale_name(field.units, field.name, field.long_name) or ""


def norm(
    colormap: Colormap, limits: tuple[float, float], bounds: tuple[float, ...], *, log: bool
) -> Normalize:
    """The mapping of values to colours: in steps between ``bounds`` if there are any."""
    if bounds:
        return BoundaryNorm(bounds, colormap.N)
    return _Logarithmic(*limits) if log else Normalize(*limits)


class _Logarithmic(LogNorm):
    """Zero has no logarithm but is a value: it gets the colour for values below the lowest."""

    def __call__(self, value: Any, clip: bool | None = None) -> Any:
        return super().__call__(np.maximum(value, (self.vmin or 1.0) / 10), clip)


def _limits(field: Coloured, options: ColourOptions, context: Context) -> tuple[float, float]:
    if isinstance(options.limits, tuple):
        return options.limits
    low, high = context.limits or field.extent()
    if options.log:
        positive = field.values[field.values > 0]
        high = high if high > 0 else 1.0
        low = low if low > 0 else float(positive.min()) if positive.size else high / 1e4
        low = max(low, high / 1e4)
    if is_constant(low, high):
        is_nothing = max(abs(low), abs(high)) < NOTHING
        if is_nothing and not style.is_signed(field.units, field.long_name, -1.0, 1.0):
            return 0.0, 1.0  # no cloud, no rain yet: the palest colour, not the middle one
        # A range around it that the colour bar can label.
        margin = abs(low) * 0.01 or 1.0
        return low - margin, high + margin
    return low, high


def is_constant(low: float, high: float) -> bool:
    """Whether a range is no wider than the last digits of a float32, or than a rounded zero."""
    return high - low <= max(4e-7 * max(abs(low), abs(high)), NOTHING)


def is_centred(field: Coloured, options: ColourOptions, limits: tuple[float, float]) -> bool:
    """Whether zero is the middle of the colours of a field with values between these."""
    if options.log or options.colormap is not None or options.centred is not None:
        return bool(options.centred)
    # Limits from the recipe stay as they are: only symmetric ones have zero in the middle.
    if isinstance(options.limits, tuple) and limits[0] != -limits[1]:
        return False
    return style.is_signed(field.units, field.long_name, *limits)
