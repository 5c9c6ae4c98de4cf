"""Buffers in a terminal: pools, buffers, and the commands that give back what nobody needs."""

from __future__ import annotations

import json
from dataclasses import asdict

from burstlens.cluster_configs.site import choose
from burstlens.quantity import show_bytes, show_duration
from burstlens.tables import show_table
from burstlens.workflows.buffers_report import BufferRow, buffers
from burstlens.workflows.capacity import show_exactly


def show_buffers(site: str | None, *, as_json: bool) -> None:
    """Print the pools and buffers of a site. Raises SiteError."""
    pools, rows = buffers(choose(site))
    if as_json:
        found = {"pools": [asdict(pool) for pool in pools], "buffers": [asdict(r) for r in rows]}
        print(json.dumps(found, indent=2))
        return
    show_table(
        ("pool", "granule", "size", "free"),
        [
            (
                pool.name,
                show_exactly(pool.granule) if pool.granule else "-",
                _size(pool.total, exactly=pool.granule is not None),
                _size(pool.free, exactly=pool.granule is not None),
            )
            for pool in pools
        ],
    )
    print()
    if not rows:
        print("no buffers")
        return
    show_table(
        ("buffer", "size", "used", "state", "user", "age", "run", "held by"),
        [
            (
                row.name,
                "-" if row.size is None else show_exactly(row.size),
                _used(row),
                row.state or "-",
                row.user,
                "-" if row.age_s is None else show_duration(row.age_s),
                f"{row.run} ({row.run_state})" if row.run else "-",
                "; ".join(row.holders) or "-",
            )
            for row in rows
        ],
    )
    offers = [f"  {row.free_with}" for row in rows if row.free_with]
    if offers:
        print("\nThese runs are over; their buffers are given back, with all they hold, by")
        print("\n".join(offers))


def _size(size: int, *, exactly: bool) -> str:
    return show_exactly(size) if exactly else show_bytes(size)


def _used(row: BufferRow) -> str:
    if row.used is None:
        return "-"
    share = f" ({100 * row.used / row.size:.0f} %)" if row.size else ""
    return show_bytes(row.used) + share
