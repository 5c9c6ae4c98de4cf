"""A ``[[guard]]`` of a recipe: what it watches, when it trips, what happens then.

Can be imported on a login node: it imports neither numpy nor netCDF4.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field

from burstlens.core.errors import OptionsError
from burstlens.core.naming import NAME, Name
from burstlens.viz.diagnostics.interval import of_interval
from burstlens.viz.geometry.crop import Crop
from burstlens.workflows.frames import log_search as log
from burstlens.workflows.guards import expression
from burstlens.workflows.guards.shown_units import ShownUnits
from burstlens.workflows.notify.way import Way, is_address, is_web

Limit = Annotated[float, Field(allow_inf_nan=False)]
Above = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Times = Annotated[float, Field(gt=1, allow_inf_nan=False)]

_OF_VARIABLE = ("finite", "min", "max", "max_rate", "max_drift")
OWN: Mapping[str, tuple[str, ...]] = {
    "variable": (*_OF_VARIABLE, "level", "crop"),
    "expression": ("level", "crop"),
    "log": ("count",),
    "stall": (),
    "silence": (),
    "buffer_full_in": (),
    "io": (),
}
"""What a guard may watch, and the keys that are valid only with each."""
_WATCHED = tuple(OWN)
_PERCENT = re.compile(r"\s*([0-9.]+(?:[eE][-+]?\d+)?)\s*%\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """A condition, one of ``variable``, ``expression``, ``log``, ``stall``, ``silence``,
    ``buffer_full_in`` and ``io``, and what is done when it is met."""

    name: Name | None = None
    """The guard's name; by default made from what it watches."""
    stream: str | None = None
    """The stream whose frames it checks; by default the model's first stream."""

    variable: str | None = None
    """A variable of each frame; on its own it trips if a value is NaN or infinite."""
    finite: bool = True
    """Whether NaN and infinite values trip it. Missing values of the file never do."""
    min: Limit | None = None
    """Trips when a value is below, in the file's units."""
    max: Limit | None = None
    """Trips when a value is above, in the file's units."""
    max_rate: Above | None = None
    """Trips when the smallest or the largest value changes faster from one frame to the next, in
    the file's units per simulated second."""
    max_drift: Above | str | None = None
    """Trips when the mean is farther than this from the first frame's, in the file's units or as a
    part of it: "5 %"."""
    level: int | None = None
    """Only that level of a 3-D variable, from 0 in the file's order; -1 is the last."""
    crop: Crop = field(default_factory=Crop)
    """Only that part of the domain, as in a product."""

    expression: str | None = None
    """A condition over variables and their statistics, such as
    "max(abs(W)) > 80 and mean(T2) < 300"; it trips when that is true."""

    log: str | None = None
    """A pattern that the model has a name for ("cfl"), or a regular expression, searched for in
    each line of every rank's log."""
    count: Annotated[int, Field(ge=1)] = 1
    """How many lines must match before it trips; if the pattern reads a number of points, as "cfl"
    does, how many one line must name."""

    stall: Times | None = None
    """Trips when no frame came for so many times the usual interval."""
    silence: Times | None = None
    """Trips when the model's log was silent for so many times the usual interval."""
    buffer_full_in: Annotated[int, Field(ge=1)] | None = None
    """Trips when the buffer will be full within so many frames, as it fills now."""
    io: Above | str | None = None
    """Trips when output takes more than this part of the model's time, as its log says: "40 %"."""

    then: Literal["alarm", "stop", "stop-now"] = "alarm"
    """`stop` lets the frame in progress end, `stop-now` does not."""
    run: tuple[str, ...] = ()
    """A program and its arguments, run where the driver runs, without a shell."""
    mail: str | None = None
    """An address to mail to, with the newest picture."""
    webhook: str | None = None
    """An address (https://...) to which the trip is posted as JSON, with the newest picture."""

    def __post_init__(self) -> None:
        faults = list(self._faults())
        if faults:
            raise OptionsError(*faults)

    def _faults(self) -> Iterator[str]:
        watched = [key for key in _WATCHED if getattr(self, key) is not None]
        if len(watched) != 1:
            said = f", not {' and '.join(watched)}" if watched else ""
            yield f"say one of {', '.join(_WATCHED)}{said}"
            return
        defaults = Guard.__dataclass_fields__
        if self.variable is None:
            for key in _OF_VARIABLE:
                if getattr(self, key) != defaults[key].default:
                    yield f"{key} needs variable"
        if not self.of_frames and (self.level is not None or self.crop != Crop()):
            yield "level and crop need variable or expression"
        if self.crop.tracks:
            yield "crop: a guard looks at a frame before any product, so it cannot follow a track"
        if of_interval((self.variable or "", self.expression or "")):
            watched_key = "variable" if self.variable is not None else "expression"
            yield f"{watched_key}: a guard sees one frame only, not the time since the one before"
        if self.log is None and self.count != 1:
            yield "count needs log"
        if self.min is not None and self.max is not None and not self.min < self.max:
            yield f"min {self.min:g} must be below max {self.max:g}"
        if self.variable is not None and not (self.finite or self._has_limit):
            yield "finite = false needs min, max, max_rate or max_drift"
        if isinstance(self.max_drift, str) and not _PERCENT.fullmatch(self.max_drift):
            yield f'max_drift must be a number or a part such as "5 %", not {self.max_drift!r}'
        if self.io is not None and self.most_io is None:
            yield f'io must be a part of the model\'s time such as "40 %", not {self.io!r}'
        if self.expression is not None:
            yield from expression.faults(self.expression)
        if self.log is not None:
            yield from log.faults(self.log)
        if self.mail is not None and not is_address(self.mail):
            yield f"mail: {self.mail!r} is not an address"
        if self.webhook is not None and not is_web(self.webhook):
            yield f"webhook: {self.webhook!r} is not an https:// or http:// address"
        if self.run and not self.run[0]:
            yield "run: the first word names a program"

    @property
    def _has_limit(self) -> bool:
        limits = (self.min, self.max, self.max_rate, self.max_drift)
        return any(limit is not None for limit in limits)

    @property
    def called(self) -> str:
        """Its name."""
        return self.name or self.own_name

    @property
    def own_name(self) -> str:
        """A name made from what it watches."""
        word = self.variable or self.log or ""
        if self.variable is None:
            watched = next(key for key in _WATCHED if getattr(self, key) is not None)
            plain = NAME.fullmatch(word) and self.log is not None
            word = f"log-{word}" if plain else watched
        return re.sub(r"[^A-Za-z0-9_-]+", "-", word).strip("-_")[:48] or "guard"

    @property
    def of_frames(self) -> bool:
        """Whether it checks the fields of a frame."""
        return self.variable is not None or self.expression is not None

    @property
    def of_streams(self) -> bool:
        """Whether it needs frames of a stream."""
        return self.of_frames or self.stall is not None or self.buffer_full_in is not None

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that it reads."""
        if self.expression is not None:
            return expression.variables(self.expression)
        return () if self.variable is None else (self.variable,)

    def looks_at(self, stream: str, main: str | None) -> bool:
        """Whether it checks the fields of that stream's frames; ``main`` is the model's first
        stream, None if every stream counts as the first."""
        return self.of_frames and (self.stream or main) in {stream, None}

    @property
    def stops(self) -> bool:
        """Whether it ends the model when it trips."""
        return self.then != "alarm"

    @property
    def drift(self) -> tuple[float, bool] | None:
        """The limit of ``max_drift``, and whether it is a part of the first mean (0.05)."""
        if self.max_drift is None:
            return None
        match = _PERCENT.fullmatch(self.max_drift) if isinstance(self.max_drift, str) else None
        return (float(match[1]) / 100, True) if match else (float(self.max_drift), False)

    @property
    def most_io(self) -> float | None:
        """The limit of ``io``, between 0 and 1; None if it is not one."""
        match = _PERCENT.fullmatch(self.io) if isinstance(self.io, str) else None
        part = float(match[1]) / 100 if match else self.io
        return part if isinstance(part, float) and 0 < part < 1 else None

    @property
    def text(self) -> str:
        """The condition that must hold, as text: ``W: finite, at most 80``."""
        return self.text_in(ShownUnits())

    def text_in(self, shown: ShownUnits) -> str:
        """The same with the limits in these units: ``T2: finite, at most 36.85 degC``."""
        if self.variable is not None:
            asked = ["finite"] if self.finite else []
            asked += [f"at least {shown.text(self.min)}"] if self.min is not None else []
            asked += [f"at most {shown.text(self.max)}"] if self.max is not None else []
            if self.max_rate is not None:
                rate = shown.text_of_difference(self.max_rate)
                asked.append(f"changing by at most {rate} a second")
            if self.max_drift is not None:
                drift = self.max_drift
                if not isinstance(drift, str):
                    drift = shown.text_of_difference(drift)
                asked.append(f"mean within {drift} of the first")
            level = "" if self.level is None else f" at level {self.level}"
            return f"{self.variable}{level}: {', '.join(asked)}"
        if self.expression is not None:
            return f"not: {self.expression}"
        if self.log is not None:
            often = f" ({self.count} or more)" if self.count > 1 else ""
            return f"log without {self.log}{often}"
        if self.buffer_full_in is not None:
            return f"room for more than {self.buffer_full_in} frames on the buffer"
        if self.most_io is not None:
            return f"output within {100 * self.most_io:.4g} % of the model's time"
        if self.stall is not None:
            return f"a frame within {self.stall:g} times the usual interval"
        return f"a log line within {self.silence:g} times the usual interval"

    @property
    def ways(self) -> tuple[Way, ...]:
        """The ways in which its trip is made known."""
        name = self.called
        return (
            *([Way("run", self.run, name, guard=True)] if self.run else ()),
            *([Way("mail", (self.mail,), name, guard=True)] if self.mail else ()),
            *([Way("webhook", (self.webhook,), name, guard=True)] if self.webhook else ()),
        )

    @property
    def consequences(self) -> list[str]:
        """What it does besides its alarm, a few words each."""
        done = [f"asks for {self.then}"] if self.stops else []
        done += [f"runs {' '.join(self.run)}"] if self.run else []
        done += [f"writes to {self.mail}"] if self.mail else []
        done += [f"posts to {self.webhook}"] if self.webhook else []
        return done
