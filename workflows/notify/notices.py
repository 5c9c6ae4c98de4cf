"""Notices: sends each word once in each of its ways, journals it, and never blocks the driver."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from burstlens.core.errors import RecipeError, RunError
from burstlens.core.redaction import redacted
from burstlens.core.run import events as ev
from burstlens.core.run.directory import RunDir
from burstlens.core.run.journal import Journal
from burstlens.core.run.noticed import Noticed
from burstlens.core.user_config import config_path
from burstlens.workflows.notify.asked import asked
from burstlens.workflows.notify.delivery import Delivery
from burstlens.workflows.notify.options import ALL, Notify, Settings, allowed, exposed, settings
from burstlens.workflows.notify.way import Way
from burstlens.workflows.notify.word import Word, time_word

LAST_S = 20.0
"""How long the end of a run waits for word that is still being sent."""
OVERDUE_S = 90.0
"""When a way is given up whose connection neither ends nor fails."""


@dataclass(frozen=True, slots=True)
class _Sending:
    """A word on its way."""

    word: Word
    way: Way
    thread: threading.Thread
    began: float


@dataclass(frozen=True, slots=True)
class _Asker:
    """Ways, and the tables ``[notify]`` one of which asks that these get word."""

    ways: tuple[Way, ...]
    tables: tuple[Notify, ...]

    def wants(self, kinds: Iterable[str]) -> bool:
        return any(kind in table.on for table in self.tables for kind in kinds)


class Notices:
    """The word of one run. All methods are for the driver's thread; sending has its own."""

    def __init__(
        self,
        run: RunDir,
        title: str,
        products: Sequence[str],
        of_recipe: Notify,
        journal: Journal,
        noticed: Noticed,
        alarm: Callable[[str], None],
    ) -> None:
        self._run, self._title, self._products = run, title, products
        self._of_recipe = of_recipe
        self._journal, self._noticed, self._alarm = journal, noticed, alarm
        self._delivery = Delivery(run, title, products)
        self._ended: queue.SimpleQueue[tuple[_Sending, str]] = queue.SimpleQueue()
        self._sending: list[_Sending] = []
        self._said: set[str] = set()
        self._looked: str | None = None

    def begin(self, guards: Iterable[tuple[Way, ...]] = ()) -> None:
        """Send what an earlier driver had still to send; ``guards`` are the ways of the guards.
        Report what is wrong with the configuration now, not at the end."""
        if (mine := self._settings()) is not None:
            for text in exposed(mine):
                self._alarm_once(text)
        known = [way for asker in self._askers() for way in asker.ways]
        if self._noticed.pending:
            known += [way for ways in guards for way in ways]
        # Also what the journal asks for needs permission: the run may come from another user.
        by_label = {way.label: way for way in reversed(self._permitted(known))}
        for pending in list(self._noticed.pending.values()):
            due = pending.due
            word = Word(due.key, tuple(due.kinds), due.text, due.subject, due.time, due.more,
                        due.facts)  # fmt: skip
            for label in list(pending.ways):
                if label in by_label:
                    self._start(word, by_label[label])
                else:
                    self._failed(word, label, "it is not configured, or not allowed, any more")

    def send(self, word: Word, ways: Sequence[Way] = ()) -> None:
        """Send a word to those who want its kinds, and in these ``ways`` of a guard. A word that
        the journal has is not sent again."""
        self.due(word, ways)()

    def due(self, word: Word, ways: Sequence[Way] = ()) -> Callable[[], None]:
        """Journal that it is to be sent; what is returned begins to send it. What the word is about
        is journalled in between, so that a crash loses neither."""
        wanted = [way for asker in self._askers() if asker.wants(word.kinds) for way in asker.ways]
        # Where both name one receiver, the user's own way counts: it gets the link with the token.
        return self._due(word, [*wanted, *ways])

    def look(self, progress: Callable[[], str], *, last: bool = False) -> None:
        """Journal what was sent, report what has failed, and send word at the model times that
        were reached; ``progress`` is the model's, in words. ``last``: no later look is to come."""
        self._collect()
        first = self._products[0] if self._products else ""
        newest = self._noticed.settled.get(first)
        if newest is None or newest == self._looked:
            return
        if not last and any(one.word.time for one in self._sending):
            return  # its receivers cannot keep up: the next word is of a later time
        self._looked = newest
        since, begin = self._noticed.until or None, self._noticed.first[first]
        calendar = self._noticed.calendars.get(first, "")
        ways = [
            way
            for asker in self._askers()
            if any(table.reaches(begin, since, newest, calendar) for table in asker.tables)
            for way in asker.ways
        ]
        if ways:
            self._due(time_word(self._run, self._title, newest, progress()), ways)()

    def close(self, limit_s: float = LAST_S) -> None:
        """Wait for what is being sent, for so long at most, then end it."""
        end = time.monotonic() + limit_s
        for one in self._sending:
            one.thread.join(max(0.0, end - time.monotonic()))
        self._delivery.end()
        for one in self._sending:
            one.thread.join(1.0 if limit_s else 0.1)
        self._collect()
        for one in self._sending:
            self._failed(one.word, one.way.label, f"it took longer than {limit_s:g} s at the end")
        self._sending.clear()
        with contextlib.suppress(OSError):  # the journal's own end reports it
            self._journal.sync()

    def _due(self, word: Word, ways: Sequence[Way]) -> Callable[[], None]:
        labels = {way.label: way for way in reversed(self._permitted(ways))}
        if not labels or word.key in self._noticed.known:
            return lambda: None
        self._journal.append(
            ev.NoticeDue(
                key=word.key, kinds=list(word.kinds), text=word.text, ways=list(labels),
                subject=word.subject, time=word.time, more=list(word.more), facts=dict(word.facts),
            )
        )  # fmt: skip

        def start() -> None:
            for way in labels.values():
                self._start(word, way)

        return start

    def _askers(self) -> list[_Asker]:
        """Those of the user, of ``--notify``, and of the recipe."""
        mine = self._settings() or Settings()
        try:
            own = asked(self._run)
        except RunError as error:
            self._alarm_once(redacted(str(error)))
            own = ()
        times = Notify(on=ALL)
        return [
            _Asker(mine.ways(), (mine,)),
            _Asker(own, (times, self._of_recipe, mine)),
            _Asker(self._of_recipe.ways("recipe"), (self._of_recipe,)),
        ]

    def _settings(self) -> Settings | None:
        try:
            return settings()
        except (RecipeError, OSError) as error:
            self._alarm_once(redacted(str(error)))
            return None

    def _permitted(self, ways: Iterable[Way]) -> list[Way]:
        """Those that the user allows; each other one is reported once."""
        found = list(ways)
        may: frozenset[str] = frozenset()
        if any(way.of for way in found):
            try:
                may = allowed()
            except (RecipeError, OSError) as error:
                self._alarm_once(redacted(str(error)))
        permitted = []
        for way in found:
            if not way.of or way.kind in may:
                permitted.append(way)
                continue
            who = f'guard "{way.of}"' if way.guard else "the recipe"
            self._alarm_once(f'{who} may not {way.does}: allow "{way.kind}" in {config_path()}')
        return permitted

    def _alarm_once(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            self._alarm(text)

    def _start(self, word: Word, way: Way) -> None:
        def work() -> None:
            self._ended.put((one, self._delivery.tried(word, way)))

        thread = threading.Thread(target=work, name=f"notice {way.kind}", daemon=True)
        one = _Sending(word, way, thread, time.monotonic())
        self._sending.append(one)
        thread.start()

    def _collect(self) -> None:
        while not self._ended.empty():
            one, trouble = self._ended.get()
            if one not in self._sending:
                continue  # it was given up
            self._sending.remove(one)
            if trouble:
                self._failed(one.word, one.way.label, trouble, one.way)
            else:
                self._journal.append(ev.NoticeSent(key=one.word.key, way=one.way.label))
        for one in list(self._sending):
            if time.monotonic() - one.began > OVERDUE_S:
                self._sending.remove(one)
                self._failed(one.word, one.way.label, "it did not end", one.way)

    def _failed(self, word: Word, label: str, reason: str, way: Way | None = None) -> None:
        self._journal.append(ev.NoticeFailed(key=word.key, way=label, reason=reason))
        who = f'guard "{way.of}": ' if way is not None and way.guard else ""
        self._alarm(f"{who}{label} failed: {reason}")
