"""The options of the product kind."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Literal

from burstlens.viz.drawing.picture import check_size
from burstlens.viz.geometry.place import Place, Source
from burstlens.viz.kinds.base import OptionsTable

EXTENSIONS = {"png": "png", "mseed": "mseed", "sac": "zip"}


@dataclass(frozen=True, slots=True)
class Layer(OptionsTable):
    """A flat layer of the rock, down to the next one."""

    vp_m_s: float
    """Speed of compressional waves."""

    vs_m_s: float
    """Speed of shear waves."""

    top_m: float = 0.0
    """Depth of its upper side."""

    def __post_init__(self) -> None:
        if not 0 < self.vs_m_s < self.vp_m_s:
            raise ValueError("a layer's vs_m_s is above zero and below its vp_m_s")


@dataclass(frozen=True, slots=True)
class SeismogramOptions(OptionsTable):
    """Which seismograms, and how they are shown."""

    components: tuple[str, ...] = ("vx", "vy", "vz")
    """Variables of the ground's motion: of a stream of time series (awm: `stream = "stations"`),
    else of frames of the surface, which are sampled at `stations`."""

    stations: tuple[Place, ...] | str = ()
    """Where frames of the surface are sampled, given as on a map; one sample per frame. A stream
    of time series has its own stations."""

    show: Literal["traces", "spectra", "response"] = "traces"
    """Seismograms stacked by distance; their Fourier amplitude spectra; or their response spectra:
    pseudo-acceleration of oscillators with a twentieth of critical damping."""

    source: Source | None = None
    """The epicentre, from which distances count; by default the file's, if it has one."""

    origin_s: float = 0.0
    """When the source begins, in the model's time."""

    layers: tuple[Layer, ...] = ()
    """Flat layers of rock, for which the first arrivals of P and S are marked:
    `[{ top_m = 0, vp_m_s = 4300, vs_m_s = 2400 }, ...]`."""

    scale: Literal["common", "own"] = "common"
    """All traces to one scale, or each to its own."""

    units: str | None = None
    """Show in these units: `cm s-1`. By default the file's."""

    duration_s: float | None = None
    """Length of the time axis; by default as far as the traces go."""

    format: Literal["png", "mseed", "sac"] = "png"
    """A picture; MiniSEED; or SAC, one file per trace, in a zip archive. MiniSEED and SAC are
    written by ObsPy (the extra `seismology`)."""

    network: str = "SY"
    """The network's code in MiniSEED and SAC; by default the FDSN's for synthetic seismograms."""

    reference_time: str = "1970-01-01T00:00:00"
    """When the model's time is zero, in MiniSEED and SAC, where it has no calendar (UTC)."""

    title: str | None = None
    """The title."""

    width_px: int = 900
    """Width of the picture, in pixels."""

    height_px: int | None = None
    """Height of the picture, in pixels; by default it follows from the number of stations."""

    dpi: int = 100
    """Pixels per inch."""

    values: bool = True
    """The traces beside a picture of `traces`: the page shows them at places near a station."""

    @property
    def beside(self) -> bool:
        """Whether the traces are kept beside the picture."""
        return self.values and self.format == "png" and self.show == "traces"

    def __post_init__(self) -> None:
        if not 1 <= len(self.components) <= 3:
            raise ValueError("components: one, two or three variables")
        tops = [layer.top_m for layer in self.layers]
        if tops and (tops[0] != 0 or any(a >= b for a, b in pairwise(tops))):
            raise ValueError("layers must begin with top_m = 0 and go down")
        if self.duration_s is not None and not self.duration_s > 0:
            raise ValueError("duration_s must be above zero")
        if self.show != "traces" and self.format != "png":
            raise ValueError("mseed and sac hold traces: leave show out")
        if not re.fullmatch(r"[A-Z0-9]{1,2}", self.network):
            raise ValueError("network: one or two capital letters or digits")
        try:
            datetime.fromisoformat(self.reference_time)
        except ValueError:
            raise ValueError("reference_time: a time such as 2026-01-31T12:00:00") from None
        check_size(self.width_px, self.height_px, self.dpi, least=(200, 150))
