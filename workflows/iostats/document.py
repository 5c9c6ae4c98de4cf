"""One or two summaries as one JSON document; docs/io.md names its keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from burstlens.workflows.iostats.advice import advise
from burstlens.workflows.iostats.comparison import advise_on_change, compare, verdict
from burstlens.workflows.iostats.summary import SIZE_BINS, Flow, Summary, Traffic

FORMAT = 1
"""Raised when a key goes or changes its meaning; new keys may come at any time."""


def document(summaries: Sequence[Summary]) -> dict[str, Any]:
    """The logs with their advice, and of two logs the comparison; None stands for the unknown."""
    first, *others = summaries
    return {
        "format": FORMAT,
        "logs": [_log(it) for it in summaries],
        "comparison": _comparison(first, others[0]) if others else None,
    }


def _log(summary: Summary) -> dict[str, Any]:
    return {
        "log": summary.log, "source": summary.source, "program": summary.program,
        "job": summary.job, "ranks": summary.ranks, "started": summary.started,
        "run_s": summary.run_s, "io_share": summary.io_share, "total": _traffic(summary.total),
        "layers": [asdict(it) for it in summary.layers],
        "files": [_traffic(it) for it in summary.files],
        "hints": {name: dict(hints) for name, hints in summary.hints.items()},
        "placement": dict(summary.placement), "notes": list(summary.notes),
        "advice": [asdict(it) for it in advise(summary)],
    }  # fmt: skip


def _traffic(traffic: Traffic) -> dict[str, Any]:
    return asdict(traffic) | {
        "common": [{"bytes": size, "count": count} for size, count in traffic.common.items()],
        "write": _flow(traffic.write), "read": _flow(traffic.read), "bytes": traffic.bytes,
        "bandwidth": traffic.bandwidth, "aligned_share": traffic.aligned_share,
    }  # fmt: skip


def _flow(flow: Flow) -> dict[str, Any]:
    return asdict(flow) | {
        "sizes": dict(zip(SIZE_BINS, flow.sizes, strict=True)) if flow.sizes else None,
        "mean_call": flow.mean_call, "mean_system_call": flow.mean_system_call,
        "collective_share": flow.collective_share, "exchange_share": flow.exchange_share,
        "stripe_sized_share": flow.stripe_sized_share,
    }  # fmt: skip


def _comparison(first: Summary, second: Summary) -> dict[str, Any]:
    rows = [
        {
            "key": row.quantity.key, "kind": row.quantity.kind, "first": row.first,
            "second": row.second, "ratio": row.ratio,
        }
        for row in compare(first, second)
    ]  # fmt: skip
    return {
        "quantities": rows,
        "verdict": verdict(first, second),
        "advice": [asdict(it) for it in advise_on_change(first, second)],
    }
