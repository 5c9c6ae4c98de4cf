"""Buffers in a terminal: which exist, which jobs hold them, which could be given back, and how.

A login node sees no burst buffer: the scheduler lists them, and the latest snapshot of the run that
fills a buffer says how full it is. Folders on a plain directory are measured directly.
"""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import re
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from burstlens.clients.cli.tables import show_table
from burstlens.clients.opened.status import OVER, read_status
from burstlens.cluster_configs.bursts import Burst, BurstScheduler, Holder, unlisted
from burstlens.cluster_configs.schedulers import scheduler
from burstlens.cluster_configs.site import Site, choose
from burstlens.core.errors import BurstlensError
from burstlens.core.printable import printable
from burstlens.core.quantity import show_bytes, show_duration
from burstlens.core.run.directory import RunDir, all_runs
from burstlens.core.run.facts import facts_of
from burstlens.core.run.history_file import history_of
from burstlens.workflows.placement.persistent_buffer import own_name
from burstlens.workflows.plan.capacity import show_exactly


@dataclass(frozen=True, slots=True)
class PoolRow:
    """Where buffers are taken from, in bytes; a directory has no granule."""

    name: str
    granule: int | None
    total: int
    free: int


@dataclass(frozen=True, slots=True)
class BufferRow:
    """One buffer. ``used`` (bytes) and ``age_s`` are None where they are unknown.

    ``holders`` describe jobs. ``run`` is the run of this user that it was made for, with its
    ``run_state``; ``free_with`` is the command that gives it back, where that run is over and
    no job holds it.
    """

    name: str
    size: int | None
    used: int | None
    state: str
    user: str
    age_s: float | None
    holders: tuple[str, ...] = ()
    run: str = ""
    run_state: str = ""
    free_with: str = ""


@dataclass(frozen=True, slots=True)
class _Owner:
    """A run of this user, and whether the run made its buffer."""

    run: RunDir
    state: str
    owned: bool
    used: int | None


@dataclass(frozen=True, slots=True)
class BuffersReport:
    """Pools and buffers of a site; ``unknown`` says why there may be other buffers."""

    pools: list[PoolRow]
    buffers: list[BufferRow]
    unknown: str = ""


def buffers(site: Site) -> BuffersReport:
    """Pools and buffers of a site, the user's own first. Raises SiteError."""
    if site.buffer.kind == "posix":
        found = list(_folders(site))
        folders = [row for _, rows in found for row in rows]
        return BuffersReport([pool for pool, _ in found], folders)
    batch = scheduler(site.scheduler)(site.batch)
    assert isinstance(batch, BurstScheduler), "the site was checked"
    pools, bursts = batch.buffers()
    holders, owners, user = batch.holders(), _owners(), getpass.getuser()
    # A job that only mounts a persistent buffer has an entry of its own, of no size.
    listed = [burst for burst in bursts if burst.size or burst.name]
    rows = [_burst(burst, holders, owners.get(burst.name)) for burst in listed]
    return BuffersReport(
        [PoolRow(pool.name, pool.granule or None, pool.total, pool.free) for pool in pools],
        sorted(rows, key=lambda row: (row.user != user, row.name)),
        unlisted(pools),
    )


def _burst(burst: Burst, holders: list[Holder], owner: _Owner | None) -> BufferRow:
    if burst.user != getpass.getuser():
        owner = None  # another user's buffer may have the name that a run of ours would give
    held = tuple(_said(holder) for holder in holders if _holds(holder, burst))
    is_free = owner and owner.owned and owner.state in OVER and not held
    run, state = (owner.run.id, owner.state) if owner else ("", "")
    return BufferRow(
        name=burst.name or f"(of job {burst.job_id})", size=burst.size,
        used=owner.used if owner else None, state=burst.state, user=burst.user,
        age_s=_age(burst.created), holders=held, run=run, run_state=state,
        free_with=f"burstlens free {run}" if is_free else "",
    )  # fmt: skip


