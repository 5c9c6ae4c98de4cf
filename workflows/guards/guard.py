"""The ``[[guard]]`` of a recipe: what each kind watches, when it trips, what happens then.

Can be imported on a login node: it imports neither numpy nor netCDF4.
"""

from __future__ import annotations

import ast
import math
import re
import warnings
from collections import ChainMap
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, field, fields, make_dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_type_hints

from pydantic import Field

from burstlens.core.errors import OptionsError, RecipeError
from burstlens.core.expression import names_in, parse
from burstlens.core.toml.table import NAME, Name
from burstlens.viz.diagnostics.interval import of_interval
from burstlens.viz.geometry.crop import Crop
from burstlens.workflows.frames import log_search
from burstlens.workflows.guards.shown_units import ShownUnits
from burstlens.workflows.notify.way import Way

Limit = Annotated[float, Field(allow_inf_nan=False)]
Above = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Times = Annotated[float, Field(gt=1, allow_inf_nan=False)]
Number = Annotated[int, Field(ge=1)]

_PERCENT = re.compile(r"\s*((?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*%\s*")


class _KindByKeys(type):
    def __call__(cls, **keys: Any) -> Any:
        return GuardTable(**keys).guard if cls is Guard else super().__call__(**keys)


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class Guard(metaclass=_KindByKeys):
    """A condition, one of ``variable``, ``expression``, ``log``, ``stall``, ``silence``,
    ``buffer_full_in`` and ``io``, and what is done when it is met."""

    of_frames: ClassVar[bool] = False
    """Whether it checks the fields of a frame."""
    of_streams: ClassVar[bool] = False
    """Whether it needs frames of a stream."""
    _holds: ClassVar[str] = ""

    name: Name | None = None
    """The guard's name; by default made from what it watches."""
    stream: str | None = None
    """The stream whose frames it checks; by default the model's first stream."""
    then: Literal["alarm", "stop", "stop-now"] = "alarm"
    """`stop` lets the frame in progress end, `stop-now` does not."""
    run: tuple[str, ...] = ()
    """A program and its arguments, run where the driver runs, without a shell."""
    mail: str | None = None
    """An address to mail to, with the newest picture."""
    webhook: str | None = None
    """An address (https://...) to which the trip is posted as JSON, with the newest picture."""

    def __init__(self, **keys: Any) -> None:
        """Take the keys of a ``[[guard]]``; gives a guard of the kind that they select, such as
        :class:`VariableGuard`. Raises OptionsError with all faults."""

    if not TYPE_CHECKING:

        def __getattr__(self, key: str) -> Any:  # every guard had every key; goes in 0.4
            if key not in _DEFAULTS:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {key!r}")
            text = f"a guard of {self.watches} has no {key}: from 0.4 on this is an error"
            warnings.warn(text, DeprecationWarning, 2)
            return _DEFAULTS[key]

    def __post_init__(self) -> None:
        if faults := [*self._faults(), *(way.fault for way in self.ways if way.fault)]:
            raise OptionsError(*faults)

    def _faults(self) -> Iterator[str]:
        """Faults of the keys of its kind."""
        yield from ()

    @property
    def watches(self) -> str:
        """The key that selects its kind."""
        return next(key for key, kind in KINDS.items() if kind is type(self))

    @property
    def called(self) -> str:
        """Its name."""
        return self.name or self.own_name

    @property
    def own_name(self) -> str:
        """A name made from what it watches."""
        match self:
            case VariableGuard():
                word = self.variable
            case LogGuard() if NAME.fullmatch(self.log):
                word = f"log-{self.log}"
            case _:
                word = self.watches
        return re.sub(r"[^A-Za-z0-9_-]+", "-", word).strip("-_")[:48] or "guard"

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that it reads."""
        return ()

    def looks_at(self, stream: str, main: str | None) -> bool:
        """Whether it checks the fields of that stream's frames; ``main`` is the model's first
        stream, None if every stream counts as the first."""
        return self.of_frames and (self.stream or main) in {stream, None}

    @property
    def stops(self) -> bool:
        """Whether it ends the model when it trips."""
        return self.then != "alarm"

    @property
    def text(self) -> str:
        """The condition that must hold, as text: ``W: finite, at most 80``."""
        return self.text_in(ShownUnits())

    def text_in(self, shown: ShownUnits) -> str:
        """The same with the limits in these units: ``T2: finite, at most 36.85 degC``."""
        return self._holds.format(self)

    @property
    def ways(self) -> tuple[Way, ...]:
        """The ways in which its trip is made known."""
        mail = () if self.mail is None else (self.mail,)
        webhook = () if self.webhook is None else (self.webhook,)
        targets = {"run": self.run, "mail": mail, "webhook": webhook}
        return tuple(Way(kind, to, self.called, guard=True) for kind, to in targets.items() if to)

    @property
    def consequences(self) -> list[str]:
        """What it does besides its alarm, a few words each."""
        does = (way.does.partition(" ") for way in self.ways)
        done = [f"asks for {self.then}"] if self.stops else []
        return [*done, *(f"{verb}s {rest}" for verb, _, rest in does)]


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldGuard(Guard):
    """Checks fields of each frame."""

    of_frames: ClassVar[bool] = True
    of_streams: ClassVar[bool] = True

    level: int | None = None
    """Only that level of a 3-D variable, from 0 in the file's order; -1 is the last."""
    crop: Crop = field(default_factory=Crop)
    """Only that part of the domain, as in a product."""

    def _faults(self) -> Iterator[str]:
        yield from self._contradictions()
        if of_interval((getattr(self, self.watches),)):
            yield f"{self.watches}: a guard sees one frame only, not the time since the one before"

    def _contradictions(self) -> Iterator[str]:
        """Faults of the further keys, which a guard of another kind may have by mistake."""
        if self.crop.tracks:
            yield "crop: a guard looks at a frame before any product, so it cannot follow a track"


