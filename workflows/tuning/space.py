"""What may be varied, and what was tried: factors, configurations of them, trials of those."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

Value = str | int | float | bool
Phase = Literal["pilot", "search", "pair"]
Origin = Literal["default", "rule", "model", "random", "again", "leader"]
"""Why a configuration was chosen: the recipe as it is, a first guess by rule, Optuna's model, at
random, to measure a promising one again, or as the leader in the pairs."""
_STEP = re.compile(r'"([^"]+)"|([^."]+)')
_KEY = re.compile(rf"(?:{_STEP.pattern})(?:\.(?:{_STEP.pattern}))+")


def steps(key: str) -> tuple[str, ...]:
    """The parts of a dotted key; a part that holds dots stands in double quotes.

    Raises ValueError for a key with fewer than two parts, or with an empty one.

    >>> steps('simulation.mpiio_hints."out_*.nc".cb_nodes')
    ('simulation', 'mpiio_hints', 'out_*.nc', 'cb_nodes')
    """
    if not _KEY.fullmatch(key):
        raise ValueError(f"{key!r} is not a dotted key such as simulation.ranks_per_node")
    return tuple(quoted or plain for quoted, plain in _STEP.findall(key))


def labels(keys: Iterable[str]) -> dict[str, str]:
    """The last part of each dotted key, with the part before it where two have the same: the hints
    of several patterns of files."""
    paths = {key: steps(key) for key in keys}
    often = Counter(path[-1] for path in paths.values())
    return {
        key: path[-1] if often[path[-1]] == 1 else ".".join(path[-2:])
        for key, path in paths.items()
    }


@dataclass(frozen=True, slots=True)
class Configuration:
    """Values by dotted key, in the order of the factors. Without any it is the default: the recipe
    as it is."""

    values: tuple[tuple[str, Value], ...] = ()

    @property
    def is_default(self) -> bool:
        """Whether nothing is changed."""
        return not self.values

    def get(self, key: str) -> Value | None:
        """The value of a factor; None where this configuration has none."""
        return dict(self.values).get(key)

    def text(self) -> str:
        """``romio_cb_write=enable cb_nodes=4``; ``default`` for the recipe as it is."""
        names = labels(key for key, _ in self.values)
        return " ".join(f"{names[key]}={value}" for key, value in self.values) or "default"


DEFAULT = Configuration()


@dataclass(frozen=True, slots=True)
class Factor:
    """A dotted key of the recipe and the values to try.

    ``when`` has other factors' keys with the values under which this one has an effect: elsewhere
    it is not set.
    """

    key: str
    values: tuple[Value, ...]
    when: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The last part of the key: its name in tables and plots."""
        return steps(self.key)[-1]

    @property
    def hint(self) -> tuple[str, ...]:
        """Pattern and name of the MPI-IO hint that it varies; empty if it varies something else."""
        first, second, *path = steps(self.key)
        return tuple(path) if (first, second) == ("simulation", "mpiio_hints") else ()

    def applies(self, chosen: Mapping[str, Value]) -> bool:
        """Whether it has an effect beside these values of earlier factors."""
        return all(chosen.get(key) in values for key, values in self.when.items())

    def varying(self, rows: Iterable[dict[str, Value]]) -> Iterator[dict[str, Value]]:
        """The rows, each with every one of its values where it has an effect."""
        for row in rows:
            if self.applies(row):
                yield from (row | {self.key: value} for value in self.values)
            else:
                yield row


@dataclass(frozen=True, slots=True)
class Space:
    """All configurations of some factors, beside the default.

    Raises ValueError for a factor without values, with a value twice, given twice, or whose
    ``when`` names what is not an earlier factor, or a value that this one does not have.
    """

    factors: tuple[Factor, ...]

    def __post_init__(self) -> None:
        known: dict[str, Factor] = {}
        for factor in self.factors:
            steps(factor.key)
            if factor.key in known:
                raise ValueError(f"{factor.key} is given twice")
            if not factor.values:
                raise ValueError(f"{factor.key} has no values to try")
            if len(set(map(repr, factor.values))) < len(factor.values):
                raise ValueError(f"{factor.key} has a value twice")
            for key, values in factor.when.items():
                if key not in known:
                    raise ValueError(f"{factor.key}: when names {key}, not a factor above it")
                if strange := [value for value in values if value not in known[key].values]:
                    raise ValueError(f"{factor.key}: when asks for {key} = {strange[0]!r}, which "
                                     "is not among its values")  # fmt: skip
            known[factor.key] = factor

    def filled(self, choose: Callable[[Factor], Value]) -> Configuration:
        """The configuration of the values chosen for those factors that have an effect beside the
        values of earlier ones."""
        chosen: dict[str, Value] = {}
        for factor in self.factors:
            if factor.applies(chosen):
                chosen[factor.key] = choose(factor)
        return Configuration(tuple(chosen.items()))

    def made(self, chosen: Mapping[str, Value]) -> Configuration:
        """The configuration with these values, without factors that have no effect beside them.

        Raises KeyError where a factor with an effect has no value.
        """
        return self.filled(lambda factor: chosen[factor.key])

    def holds(self, configuration: Configuration) -> bool:
        """Whether it is one of the space's, not the default."""
        try:
            same = self.made(dict(configuration.values)) == configuration
        except KeyError:
            return False
        values = {factor.key: factor.values for factor in self.factors}
        return same and all(value in values[key] for key, value in configuration.values)

    def configurations(self) -> Iterator[Configuration]:
        """Each one once, without the default; the last factor varies fastest."""
        rows: Iterator[dict[str, Value]] = iter([{}])
        for factor in self.factors:
            rows = factor.varying(rows)
        return (Configuration(tuple(row.items())) for row in rows)

    def drawn(self, source: random.Random) -> Configuration:
        """A random one: each factor's values are equally likely."""
        return self.filled(lambda factor: source.choice(factor.values))


@dataclass(frozen=True, slots=True)
class Plan:
    """A trial to run: its phase, its configuration and why it was chosen, in words."""

    phase: Phase
    configuration: Configuration
    origin: Origin
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds in output by stream, first frames left out; ``frames`` counts those that are in."""

    seconds: Mapping[str, float]
    frames: Mapping[str, int] = field(default_factory=dict)

    @property
    def total(self) -> float:
        """Seconds in output, of all streams."""
        return sum(self.seconds.values())


@dataclass(frozen=True, slots=True)
class Trial:
    """A trial that has ended. ``measured`` is None where the configuration made the program fail,
    hang or exceed its time; ``message`` says how. ``wall_s`` is the time of the whole program,
    ``load`` the load average of its node when it ended, which is that of the minute before."""

    plan: Plan
    measured: Measured | None = None
    message: str = ""
    wall_s: float = 0.0
    load: float | None = None
    number: int = 0
    """Of all that were started; one that was lost, or stopped, is missing among them."""

    @property
    def seconds(self) -> float | None:
        """Seconds in output; None of a failed one."""
        return None if self.measured is None else self.measured.total