def _holds(holder: Holder, burst: Burst) -> bool:
    if burst.job_id:
        return holder.job_id == burst.job_id
    named = re.compile(rf"#DW\s+persistentdw\s.*\bname={re.escape(burst.name)}(\s|$)")
    return any(named.match(line) for line in holder.lines)


def _said(holder: Holder) -> str:
    text = f"job {holder.job_id} of {holder.user}, {holder.state.lower()}"
    return text if holder.comment in {"", "(null)"} else f"{text}, run {holder.comment}"


def _age(created: str) -> float | None:
    try:
        return max(0.0, time.time() - time.mktime(time.strptime(created, "%Y-%m-%dT%H:%M:%S")))
    except ValueError:
        return None


def _owners() -> dict[str, _Owner]:
    """Runs by the name of the persistent buffer that they have made or would make."""
    found: dict[str, _Owner] = {}
    for run in all_runs():
        try:
            facts, status = facts_of(run), read_status(str(run.path))
            history = history_of(run.journal)
        except (BurstlensError, OSError):
            continue
        known = history.buffer or {}
        own = own_name(facts.buffer_folder or run.id)
        name = str(known.get("name") or history.buffer_name or own)
        if not history.buffer_released:
            owned = bool(known.get("owned", name == own))
            raw_bytes = status.buffer.raw_bytes if status.buffer else None
            owner = _Owner(run, status.state, owned, raw_bytes)
            if name not in found or (owned and not found[name].owned):
                found[name] = owner
    return found


def _folders(site: Site) -> Iterator[tuple[PoolRow, list[BufferRow]]]:
    """The user's folders on each candidate directory that exists."""
    runs = {}
    for run in all_runs():
        try:
            folder = str(facts_of(run, "buffer_folder").buffer_folder)
            runs[folder] = (run.id, read_status(str(run.path)).state)
        except BurstlensError:
            continue
    seen = set()
    for candidate in site.buffer.folders:
        place = Path(os.path.expandvars(os.path.expanduser(candidate)))
        if "$" in str(place) or not place.is_dir() or place.resolve() in seen:
            continue
        seen.add(place.resolve())
        room = os.statvfs(place)
        total, free = room.f_blocks * room.f_frsize, room.f_bavail * room.f_frsize
        root = place / f"burstlens-{os.getuid()}"
        folders = sorted(root.iterdir()) if root.is_dir() else []
        yield (
            PoolRow(str(place), None, total, free),
            [_folder(path, *runs.get(path.name, ("", ""))) for path in folders],
        )


def _folder(path: Path, run: str, state: str) -> BufferRow:
    used, user = _used(path), getpass.getuser()
    age = time.time() - path.stat().st_mtime
    free_with = f"burstlens free {run}" if state in OVER else ""
    return BufferRow(str(path), None, used, "", user, age, (), run, state, free_with)


def _used(folder: Path) -> int:
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                total += os.lstat(os.path.join(place, name)).st_size
    return total


def show_buffers(site: str | None, *, as_json: bool) -> None:
    """Print the pools and buffers of a site. Raises SiteError."""
    found = buffers(choose(site))
    if as_json:
        print(json.dumps(asdict(found), indent=2))
        return
    show_table(("pool", "granule", "size", "free"), [_pool_cells(pool) for pool in found.pools])
    rows = found.buffers
    if not rows:
        print(found.unknown or "no buffers")
        return
    show_table(("buffer", "size", "used", "age", "user"), [_buffer_cells(row) for row in rows])
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


def _pool_cells(pool: PoolRow) -> tuple[str, ...]:
    show = show_bytes if pool.granule is None else show_exactly
    granule = show_exactly(pool.granule) if pool.granule else "-"
    return pool.name, granule, show(pool.total), show(pool.free)


def _buffer_cells(row: BufferRow) -> tuple[str, ...]:
    size = "-" if row.size is None else show_exactly(row.size)
    share = f" ({100 * row.used / row.size:.0f} %)" if row.used is not None and row.size else ""
    used = "-" if row.used is None else show_bytes(row.used) + share
    return row.name, size, used, "-" if row.age_s is None else show_duration(row.age_s), row.user
