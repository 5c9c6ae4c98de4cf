"""Several files, or several reports about one, as one entry: sums, and means weighted by time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TypeVar

from burstlens.workflows.iostats.summary import Flow, Rank, Traffic

MOST_COMMON = 4
"""Sizes of accesses that are kept, the most frequent."""
Number = TypeVar("Number", int, float)


def merged(name: str, parts: Iterable[Traffic]) -> Traffic:
    """Several files, or several reports about one, as one entry; times add up."""
    found = list(parts)
    common: Counter[int] = Counter()
    for part in found:
        common.update(part.common)
    slowest, fastest = _extremes(found)
    # Reads may be of a file with other stripes; the rules are about those that are written.
    striped = [part for part in found if part.write.system_calls] or found
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
        opens=_sum(part.opens for part in found),
        misaligned=_of_all((part.misaligned, part.system_accesses) for part in found),
        alignment=_most(part.alignment for part in found),
        system_accesses=_sum(part.system_accesses for part in found),
        common=dict(common.most_common(MOST_COMMON)),
        aggregators=_least(part.aggregators for part in found),
        stripe_count=_least(part.stripe_count for part in striped),
        stripe_size=_least(part.stripe_size for part in striped),
        slowest=slowest,
        fastest=fastest,
    )


def _extremes(parts: list[Traffic]) -> tuple[Rank | None, Rank | None]:
    """Slowest and fastest rank: over files of one rank each; of shared files, the two of the file
    that took longest, since ranks with different files do not compare."""
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
        collective=_sum(part.collective for part in parts),
        mpi_calls=_sum(part.mpi_calls for part in parts),
        system_calls=_sum(part.system_calls for part in parts),
        system_bytes=_sum(part.system_bytes for part in parts),
        sizes=tuple(map(sum, zip(*sizes, strict=True))) if sizes else None,
        rank_s=_sum(part.rank_s for part in parts),
        mpi_rank_s=_sum(part.mpi_rank_s for part in parts),
        mpi_system_rank_s=_sum(part.mpi_system_rank_s for part in parts),
        seconds=_sum(part.seconds for part in parts),
        stripe_sized=_of_all((part.stripe_sized, part.system_calls) for part in parts),
        read_modify_writes=_sum(part.read_modify_writes for part in parts),
        raw_bw=raw,
        net_bw=net,
        phases=_phases([part for part in parts if part.phases]),
    )


def _phases(parts: list[Flow]) -> dict[str, float]:
    """Mean parts of the time, of the flows that have that phase: a report that was cut lacks some.
    Each flow counts by its time, where all have one."""
    times = [part.seconds or part.rank_s or 0.0 for part in parts]
    weights = times if all(times) else [1.0] * len(parts)
    found: dict[str, float] = {}
    whole: dict[str, float] = {}
    for part, weight in zip(parts, weights, strict=True):
        for phase, share in part.phases.items():
            found[phase] = found.get(phase, 0.0) + share * weight
            whole[phase] = whole.get(phase, 0.0) + weight
    return {phase: total / whole[phase] for phase, total in found.items()}


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


def _sum(values: Iterable[Number | None]) -> Number | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _most(values: Iterable[int | None]) -> int | None:
    return max((value for value in values if value is not None), default=None)


def _least(values: Iterable[int | None]) -> int | None:
    return min((value for value in values if value is not None), default=None)
