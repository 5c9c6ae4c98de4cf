"""The parameter file: its tables, all checked, with a dotted path for every fault."""

from __future__ import annotations

import difflib
import math
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from burstlens.core.errors import RecipeError
from burstlens.workflows.awm import limits, source

if TYPE_CHECKING:
    from burstlens.core.fault import Fault

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]
MOST_STEPS = 10**9
"""Of a run: some days at a tenth of a millisecond per step, so more is a slip."""


class Table(BaseModel):
    """A table of the file: other keys are refused, values are immutable."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Grid(Table):
    """Nodes inside the absorbing layers, east, north and up, and their spacing."""

    nx: int = Field(ge=12)
    ny: int = Field(ge=12)
    nz: int = Field(ge=12)
    spacing_m: Positive
    points_per_wavelength: Positive = 5.0


class Time(Table):
    """Time step, and either the number of steps or the duration."""

    step_s: Positive
    duration_s: Positive | None = None
    steps: Count | None = None

    @model_validator(mode="after")
    def _one_length(self) -> Self:
        if (self.duration_s is None) == (self.steps is None):
            raise ValueError("give either duration_s or steps")
        steps = self.steps or (self.duration_s or 0.0) / self.step_s
        if steps > MOST_STEPS:
            raise ValueError(f"a run has at most {MOST_STEPS:.0e} steps")
        return self

    @property
    def count(self) -> int:
        """Steps to take."""
        return self.steps or max(1, round((self.duration_s or 0.0) / self.step_s))


class Layer(Table):
    """A homogeneous layer from ``top_m`` below the surface to the next one."""

    top_m: Annotated[float, Field(ge=0)] = 0.0
    vp_m_s: Positive
    vs_m_s: Positive
    rho_kg_m3: Positive

    @model_validator(mode="after")
    def _is_solid(self) -> Self:
        if slow := limits.not_rock(self.vp_m_s, self.vs_m_s):
            raise ValueError(slow)
        return self


class Material(Table):
    """Layers, top down, or a netCDF file of vp, vs and rho on (z, y, x)."""

    layers: tuple[Layer, ...] | None = None
    file: str | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.layers is None) == (self.file is None):
            raise ValueError("give either layers or file")
        if self.layers is not None:
            tops = [layer.top_m for layer in self.layers]
            if not tops or tops[0] != 0 or tops != sorted(set(tops)):
                raise ValueError("layers must start with top_m = 0 and go down")
        return self


class Source(Table):
    """A point source: its place, its tensor (axes x east, y north, z up) and its moment rate."""

    x_m: Finite
    y_m: Finite
    depth_m: Finite
    mxx_n_m: Finite = 0.0
    myy_n_m: Finite = 0.0
    mzz_n_m: Finite = 0.0
    mxy_n_m: Finite = 0.0
    mxz_n_m: Finite = 0.0
    myz_n_m: Finite = 0.0
    strike_deg: Finite | None = None
    dip_deg: Finite | None = None
    rake_deg: Finite | None = None
    moment_n_m: Positive | None = None
    function: Literal["gaussian", "ricker", "brune", "triangle", "bell", "liu"]
    frequency_hz: Positive | None = None
    duration_s: Positive | None = None
    delay_s: Finite | None = None
    highest_frequency_hz: Positive | None = None

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        fault = (self.strike_deg, self.dip_deg, self.rake_deg, self.moment_n_m)
        six = (self.mxx_n_m, self.myy_n_m, self.mzz_n_m, self.mxy_n_m, self.mxz_n_m, self.myz_n_m)
        if any(v is not None for v in fault):
            if any(v is None for v in fault) or any(six):
                raise ValueError("give strike_deg, dip_deg, rake_deg and moment_n_m, or m.._n_m")
        elif not any(six):
            raise ValueError("the moment tensor is zero: give m.._n_m, or strike_deg and so on")
        key, other = "duration_s", "frequency_hz"
        if self.function in source.BY_FREQUENCY:
            key, other = other, key
        if getattr(self, key) is None or getattr(self, other) is not None:
            raise ValueError(f"function {self.function!r} takes {key}, not {other}")
        return self

    @property
    def tensor(self) -> NDArray[np.float64]:
        """Moment tensor (3, 3) in N m, axes east, north, up."""
        if self.moment_n_m is not None:
            assert self.strike_deg is not None and self.dip_deg is not None  # noqa: PT018
            assert self.rake_deg is not None
            angles = self.strike_deg, self.dip_deg, self.rake_deg
            return source.double_couple(*angles, self.moment_n_m)
        xx, yy, zz = self.mxx_n_m, self.myy_n_m, self.mzz_n_m
        xy, xz, yz = self.mxy_n_m, self.mxz_n_m, self.myz_n_m
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])

    def rate(self, t_s: Any) -> NDArray[np.float64]:
        """Moment rate for unit moment, in 1/s, at the times ``t_s``."""
        return source.moment_rate(t_s, self.function, **self._keys)

    @property
    def _keys(self) -> dict[str, float]:
        delay = 1.2 / (self.frequency_hz or 1) if self.function in source.CENTRED else 0.0
        return {
            "frequency_hz": self.frequency_hz or 0.0,
            "duration_s": self.duration_s or 0.0,
            "delay_s": self.delay_s if self.delay_s is not None else delay,
        }

    @property
    def highest_hz(self) -> float:
        """The frequency in Hz that the grid must resolve."""
        return self.highest_frequency_hz or source.highest_frequency(self.function, **self._keys)


class Absorbing(Table):
    """Convolutional perfectly matched layers around the grid, ``points`` nodes thick.

    ``robust`` is for soft strata that run into them: see :class:`.absorbing.Damping`. None: as
    the material at the edges needs it.
    """

    points: int = Field(default=10, ge=4, le=100)
    reflection: float = Field(default=1e-4, gt=0, lt=1)
    robust: bool | None = None


class Output(Table):
    """What is written every so many steps (0: never), and how."""

    surface_every: int = Field(default=0, ge=0)
    volume_every: int = Field(default=0, ge=0)
    volume_stride: Count = 1
    station_every: Count = 100
    station_frames: bool = False
    peaks: bool = False
    format: Literal["netcdf4", "classic", "cdf5"] = "netcdf4"
    files: Literal["frame", "growing"] = "frame"
    compression: int = Field(default=0, ge=0, le=9)


class Station(Table):
    """A place where every time step is recorded."""

    name: str = Field(min_length=1, max_length=32)
    x_m: Finite
    y_m: Finite
    depth_m: Annotated[float, Field(ge=0)] = 0.0


class Checkpoint(Table):
    """Checkpoints: steps from one to the next, 0 for none, and how many are kept."""

    every: Annotated[int, Field(ge=0)] = 0
    keep: Count = 2


class Parameters(Table):
    """The whole file. Raises RecipeError, with every fault, if it is invalid."""

    title: str = "awm run"
    free_surface: bool = True
    threads: Count | None = None
    allow_unstable: bool = False
    grid: Grid
    time: Time
    material: Material
    source: Source
    absorbing: Absorbing = Absorbing()
    output: Output = Output()
    station: tuple[Station, ...] = ()
    checkpoint: Checkpoint = Checkpoint()

    @model_validator(mode="after")
    def _is_inside(self) -> Self:
        grid, h = self.grid, self.grid.spacing_m
        faults = []
        shallowest = 2 * h if self.free_surface else 0.0
        places: list[tuple[str, Source | Station, float]] = [("source", self.source, shallowest)]
        places += [(f"station.{n}", station, 0.0) for n, station in enumerate(self.station)]
        for path, place, top in places:
            for key, value, low, nodes in (
                ("x_m", place.x_m, 0.0, grid.nx),
                ("y_m", place.y_m, 0.0, grid.ny),
                ("depth_m", place.depth_m, top, grid.nz),
            ):
                high = (nodes - 1) * h
                if low <= value <= high:
                    continue
                where = "in or beyond the absorbing layers, which lie around the grid"
                if key == "depth_m" and value < 0:
                    where = "above the free surface" if self.free_surface else "above the grid"
                elif key == "depth_m" and value < low:
                    where = f"too near to the surface: two spacings, {top:g} m, at least"
                faults.append(f"{path}.{key}: {value:g} is outside {low:g} to {high:g} m: {where}")
        names = [s.name for s in self.station]
        twice = sorted({name for name in names if names.count(name) > 1})
        faults += [f"station: the name {name!r} is given twice" for name in twice]
        layers = self.material.layers or ()
        vs_min = min((layer.vs_m_s for layer in layers), default=math.inf)
        faults += self.refusals(vs_min, max((layer.vp_m_s for layer in layers), default=0.0))
        if faults:
            raise ValueError("; ".join(faults))
        return self

    def refusals(self, vs_min: float, vp_max: float) -> list[str]:
        """Why this grid and step are invalid for a material of those speeds, in m/s."""
        if self.allow_unstable:
            return []
        h = self.grid.spacing_m
        found = [
            limits.unstable(self.time.step_s, h, vp_max) if vp_max > 0 else None,
            limits.too_coarse(h, vs_min, self.source.highest_hz, self.grid.points_per_wavelength),
        ]
        return [text for text in found if text]


def _known(path: tuple[int | str, ...]) -> list[str]:
    table: Any = Parameters
    for part in path[:-1]:
        if isinstance(part, str):
            said = str(table.model_fields[part].annotation)
            kinds = (Grid, Time, Material, Source, Absorbing, Output, Station, Layer)
            table = next((kind for kind in reversed(kinds) if kind.__name__ in said), table)
    return list(table.model_fields)


def _faults(error: ValidationError) -> Iterator[tuple[tuple[int | str, ...], str]]:
    """The path and the message of each fault; the path is empty for a fault of the whole file."""
    for fault in error.errors():
        path = fault["loc"]
        if fault["type"] == "extra_forbidden":
            near = difflib.get_close_matches(str(path[-1]), _known(path), n=2)
            yield path, "unknown key" + (f"; did you mean {' or '.join(near)}?" if near else "")
        elif fault["type"] == "missing":
            yield path, "missing"
        elif fault["type"] == "value_error":
            yield path, str(fault["ctx"]["error"])
        else:
            yield path, f"{fault['msg'].lower()}, not {fault['input']!r}"


def read(path: Path) -> Parameters:
    """The parameters in a TOML file. Raises RecipeError with all faults at once."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise RecipeError(f"{path}: there is no such parameter file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise RecipeError(f"{path}: cannot be read: {error}") from None
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RecipeError(f"{path}: cannot be read: {error}", _of_syntax(path, text)) from None
    try:
        return Parameters.model_validate(raw)
    except ValidationError as error:
        found = list(_faults(error))
        said = "; ".join(f"{_dotted(at)}: {what}" if at else what for at, what in found)
        raise RecipeError(f"{path}: {said}", list(_placed(path, text, found))) from None


def _dotted(path: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in path)


def _of_syntax(path: Path, text: str) -> list[Fault]:
    from burstlens.core.fault import Fault, Place
    from burstlens.core.toml.text import read_text

    return [
        Fault(at := one.path or (), one.message, one.value, Place(path, one.line, one.column),
              _dotted(at))
        for one in read_text(text).faults
    ]  # fmt: skip


def _placed(
    path: Path, text: str, found: Iterable[tuple[tuple[int | str, ...], str]]
) -> Iterator[Fault]:
    """The faults with line and column; for a missing key, those of its table."""
    from burstlens.core.fault import Fault, Place
    from burstlens.core.toml.places import places

    known = places(text)
    for at, message in found:
        for one in message.split("; ") if not at else (message,):
            key, colon, rest = one.partition(": ")
            steps = at or tuple(int(p) if p.isdigit() else p for p in key.split(".")) * bool(colon)
            near = [steps[:depth] for depth in range(len(steps), 0, -1) if steps[:depth] in known]
            place = Place(path, *known[near[0]]) if near else Place(path)
            yield Fault(steps, rest if colon and not at else one, None, place, _dotted(steps))
