"""Two logs side by side: the same quantities, their ratio, and what the change suggests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from burstlens.core.quantity import show_duration
from burstlens.workflows.iostats.advice import streams
from burstlens.workflows.iostats.rule import TALK, Advice
from burstlens.workflows.iostats.summary import Summary

NOISE = 1.05
"""A ratio between two single runs within this says nothing, on a quiet machine; ours."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number of a summary: its key in JSON, its name, how it is shown, how it is found.

    ``kind``: bytes, rate (bytes per second), seconds, share (from 0 to 1), count.
    """

    key: str
    name: str
    kind: str
    of: Callable[[Summary], float | None]


QUANTITIES = (
    Quantity("run_s", "run time", "seconds", lambda it: it.run_s),
    Quantity("io_s", "elapsed time in I/O", "seconds", lambda it: it.total.seconds),
    Quantity("model_s", "time in output, as the model logged", "seconds",
             lambda it: it.total.model_s),
    Quantity("io_share", "share of the run", "share", lambda it: it.io_share),
    Quantity("ranks", "ranks", "count", lambda it: it.ranks),
    Quantity("files", "files", "count", lambda it: it.total.files),
    Quantity("bytes_written", "bytes written", "bytes", lambda it: it.total.write.bytes or None),
    Quantity("bytes_read", "bytes read", "bytes", lambda it: it.total.read.bytes or None),
    Quantity("bandwidth", "bandwidth", "rate", lambda it: it.total.bandwidth or None),
    Quantity("net_bw", "net write bandwidth", "rate", lambda it: it.total.write.net_bw),
    Quantity("raw_bw", "raw write bandwidth", "rate", lambda it: it.total.write.raw_bw),
    Quantity("writes", "writes of the program", "count", lambda it: it.total.write.calls or None),
    Quantity("mean_write", "mean write of the program", "bytes",
             lambda it: it.total.write.mean_call),
    Quantity("system_writes", "writes of the file system", "count",
             lambda it: it.total.write.system_calls),
    Quantity("mean_system_write", "mean write of the file system", "bytes",
             lambda it: it.total.write.mean_system_call),
    Quantity("reads", "reads of the program", "count", lambda it: it.total.read.calls or None),
    Quantity("mean_read", "mean read of the program", "bytes", lambda it: it.total.read.mean_call),
    Quantity("collective_share", "collective writes", "share",
             lambda it: it.total.write.collective_share),
    Quantity("exchange_share", "exchange between ranks, of the time in writes", "share",
             lambda it: it.total.write.exchange_share),
    Quantity("data_send_share", "data send, of the time in writes", "share",
             lambda it: it.total.write.phases.get("data send")),
    Quantity("aggregators", "aggregators", "count", lambda it: it.total.aggregators),
    Quantity("stripe_count", "stripes", "count", lambda it: it.total.stripe_count),
    Quantity("stripe_size", "stripe size", "bytes", lambda it: it.total.stripe_size),
    Quantity("stripe_sized_share", "writes of one stripe's size", "share",
             lambda it: it.total.write.stripe_sized_share),
    Quantity("aligned_share", "aligned accesses", "share", lambda it: it.total.aligned_share),
    Quantity("slowest_s", "slowest rank", "seconds",
             lambda it: it.total.slowest.seconds if it.total.slowest else None),
    Quantity("fastest_s", "fastest rank", "seconds",
             lambda it: it.total.fastest.seconds if it.total.fastest else None),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """One quantity of two logs; ``ratio`` is second over first."""

    quantity: Quantity
    first: float | None
    second: float | None

    @property
    def ratio(self) -> float | None:
        """None where one is missing or the first is 0."""
        if not self.first or self.second is None:
            return None
        return self.second / self.first


def compare(first: Summary, second: Summary) -> list[Row]:
    """The quantities that at least one of the logs has."""
    rows = [Row(one, one.of(first), one.of(second)) for one in QUANTITIES]
    return [row for row in rows if row.first is not None or row.second is not None]


def verdict(first: Summary, second: Summary) -> str:
    """In one sentence, which log took less time in I/O, as far as the logs can say."""
    for key, name in (("io_s", "I/O"), ("model_s", "output"), ("run_s", "the run")):
        row = next((row for row in compare(first, second) if row.quantity.key == key), None)
        if row is None or not row.first or not row.second:
            continue
        ratio = row.first / row.second
        if unlike := _unlike(first, second):
            return f"the logs do not compare: {unlike}"
        if max(ratio, 1 / ratio) < NOISE:
            return f"{name} took about as long in both: one run of each cannot tell 5 % from noise"
        more, less = ("first", "second") if ratio > 1 else ("second", "first")
        return (
            f"{name} took {show_duration(row.first)} in the first and {show_duration(row.second)} "
            f"in the second: {max(ratio, 1 / ratio):.2g} times as long in the {more} as in the "
            f"{less}; one run of each says nothing about noise"
        )
    return "neither run time nor time in I/O is in both logs"


def _unlike(first: Summary, second: Summary) -> str:
    """How much more the one did than the other, in bytes, else in files; empty where it is alike or
    unknown."""
    (less, more), moved, of = sorted((first.total.bytes, second.total.bytes)), "moved", "bytes"
    if not less:
        (less, more), moved, of = sorted((first.total.files, second.total.files)), "wrote", "files"
    if not less or more < 1.25 * less:
        return ""
    return f"the one {moved} {more / less:.2g} times the other's {of}"


def advise_on_change(first: Summary, second: Summary) -> list[Advice]:
    """What the change between two runs of one program suggests."""
    before, after = ({one.name: one for one in streams(it.files)} for it in (first, second))
    for name, old in before.items():
        new = after.get(name)
        if new is None or not (old.stripe_size and new.stripe_size and old.seconds and new.seconds):
            continue
        calls = (old.write.system_calls or 0, new.write.system_calls or 0)
        smaller, slower = new.stripe_size < old.stripe_size, new.seconds > NOISE * old.seconds
        if smaller and slower and calls[0] and calls[1] >= 2 * calls[0]:
            because = (
                f"a stripe size of {new.stripe_size} in place of {old.stripe_size} made "
                f"{calls[1]} writes of {calls[0]}, and {new.seconds:.1f} s of {old.seconds:.1f} s"
            )
            what = (
                "one step back with striping_unit, and more aggregators (cb_nodes); if that is no "
                "faster, more buffer nodes"
            )
            source = f"{TALK}: BTIO, 8 MB to 1 MB: 6411 to 51211 writes, 2897 to 2165 MB/s"
            hints = {"striping_unit": (str(old.stripe_size),)}
            return [Advice("smaller_unit", name, what, because, source, hints=hints)]
    return []
