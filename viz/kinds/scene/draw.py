"""Draws a scene: the picture that VTK rendered, with axes, colour bar and words."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm, LogNorm, Normalize, is_color_like, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from burstlens.core.errors import RecipeError
from burstlens.core.units import printed
from burstlens.viz.drawing import heading, style
from burstlens.viz.drawing.coast.lines import Kind
from burstlens.viz.drawing.coast.lines import lines as coast_lines
from burstlens.viz.drawing.colour_bar import ColourBar, minus, range_caption
from burstlens.viz.drawing.colours import colours, norm
from burstlens.viz.drawing.picture import blank, letters_dpi
from burstlens.viz.geometry.grid import Array
from burstlens.viz.kinds.scene.axes import label_box
from burstlens.viz.kinds.scene.options import Haze, SceneOptions
from burstlens.viz.kinds.scene.read import Coloured, Scene
from burstlens.viz.kinds.scene.renderer import renderer
from burstlens.viz.kinds.scene.stage import Body, Fog, Lines, Sheet, Shell, Stage, View
from burstlens.viz.product import Context

_LEFT, _RIGHT, _BAR, _TOP, _BOTTOM = 10.0, 10.0, 84.0, 48.0, 24.0
"""Margins in points; at the right with a colour bar and without."""
_ROW = 14.0
"""Points from one line of the legend to the next."""
_PALETTE = ("#c8503c", "#7ba7c7", "#e0a83e", "#5f9e7f", "#9a7fb5")
_LAND, _WATER = "#ded9cd", "#c3d3de"
_BOX: tuple[float, float, float] = (0.55, 0.58, 0.62)
_COAST: tuple[float, float, float] = (0.2, 0.22, 0.25)
_RELIEF_KM = 0.02
"""Ground that rises less is flat."""


def draw(
    scene: Scene, options: SceneOptions, out: Path, context: Context, lead: str
) -> dict[str, Any]:
    """Draw the PNG and return what was used: ``limits`` and ``colormap`` where there are colours,
    ``exaggeration``, ``size``, ``camera``. Raises FrameError where it cannot be rendered, and
    RecipeError for an unknown colour."""
    size = options.width_px, options.height_px
    figure = blank(*size, letters_dpi(*size, options.dpi))
    axes = _axes(figure, scene.coloured is not None, len(scene.shells) + len(scene.hazes))
    name, limits = None, None
    bodies: list[Body] = []
    if scene.coloured is not None:
        name, limits, bounds = colours(scene.coloured, options, context)
        colormap = style.colormap(name)
        scale = norm(colormap, limits, bounds, log=options.log)
        bodies += _sheets(scene.coloured, scale, colormap)
        beside = _beside(figure, axes)
        bar = ColourBar(figure, beside, colormap, scale, printed(scene.coloured.units))
        low, high = scene.coloured.extent()
        bar.arrows[0].set_visible(low < limits[0])
        bar.arrows[1].set_visible(high > limits[1])
    tall = scene.exaggeration(options.exaggeration)
    view = View(
        (*scene.low[:2], scene.low[2] * tall), (*scene.high[:2], scene.high[2] * tall),
        options.camera.azimuth, options.camera.elevation, options.camera.zoom,
        axes.bbox.width / axes.bbox.height,
    )  # fmt: skip
    shades = _shades(options)
    bodies += _surroundings(scene, options, view, tall)
    bodies += [
        Shell(points, values, asked.value, to_rgb(shade), asked.opacity)
        for (asked, points, values, _, _), shade in zip(
            scene.shells, shades[: len(scene.shells)], strict=True
        )
    ]
    thickness = 0.1 * (view.high[2] - view.low[2])
    bodies += [
        Fog(one.corners, one.values, to_rgb(shade), one.asked.opacity, thickness)
        for one, shade in zip(scene.hazes, shades[len(scene.shells) :], strict=True)
    ]
    width, height = round(axes.bbox.width), round(axes.bbox.height)
    # Isosurfaces share their points, which travel to the renderer once.
    raised: dict[int, Array] = {}
    factor = np.array([1, 1, tall])
    for body in bodies:
        raised.setdefault(id(body.points), (body.points * factor).astype(np.float32))
    stage = Stage(
        width, height, view, tuple(replace(body, points=raised[id(body.points)]) for body in bodies)
    )
    axes.imshow(renderer().render(stage), extent=(0, 1, 0, 1), aspect="auto", interpolation="none")
    label_box(axes, scene, view, tall)
    title = options.title or _title(scene)
    texts = heading.texts(title, context, "; ".join(_legend(axes, scene, shades)) or "scene")
    where = scene.coloured.where if scene.coloured is not None else ""
    words = lead, _caption(scene, tall)
    heading.write_picture(figure, out, context, options.dpi, title, where, words, texts)
    facts: dict[str, Any] = {
        "size": [options.width_px, options.height_px],
        "camera": {"azimuth": view.azimuth, "elevation": view.elevation, "zoom": view.zoom},
        "exaggeration": tall,
        "isosurfaces": [
            {"variable": asked.variable, "value": asked.value, "units": units}
            for asked, _, _, units, _ in scene.shells
        ],
        "haze": [
            {"variable": one.asked.variable, "range": list(one.asked.range), "units": one.units}
            for one in scene.hazes
        ],
    }
    if scene.coloured is not None and limits is not None:
        low, high = scene.coloured.extent()
        facts |= {
            "variable": scene.coloured.name,
            "units": scene.coloured.units,
            "min": low,
            "max": high,
            "limits": list(limits),
            "colormap": name,
        }
    return facts


def _axes(figure: Figure, has_bar: bool, rows: int) -> Axes:
    """The axes that the rendered picture fills, below ``rows`` of a legend."""
    point = figure.dpi / 72
    width, height = figure.bbox.width, figure.bbox.height
    left, bottom = round(_LEFT * point), round(_BOTTOM * point)
    right = round(width - (_BAR if has_bar else _RIGHT) * point)
    top = round(height - (_TOP + rows * _ROW) * point)
    box = left / width, bottom / height, (right - left) / width, (top - bottom) / height
    axes = figure.add_axes(box, xlim=(0, 1), ylim=(0, 1), autoscale_on=False)
    axes.set_axis_off()
    return axes


def _beside(figure: Figure, axes: Axes) -> Axes:
    """The axes beside the colour bar: as wide as the picture, clear of the words around it."""
    point = figure.dpi / 72 / figure.bbox.height
    box = axes.get_position()
    bottom, top = box.y0 + 34 * point, box.y1 - 24 * point
    beside = figure.add_axes((box.x0, bottom, box.width, top - bottom))
    beside.set_axis_off()
    return beside


def _shades(options: SceneOptions) -> list[str]:
    found = []
    for n, asked in enumerate(options.seen):
        colour = asked.colour or _PALETTE[n % len(_PALETTE)]
        if not is_color_like(colour):
            where = "haze" if isinstance(asked, Haze) else "isosurfaces"
            raise RecipeError(f"{where}: {colour!r} is not a colour")
        found.append(colour)
    return found


def _sheets(coloured: Coloured, scale: Normalize, colormap: Any) -> list[Body]:
    sheets: list[Body] = []
    for points, values in coloured.parts:
        pixels = colormap(scale(np.ma.masked_invalid(values)), bytes=True)
        if not coloured.on_ground:
            # Transparent, not grey, where a plane lies under the ground or above the top, below
            # the first step of stepped colours (rain, echoes), and where there is no logarithm.
            pixels[~np.isfinite(values), 3] = 0
            if isinstance(scale, BoundaryNorm):
                pixels[values < scale.vmin, 3] = 0
            if isinstance(scale, LogNorm):
                pixels[values <= 0, 3] = 0
        sheets.append(Sheet(points, pixels))
    return sheets


def _surroundings(scene: Scene, options: SceneOptions, view: View, tall: float) -> list[Body]:
    """The ground, what is drawn on it, and the edges of the box."""
    bodies: list[Body] = []
    lift = 0.002 * (view.high[2] - view.low[2]) / tall
    if scene.coloured is None or not scene.coloured.on_ground:
        shade = np.empty((*scene.ground.shape[:2], 4), np.uint8)
        shade[:] = np.array([*to_rgb(_LAND), 1]) * 255
        height = scene.ground[..., 2]
        if np.ptp(height) > _RELIEF_KM:
            # From green to pale: the light shows the form, the shade how high it is. Pale as a
            # whole, so that what stands on it is seen first.
            span = 0.35 + 0.6 * (height - height.min()) / np.ptp(height)
            relief = style.colormap("cmcrameri.bamako")(span, bytes=True)
            shade[..., :3] = 0.5 * relief[..., :3] + 127
        if scene.water is not None:
            shade[scene.water] = np.array([*to_rgb(_WATER), 1]) * 255
        bodies.append(Sheet(scene.ground, shade, lit=np.ptp(height) > _RELIEF_KM))
    projection = scene.plane.projection
    if options.coast and projection is not None and not scene.plane.geographic:
        low, high, scale = scene.low, scene.high, scene.scale
        extent = low[0] / scale, high[0] / scale, low[1] / scale, high[1] / scale
        shown: tuple[tuple[Kind, float], ...] = (("coast", 1.4), ("borders", 0.8))
        for kind, width in shown:
            found = coast_lines(projection, extent, kind) * scale
            bodies.append(Lines(_on_ground(found, scene, 2 * lift), _COAST, width))
    bodies.append(Lines(_edges(scene, view), _BOX, 1.0))
    return bodies


def _on_ground(points: Array, scene: Scene, lift: float) -> Array:
    """Points (n, 2) laid on the ground, as (n, 3); NaN outside of the box."""
    x, y = scene.ground[0, :, 0], scene.ground[:, 0, 1]
    with np.errstate(invalid="ignore"):
        inside = (points >= scene.low[:2]).all(axis=1) & (points <= scene.high[:2]).all(axis=1)
    laid = np.full((len(points), 3), np.nan)
    laid[inside, :2] = points[inside]
    column = np.clip(np.searchsorted(x, points[inside, 0]), 0, x.size - 1)
    row = np.clip(np.searchsorted(y, points[inside, 1]), 0, y.size - 1)
    # The higher of the neighbours, so that no line dips under a slope.
    height = np.maximum(
        scene.ground[row, column, 2],
        scene.ground[np.maximum(row - 1, 0), np.maximum(column - 1, 0), 2],
    )
    laid[inside, 2] = height + lift
    return laid


def _edges(scene: Scene, view: View) -> Array:
    """The edges of the box, without those nearest to the camera, which would lie over the rest."""
    low, high = np.array(scene.low), np.array(scene.high)
    corners = np.array(np.meshgrid(*zip(low, high, strict=True), indexing="ij")).reshape(3, 8).T
    depth = (view.axes[2] @ (corners * 1.0).T).reshape(2, 2, 2)[:, :, 1]
    nearest = np.unravel_index(int(np.argmin(depth)), depth.shape)
    path = []
    for a, b in combinations(range(8), 2):
        one, other = np.unravel_index(a, (2, 2, 2)), np.unravel_index(b, (2, 2, 2))
        differs = [n for n in range(3) if one[n] != other[n]]
        front = any(tuple(end[:2]) == tuple(nearest) for end in (one, other))
        # Of the edges at the front the two along the bottom stay: numbers stand on them.
        if len(differs) != 1 or (front and (differs == [2] or one[2] == 1)):
            continue
        path += [corners[a], corners[b], np.full(3, np.nan)]
    return np.array(path)


def _legend(axes: Axes, scene: Scene, shades: list[str]) -> list[str]:
    """Name each isosurface and each haze above the picture; return the words."""
    words, solid = [], []
    for asked, _, _, units, about in scene.shells:
        name = style.words(asked.variable, about)
        words.append(f"{name} {minus(f'{asked.value:g}')} {printed(units)}".rstrip())
        solid.append(asked.opacity)
    for one in scene.hazes:
        name = style.words(one.asked.variable, one.long_name)
        low, high = (minus(f"{end:g}") for end in one.asked.range)
        words.append(f"{name} {low} to {high} {printed(one.units)}".rstrip())
        solid.append(one.asked.opacity)
    if not words:
        return words
    left = (heading.LEFT - _LEFT) * axes.figure.dpi / 72 / axes.bbox.width
    patches = [
        Patch(facecolor=(shade, max(opacity, 0.6)), edgecolor=style.FRAME, lw=0.5, label=text)
        for text, shade, opacity in zip(words, shades, solid, strict=True)
    ]
    axes.legend(
        handles=patches, loc="lower left", bbox_to_anchor=(left, 1.0), frameon=False,
        borderpad=0, borderaxespad=0, handlelength=1.1, handleheight=1.1, labelspacing=0.45,
        labelcolor=style.INK, prop={"family": style.FONT, "size": 9},
    )  # fmt: skip
    return words


def _title(scene: Scene) -> str:
    names = [style.words(asked.variable, about) for asked, _, _, _, about in scene.shells]
    names += [style.words(one.asked.variable, one.long_name) for one in scene.hazes]
    if scene.coloured is not None:
        names.insert(0, style.words(scene.coloured.name, scene.coloured.long_name))
    # Each once, in their order: two values of one variable are one title.
    first, *rest = dict.fromkeys(names)
    # Two at most: the legend has all.
    return " and ".join([first, *(name[:1].lower() + name[1:] for name in rest[:1])])


def _caption(scene: Scene, tall: float) -> str:
    if scene.coloured is not None:
        extent = scene.coloured.extent()
        name, units = scene.coloured.name, scene.coloured.units
    elif scene.hazes:
        one = scene.hazes[0]
        name, units, extent = one.asked.variable, one.units, one.extent
    else:
        asked, _, values, units, _ = scene.shells[0]
        name, extent = asked.variable, (float(np.nanmin(values)), float(np.nanmax(values)))
    parts = [range_caption(name, extent, units)]
    if tall != 1 and scene.in_km and scene.height_in_km:
        parts.append(f"heights × {tall:.3g}")
    return "  ·  ".join(parts)
