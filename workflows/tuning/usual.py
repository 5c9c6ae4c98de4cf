"""The factors of a recipe that names none: hints of MPI-IO that ROMIO and Cray MPICH take."""

from __future__ import annotations

from burstlens.workflows.tuning.space import Factor, Space, Value

KIB, MIB = 1024, 1024 * 1024
_ON = ("enable", "automatic")


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
