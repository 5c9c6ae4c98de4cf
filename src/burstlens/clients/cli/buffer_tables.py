"""Buffers in a terminal: pools, buffers, and the commands that give back unused ones."""

from __future__ import annotations

import json
from dataclasses import asdict

from burstlens.clients.cli.buffers_report import BufferRow, buffers
from burstlens.clients.cli.tables import show_table
from burstlens.cluster_configs.site import choose
from burstlens.core.printable import printable
from burstlens.core.quantity import show_bytes, show_duration
from burstlens.workflows.plan.capacity import show_exactly


def show_buffers(site: str | None, *, as_json: bool) -> None:
    """Print the pools and buffers of a site. Raises SiteError."""
    found = buffers(choose(site))
    if as_json:
        print(json.dumps(asdict(found), indent=2))
        return
    pools, rows = found.pools, found.buffers
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
    if not rows:
        print(found.unknown or "no buffers")
        return
    show_table(
        ("buffer", "size", "used", "age", "user"),
        [
            (
                row.name,
                "-" if row.size is None else show_exactly(row.size),
                _used(row),
                "-" if row.age_s is None else show_duration(row.age_s),
                row.user,
            )
            for row in rows
        ],
    )
    lines = [text for row in rows if (text := _details(row))]
    lines += [found.unknown] if found.unknown else []
    if lines:
        print("\n".join(lines))


def _details(row: BufferRow) -> str:
    """Its run and the jobs that hold it; printed below the table, where there is room."""
    parts = [] if row.state in {"", "allocated"} else [printable(row.state)]
    if row.run:
        parts.append(f"made for {row.run} ({row.run_state})")
    parts += [f"held by {printable(holder)}" for holder in row.holders]
    if row.free_with:
        parts.append(f"given back, with all it holds, by\n  {row.free_with}")
    return f"{printable(row.name)}: {'; '.join(parts)}" if parts else ""


def _size(size: int, *, exactly: bool) -> str:
    return show_exactly(size) if exactly else show_bytes(size)


def _used(row: BufferRow) -> str:
    if row.used is None:
        return "-"
    share = f" ({100 * row.used / row.size:.0f} %)" if row.size else ""
    return show_bytes(row.used) + share
