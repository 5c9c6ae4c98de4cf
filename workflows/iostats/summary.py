"""What a program's I/O took, whatever reported it: the job, totals, one entry per file.

Sizes are bytes, times seconds. None stands for what the source does not report. A Darshan log sums
times over ranks (``rank_s``); Cray MPICH reports the elapsed time of a file (``seconds``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

SIZE_BINS = (
    "0-100", "100-1K", "1K-10K", "10K-100K", "100K-1M", "1M-4M", "4M-10M", "10M-100M", "100M-1G",
    "1G+",
)  # fmt: skip
"""Darshan's classes of access sizes; they are powers of 1024."""
MOST_COMMON = 4


@dataclass(frozen=True, slots=True)
class Rank:
    """One rank's share: its number, its seconds in I/O, and its bytes."""

    rank: int
    seconds: float
    bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Flow:
    """One direction: what was written, or what was read.

    ``calls`` are the program's own (MPI-IO's, else POSIX's or STDIO's), ``collective`` those of
    them that all ranks make together, ``system_calls`` what the file system saw, of
    ``system_bytes``; ``sizes`` counts the latter by ``SIZE_BINS``. ``rank_s`` is summed over
    ranks; of files that were used through MPI-IO ``mpi_rank_s`` is the time in MPI-IO, and
    ``mpi_system_rank_s`` the part of it inside the system's calls. ``stripe_sized`` counts the
    system's calls of exactly one stripe. ``raw_bw`` and ``net_bw`` are bytes per second while data
    was written to disk, and over the whole operation. ``phases`` are parts of the time by phase,
    from 0 to 1; phases may overlap.
    """

    bytes: int = 0
    calls: int = 0
    collective: int | None = None
    mpi_calls: int | None = None
    system_calls: int | None = None
    system_bytes: int | None = None
    sizes: tuple[int, ...] | None = None
    rank_s: float | None = None
    mpi_rank_s: float | None = None
    mpi_system_rank_s: float | None = None
    seconds: float | None = None
    stripe_sized: int | None = None
    read_modify_writes: int | None = None
    raw_bw: float | None = None
    net_bw: float | None = None
    phases: Mapping[str, float] = field(default_factory=dict)

    @property
    def mean_call(self) -> float | None:
        """Bytes per call of the program."""
        return self.bytes / self.calls if self.calls else None

    @property
    def mean_system_call(self) -> float | None:
        """Bytes per call that the file system saw."""
        if not self.system_calls or self.system_bytes is None:
            return None
        return self.system_bytes / self.system_calls

    @property
    def collective_share(self) -> float | None:
        """The part of the MPI-IO calls that is collective, from 0 to 1."""
        if self.collective is None or not self.mpi_calls:
            return None
        return self.collective / self.mpi_calls

    @property
    def stripe_sized_share(self) -> float | None:
        """The part of the system's calls that has exactly the size of a stripe, from 0 to 1."""
        if self.stripe_sized is None or not self.system_calls:
            return None
        return self.stripe_sized / self.system_calls

    @property
    def exchange_share(self) -> float | None:
        """The part of the time in MPI-IO outside the system's calls, which is exchange between
        ranks and waiting, from 0 to 1. By Darshan's times, else by the two bandwidths.
        """
        if self.mpi_rank_s and self.mpi_system_rank_s is not None:
            inside = self.mpi_system_rank_s / self.mpi_rank_s
            return min(1.0, max(0.0, 1 - inside))
        if self.raw_bw and self.net_bw is not None:
            return min(1.0, max(0.0, 1 - self.net_bw / self.raw_bw))
        return None


@dataclass(frozen=True, slots=True)
class Traffic:
    """The I/O of one file, or of all.

    ``seconds`` is the elapsed time: of the slowest rank, or as reported. ``model_s`` is what the
    model itself logged. ``ranks`` counts the ranks that used the file; ``aggregators`` write on
    behalf of the others. ``misaligned`` of ``system_accesses`` do not begin at a multiple of the
    file system's block. ``reports`` counts the reports behind the numbers, ``files`` the files.
    """

    name: str
    write: Flow = field(default_factory=Flow)
    read: Flow = field(default_factory=Flow)
    layers: tuple[str, ...] = ()
    files: int = 1
    reports: int = 1
    ranks: int | None = None
    seconds: float | None = None
    model_s: float | None = None
    meta_rank_s: float | None = None
    opens: int | None = None
    misaligned: int | None = None
    alignment: int | None = None
    system_accesses: int | None = None
    common: Mapping[int, int] = field(default_factory=dict)
    aggregators: int | None = None
    stripe_count: int | None = None
    stripe_size: int | None = None
    slowest: Rank | None = None
    fastest: Rank | None = None

    @property
    def bytes(self) -> int:
        """Both directions."""
        return self.write.bytes + self.read.bytes

    @property
    def bandwidth(self) -> float | None:
        """Bytes per second of elapsed time; as the library reports it, where it does: statistics
        and timers in a log may be about different files.
        """
        known = [flow for flow in (self.write, self.read) if flow.bytes or flow.net_bw]
        if len(known) == 1 and known[0].net_bw:
            return known[0].net_bw
        return self.bytes / self.seconds if self.seconds else None

    @property
    def aligned_share(self) -> float | None:
        """The part of the system's accesses that is aligned, from 0 to 1."""
        if self.misaligned is None or not self.system_accesses:
            return None
        return 1 - self.misaligned / self.system_accesses


