"""Word that a run has no driver any more, from the simulation's own job.

The journal has one writer, the driver. So the sentinel keeps its word in ``notices.jsonl`` of the
job's folder, in the journal's own format, and the next driver takes it up: what was sent is known
then, and nothing of it is sent again.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable
from pathlib import Path

from burstlens.core.durable import read_json
from burstlens.core.errors import RunError
from burstlens.core.lines import read_lines
from burstlens.core.quantity import show_duration
from burstlens.core.run import events as ev
from burstlens.core.run.directory import RunDir
from burstlens.core.run.event import Event
from burstlens.core.run.heartbeat import LOADING_S, is_here, shown_driver, state_of
from burstlens.core.run.history import History
from burstlens.core.run.journal import Journal, read
from burstlens.core.run.noticed import Noticed, Pending
from burstlens.core.run.status_file import DriverPart
from burstlens.workflows.notify.notices import Notices
from burstlens.workflows.notify.word import Word, gone_key, gone_word
from burstlens.workflows.placement.supervised import Ended
from burstlens.workflows.recipe.recipe import Recipe

GONE_S = 60.0
"""How long a driver on another host gives no sign of life before it is taken for dead."""
LOOK_S, SENDING_S = 1.0, 0.1
UNSENT = "a driver came, or the model's job ended, before it was known to be sent"
_log = logging.getLogger(__name__)


class Absence:
    """Sends word of a driver that is gone, once per driver, and of the model's end without one.

    ``still_s``: for how long the driver's heartbeat has stood still already; ``over``: the model
    has ended, and word of that is sent.
    """

    def __init__(
        self,
        run: RunDir,
        recipe: Recipe,
        history: History,
        job_folder: Path,
        still_s: float,
        *,
        over: bool,
    ) -> None:
        self._run, self._recipe, self._job_folder = run, recipe, job_folder
        self._since = time.monotonic() - still_s
        self._over = over
        self._driver = shown_driver(run) or DriverPart()
        self._key = gone_key(self._driver.epoch or 0, over=over)
        self._idle = history.outcome is not None or self._driver.epoch is None
        self._noticed = Noticed(known=set(history.noticed.known))
        unsent = history.noticed.pending.get(self._key)
        if unsent is not None:  # the driver was killed while it sent word of its own end
            self._noticed.pending[self._key] = Pending(unsent.due, list(unsent.ways))
        self._notices: Notices | None = None
        self._journal: Journal | None = None
        self._said = ""
        try:
            for event in read(notices_of(job_folder)):
                key = getattr(event, "key", None)
                if key not in history.noticed.known or key in self._noticed.pending:
                    _fold(self._noticed, event)
        except (RunError, OSError) as error:  # better no word than one that was sent already
            self._alarm(str(error))
            self._idle = True

    @property
    def settled(self) -> bool:
        """Whether there is nothing to send now, and nothing on its way."""
        return self._idle or (self._key in self._noticed.known and not self._noticed.pending)

    def look(self) -> None:
        """Begin to send the word when the driver is certainly gone; note what was sent. The guards
        go on whatever fails here."""
        try:
            self._look()
        except OSError as error:
            self._alarm(f"word that the driver has ended cannot be noted: {error}")

    def _look(self) -> None:
        if self._notices is not None:
            self._notices.look(str)
            return
        if self.settled or not self._is_gone():
            return
        self._notices = notices = self._opened()
        if self._over:
            assert self._journal is not None
            for key, pending in list(self._noticed.pending.items()):
                for way in list(pending.ways):  # "the model goes on" is not true any more
                    self._journal.append(ev.NoticeFailed(key=key, way=way, reason=UNSENT))
        else:
            notices.begin()
        notices.send(self._word())  # a no-op where an earlier sentinel has begun
        self._idle = self._key not in self._noticed.known  # nobody wants it

    def await_end(self, holds: Callable[[], bool]) -> None:
        """Look until all is sent, for as long as ``holds()``."""
        while holds():
            self.look()
            if self.settled:
                return
            time.sleep(LOOK_S if self._notices is None else SENDING_S)

    def close(self) -> None:
        """Wait for what is being sent, for a bounded time."""
        if self._notices is not None:
            self._notices.close()
        if self._journal is not None:
            self._journal.close()

    def _opened(self) -> Notices:
        epoch = self._driver.epoch or 0
        path = notices_of(self._job_folder)
        self._journal = Journal(path, epoch, lambda event: _fold(self._noticed, event))
        names = [product.name for product in self._recipe.products]
        wanted, title = self._recipe.notify, self._recipe.title
        return Notices(self._run, title, names, wanted, self._journal, self._noticed, self._alarm)

    def _alarm(self, text: str) -> None:
        if text == self._said:
            return
        self._said = text
        _log.warning("%s", text)
        print_if_possible(text)

    def _is_gone(self) -> bool:
        """On its own host by its process, elsewhere by a heartbeat that stands still for long."""
        driver = shown_driver(self._run)
        if driver is None or driver.epoch != self._driver.epoch:
            return False
        if is_here(driver):
            gone = state_of(driver) is None
            self._idle = self._over and not gone  # the job's nodes do not wait for it
            return gone
        limit_s = LOADING_S if driver.loading else GONE_S
        return time.monotonic() - self._since >= limit_s

    def _word(self) -> Word:
        driver = self._driver
        who = f"pid {driver.pid} on {driver.host}"
        still = show_duration(round(time.monotonic() - self._since))
        why = f"{who} is gone" if is_here(driver) else f"no sign of life of {who} for {still}"
        model = _how_it_ended(self._job_folder) if self._over else None
        trips = [
            f'guard "{trip.get("guard")}": {trip.get("text")}'
            for trip in read_lines(self._run.sentinel)
            if str(trip.get("attempt")) == self._job_folder.name
        ]
        return gone_word(self._run, self._recipe.title, self._key, why, model, trips)


def print_if_possible(text: str) -> None:
    """Print it to the sentinel's file, which lies in the run directory: that may be full."""
    with contextlib.suppress(OSError):
        print(text, flush=True)


def notices_of(job_folder: Path) -> Path:
    """The file of the word that was sent from a job without a driver."""
    return job_folder / "notices.jsonl"


def _how_it_ended(job_folder: Path) -> str:
    found = read_json(job_folder / "ended.json") or {}
    code, reason = found.get("exit_code"), str(found.get("reason", "its end is not known"))
    return Ended(code, found.get("signal"), reason, str(found.get("message", ""))).text()


def _fold(noticed: Noticed, event: Event) -> None:
    if isinstance(event, ev.NoticeDue):
        noticed.note_due(event)
    elif isinstance(event, ev.NoticeSent | ev.NoticeFailed):
        noticed.note_done(event)
