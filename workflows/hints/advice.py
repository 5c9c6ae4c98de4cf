"""What is wrong or risky about a recipe's MPI-IO hints on a site, with the numbers.

The rules for aggregators are those of G. Markomanolis and B. Hadri, "Burst Buffer: From Alpha to
Omega" (IXPUG Middle East 2018): their number divides the ranks, leaves each two ranks or more, and
is 2 to 128 times the number of DataWarp nodes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from burstlens.cluster_configs.site import Mpi
from burstlens.core.nearness import did_you_mean
from burstlens.core.quantity import counted
from burstlens.workflows.hints.delivery import Hints, merged, text
from burstlens.workflows.hints.names import STRIPING, VALUES, known_names, understood

KEY = "simulation.mpiio_hints"
ALIGNED = 64 * 1024
"""Lustre's stripes are multiples of this."""
MOST_PER_NODE = 128
_COUNTS = {
    "cb_nodes", "cb_buffer_size", "ind_rd_buffer_size", "ind_wr_buffer_size", "striping_factor",
    "striping_unit",
}  # fmt: skip
_SHOWN = 4
_TITLES: dict[Mpi, str] = {"cray-mpich": "Cray MPICH", "romio": "ROMIO", "openmpi": "Open MPI"}


@dataclass(frozen=True, slots=True)
class Advice:
    """One remark: ``error``, ``warning`` or ``note``, and the key of the recipe that it is on."""

    level: str
    text: str
    key: str = KEY


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the hints are to act. ``ranks`` and ``buffer_nodes`` are None where they are not known,
    ``file_system`` is empty then: ``lustre``, ``datawarp``, or another one's name."""

    site: str
    mpi: Mpi | None
    nodes: int = 1
    ranks: int | None = None
    buffer_nodes: int | None = None
    file_system: str = field(default="")


def advise(hints: Hints, place: Place) -> Iterator[Advice]:
    """All remarks on the hints; none without hints."""
    yield from by_themselves(hints, place)
    if place.mpi == "none":
        return
    for pattern, values in hints.items():
        if number := _number(text(values.get("cb_nodes", ""))):
            yield from _aggregators(pattern, number, place)
            yield from _clipped(pattern, number, text(values.get("cb_config_list", "")), place)


def by_themselves(hints: Hints, place: Place) -> Iterator[Advice]:
    """The remarks on whether each hint reaches the MPI and the file system, without those on
    whether its value is a good one."""
    if not any(hints.values()):
        return
    yield from _way(hints, place)
    if place.mpi == "none":
        return
    for pattern, values in hints.items():
        for hint, value in values.items():
            yield from _one(pattern, hint, text(value), place)


def _way(hints: Hints, place: Place) -> Iterator[Advice]:
    """Whether the site's MPI takes hints, and by pattern."""
    if place.mpi is None:
        said = f"site {place.site} does not say which MPI its programs use (mpi in its file)"
        effect = "the hints are written as Cray MPICH takes them, and other MPIs ignore them"
        yield Advice("warning", f"{said}: {effect}; burstlens sites --probe-io shows which arrive")
    elif place.mpi == "none":
        yield Advice("warning", f'site {place.site} has mpi = "none": the hints have no effect')
    elif place.mpi != "cray-mpich":
        title = _TITLES[place.mpi]
        for conflict in merged(hints)[1]:
            others = ", ".join(f"{value} of {name!r}" for name, value in conflict.dropped.items())
            yield Advice(
                "warning",
                f"{title} takes one value of {conflict.hint} for all files: {conflict.kept} of "
                f"{conflict.pattern!r} counts, {others} does not",
            )
        named = [pattern for pattern in hints if pattern != "*"]
        if named:
            shown = ", ".join(map(repr, named))
            yield Advice("note", f"{title} takes hints for all files: those of {shown} apply to "
                         "every file that the model opens through MPI-IO")  # fmt: skip


