"""The usual factors, where a recipe names none, and first guesses by rule.

The factors are hints of MPI-IO that ROMIO and Cray MPICH take. Guesses differ in kind: more
aggregators, no collective buffering, sizes. Each changes one thing and leaves the others at what
ROMIO does by itself, where that value is among those to try. Rules: G. Markomanolis, B. Hadri,
Burst Buffer: From Alpha to Omega (IXPUG Middle East 2018). ROMIO's own values:
``src/mpi/romio/adio/include/adio.h`` of MPICH 4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from burstlens.workflows.tuning.space import Configuration, Factor, Space, Value

KIB, MIB = 1024, 1024 * 1024
_ON = ("enable", "automatic")
OWN: dict[str, Value] = {
    "romio_cb_write": "automatic",
    "romio_cb_read": "automatic",
    "romio_ds_write": "automatic",
    "romio_ds_read": "automatic",
    "cb_nodes": 1,
    "cb_buffer_size": 16_777_216,
    "ind_wr_buffer_size": 524_288,
    "ind_rd_buffer_size": 4_194_304,
    "striping_unit": 1_048_576,
}
"""What ROMIO does without the hint."""
STRIPES = 4
"""Striping units in a collective buffer, in what ExpBB found (4 of 1 MiB, on 8 nodes of 2 MiB)."""


def usual_space(ranks: int, patterns: tuple[str, ...], *, striped: bool, servers: int) -> Space:
    """Collective buffering, aggregators, buffers and sieving for each of the file patterns, and
    the striping unit where the buffer is ``striped`` over ``servers`` nodes."""
    factors: list[Factor] = []
    for pattern in patterns:
        quoted = f'"{pattern}"' if "." in pattern else pattern

        def key(name: str, pattern: str = quoted) -> str:
            return f"simulation.mpiio_hints.{pattern}.{name}"

        on: dict[str, tuple[Value, ...]] = {key("romio_cb_write"): _ON}
        off: dict[str, tuple[Value, ...]] = {key("romio_cb_write"): ("disable",)}
        factors += [
            Factor(key("romio_cb_write"), (*_ON, "disable")),
            Factor(key("cb_nodes"), aggregators(ranks, servers), on),
            Factor(key("cb_buffer_size"), (MIB, 4 * MIB, 16 * MIB, 64 * MIB), on),
            Factor(key("romio_ds_write"), ("automatic", "enable", "disable")),
            Factor(key("ind_wr_buffer_size"), (64 * KIB, 512 * KIB, 4 * MIB), off),
        ]
        if striped:
            units = (256 * KIB, MIB, 4 * MIB, 8 * MIB)
            factors.append(Factor(key("striping_unit"), units))
    return Space(tuple(factors))


def aggregators(ranks: int, servers: int) -> tuple[int, ...]:
    """Numbers of aggregators to try, at most five: divisors of the ranks, multiples of the buffer's
    nodes where such are.

    The talk's rule: aggregators divide the ranks and are k times the DataWarp nodes.
    """
    divisors = [number for number in range(1, ranks + 1) if ranks % number == 0]
    fitting = [number for number in divisors if number % servers == 0] or divisors
    while len(fitting) > 5:
        fitting = [*fitting[:-1:2], fitting[-1]]
    return tuple(fitting)


@dataclass(frozen=True, slots=True)
class Guess:
    """A configuration to try early, and the rule that it comes from."""

    configuration: Configuration
    rule: str


def first_guesses(space: Space, ranks: int) -> list[Guess]:
    """At most three, each another configuration; none where no factor is known to a rule."""
    found: dict[Configuration, Guess] = {}
    for guess in _by_rule(space, ranks):
        found.setdefault(guess.configuration, guess)
    return list(found.values())[:3]


def _by_rule(space: Space, ranks: int) -> Iterator[Guess]:
    named = {factor.name: factor for factor in space.factors}
    if "cb_nodes" in named:
        nodes = _aggregators(named["cb_nodes"], ranks)
        # Aggregators need collective buffering.
        offered = _values(named, "romio_cb_write")
        on = next((value for value in _ON if value in offered), None)
        changed = {"cb_nodes": nodes, "romio_cb_write": on}
        rule = "more aggregators, a divisor of the ranks: one or few cannot load the storage"
        yield Guess(_guess(space, changed), rule)
    if "disable" in _values(named, "romio_cb_write"):
        rule = "no collective buffering: right where each rank writes large contiguous pieces"
        yield Guess(_guess(space, {"romio_cb_write": "disable"}), rule)
    if sizes := _sizes(named):
        rule = "sizes as ExpBB found them: a small striping unit, a buffer of four units"
        yield Guess(_guess(space, sizes), rule)
    for name in ("stripe_count", "striping_factor", "nodes"):
        if name in named and (most := max(_numbers(named[name]), default=None)) is not None:
            yield Guess(_guess(space, {name: most}), f"the largest {name}: more servers")


def _sizes(named: dict[str, Factor]) -> dict[str, Value | None]:
    """The striping unit near the average system write, which is small in all of the talk's cases,
    and a buffer of four units."""
    found: dict[str, Value | None] = {}
    unit: Value = OWN["striping_unit"]
    if "striping_unit" in named and (units := _numbers(named["striping_unit"])):
        unit = max((v for v in units if v < int(unit)), default=min(units))
        found["striping_unit"] = unit
    if "cb_buffer_size" in named:
        found["cb_buffer_size"] = STRIPES * int(unit)
    return found


def _guess(space: Space, changed: dict[str, Value | None]) -> Configuration:
    """These values by the factors' names; the others are ROMIO's own, or the middle ones."""
    return space.filled(lambda one: _nearest(one, changed.get(one.name, OWN.get(one.name))))


def _nearest(factor: Factor, wanted: Value | None) -> Value:
    """That value if it is to be tried, else the nearest number, else the middle one."""
    if wanted in factor.values:
        return next(value for value in factor.values if value == wanted)
    numbers = _numbers(factor)
    if isinstance(wanted, int | float) and numbers:
        return min(numbers, key=lambda value: abs(value - wanted))
    return factor.values[len(factor.values) // 2]


def _aggregators(factor: Factor, ranks: int) -> Value | None:
    fitting = [value for value in _numbers(factor) if value <= ranks and ranks % value == 0]
    return max(fitting, default=max(_numbers(factor), default=None))


def _values(named: dict[str, Factor], name: str) -> tuple[Value, ...]:
    return named[name].values if name in named else ()


def _numbers(factor: Factor) -> list[int | float]:
    return [v for v in factor.values if isinstance(v, int | float) and not isinstance(v, bool)]
