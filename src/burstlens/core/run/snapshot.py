"""The snapshot of a run on disk: ``status.json``, its one writer and its one reader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET
from msgspec.structs import replace

from burstlens.core.decode import convert, record
from burstlens.core.durable import write_json
from burstlens.core.errors import RunError
from burstlens.core.run.directory import RunDir
from burstlens.core.run.facts import facts_of
from burstlens.core.run.job_record import JobRecord
from burstlens.core.run.record import read_record, stamp
from burstlens.core.run.status_file import (
    AttachedPart,
    BufferPart,
    CheckpointPart,
    DriverPart,
    FrameCounts,
    Ledger,
    OutcomePart,
    ProductCounts,
    SegmentPart,
    StatusFile,
)

if TYPE_CHECKING:
    from burstlens.core.run.history import History

_THEN = "it is only a snapshot: delete it, and what the journal says is shown"


def read_snapshot(run: RunDir) -> StatusFile:
    """The content of ``status.json``, with the keys that an older version has not written. Without
    the file, or when it is not JSON, it is made from the journal. Raises RunError, which names the
    file."""
    fresh = new_snapshot(run)
    found = read_record(run.status, StatusFile, _THEN, lacking=lambda: record(fresh))
    return _by_journal(run, fresh) if found is None else found


def write_snapshot(run: RunDir, snapshot: StatusFile) -> dict[str, Any]:
    """Write ``status.json``; returns its content. Raises OSError."""
    value = record(snapshot) | stamp()
    write_json(run.status, value, sync=False)
    return value


def new_snapshot(run: RunDir) -> StatusFile:
    """The snapshot of a run that has had no driver yet. Raises RunError."""
    facts = facts_of(run)
    return StatusFile(
        run=run.id,
        title=facts.title or "",
        state="new",
        frames=FrameCounts(0, 0),
        products={},
        ledger=Ledger(0, 0),
        block="gone",
        pictures=str(run.products),
        driver=DriverPart(heartbeat=facts.created or 0.0),
        attached=UNSET if facts.attached is None else _attached(facts.attached),
    )


def _attached(options: dict[str, Any]) -> AttachedPart:
    """What ``run.json`` says of the folder. Raises RunError."""
    names = ("path", "model", "reason", "allow_stop", "left_out", "job", "pid")
    known = {name: options[name] for name in names if options.get(name) is not None}
    try:
        return convert({"path": "", **known}, AttachedPart)
    except ValueError as error:
        raise RunError(f"run.json: attached: {error}; the run directory is damaged") from error


def attached_now(known: AttachedPart, history: History) -> AttachedPart:
    """That part by the journal's events so far."""
    seen = history.observed
    return replace(
        known,
        state=seen.state if seen else None,
        evidence=seen.evidence if seen else None,
        began=history.began or None,
        lost=history.path_lost,
        gone=history.path_gone,
        unproven=len(history.unproven),
    )


def journalled_buffer(history: History, capacity_bytes: int = 0) -> BufferPart | None:
    """The buffer by the journal's events so far, which do not say how full it is; None before it
    has one."""
    known = history.buffer
    if known is None:
        return None
    return BufferPart(
        path=f"{known['path']}/{known['folder']}",
        released=history.buffer_released,
        fill=0.0,
        raw_bytes=0,
        capacity_bytes=capacity_bytes,
        name=known.get("name"),
        owned=known.get("owned"),
        created=known.get("created") or None,
    )


def segment_parts(history: History) -> list[SegmentPart]:
    """The stretches of a run whose attempts have followed each other; none for one in one piece."""
    if not history.lineage.is_forked:
        return []
    parts = []
    for one in history.lineage.segments:
        name = f"attempt-{one.attempt}"
        job = history.jobs.get(name) or JobRecord(name)
        of_job = job.job_id, job.outcome, job.core_hours, job.lost_core_hours
        parts.append(SegmentPart(one.attempt, one.begin, one.end, *of_job))
    return parts


def checkpoint_parts(history: History, unread: str | None) -> list[CheckpointPart]:
    """The checkpoints from which a run can continue, in order of model time; once the buffer is
    given back those at home. ``unread``: from that time on they are not judged yet; None: all are;
    "": it is not known."""
    parts = []
    for one in history.checkpoints.on(history.lineage):
        judged = one.judged or unread is None or one.time < unread
        state = "suspect" if one.suspect else "good" if judged else "unjudged"
        what = len(one.files), one.bytes, one.suspect, bool(one.home)
        parts.append(CheckpointPart(one.time, one.attempt, state, *what))
    return parts


def _by_journal(run: RunDir, fresh: StatusFile) -> StatusFile:
    """The snapshot by the journal alone; ``fresh`` without a journal. Raises RunError."""
    if not run.journal.exists():
        return fresh
    from burstlens.core.run.history_file import history_of

    history = history_of(run.journal)
    if history.state == "new":
        return fresh
    if isinstance(fresh.attached, AttachedPart):
        fresh = replace(fresh, attached=attached_now(fresh.attached, history))
    return replace(
        fresh,
        state=history.state,
        started=history.started,
        frames=FrameCounts(**history.counts()),
        products={
            name: ProductCounts(
                history.standing[name], history.failures[name], kept=history.kept[name]
            )
            for name in sorted({*history.standing, *history.failures})
        },
        ledger=Ledger(history.raw_bytes, history.product_bytes),
        outcome=OutcomePart(**history.outcome) if history.outcome else None,
        buffer=journalled_buffer(history),
        segments=segment_parts(history) or UNSET,
        lost_core_hours=history.lost_core_hours or UNSET,
        checkpoints=checkpoint_parts(history, "") or UNSET,
        driver=DriverPart(heartbeat=history.last, epoch=history.epoch),
    )
