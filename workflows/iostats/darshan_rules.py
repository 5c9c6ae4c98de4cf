"""Rules for what Darshan counts: small, misaligned and serial accesses, exchange, stragglers."""

from __future__ import annotations

from burstlens.core.quantity import counted, show_bytes, show_duration
from burstlens.workflows.iostats.rule import AMPLIFIED, LEAST_BYTES, MOST, TALK, Advice, percent
from burstlens.workflows.iostats.summary import Summary, Traffic

DRISHTI = "thresholds of Drishti 0.8"
MANY = 1000
STRAGGLER = 0.15
LEAST_SECONDS = 1.0
"""Differences between ranks of less are noise; ours."""
META_S = 30.0
FEW_OPENS = 10
"""Fewer are not what takes the time, but what they wait for; ours."""


def exchange(summary: Summary, file: Traffic) -> Advice | None:
    flow = max((file.write, file.read), key=lambda one: one.mpi_rank_s or 0.0)
    share = flow.exchange_share
    if not flow.mpi_rank_s or share is None or share < MOST or not flow.collective:
        return None
    because = (
        f"{percent(share)} of the time in MPI-IO is exchange between ranks and waiting, not the "
        f"file system; {flow.collective} of {flow.mpi_calls} calls are collective"
    )
    choices = tuple(map(str, aggregators_for(summary.ranks)))
    what = "romio_cb_write=disable, to see what the exchange is worth"
    if choices:
        what = (
            f"more aggregators: cb_nodes {' or '.join(choices)}, with cb_config_list=*:N unless it "
            f"is Cray MPICH; or {what}"
        )
    hints = {"cb_nodes": choices} if choices else {}
    return Advice(
        "exchange", file.name, what, because,
        f"as data send in {TALK}; threshold ours", True,
        hints | {"romio_cb_write": ("disable",)},
    )  # fmt: skip


def one_stripe(summary: Summary, file: Traffic) -> Advice | None:
    if file.aggregators is not None or file.stripe_count != 1 or file.files != 1:
        return None  # many files spread over the targets by themselves
    size = max(file.write.bytes, file.read.bytes)
    if (file.ranks or 1) < 2 or size < 1 << 30:
        return None
    because = f"{counted(file.ranks or 0, 'rank')} share {show_bytes(size)} on 1 stripe"
    what = "stripe wider: lfs setstripe -c N on the empty folder, or the hint striping_factor"
    source = f"{TALK}: 674.26 s on 1 stripe, 10.35 s on 144; the size is ours"
    hints = {"striping_factor": ("4", "16", "64")}
    return Advice("one_stripe", file.name, what, because, source, hints=hints)


def amplified(summary: Summary, file: Traffic) -> Advice | None:
    flow = file.write
    system, own = flow.system_bytes, flow.bytes
    if not flow.mpi_calls or system is None or system < AMPLIFIED * own:
        return None
    if system - own < LEAST_BYTES:
        return None
    because = (
        f"the file system wrote {show_bytes(system)}, {system / own:.2g} times the program's "
        f"{show_bytes(own)}"
    )
    reads = file.read.system_calls or 0
    because += f", and read {counted(reads, 'time')}" if reads > MANY else ""
    what = (
        "romio_ds_write=disable: data sieving reads a block, changes a part of it and writes it "
        "back; and contiguous pieces (another order of the variables, fewer holes)"
    )
    hints = {"romio_ds_write": ("disable",)}
    source = "from the counters' meaning; threshold ours"
    return Advice("amplified", file.name, what, because, source, True, hints)


def one_rank_writes(summary: Summary, file: Traffic) -> Advice | None:
    total = summary.total.write.bytes
    if file.ranks != 1 or not summary.ranks or summary.ranks < 2:
        return None
    if file.slowest is None or file.fastest is None or file.slowest.rank != file.fastest.rank:
        return None  # one file per rank
    if file.write.bytes < MOST * total or (file.seconds or 0.0) < LEAST_SECONDS:
        return None
    because = (
        f"rank {file.slowest.rank} alone, of {summary.ranks}, writes "
        f"{show_bytes(file.write.bytes)} ({percent(file.write.bytes / total)} of all)"
    )
    what = (
        "parallel output, if the model has it (WRF: io_form_history = 11 with PnetCDF), or ranks "
        "that only write (WRF: quilting)"
    )
    source = "WRF's user guide, namelist &time_control and &namelist_quilt"
    return Advice("one_rank_writes", file.name, what, because, source, inference=True)


