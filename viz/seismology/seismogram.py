"""The product kind ``seismogram``: what stations have recorded so far, drawn or as MiniSEED."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from burstlens.viz.maps.layers import Place, Source
from burstlens.viz.picture import check_size
from burstlens.viz.product import Context, Made, PlainKind

if TYPE_CHECKING:
    from burstlens.viz.frame import FrameReader
    from burstlens.viz.inspection import Inspection

_EXTENSIONS = {"png": "png", "mseed": "mseed", "sac": "zip"}


@dataclass(frozen=True, slots=True)
class Layer:
    """A flat layer of the rock, down to the next one."""

    __pydantic_config__ = {"extra": "forbid", "use_attribute_docstrings": True}  # noqa: RUF012

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
class SeismogramOptions:
    """Which seismograms, and how they are shown."""

    __pydantic_config__ = {"extra": "forbid", "use_attribute_docstrings": True}  # noqa: RUF012

    components: tuple[str, ...] = ("vx", "vy", "vz")
    """Variables of the ground's motion: of a stream of time series (awm: `stream = "stations"`),
    else of frames of the surface, which are sampled at `stations`."""

    stations: tuple[Place, ...] | str = ()
    """Where frames of the surface are sampled, as on a map; one sample a frame. A stream of time
    series has its own."""

    show: Literal["traces", "spectra", "response"] = "traces"
    """Seismograms stacked by distance; their Fourier amplitude spectra; or their response spectra:
    pseudo-acceleration of oscillators with a twentieth of critical damping."""

    source: Source | None = None
    """The epicentre, from which distances count; by default what the file tells, if it does."""

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
    """A picture; MiniSEED; or SAC, a file a trace, in a zip archive. The last two are written by
    ObsPy (the extra `seismology`)."""

    network: str = "SY"
    """The network's code in MiniSEED and SAC; by default the FDSN's for synthetic seismograms."""

    reference_time: str = "1970-01-01T00:00:00"
    """When the model's time is zero, in MiniSEED and SAC, where it has no calendar (UTC)."""

    title: str | None = None
    """The title."""

    width_px: int = 900
    """Width of the picture, in pixels."""

    height_px: int | None = None
    """Height of the picture, in pixels; by default as many stations ask."""

    dpi: int = 100
    """Pixels per inch."""

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


class SeismogramKind(PlainKind):
    """Seismograms: each frame adds its samples to the last one's state."""

    name: ClassVar[str] = "seismogram"
    options: ClassVar[type[SeismogramOptions]] = SeismogramOptions

    def preload(self) -> None:
        """Import what reads and draws."""
        from burstlens.viz.seismology import seismogram_product  # noqa: F401

    def chained(self, options: SeismogramOptions) -> bool:
        """Always: a seismogram is one of all frames so far."""
        return True

    def extensions(self, options: SeismogramOptions) -> tuple[str, ...]:
        """``png``, ``mseed`` or ``zip``."""
        return (_EXTENSIONS[options.format],)

    def ships(self, options: SeismogramOptions) -> tuple[str, ...]:
        """The CSV file of stations."""
        return (options.stations,) if isinstance(options.stations, str) else ()

    def inspect(self, options: SeismogramOptions, seen: Inspection) -> None:
        """Its components, and the stations where it has its own."""
        for name in options.components:
            seen.units(seen.variable(name, "components"), options.units, "units")
        seen.places(options.stations, "stations", each=True)

    def make(
        self, options: SeismogramOptions, frame: FrameReader, out: Path, context: Context
    ) -> Made:
        """Add the frame's samples, and write the product and the state.

        FrameError when a component or the stations are missing, or the state is damaged;
        RecipeError when ObsPy is asked for and not installed.
        """
        from burstlens.viz.seismology.seismogram_product import write_seismogram

        return write_seismogram(options, frame, out, context)
