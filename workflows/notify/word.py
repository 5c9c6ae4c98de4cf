"""A word: what has happened, in one sentence, with its facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from burstlens.core import valid_time
from burstlens.core.exit_codes import BUFFER_LEFT, FRAMES_LOST, NO_SPACE, TRIPPED_AFTER_END
from burstlens.core.outcome import Outcome
from burstlens.core.printable import printable
from burstlens.core.run.directory import RunDir

NEEDS_YOU = frozenset({FRAMES_LOST, NO_SPACE, TRIPPED_AFTER_END, BUFFER_LEFT})
"""Exit codes of ends after which nothing goes on without a person."""


@dataclass(frozen=True, slots=True)
class Word:
    """``key`` is unique in the run; ``kinds`` are what ``on`` selects by, the first is the event
    that programs get; ``time`` is the model time of a word at a model time."""

    key: str
    kinds: tuple[str, ...]
    text: str
    subject: str = ""
    time: str | None = None
    more: Sequence[str] = ()
    """Further lines: the log line that matters, what to do next."""
    facts: Mapping[str, Any] = field(default_factory=dict)

    def value(self, run: RunDir, title: str) -> dict[str, Any]:
        """The facts as JSON values; ``text`` comes first, the key that chat programs show."""
        return {
            "text": self.text,
            "event": self.kinds[0],
            "id": f"{run.id}/{self.key}",
            "run": run.id,
            "title": title,
            "path": str(run.path),
            **({"time": self.time} if self.time else {}),
            **({"more": list(self.more)} if self.more else {}),
            **self.facts,
        }


def end_word(
    run: RunDir, title: str, outcome: Outcome, epoch: int, steps: Sequence[str] = ()
) -> Word:
    """The word of the run's end, as ``burstlens status`` shows it; ``steps`` is what to do next."""
    state = "stopped" if outcome.state == "quiet" else outcome.state
    kinds = (state, "needs-you") if outcome.exit_code in NEEDS_YOU else (state,)
    said = f": {outcome.message}" if outcome.message else ""
    more = [*([outcome.line] if outcome.line else []), *steps]
    facts = {"state": outcome.state, "exit_code": outcome.exit_code}
    about = f"end {epoch}", kinds, f"{outcome.state}{said}", outcome.state
    return _word(run, title, *about, more=more, facts=facts)


def model_word(run: RunDir, title: str, state: str, evidence: str, attempt: int) -> Word:
    """The word of a model that others started: it has ``ended``, ``failed`` or is ``quiet``."""
    kinds = {"ended": ("done",), "failed": ("failed",)}.get(state, ("stopped", "needs-you"))
    subject = f"the model: {state}"
    about = f"model {attempt} {state}", kinds, f"{subject}, {evidence}", subject
    return _word(run, title, *about, facts={"state": state})


def driver_word(run: RunDir, title: str, error: str, epoch: int) -> Word:
    """The word of a driver that ends while its run has no outcome: a person has to resume it."""
    key, subject = gone_key(epoch, over=False), "its driver has ended"
    return _word(run, title, key, ("needs-you",), f"{subject}: {error}", subject)


def gone_key(epoch: int, *, over: bool) -> str:
    """The key of the word of a driver that is gone: while the model goes on that of
    :func:`driver_word`, which the driver may have sent itself; another one after its end."""
    return f"driver {epoch} model" if over else f"driver {epoch}"


def gone_word(
    run: RunDir, title: str, key: str, why: str, model: str | None, trips: Sequence[str] = ()
) -> Word:
    """The word of a driver that was killed, with its ``gone_key``. ``model`` is how the model has
    ended since, None while it goes on; ``trips`` are the guards' that tripped without a driver."""
    goes_on = "the model goes on; its pictures wait"
    ended = f"the model {model}; the last pictures and the results wait"
    text = f"its driver has ended ({why}); {ended if model else goes_on}"
    subject = "the model has ended without a driver" if model else "its driver has ended"
    more = [*trips, f"go on with: burstlens resume {run.id}"]
    facts = {"state": "lost", "model_ended": model is not None}
    return _word(run, title, key, ("needs-you",), text, subject, more=more, facts=facts)


def time_word(run: RunDir, title: str, time: str, progress: str) -> Word:
    """The word at a model time, with the model's progress."""
    label = valid_time.label(time)
    text = progress if label in progress else f"{label}, {progress}"
    return _word(run, title, f"time {time}", ("time",), text.rstrip(", "), label, time=time)


def trip_word(
    run: RunDir, title: str, key: Sequence[object], sentence: str, facts: Mapping[str, Any]
) -> Word:
    """The word of a guard's trip; ``key`` is guard, stream, valid time, attempt."""
    named = "trip " + " ".join(map(str, key))
    return _word(run, title, named, ("trip",), sentence, f"guard {key[0]}", facts=facts)


def _word(
    run: RunDir, title: str, key: str, kinds: tuple[str, ...], text: str, subject: str, *,
    time: str | None = None, more: Sequence[str] = (), facts: Mapping[str, Any] | None = None,
) -> Word:  # fmt: skip
    # Texts come from models and recipes: no line of them may become a header or a command.
    text, lines = printable(f"{title} ({run.id}): {text}"), tuple(map(printable, more))
    return Word(key, kinds, text, printable(subject), time, lines, facts or {})