def straggler(summary: Summary, file: Traffic) -> Advice | None:
    slow, fast = file.slowest, file.fastest
    if (file.ranks or 1) * file.files < 2 or slow is None or fast is None:
        return None
    if max(flow.exchange_share or 0.0 for flow in (file.write, file.read)) >= MOST:
        return None  # the ranks wait for each other
    apart = slow.seconds - fast.seconds
    if slow.rank == fast.rank or apart < LEAST_SECONDS or apart < STRAGGLER * slow.seconds:
        return None
    took, other = show_duration(slow.seconds), show_duration(fast.seconds)
    because = f"rank {slow.rank} took {took}, rank {fast.rank} {other}"
    if slow.bytes is not None and fast.bytes is not None and slow.bytes > 1.3 * fast.bytes:
        because += f", for {show_bytes(slow.bytes)} and {show_bytes(fast.bytes)}"
        what = "spread the data evenly over the ranks"
    else:
        what = (
            "look at that rank's node and storage target (lfs getstripe): both moved about the "
            "same amount"
        )
    return Advice("straggler", file.name, what, because, f"{DRISHTI}: 15 %", inference=True)


def small(summary: Summary, file: Traffic) -> Advice | None:
    flow = max((file.write, file.read), key=lambda one: one.rank_s or 0.0)
    sizes, calls = flow.sizes, flow.system_calls
    if not sizes or not calls:
        return None
    small = sum(sizes[:5])
    if small <= MANY or small < 0.1 * calls or (file.seconds or 0.0) < LEAST_SECONDS:
        return None
    if flow.exchange_share is not None and flow.exchange_share >= MOST:
        return None  # the file system is not what takes the time
    mean = flow.mean_system_call or 0.0
    because = f"{small} of {calls} accesses are below 1 MiB, {show_bytes(mean)} on average"
    if flow.mpi_calls and (flow.collective_share or 0.0) < MOST:
        what = (
            "collective writes (romio_cb_write=enable, or the library's collective mode); measure "
            "it: with few ranks on a local disk they were slower"
        )
        hints = {"romio_cb_write": ("enable",)}
    else:
        what = "larger pieces per write: it is the writer that has to gather them"
        hints = {}
    source = f"{DRISHTI}; Boito et al., Ondes3D: gathering small requests took 25.4 % off its I/O"
    return Advice("small", file.name, what, because, source, hints=hints)


def misaligned(summary: Summary, file: Traffic) -> Advice | None:
    share, count = file.aligned_share, file.system_accesses or 0
    if share is None or share > 0.9 or count < 100 or (file.seconds or 0.0) < LEAST_SECONDS:
        return None
    if sum(flow.system_bytes or 0 for flow in (file.write, file.read)) < LEAST_BYTES:
        return None
    block = show_bytes(file.alignment) if file.alignment else "the file system's block"
    because = f"{percent(1 - share)} of {count} accesses do not begin at a multiple of {block}"
    what = (
        "align what is written: nc_var_align_size (PnetCDF), H5Pset_alignment (HDF5), "
        "striping_unit (collective writes)"
    )
    return Advice("misaligned", file.name, what, because, f"{DRISHTI}: 10 %", inference=True)


def metadata(summary: Summary, file: Traffic) -> Advice | None:
    ranks = max(1, file.ranks or 1) * max(1, file.files if (file.ranks or 1) == 1 else 1)
    if not file.meta_rank_s or file.meta_rank_s / ranks < META_S:
        return None
    if file.opens is not None and file.opens < FEW_OPENS:
        return None  # one that waited, as for a pipe's other end
    because = f"open, close and stat took {show_duration(file.meta_rank_s / ranks)} per rank"
    because += f", {counted(file.opens, 'open')}" if file.opens else ""
    what = "fewer opens and files; or the burst buffer, which spares the metadata server"
    return Advice("metadata", file.name, what, because, f"{DRISHTI}: 30 s; {TALK}")


def stdio(summary: Summary, file: Traffic) -> Advice | None:
    if file.layers != ("STDIO",) or (file.seconds or 0.0) < LEAST_SECONDS:
        return None
    if file.bytes < 0.1 * summary.total.bytes:
        return None
    because = f"{show_bytes(file.bytes)} go through stdio (fwrite, Fortran's formatted output)"
    what = "write() or MPI-IO with larger pieces, or a larger buffer (setvbuf)"
    return Advice("stdio", file.name, what, because, f"{DRISHTI}: 10 % of the bytes", True)


def aggregators_for(ranks: int | None) -> list[int]:
    """Numbers of aggregators to try where it is unknown how many there are: the two largest powers
    of 2 that divide the ranks and are no more than an eighth of them; 1 is never one."""
    if ranks is None:
        return []
    most = max(2, ranks // 8)
    powers = [2**at for at in range(1, 11)]
    return [one for one in powers if one <= most and ranks % one == 0 and ranks >= 2 * one][-2:]
