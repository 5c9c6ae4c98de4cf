"""What a scene consists of when it is rendered: bodies in a box, and the camera before it.

Lengths are those of the scene: horizontal distances as they are, heights exaggerated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Colour = tuple[float, float, float]
"""Red, green and blue, 0 to 1."""
DENSEST = 65535
VIEW_DEGREES = 24.0
"""From the bottom of the picture to its top: as a lens for portraits, which bends little."""


@dataclass(frozen=True, slots=True)
class Shell:
    """Where ``values`` (z, y, x) on ``points`` (z, y, x, 3) are ``value``."""

    points: Array
    values: Array
    value: float
    colour: Colour
    opacity: float = 1.0


@dataclass(frozen=True, slots=True)
class Fog:
    """A haze in a box with the corners ``points`` (2, 3), as dense as ``values`` (z, y, x), which
    are 0 to 65535: a ``thickness`` of the densest hides the part ``opacity`` of what is behind."""

    points: Array
    values: Array
    colour: Colour
    opacity: float
    thickness: float


@dataclass(frozen=True, slots=True)
class Sheet:
    """A surface: ``points`` (m, n, 3) with ``colours`` (m, n, 4) as bytes; light shows the relief
    of one that is ``lit``."""

    points: Array
    colours: Array
    lit: bool = False


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines through ``points`` (n, 3), NaN between them; ``width`` in pixels."""

    points: Array
    colour: Colour
    width: float


Body = Shell | Fog | Sheet | Lines


@dataclass(frozen=True, slots=True)
class View:
    """A camera before a box, given by its ``low`` and ``high`` corner.

    ``azimuth`` and ``elevation`` in degrees say where it stands, ``aspect`` is the picture's width
    over its height, ``room`` the part of the picture that the box may take.
    """

    low: tuple[float, float, float]
    high: tuple[float, float, float]
    azimuth: float
    elevation: float
    zoom: float
    aspect: float
    room: float = 0.86

    @property
    def corners(self) -> Array:
        """The box's eight corners, as (8, 3)."""
        return np.array(np.meshgrid(*zip(self.low, self.high, strict=True))).reshape(3, 8).T

    @property
    def axes(self) -> Array:
        """Unit vectors to the right, up and into the picture, as (3, 3)."""
        azimuth, elevation = math.radians(self.azimuth), math.radians(self.elevation)
        level = np.array([math.sin(azimuth), math.cos(azimuth), 0.0])
        into = -math.cos(elevation) * level - math.sin(elevation) * np.array([0, 0, 1.0])
        right = np.cross(into, [0, 0, 1.0])
        right /= np.linalg.norm(right)
        return np.stack([right, np.cross(right, into), into])

    @property
    def focus(self) -> Array:
        """Where it looks: what lies there is in the middle of the picture, and so is the box."""
        return self._placed[0]

    @property
    def eye(self) -> Array:
        """Where the camera stands: as near as it can with the whole box in its room."""
        focus, away = self._placed
        return np.asarray(focus - self.axes[2] * away / self.zoom)

    @property
    def _placed(self) -> tuple[Array, float]:
        """The focus, and how far from it the camera stands.

        From ``away`` behind the middle of the box, ``shift`` to the right (or up), a corner at
        ``along`` and ``depth`` is seen while |along - shift| <= slope (depth + away). The least
        ``away`` for which some shift satisfies all corners follows from the two outermost ones.
        """
        middle = (np.array(self.low) + np.array(self.high)) / 2
        right, up, into = self.axes
        depth = (self.corners - middle) @ into
        focus, nearest = middle, 0.0
        reach = math.tan(math.radians(VIEW_DEGREES / 2)) * self.room
        for direction, slope in ((right, reach * self.aspect), (up, reach)):
            along = (self.corners - middle) @ direction
            most, least = (along - slope * depth).max(), (along + slope * depth).min()
            nearest = max(nearest, float(most - least) / (2 * slope))
            focus = focus + direction * (most + least) / 2
        return np.asarray(focus), nearest

    def project(self, points: Array) -> Array:
        """Where points (n, 3) are on the picture: (n, 2), 0 to 1 from its lower left corner."""
        x, y, depth = self.axes @ (np.atleast_2d(points) - self.eye).T
        reach = math.tan(math.radians(VIEW_DEGREES / 2)) * depth
        return np.stack([0.5 + 0.5 * x / (reach * self.aspect), 0.5 + 0.5 * y / reach], axis=-1)


@dataclass(frozen=True, slots=True)
class Stage:
    """All that is rendered, in a picture of ``width`` x ``height`` pixels."""

    width: int
    height: int
    view: View
    bodies: tuple[Body, ...]
