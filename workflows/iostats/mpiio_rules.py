"""Rules for reports of MPI-IO libraries: aggregators, exchange between ranks, stripe sizes."""

from __future__ import annotations

from burstlens.core.quantity import counted, show_bytes
from burstlens.workflows.iostats.rule import AMPLIFIED, LEAST_BYTES, MOST, TALK, Advice, percent
from burstlens.workflows.iostats.summary import Summary, Traffic

MUCH = 0.30
"""Of the time in one phase; ours. The talk calls 17 % slow already."""
LARGE_PIECE = 512 * 1024
"""Bytes per call; ours, below the talk's 650 KB."""
UNIT = 64 * 1024
"""Lustre takes stripe sizes that are multiples of this."""


def one_aggregator(summary: Summary, file: Traffic) -> Advice | None:
    reads = file.read.bytes > file.write.bytes
    way, flow = ("read", file.read) if reads else ("write", file.write)
    busy = flow.phases.get(f"file {way}")
    if file.aggregators != 1 or file.stripe_count != 1 or summary.ranks == 1:
        return None
    if (busy is not None and busy < MUCH) or 0 < flow.bytes < LEAST_BYTES:
        return None
    because = f"1 aggregator {way}s for all ranks, {'from' if reads else 'into'} 1 stripe"
    if busy is not None:
        because += f"; {'reading' if reads else 'writing'} the file is {percent(busy)} of the time"
    what = (
        "stripe wider: lfs setstripe -c N on the empty folder, or the hint striping_factor; Cray "
        "MPICH takes as many aggregators as stripes (on DataWarp: as buffer nodes, so cb_nodes)"
    )
    source = f"{TALK}: a WRF restart of 360 GB took 674.26 s with 1, 10.35 s with 144"
    hints = {"striping_factor": ("4", "16", "64")}
    return Advice("one_aggregator", file.name, what, because, source, hints=hints)


def data_send(summary: Summary, file: Traffic) -> Advice | None:
    for flow, phase, own in (
        (file.write, "data send", "file write"), (file.read, "data receive", "file read"),
    ):  # fmt: skip
        share = flow.phases.get(phase, 0.0)
        # Phases overlap: where the file system takes more, ranks that send wait for it.
        if share >= MUCH and share > flow.phases.get(own, 0.0):
            break
    else:
        return None
    now = file.aggregators
    because = f"{phase} is {percent(share)} of the time"
    because += f", with {counted(now, 'aggregator')}" if now else "; the aggregators are unknown"
    choices = aggregator_choices(now, summary.ranks) if now else []
    if choices:
        what = f"cb_nodes {' or '.join(map(str, choices))}"
        what += "" if summary.ranks else " (it must divide the number of ranks)"
    elif now and summary.ranks:
        what = f"another cb_nodes: no multiple of {now} divides {summary.ranks} ranks"
    else:
        what = "twice and four times as many aggregators (cb_nodes; a divisor of the ranks)"
    source = f"{TALK}: WRF-CHEM's wrfout took 30.25 s with 4, 7.27 s with 16; threshold ours"
    hints = {"cb_nodes": tuple(map(str, choices))} if choices else {}
    return Advice("data_send", file.name, what, because, source, hints=hints)


def large_pieces(summary: Summary, file: Traffic) -> Advice | None:
    flow = file.write
    waiting = max(flow.phases.get("data send", 0.0), flow.phases.get("exchange and waiting", 0.0))
    mean = flow.mean_call
    collective = flow.collective_share or 0.0
    if waiting < MUCH or mean is None or mean < LARGE_PIECE or collective < MOST:
        return None
    if waiting <= flow.phases.get("file write", 0.0):
        return None
    if flow.system_bytes and flow.system_bytes > AMPLIFIED * flow.bytes:
        return None  # data sieving: the pieces are not contiguous
    because = f"one write is {show_bytes(mean)} on average, and {percent(waiting)} of the time is "
    because += "exchange between ranks"
    what = (
        "romio_cb_write=disable with romio_ds_write=disable, if each rank's piece is contiguous in "
        "the file: then the exchange gains nothing"
    )
    source = f"{TALK}: Neuromapp, 650 KB pieces, 2231 to 6605 MB/s; size and share are ours"
    hints = {"romio_cb_write": ("disable",), "romio_ds_write": ("disable",)}
    return Advice("large_pieces", file.name, what, because, source, hints=hints)


def stripe_sized(summary: Summary, file: Traffic) -> Advice | None:
    flow, size = file.write, file.stripe_size
    share, mean = flow.stripe_sized_share, flow.mean_system_call
    if share is None or mean is None or size is None or share >= MOST or mean >= size / 2:
        return None
    if flow.bytes < LEAST_BYTES or size < 2 * UNIT:
        return None
    because = (
        f"{flow.stripe_sized} of {flow.system_calls} writes ({percent(share, 1)}) have the stripe "
        f"size of {show_bytes(size)}; the mean is {show_bytes(mean)}"
    )
    unit, why = unit_near(mean), "near the mean write, as a power of 2"
    if unit >= size:
        unit, why = size // 2, "half of what it is"
    what = f"striping_unit={unit}, {why}"
    source = f"{TALK}: 14.3 % of WRF's writes before, 63 % after; that it is a power of 2 is ours"
    hints = {"striping_unit": (str(unit),)}
    return Advice("stripe_sized", file.name, what, because, source, hints=hints)


def read_modify_write(summary: Summary, file: Traffic) -> Advice | None:
    count = file.write.read_modify_writes
    if not count:
        return None
    because = f"{counted(count, 'write')} read the block first, to change a part of it"
    what = "romio_ds_write=disable: no data sieving"
    hints, source = {"romio_ds_write": ("disable",)}, "from the counter's meaning"
    return Advice("read_modify_write", file.name, what, because, source, True, hints)


def not_storage(summary: Summary, file: Traffic) -> Advice | None:
    flow = file.write if file.write.raw_bw else file.read
    if not flow.raw_bw or flow.net_bw is None or flow.net_bw >= 0.2 * flow.raw_bw:
        return None
    because = (
        f"the file system took {show_bytes(flow.raw_bw)}/s, and {show_bytes(flow.net_bw)}/s were "
        "left of it"
    )
    what = "no more buffer nodes or stripes: the time is spent between the ranks, not in storage"
    source = f"{TALK}: 98 of 1263 MiB/s for WRF-CHEM; threshold ours"
    return Advice("not_storage", file.name, what, because, source)


def aggregator_choices(now: int, ranks: int | None) -> list[int]:
    """Numbers of aggregators to try: two and four times as many, that divide the ranks and leave
    two ranks or more for each. Without ``ranks`` nothing is excluded."""
    wanted = [now * factor for factor in (2, 4, 8, 16)]
    fit = [one for one in wanted if ranks is None or (ranks % one == 0 and ranks >= 2 * one)]
    return fit[:2]


def unit_near(size: float) -> int:
    """The power of two next to ``size``, at least 64 KiB: a stripe size that Lustre takes."""
    unit = UNIT
    while unit * 2**0.5 < size:
        unit *= 2
    return unit
