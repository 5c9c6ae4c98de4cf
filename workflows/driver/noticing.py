"""Word of a run's end, also of one that its driver did not live to send."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import asdict

from burstlens.core.errors import RunError
from burstlens.core.existence import surely_exists
from burstlens.core.outcome import Outcome
from burstlens.core.run import events as ev
from burstlens.core.run.journal import read
from burstlens.core.run.status_file import OutcomePart, RunStatus
from burstlens.core.run.wording import next_steps, progress_text
from burstlens.workflows.notify.word import driver_word, end_word
from burstlens.workflows.placement.absence import UNSENT
from burstlens.workflows.publishing.context import RunContext


def begin_notices(context: RunContext) -> None:
    """Take up what was sent without a driver; send what an earlier one had still to send."""
    _take_up(context)
    context.notices.begin(guard.ways for guard in context.recipe.guards)


def _take_up(context: RunContext) -> None:
    """Journal the word that was sent while the run had no driver; none of it is sent any more.
    Nothing is done twice by a driver that comes after one that was killed in it."""
    noticed = context.history.noticed
    for path in sorted(context.run.path.glob("attempts/*/notices.jsonl")):
        try:
            events = list(read(path))
        except (RunError, OSError) as error:
            context.snapshot.alarm(f"word that was sent without a driver is not known: {error}")
            continue
        keys = set()
        for event in events:
            if isinstance(event, ev.NoticeDue):
                keys.add(event.key)
                if event.key not in noticed.known:
                    context.journal.append(event)
            elif isinstance(event, ev.NoticeSent | ev.NoticeFailed):
                pending = noticed.pending.get(event.key)
                if pending is not None and event.way in pending.ways:
                    context.journal.append(event)
                    if isinstance(event, ev.NoticeFailed):
                        context.snapshot.alarm(f"{event.way} failed: {event.reason}")
        for key in keys & set(noticed.pending):
            for way in list(noticed.pending[key].ways):
                context.journal.append(ev.NoticeFailed(key=key, way=way, reason=UNSENT))
                context.snapshot.alarm(f"{way} failed: {UNSENT}")


def end_due(context: RunContext, outcome: Outcome) -> Callable[[], None]:
    """Journal the word of the run's end, ahead of the end itself; what is returned sends it. Word
    of a model time that the run reached last is sent first."""
    status = RunStatus.of(
        context.snapshot.value(), state=outcome.state, outcome=OutcomePart(**asdict(outcome))
    )
    # Its last frame may have been published since the loop looked.
    context.notices.look(lambda: progress_text(status), last=True)
    if status.attached and (outcome.state == "stopped" or _is_known(context, outcome)):
        return lambda: None  # the user has ended the looking, or word of the model's end was sent
    word = end_word(
        context.run, context.recipe.title, outcome, context.journal.epoch, next_steps(status)
    )
    return context.notices.due(word)


def _is_known(context: RunContext, outcome: Outcome) -> bool:
    state = {"done": "ended"}.get(outcome.state, outcome.state)
    return f"model {context.history.attempt} {state}" in context.history.noticed.known


def close_notices(context: RunContext, outcome: Outcome) -> None:
    """Wait for word that is being sent, and show what could not be."""
    alarms = list(context.snapshot.alarms)
    context.notices.close()
    if list(context.snapshot.alarms) != alarms:
        context.snapshot.end(outcome)


def send_driver_word(context: RunContext, error: Exception) -> None:
    """Send word that the driver ends while its run has no outcome; none where another driver has
    taken over."""
    if surely_exists(context.run.claim(context.journal.epoch + 1)):
        return
    title, epoch = context.recipe.title, context.journal.epoch
    with contextlib.suppress(OSError):  # most drivers that end so cannot write
        context.notices.send(driver_word(context.run, title, str(error), epoch))
        context.notices.close()
