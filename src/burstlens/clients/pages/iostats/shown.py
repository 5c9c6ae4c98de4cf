"""Numbers of a summary as text, the same on the page and in a terminal."""

from __future__ import annotations

import time
from collections.abc import Sequence

from burstlens.core.quantity import counted, show_bytes, show_duration
from burstlens.workflows.iostats.comparison import QUANTITIES, Row
from burstlens.workflows.iostats.summary import SIZE_BINS, Summary, Traffic


def show_value(value: float | None, kind: str) -> str:
    """A quantity as text; ``-`` for an unknown one. ``kind`` as in ``Quantity``."""
    if value is None:
        return "-"
    match kind:
        case "bytes":
            return show_bytes(value)
        case "rate":
            return f"{show_bytes(value)}/s"
        case "seconds":
            return show_duration(value)
        case "share":
            return f"{100 * value:.1f} %"
    return f"{value:,.0f}"


def shortened(name: str, most: int) -> str:
    """The end of a long name, at most that many characters."""
    return name if len(name) <= most else "…" + name[-most + 1 :]


def quantities(summary: Summary) -> list[tuple[str, str]]:
    """Name and text of each quantity that the log has."""
    found = [(one, one.of(summary)) for one in QUANTITIES]
    return [(one.name, show_value(value, one.kind)) for one, value in found if value is not None]


def row_texts(row: Row) -> tuple[str, str, str, str]:
    """One quantity of two logs: name, first, second, how many times the first the second is."""
    kind, ratio = row.quantity.kind, row.ratio
    digits = ",.0f" if (ratio or 0) >= 100 else ".2f" if (ratio or 0) >= 0.1 else ".2g"
    shown = "-" if ratio is None else format(ratio, digits)
    return row.quantity.name, show_value(row.first, kind), show_value(row.second, kind), shown


def heading(summary: Summary) -> str:
    """What the log is of: program, ranks, when, how long."""
    parts = [summary.program] if summary.program else []
    if summary.job not in {"", "0"}:
        parts.append(f"job {summary.job}")
    if summary.ranks:
        parts.append(counted(summary.ranks, "rank"))
    if summary.started:
        parts.append(time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(summary.started)))
    if summary.run_s:
        parts.append(f"ran {show_duration(summary.run_s)}")
    return ", ".join(parts)


FILE_HEADS = ("file", "time#", "written#", "read#", "writes#", "mean write#", "ranks#",
              "collective#", "exchange#", "aligned#", "stripes#")  # fmt: skip
"""Of ``file_rows``; a head that ends with # is above numbers."""


def file_rows(files: Sequence[Traffic]) -> list[tuple[str, ...]]:
    """A row of text per file."""
    return [
        (
            file.name if file.files < 2 else f"{file.name} ({file.files} files)",
            show_value(file.seconds or file.model_s, "seconds"),
            show_value(file.write.bytes or None, "bytes"),
            show_value(file.read.bytes or None, "bytes"),
            show_value(file.write.system_calls or file.write.calls or None, "count"),
            show_value(file.write.mean_system_call or file.write.mean_call, "bytes"),
            show_value(file.ranks, "count"),
            show_value(file.write.collective_share, "share"),
            show_value(file.write.exchange_share, "share"),
            show_value(file.aligned_share, "share"),
            "-"
            if file.stripe_count is None
            else f"{file.stripe_count} x {show_bytes(file.stripe_size or 0)}",
        )
        for file in files
    ]


def size_rows(summary: Summary) -> list[tuple[str, str, str]]:
    """Accesses of the file system by size: class, writes, reads."""
    none = (0,) * len(SIZE_BINS)
    written, read = summary.total.write.sizes or none, summary.total.read.sizes or none
    return [
        (name, f"{one:,}", f"{other:,}")
        for name, one, other in zip(SIZE_BINS, written, read, strict=True)
        if one or other
    ]


LAYER_HEADS = ("layer", "records#", "written#", "read#", "writes#", "reads#", "time#", "bandwidth#")


def layer_rows(summary: Summary) -> list[tuple[str, ...]]:
    """Totals per layer, as PyDarshan derives them."""
    return [
        (
            it.name + (" (partial)" if it.partial else ""), f"{it.records:,}",
            show_bytes(it.bytes_written), show_bytes(it.bytes_read), f"{it.writes:,}",
            f"{it.reads:,}", show_value(it.seconds, "seconds"), show_value(it.bandwidth, "rate"),
        )
        for it in summary.layers
    ]  # fmt: skip


def hint_rows(summary: Summary) -> list[tuple[str, str]]:
    """Hints in force: file (or all), ``key=value`` pairs."""
    return [
        (name or "(not named)", " ".join(f"{key}={value}" for key, value in hints.items()))
        for name, hints in summary.hints.items()
    ]