@dataclass(frozen=True, slots=True)
class Layer:
    """The totals of one layer as PyDarshan derives them: ``seconds`` and ``bandwidth`` (bytes per
    second) by the slowest rank. None where it derives none.
    """

    name: str
    records: int
    bytes_read: int
    bytes_written: int
    reads: int
    writes: int
    seconds: float | None = None
    bandwidth: float | None = None
    partial: bool = False


@dataclass(frozen=True, slots=True)
class Summary:
    """One log. ``notes`` are what a reader must know: what is missing, and why."""

    log: str
    source: str
    program: str = ""
    job: str = ""
    ranks: int | None = None
    started: float | None = None
    run_s: float | None = None
    total: Traffic = field(default_factory=lambda: Traffic("", files=0, reports=0))
    files: tuple[Traffic, ...] = ()
    layers: tuple[Layer, ...] = ()
    hints: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    placement: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def io_share(self) -> float | None:
        """The part of the program's time that I/O took, of its slowest rank, from 0 to 1."""
        if not self.run_s or self.total.seconds is None:
            return None
        return min(1.0, self.total.seconds / self.run_s)


def merged(name: str, parts: Iterable[Traffic]) -> Traffic:
    """Several files, or several reports about one, as one entry; times add up."""
    found = list(parts)
    common: Counter[int] = Counter()
    for part in found:
        common.update(part.common)
    slowest, fastest = _extremes(found)
    return Traffic(
        name,
        _flow([part.write for part in found]),
        _flow([part.read for part in found]),
        tuple(dict.fromkeys(layer for part in found for layer in part.layers)),
        files=sum(part.files for part in found),
        reports=sum(part.reports for part in found),
        ranks=_most(part.ranks for part in found),
        seconds=_sum(part.seconds for part in found),
        model_s=_sum(part.model_s for part in found),
        meta_rank_s=_sum(part.meta_rank_s for part in found),
        opens=_whole(part.opens for part in found),
        misaligned=_of_all((part.misaligned, part.system_accesses) for part in found),
        alignment=_most(part.alignment for part in found),
        system_accesses=_whole(part.system_accesses for part in found),
        common=dict(common.most_common(MOST_COMMON)),
        aggregators=_least(part.aggregators for part in found),
        stripe_count=_least(part.stripe_count for part in found),
        stripe_size=_least(part.stripe_size for part in found),
        slowest=slowest,
        fastest=fastest,
    )


def _extremes(parts: list[Traffic]) -> tuple[Rank | None, Rank | None]:
    """Slowest and fastest rank: over files of one rank each; of shared files, the two of the file
    that took longest, since ranks with different files do not compare.
    """
    pairs = [(part.slowest, part.fastest) for part in parts if part.slowest and part.fastest]
    if not pairs:
        return None, None
    if all(part.ranks == 1 for part in parts):
        slow, fast = zip(*pairs, strict=True)
        return max(slow, key=lambda it: it.seconds), min(fast, key=lambda it: it.seconds)
    return max(pairs, key=lambda pair: pair[0].seconds)


def _flow(parts: list[Flow]) -> Flow:
    sizes = [part.sizes for part in parts if part.sizes is not None]
    raw, net = _rates(parts)
    return Flow(
        bytes=sum(part.bytes for part in parts),
        calls=sum(part.calls for part in parts),
        collective=_whole(part.collective for part in parts),
        mpi_calls=_whole(part.mpi_calls for part in parts),
        system_calls=_whole(part.system_calls for part in parts),
        system_bytes=_whole(part.system_bytes for part in parts),
        sizes=tuple(map(sum, zip(*sizes, strict=True))) if sizes else None,
        rank_s=_sum(part.rank_s for part in parts),
        mpi_rank_s=_sum(part.mpi_rank_s for part in parts),
        mpi_system_rank_s=_sum(part.mpi_system_rank_s for part in parts),
        seconds=_sum(part.seconds for part in parts),
        stripe_sized=_of_all((part.stripe_sized, part.system_calls) for part in parts),
        read_modify_writes=_whole(part.read_modify_writes for part in parts),
        raw_bw=raw,
        net_bw=net,
        phases=_phases([part for part in parts if part.phases]),
    )


def _phases(parts: list[Flow]) -> dict[str, float]:
    """Mean parts of the time; each flow counts by its time, where all have one."""
    times = [part.seconds or part.rank_s or 0.0 for part in parts]
    weights = times if all(times) else [1.0] * len(parts)
    found: dict[str, float] = {}
    for part, weight in zip(parts, weights, strict=True):
        for phase, share in part.phases.items():
            found[phase] = found.get(phase, 0.0) + share * weight / sum(weights)
    return found


def _of_all(parts: Iterable[tuple[int | None, int | None]]) -> int | None:
    """The sum of counts of which a share is taken; None if one is unknown: no share then."""
    counts = [count for count, whole in parts if whole]
    known = [count for count in counts if count is not None]
    return sum(known) if known and len(known) == len(counts) else None


def _rates(parts: Iterable[Flow]) -> tuple[float | None, float | None]:
    """Raw and net bandwidth of all: bytes over the time that they took."""
    known = [
        (part.raw_bw, part.net_bw, part.seconds or 1.0)
        for part in parts
        if part.raw_bw and part.net_bw
    ]
    moved = sum(net * seconds for _, net, seconds in known)
    if not known or not moved:
        return None, None
    writing = sum(net * seconds / raw for raw, net, seconds in known)
    return moved / writing, moved / sum(seconds for *_, seconds in known)


def _sum(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _whole(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _most(values: Iterable[int | None]) -> int | None:
    return max((value for value in values if value is not None), default=None)


def _least(values: Iterable[int | None]) -> int | None:
    return min((value for value in values if value is not None), default=None)
