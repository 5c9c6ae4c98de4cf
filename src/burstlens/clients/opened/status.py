"""The status of runs, read from their directories alone: fast, with or without a driver."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from burstlens.clients.opened.attached import attached_facts
from burstlens.clients.opened.attached import observed as observed
from burstlens.clients.opened.checkpoints import checkpoint_text
from burstlens.clients.opened.segment_texts import segment_facts
from burstlens.clients.opened.standing import has_ended as has_ended
from burstlens.clients.opened.standing import is_over as is_over
from burstlens.clients.opened.standing import standing_of
from burstlens.core.decode import record
from burstlens.core.errors import RunError
from burstlens.core.printable import printable
from burstlens.core.quantity import counted, show_bytes, show_duration
from burstlens.core.run.directory import RunDir, all_runs, open_run_dir
from burstlens.core.run.heartbeat import CONFIRM_S
from burstlens.core.run.status_file import (
    BufferPart,
    Ledger,
    OutcomePart,
    OutputNow,
    OutputPart,
    RunStatus,
    TuningPart,
)
from burstlens.core.run.wording import OVER as OVER
from burstlens.core.run.wording import next_steps as next_steps
from burstlens.core.run.wording import progress_text as progress_text

AWAY_S = 600.0
"""How long to wait for a run directory that is unavailable: its driver waits as long."""


def status_of(name: str, *, confirm_s: float = CONFIRM_S) -> dict[str, Any]:
    """The status of a run as JSON values, as ``burstlens status --json`` prints it.

    ``driver_alive`` says whether it is live, for which it may wait up to ``confirm_s``. Raises
    RunError.
    """
    return record(read_status(name, confirm_s=confirm_s))


def read_status(name: str, *, confirm_s: float = CONFIRM_S) -> RunStatus:
    """The status of a run, as :func:`status_of`. Raises RunError."""
    run = open_run_dir(name)
    try:
        found = standing_of(run, confirm_s=confirm_s)
        text(found)  # a status that cannot be shown is not a snapshot of ours
    except OSError as error:
        raise RunError(f"cannot read {error.filename or run.path}: {error.strerror}") from error
    except (ValueError, OverflowError) as error:
        raise RunError(f"{run.status} is not a snapshot of a run: {error!r}") from error
    return found


def looks(run: RunDir) -> Iterator[RunStatus]:
    """The run's status, endlessly; while it cannot be read, the latest one, with a ``hint``.

    Raises RunError when the first read fails, and when none has succeeded for ``AWAY_S``.
    """
    last, seen = read_status(str(run.path)), time.monotonic()
    yield last
    while True:
        try:
            last, seen = read_status(str(run.path)), time.monotonic()
            yield last
        except RunError as error:
            away_s = time.monotonic() - seen
            if away_s > AWAY_S:
                raise
            since = f"the run's directory cannot be read for {show_duration(away_s)}"
            hint = f"{since} ({error}); the run may go on"
            yield replace(last, driver_alive=None, hint=hint)


def rows() -> list[dict[str, Any]]:
    """One row per run: id, state, when it began (Unix s), frames, title; the newest first."""
    found = []
    for run in all_runs():
        try:
            found.append(_row(run, read_status(str(run.path))))
        except RunError as error:  # the other runs are still listed
            found.append(_row(run, None) | {"state": "unreadable", "title": str(error)})
    return found


def _row(run: RunDir, status: RunStatus | None) -> dict[str, Any]:
    outcome, attached = (status.outcome, status.attached) if status else (None, None)
    return {
        "run": run.id,
        "state": status.state if status else "",
        "started": (status.started or None) if status else None,
        "frames": status.frames.ready if status else 0,
        "damaged": status.frames.damaged if status else 0,
        "title": status.title if status else "",
        "path": str(run.path),
        "left": outcome.left if outcome else None,
        "looks_at": attached.path if attached else None,
    }


def facts(status: RunStatus) -> list[tuple[str, str]]:
    """A snapshot as labels and texts, in the order in which they are shown."""
    over, attached, tuning = is_over(status), status.attached, status.tuning
    saved = (status.outcome or OutcomePart()).saved_node_hours
    frames = f"{status.frames.ready} ready"
    if status.frames.damaged:
        frames += f", {status.frames.damaged} damaged"
    if attached and attached.unproven:
        frames += f", {attached.unproven} unproven"
    if status.backlog or not over:
        frames += f", {counted(status.backlog, 'product')} to be made"
    shown = [
        *attached_facts(status),
        ("trials", _trials(tuning) if tuning else ""),
        ("model", progress_text(status)),
        *segment_facts(status),
        ("jobs ahead", _jobs_ahead(status)),
        ("checkpoints", checkpoint_text(status)),
        ("frames", "" if tuning else frames),
    ]
    for name, product in status.products.items():
        failed = f", {product.failed} failed" if product.failed else ""
        kept = f", {product.kept} kept" if product.kept else ""
        shown.append((name, f"{product.published} published{kept}{failed}"))
    if latency := status.latency_s:
        last = "" if over else f"last {show_duration(latency.last)}, "
        p50, p95 = show_duration(latency.p50), show_duration(latency.p95)
        shown.append(("latency", f"{last}p50 {p50}, p95 {p95}"))
    shown += [
        ("output", _output(status.output) if status.output else ""),
        ("ledger", _ledger(status.ledger, looked_at=bool(attached))),
        ("buffer", _buffer(status)),
        ("raw files", _raw_files(status)),
        ("guards", _guards(status)),
        (
            "saved",
            "" if saved is None else f"about {saved:.3g} node-hours, by stopping early (estimate)",
        ),
    ]
    if over:
        shown.append(("took", _took(status)))
    else:
        resume = f"burstlens resume-watching {status.run}"
        shown += [
            ("waits", waits_text(status)),
            ("scheduler", scheduler_text(status)),
            ("viewing", _viewing(status)),
            ("paused", f"no products are made; {resume}" if status.paused else ""),
        ]
    return [(label, text) for label, text in [*shown, ("pictures", status.pictures)] if text]


def waits_text(status: RunStatus) -> str:
    """Why the run's job waits, where it stands in the queue and when it may begin; empty where no
    job waits."""
    reason, queue = status.waits_for, status.queue
    if not reason and not queue:
        return ""
    parts = [printable(reason)] if reason else []
    if queue and queue.position:
        partition = f" in {printable(queue.partition)}" if queue.partition else ""
        parts.append(f"{_ordinal(queue.position)} of {queue.of}{partition}")
    if queue and queue.start:
        begin = _clock(queue.start)
        parts.append(f"expected start {begin} by {printable(queue.by)}'s estimate")
    return f"in the scheduler's queue: {', '.join(parts)}" if parts else "in the scheduler's queue"


def _viewing(status: RunStatus) -> str:
    """The state of a viewing block that does not run, and why its job, or the next one, waits."""
    block, reason = status.block, status.block_waits
    if block == "running" or not reason:
        return "" if block == "running" else block
    following = ", the next one is queued" if block == "draining" else ""
    return f"{block}{following}: {printable(reason)}"


def scheduler_text(status: RunStatus) -> str:
    """For how long the scheduler has not answered; empty while it does, and where that is said of
    the driver, which waits for it."""
    silent = status.scheduler
    if not silent or status.silent_s:
        return ""
    return f"{printable(silent.title)} has not answered for {show_duration(silent.silent_s)}"


def _trials(tuning: TuningPart) -> str:
    """How many trials of a tuning are done, and what the latest one took."""
    last = f", {tuning.phase}" if tuning.phase else ""
    took = f", {show_duration(tuning.seconds)} in output" if tuning.seconds else ""
    return f"{tuning.trials} done{last}{took}"


def _jobs_ahead(status: RunStatus) -> str:
    lost = status.lost_core_hours or 0.0
    what = f"{lost:g} core-hours lost, as they waited for an attempt that did not come"
    return what if lost else ""


def _output(output: OutputPart) -> str:
    """How long the model is at its output, and the latest of each stream; empty if unknown."""
    parts = [f"{100 * output.part:.0f} % of the model's time"] if output.part else []
    for name, stream in output.streams.items():
        last = stream.latest[-1] if stream.latest else OutputNow()
        shown = [
            f"{name} {show_duration(last.took_s or 0.0)}",
            f"{show_bytes(last.rate)}/s" if last.rate else "",
            counted(last.aggregators, "aggregator") if last.aggregators else "",
            f"data send {100 * last.data_send:.0f} %" if last.data_send else "",
        ]
        parts.append(", ".join(filter(None, shown)))
    return "; ".join(parts)


def _ordinal(number: int) -> str:
    """``1st``, ``2nd``, ``12th``.

    >>> [_ordinal(number) for number in (1, 2, 3, 4, 11, 12, 13, 21, 112)]
    ['1st', '2nd', '3rd', '4th', '11th', '12th', '13th', '21st', '112th']
    """
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number % 100 in (11, 12, 13) else ending}"


def _clock(seconds: float) -> str:
    """Local time: the time of day today, else with the date."""
    then, now = time.localtime(seconds), time.localtime()
    return time.strftime("%H:%M" if then[:3] == now[:3] else "%Y-%m-%d %H:%M", then)


def _ledger(ledger: Ledger, *, looked_at: bool) -> str:
    """Raw bytes against product bytes."""
    raw, products = ledger.raw_bytes, ledger.product_bytes
    text = f"{show_bytes(raw)} raw, {show_bytes(products)} brought out"
    if looked_at:
        text = f"{show_bytes(raw)} in frames, {show_bytes(products)} in products"
    if not products or raw <= products:
        return text
    return f"{text}, {raw / products:.{0 if raw >= 10 * products else 1}f} times less"


def _buffer(status: RunStatus) -> str:
    buffer = status.buffer
    if not buffer:
        return ""
    if not is_over(status):
        share = f"{100 * buffer.fill:.1f} %"
        return f"{show_bytes(buffer.raw_bytes)} of {show_bytes(buffer.capacity_bytes)} ({share})"
    if buffer.released:
        return ""
    return f"{'not given back' if _left(status) else 'kept'}, {_named(buffer)}"


def _named(buffer: BufferPart) -> str:
    """A buffer by its name or path; that of a job has neither where a person reads it."""
    path = printable(buffer.path)
    return printable(buffer.name or "") or ("that of its job" if path.startswith("$") else path)


def _left(status: RunStatus) -> bool:
    """Whether the run could not give back what it should have, and made itself."""
    owned = status.buffer is None or status.buffer.owned is not False
    return owned and bool((status.outcome or OutcomePart()).left)


def _raw_files(status: RunStatus) -> str:
    """Which raw files of a run that is over were deleted, and which were brought home."""
    raw, buffer = status.raw, status.buffer
    if not raw or not is_over(status):
        return ""
    size = show_bytes(raw.home_bytes)
    home = f"{counted(raw.home, 'file')} ({size}) in output/" if raw.home else ""
    if buffer and not buffer.released:
        if _left(status):  # they may be deleted in part
            rest = "the others go with the buffer" if home else "they go with the buffer"
            return f"{home or 'none in output/'}; {rest}"
        gone = f", but of {counted(raw.released, 'frame')}" if raw.released else ""
        return f"still on the buffer{gone}{f'; {home}' if home else ''}"
    if home:
        return f"deleted, but for {home}, which [stage_out] keep names"
    return "deleted, all: [stage_out] keep brought none home"


def _guards(status: RunStatus) -> str:
    """Which guards tripped or failed; how many are quiet, and how many have judged nothing yet."""
    found = status.guards or []
    parts, waiting = [], 0
    for guard in found:
        if guard.state in {"tripped", "failed"}:
            more = f" and {counted(guard.repeats, 'time')} more" if guard.repeats else ""
            parts.append(f"{guard.name or 'a guard'} {guard.state}{more}")
        waiting += guard.state == "waiting"
    quiet = len(found) - len(parts) - waiting
    parts += [f"{quiet} quiet"] if quiet else []
    return ", ".join([*parts, f"{waiting} waiting"] if waiting else parts)


def _took(status: RunStatus) -> str:
    """How long a driver or the model ran, without the time between a crash and a resume."""
    if not isinstance(status.took_s, float):
        return ""
    idle = status.idle_s or 0.0
    nobody = "nobody looked" if status.attached else "neither driver nor model ran"
    between = f", without {show_duration(idle)} in which {nobody}"
    return show_duration(status.took_s) + (between if idle >= 1.0 else "")


def text(status: RunStatus) -> str:
    """A snapshot as lines of text."""
    lines = [f"{status.run}: {status.state}"]
    notes = [*reasons(status), status.hint or ""]
    lines += [f"  {printable(note)}" for note in notes if note]
    lines += aligned(facts(status))
    lines += [f"  ! {printable(alarm.text)}" for alarm in status.alarms[-3:]]
    lines += [f"  {step}" for step in next_steps(status)]
    return "\n".join(lines)


def reasons(status: RunStatus) -> list[str]:
    """Why the run ended so: the message, and the line of the model's log that says why."""
    outcome = status.outcome or OutcomePart()
    return [text for text in (outcome.message, outcome.line) if text]


def aligned(pairs: list[tuple[str, str]]) -> list[str]:
    """Labels and texts as lines, with the texts aligned."""
    width = max(len(label) for label, _ in pairs)
    return [f"  {label:<{width}}  {value}" for label, value in pairs]
