"""A batch job that somebody else submitted, watched through its scheduler's commands.

A scheduler is asked seldom, and in a thread: its commands may hang for minutes. What it said last
counts until it answers again.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from burstlens.cluster_configs.scheduler import (
    FORGOTTEN,
    JobState,
    OpenScheduler,
    Scheduler,
    SchedulerError,
    user_name,
)
from burstlens.core.errors import RunError
from burstlens.core.printable import printable
from burstlens.workflows.look.observer.witness import Standing, Witness, clock

ASK_S = 30.0
"""Where the site sets no interval: the scheduler is asked at most once in this time."""
FIRST_S = 5.0
"""How long a caller waits for the first answer, and for the answer to a cancellation."""
SLOW_S = 15.0
"""A question that is open for longer is not answered."""
RARELY = 10
"""A job that its scheduler has forgotten is asked about so many times less often."""
AFTER_STOP_S = 3.0
"""When the scheduler is asked after a cancellation."""
SOON_S = 3.0
"""The pause between two questions where the answer is waited for."""
_ONLY_OBSERVED = "it can be observed, not stopped"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Heard:
    """The scheduler's answers so far: ``state`` and ``owner`` are the latest, heard at ``at``
    (monotonic) and ``when`` (Unix); ``failure`` is why the latest question has no answer."""

    at: float
    when: float
    state: JobState | None = None
    owner: str | None = None
    failure: str = ""
    passing: bool = True


class ObservedJob:
    """One job. ``mark`` names it; an observer that is given a mark accepts a forgotten job.

    Raises RunError for an id that is not one, a job that the scheduler does not know and, with
    ``stoppable``, another user's; SchedulerError where the scheduler's commands are missing or do
    not work. A scheduler that does not answer within ``FIRST_S`` is asked again later.
    """

    def __init__(
        self, job_id: str, scheduler: Scheduler, *, stoppable: bool, mark: str | None = None
    ) -> None:
        title = scheduler.title
        if not scheduler.job_ids.fullmatch(job_id):
            raise RunError(f'"{printable(job_id)[:80]}" is not the id of a job of {title}')
        if stoppable and not isinstance(scheduler, OpenScheduler):
            raise RunError(f"{title} cannot be asked whose job {job_id} is: it is only observed")
        scheduler.require()
        self.job_id, self.scheduler = job_id, scheduler
        self.mark = f"{scheduler.name}:{job_id}"
        self._ask_s = max(1.0, float(getattr(scheduler, "query_interval_s", ASK_S)))
        self._lock = threading.Lock()
        self._heard = _Heard(time.monotonic(), time.time())
        self._asked: float | None = None
        self._next = self._last_asked = 0.0
        self._note = ""
        self._start(lambda: self._ask(of_owner=stoppable)).wait(FIRST_S)
        heard = self._heard
        if mark is not None:
            return
        if heard.state is None and heard.failure and not heard.passing:
            raise SchedulerError(heard.failure)
        if heard.state is not None and heard.state.state == FORGOTTEN:
            raise RunError(f"{title} does not know job {job_id}, or does not show it")
        if stoppable and heard.owner is not None:
            require_own(self._title, heard.owner, _ONLY_OBSERVED)

    def state_since(self, moment: float) -> JobState | None:
        """What the scheduler said of the job after that moment (monotonic), or for good; None if it
        has not answered since: then ``look`` asks it soon."""
        with self._lock:
            heard = self._heard
            known = heard.state is not None and heard.state.final
            if known or (heard.at > moment and heard.state is not None):
                return heard.state
            self._next = min(self._next, self._last_asked + SOON_S)
        return None

    def look(self) -> Witness:
        """What the scheduler said last; asks it again when that is due, without waiting."""
        now = time.monotonic()
        with self._lock:
            heard, asked = self._heard, self._asked
        final = heard.state is not None and heard.state.final and heard.state.state != FORGOTTEN
        if asked is None and now >= self._next and not final:
            self._start(self._ask)
        waited_s = now - asked if asked is not None else 0.0
        unanswered = heard.state is None or heard.failure or waited_s > SLOW_S
        silent_s = now - heard.at if unanswered else 0.0
        notes = [self._note] if self._note else []
        if silent_s:
            notes.append(f"{self.scheduler.title} has not answered since {clock(heard.when)}")
        witness = self._witness(heard.state, notes, silent_s)
        ages = heard.state is not None and witness.standing is not Standing.OVER
        return replace(witness, age_s=round(now - heard.at, 1)) if ages else witness

    def stop(self) -> str:
        """Cancel the job; returns what was done. The scheduler sends SIGTERM to all that the job
        runs, and SIGKILL a little later. Raises RunError."""
        heard = self._heard
        if heard.state is not None and heard.state.over:
            return self._witness(heard.state, [], 0.0).text
        command = self.scheduler.cancel_command(self.job_id)
        failures: list[str] = []

        def cancel() -> None:
            try:
                require_own(self._title, self._owner(), _ONLY_OBSERVED)
                self.scheduler.cancel([self.job_id])
            except Exception as error:  # as above
                failures.append(printable(str(error)) or type(error).__name__)
                self._note = f"{command} failed: {failures[0]}"
                _log.warning("%s: %s", self._title, self._note)
            else:
                self._note = "it was cancelled"
                self._next = time.monotonic() + AFTER_STOP_S

        if not _thread(cancel).wait(FIRST_S):
            return f"{command} was called; {self.scheduler.title} has not answered it yet"
        if failures:
            raise RunError(self._note)
        return f"{self._title} was cancelled ({command})"

    @property
    def _title(self) -> str:
        return f"{self.scheduler.title}: job {self.job_id}"

    def _witness(self, state: JobState | None, notes: list[str], silent_s: float) -> Witness:
        if state is None or state.state == FORGOTTEN:
            said = "is forgotten" if state else "is not known yet"
            text = "; ".join([f"{self._title} {said}", *notes])
            return Witness(Standing.UNKNOWN, text, silent_s=silent_s)
        where = f" on {state.nodes}" if state.nodes and not state.waiting else ""
        says = printable(f"{self._title} {state.text}{where}")
        if state.final:
            return Witness(Standing.OVER, says, state.cut or state.failed)
        text = "; ".join([says, *notes])
        standing = Standing.WAITING if state.waiting else Standing.ALIVE
        return Witness(standing, text, silent_s=silent_s)

    def _start(self, ask: Callable[[], None]) -> threading.Event:
        with self._lock:
            self._asked = time.monotonic()
        try:
            return _thread(ask)
        except RuntimeError as error:  # no more threads
            with self._lock:
                self._heard = replace(self._heard, failure=str(error), passing=True)
                self._next, self._asked = time.monotonic() + self._ask_s, None
            done = threading.Event()
            done.set()
            return done

    def _ask(self, *, of_owner: bool = False) -> None:
        """Ask, in a thread."""
        heard = self._heard
        try:
            state = self.scheduler.look(self.job_id)
            self.scheduler.forget(self.job_id)  # or it would be asked about with the run's own jobs
            owner = self._owner() if of_owner and not state.over else heard.owner
            heard = _Heard(time.monotonic(), time.time(), state, owner)
        except Exception as error:  # a plugin may raise anything, and a fork may fail
            failure = printable(str(error)) or type(error).__name__
            passing = not isinstance(error, SchedulerError) or error.passing
            heard = replace(heard, failure=failure, passing=passing)
            _log.info("%s: %s", self._title, failure)
        rarely = heard.state is not None and heard.state.state == FORGOTTEN
        with self._lock:
            self._last_asked = time.monotonic()
            self._heard, self._asked = heard, None
            self._next = time.monotonic() + self._ask_s * (RARELY if rarely else 1)

    def _owner(self) -> str:
        """The job's user. Raises SchedulerError."""
        if not isinstance(self.scheduler, OpenScheduler):
            raise RunError(f"{self._title} has no known owner")
        return self.scheduler.owner(self.job_id)


def require_own(title: str, owner: str, otherwise: str) -> None:
    """Raise RunError, which says what holds ``otherwise``, unless the job is this user's."""
    if owner != user_name(os.getuid()):
        whose = f"{printable(owner)}'s" if owner else "another user's"
        raise RunError(f"{title} is {whose}: {otherwise}")


def _thread(work: Callable[[], None]) -> threading.Event:
    """Run it beside; the event says that it is done."""
    done = threading.Event()

    def run() -> None:
        try:
            work()
        finally:
            done.set()

    # A daemon: the end of this process does not wait for a scheduler that hangs.
    threading.Thread(target=run, name="observed-job", daemon=True).start()
    return done
