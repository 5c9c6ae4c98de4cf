"""Options of every picture: size and limits of its colours; an empty figure, and what is in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LARGEST_PX = 8000
_ROOMY_PT = 430.0, 260.0
"""Width and height, in points, of the smallest picture that has room for all words."""
NARROW_PT = 330.0
"""The same width without the words that a small picture leaves out (:mod:`.heading`)."""
_NARROW_PX = 370
"""Below it, letters small enough to leave room for all words cannot be read."""
Limits = tuple[float, float] | None
"""Colour limits as recipes give them; None: those for the whole run, see :mod:`.limits`."""


def check_limits(limits: Limits, *, log: bool = False, centred: bool | None = None) -> None:
    """ValueError if limits do not increase, or do not fit logarithmic or diverging colours."""
    if limits is not None and not limits[0] < limits[1]:
        raise ValueError("limits: the first number must be below the second")
    if log and centred:
        raise ValueError("log and centred do not go together")
    if log and limits is not None and limits[0] <= 0:
        raise ValueError("limits must be above zero with log = true")


def check_size(width_px: int, height_px: int | None, dpi: int, *, least: tuple[int, int]) -> None:
    """ValueError if a picture is too small for its texts, or too large.

    ``least`` is the smallest width and height in pixels; ``height_px`` None means a height that
    the domain's shape gives.
    """
    sizes = {"width_px": width_px, "height_px": height_px}
    for (name, given), lowest in zip(sizes.items(), least, strict=True):
        if given is not None and not lowest <= given <= LARGEST_PX:
            raise ValueError(f"{name} must be {lowest} to {LARGEST_PX}, not {given}")
    if not 40 <= dpi <= 600:
        raise ValueError(f"dpi must be 40 to 600, not {dpi}")


def letters_dpi(width_px: int, height_px: int | None, dpi: int) -> float:
    """Pixels per inch for letters, lines and margins: ``dpi``, or less in a picture of few pixels,
    which is drawn like a larger one and scaled down, so that all texts have room.

    ``height_px`` None means a height that is large enough.
    """
    wide, tall = _ROOMY_PT
    if width_px < _NARROW_PX:
        wide = NARROW_PT
    least = width_px / wide if height_px is None else min(width_px / wide, height_px / tall)
    return min(float(dpi), 72 * least)


def blank(width_px: int, height_px: int, dpi: float, colour: str = "white") -> Figure:
    """An empty figure of exactly so many pixels on a canvas of its own, without a display."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    # Renderers cut width times dpi to whole pixels, and 900 / 95 * 95 is less than 900.
    size = [pixels / dpi * (1 + 1e-12) for pixels in (width_px, height_px)]
    figure = Figure(figsize=(size[0], size[1]), dpi=dpi, facecolor=colour)
    FigureCanvasAgg(figure)
    return figure


def attached(artist: Artist, axes: Axes) -> Artist:
    """The artist with the axes' figure, but not added to the axes."""
    artist.set_figure(axes.figure)
    artist.axes = axes
    return artist


def placed(artist: Artist, axes: Axes, *, clip: bool = True) -> Artist:
    """The same, in the axes' coordinates."""
    attached(artist, axes).set_transform(axes.transData)
    if clip:
        artist.set_clip_path(axes.patch)
    return artist
