"""What a program's I/O took, whatever reported it: the job, totals, one entry per file.

Sizes are bytes, times seconds. None stands for what the source does not report. A Darshan log sums
times over ranks (``rank_s``); Cray MPICH reports the elapsed time of a file (``seconds``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

SIZE_BINS = (
    "0-100", "100-1K", "1K-10K", "10K-100K", "100K-1M", "1M-4M", "4M-10M", "10M-100M", "100M-1G",
    "1G+",
)  # fmt: skip
"""Darshan's classes of access sizes; they are powers of 1024."""


@dataclass(frozen=True, slots=True)
class Rank:
    """One rank's share: its number, its seconds in I/O, and its bytes."""

    rank: int
    seconds: float
    bytes: int | None = None


def _ratio(part: int | None, whole: int | None) -> float | None:
    return None if part is None or not whole else part / whole


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
        return self.bytes / self.calls if self.calls and self.bytes else None

    @property
    def mean_system_call(self) -> float | None:
        """Bytes per call that the file system saw."""
        return _ratio(self.system_bytes, self.system_calls)

    @property
    def collective_share(self) -> float | None:
        """The part of the MPI-IO calls that is collective, from 0 to 1."""
        return _ratio(self.collective, self.mpi_calls)

    @property
    def stripe_sized_share(self) -> float | None:
        """The part of the system's calls that has exactly the size of a stripe, from 0 to 1."""
        return _ratio(self.stripe_sized, self.system_calls)

    @property
    def exchange_share(self) -> float | None:
        """The part of the time in MPI-IO outside the system's calls, which is exchange between
        ranks and waiting, from 0 to 1. By Darshan's times, else by the two bandwidths. Unknown
        (None) where Darshan saw few of the bytes on their way to the system."""
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
        and timers in a log may be about different files."""
        known = [flow for flow in (self.write, self.read) if flow.bytes or flow.net_bw]
        if len(known) == 1 and known[0].net_bw:
            return known[0].net_bw
        return self.bytes / self.seconds if self.seconds else None

    @property
    def aligned_share(self) -> float | None:
        """The part of the system's accesses that is aligned, from 0 to 1."""
        misaligned = _ratio(self.misaligned, self.system_accesses)
        return None if misaligned is None else 1 - misaligned


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
    def spent_s(self) -> float | None:
        """Seconds in I/O, of the slowest rank; or in output, as the model logged, where that is
        more: libraries report some files only."""
        known = [one for one in (self.total.seconds, self.total.model_s) if one is not None]
        return max(known, default=None)

    @property
    def io_share(self) -> float | None:
        """The part of the program's time that I/O took, from 0 to 1."""
        spent = self.spent_s
        return None if spent is None or not self.run_s else min(1.0, spent / self.run_s)