@dataclass(frozen=True, slots=True, kw_only=True)
class VariableGuard(FieldGuard):
    """Checks the values of a variable, and how they change from frame to frame."""

    variable: str
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

    def _faults(self) -> Iterator[str]:
        yield from FieldGuard._faults(self)
        limits = (self.min, self.max, self.max_rate, self.max_drift)
        if not self.finite and all(limit is None for limit in limits):
            yield "finite = false needs min, max, max_rate or max_drift"

    def _contradictions(self) -> Iterator[str]:
        yield from FieldGuard._contradictions(self)
        if self.min is not None and self.max is not None and not self.min < self.max:
            yield f"min {self.min:g} must be below max {self.max:g}"
        if isinstance(self.max_drift, str) and not _PERCENT.fullmatch(self.max_drift):
            yield f'max_drift must be a number or a part such as "5 %", not {self.max_drift!r}'

    @property
    def variables(self) -> tuple[str, ...]:
        return (self.variable,)

    @property
    def drift(self) -> tuple[float, bool] | None:
        """The limit of ``max_drift``, and whether it is a part of the first mean (0.05)."""
        if self.max_drift is None:
            return None
        part = _part(self.max_drift)
        return (float(self.max_drift), False) if part is None else (part, True)

    def text_in(self, shown: ShownUnits) -> str:
        asked = ["finite"] if self.finite else []
        asked += [f"at least {shown.text(self.min)}"] if self.min is not None else []
        asked += [f"at most {shown.text(self.max)}"] if self.max is not None else []
        if self.max_rate is not None:
            asked.append(f"changing by at most {shown.text_of_difference(self.max_rate)} a second")
        if (drift := self.max_drift) is not None:
            most = drift if isinstance(drift, str) else shown.text_of_difference(drift)
            asked.append(f"mean within {most} of the first")
        level = "" if self.level is None else f" at level {self.level}"
        return f"{self.variable}{level}: {', '.join(asked)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpressionGuard(FieldGuard):
    """Checks a condition over the fields of one frame."""

    _holds: ClassVar[str] = "not: {0.expression}"

    expression: str
    """A condition over variables and their statistics, such as
    "max(abs(W)) > 80 and mean(T2) < 300"; it trips when that is true."""

    def _faults(self) -> Iterator[str]:
        yield from FieldGuard._faults(self)
        try:
            tree_of(self.expression)
        except RecipeError as error:
            yield f"expression: {error}"

    @property
    def variables(self) -> tuple[str, ...]:
        """Those in it, in order. Raises RecipeError for a faulty one."""
        return names_in(tree_of(self.expression))


@dataclass(frozen=True, slots=True, kw_only=True)
class LogGuard(Guard):
    """Searches the model's logs."""

    log: str
    """A pattern that the model has a name for ("cfl"), or a regular expression, searched for in
    each line of every rank's log."""
    count: Number = 1
    """How many lines must match before it trips; if the pattern reads a number of points, as "cfl"
    does, how many one line must name."""

    def _faults(self) -> Iterator[str]:
        yield from log_search.faults(self.log)

    def text_in(self, shown: ShownUnits) -> str:
        often = f" ({self.count} or more)" if self.count > 1 else ""
        return f"log without {self.log}{often}"