def _one(pattern: str, hint: str, value: str, place: Place) -> Iterator[Advice]:
    """A hint by itself: its name, its value, and whether the file system looks at it."""
    called = f"{hint} of {pattern!r}"
    if place.mpi is not None and not understood(place.mpi, hint, value):
        title, names = _TITLES[place.mpi], known_names(place.mpi)
        if hint in names:
            yield Advice("warning", f"{called}: {title} has no way to say {value!r}")
            return
        near = did_you_mean(hint, names)
        yield Advice("warning", f"{called}: {title} has no such hint{near}")
        return
    if hint in _COUNTS and not _number(value):
        yield Advice("error", f"{called}: {value!r} is not a whole number above 0; sizes are in "
                     "bytes, without a unit")  # fmt: skip
        return
    allowed = VALUES.get(place.mpi or "cray-mpich", {}).get(hint, ())
    if allowed and value not in allowed:
        yield Advice("warning", f"{called}: {value!r} is none of {', '.join(allowed)}")
    if hint == "striping_unit" and int(value) % ALIGNED:
        aligned = max(1, round(int(value) / ALIGNED)) * ALIGNED
        yield Advice(
            "warning",
            f"{called}: {value} is not a multiple of 64 KiB, as Lustre's stripes are: {aligned} is",
        )
    if hint in STRIPING and place.file_system not in {"", "lustre", "datawarp"}:
        yield Advice("warning", f"{called} acts on Lustre and DataWarp only: the buffer is on "
                     f"{place.file_system}, where it has no effect")  # fmt: skip


def _aggregators(pattern: str, number: int, place: Place) -> Iterator[Advice]:
    """The number of aggregators against ranks and buffer nodes."""
    ranks, nodes = place.ranks, place.buffer_nodes
    called = f"cb_nodes {number} of {pattern!r}"
    if ranks is not None and number > ranks:
        yield Advice("warning", f"{called}: there are {counted(ranks, 'rank')}, so {ranks} is used")
        return
    wrong = []
    if ranks is not None and ranks % number:
        wrong.append(f"does not divide the {ranks} ranks")
    elif ranks is not None and ranks > 1 and number == ranks:
        wrong.append(f"makes each of the {ranks} ranks an aggregator")
    if nodes is not None and number % nodes:
        wrong.append(f"is not a multiple of the buffer's {counted(nodes, 'node')}")
    elif nodes is not None and not 2 * nodes <= number <= MOST_PER_NODE * nodes:
        least, most = 2 * nodes, MOST_PER_NODE * nodes
        wrong.append(f"is not {least} to {most} (2 to 128 for each of {counted(nodes, 'node')})")
    if wrong:
        better = ", ".join(map(str, choices(number, ranks, nodes)))
        none = f"; with {ranks} ranks no number is right for {counted(nodes or 0, 'node')}"
        tail = f"; try {better}" if better else none if ranks and nodes else ""
        yield Advice("warning", f"{called} {' and '.join(wrong)}{tail}")


def choices(near: int, ranks: int | None, nodes: int | None) -> list[int]:
    """The numbers of aggregators nearest to ``near`` that the rules allow, in order."""
    if ranks is None:
        step = nodes or 1
        found = [step * factor for factor in range(2, MOST_PER_NODE + 1)]
    else:
        found = [n for n in range(1, ranks // 2 + 1) if ranks % n == 0]
    if nodes is not None:
        most = MOST_PER_NODE * nodes
        found = [n for n in found if n % nodes == 0 and 2 * nodes <= n <= most]
    nearest = sorted(found, key=lambda n: (max(n, near) / min(n, near), n))[:_SHOWN]
    return sorted(nearest)


def _clipped(pattern: str, number: int, listed: str, place: Place) -> Iterator[Advice]:
    """Aggregators that ``cb_config_list`` does not allow: ROMIO lowers cb_nodes silently."""
    host, _, most = listed.partition(":")
    if place.mpi != "romio" or host != "*" or not _number(most or "1"):
        return
    allowed = int(most or 1) * place.nodes
    if allowed < number:
        yield Advice(
            "warning",
            f"cb_nodes {number} of {pattern!r}: cb_config_list {listed} allows "
            f"{allowed} on {counted(place.nodes, 'node')}, so {allowed} is used",
        )


def _number(value: str) -> int:
    """A whole number above 0, else 0."""
    return int(value) if value.isascii() and value.isdecimal() else 0