@dataclass(frozen=True, slots=True, kw_only=True)
class StallGuard(Guard):
    """Checks the pace of frames."""

    _holds: ClassVar[str] = "a frame within {0.stall:g} times the usual interval"
    of_streams: ClassVar[bool] = True

    stall: Times
    """Trips when no frame came for so many times the usual interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SilenceGuard(Guard):
    """Checks the pace of log lines."""

    _holds: ClassVar[str] = "a log line within {0.silence:g} times the usual interval"

    silence: Times
    """Trips when the model's log was silent for so many times the usual interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferGuard(Guard):
    """Checks how the buffer fills."""

    _holds: ClassVar[str] = "room for more than {0.buffer_full_in} frames on the buffer"
    of_streams: ClassVar[bool] = True

    buffer_full_in: Number
    """Trips when the buffer will be full within so many frames, as it fills now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputGuard(Guard):
    """Checks the time that output takes."""

    io: Above | str
    """Trips when output takes more than this part of the model's time, as its log says: "40 %"."""

    def _faults(self) -> Iterator[str]:
        if not 0 < self.most_io < 1:
            yield f'io must be a part of the model\'s time such as "40 %", not {self.io!r}'

    @property
    def most_io(self) -> float:
        """The limit of ``io``, between 0 and 1; NaN if it is not a part."""
        part = self.io if isinstance(self.io, float) else _part(self.io)
        return math.nan if part is None else part

    def text_in(self, shown: ShownUnits) -> str:
        return f"output within {100 * self.most_io:.4g} % of the model's time"


KINDS: dict[str, type[Guard]] = {
    "variable": VariableGuard,
    "expression": ExpressionGuard,
    "log": LogGuard,
    "stall": StallGuard,
    "silence": SilenceGuard,
    "buffer_full_in": BufferGuard,
    "io": OutputGuard,
}
"""The kinds of guards by the key that selects each, which has no default."""
_DEFAULTS: dict[str, Any] = {
    one.name: one.default if one.default_factory is MISSING else one.default_factory()
    for kind in KINDS.values()
    for one in fields(kind)
} | dict.fromkeys(KINDS)


def _make_guard(table: Any) -> None:
    """Set ``table.guard``, of the kind that the table's keys select. Raises OptionsError."""
    watched = [key for key in KINDS if getattr(table, key) is not None]
    if len(watched) != 1:
        said = f", not {' and '.join(watched)}" if watched else ""
        raise OptionsError(f"say one of {', '.join(KINDS)}{said}")
    kind = KINDS[watched[0]]
    given = {key: value for key, value in vars(table).items() if value != _DEFAULTS[key]}
    own = {one.name: given.pop(one.name) for one in fields(kind) if one.name in given}
    faults = [_needed_for(key) for key in given]
    faults += VariableGuard._contradictions(table) if given else ()
    try:
        table.guard = kind(**own)
    except OptionsError as error:
        faults += error.faults
    if faults:
        raise OptionsError(*dict.fromkeys(faults))


def _needed_for(key: str) -> str:
    """What to say of a key that only guards of other kinds have."""
    kinds = [watched for watched, kind in KINDS.items() if key in kind.__dataclass_fields__]
    return f"{'level and crop need' if kinds[1:] else f'{key} needs'} {' or '.join(kinds)}"


_HINTS = ChainMap(*(get_type_hints(kind, include_extras=True) for kind in KINDS.values()))
GuardTable: Any = make_dataclass(
    "Guard",
    [(key, _HINTS[key] | None, default) for key, default in _DEFAULTS.items()],
    kw_only=True,
    namespace={"__post_init__": _make_guard},
)
"""A ``[[guard]]`` before its kind is known: every key of every kind, so that all values are checked
before the kind is chosen. ``guard`` is what its keys make."""


def tree_of(text: str) -> ast.expr:
    """The checked tree of an expression whose result is a single yes or no. Raises RecipeError with
    the error in it."""
    tree, kind = parse(text)
    if not kind.truth:
        raise RecipeError("gives a number, not a yes or no: compare it, such as max(W) > 80")
    if kind.everywhere:
        raise RecipeError("gives a yes or no at every point: put any(...) or all(...) around it")
    return tree


def _part(value: float | str) -> float | None:
    """0.05 of "5 %"; None for a number and any other text."""
    match = _PERCENT.fullmatch(value) if isinstance(value, str) else None
    return float(match[1]) / 100 if match else None
