"""The driver of a run that others started: it watches a folder, and makes products beside it.

It has no buffer, no stage in and no jobs of its own. The observer answers what a supervisor
answers, from what can be seen; nothing is ever written, locked or signalled below the folder.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict

from msgspec.structs import replace

from burstlens.core.errors import RunError
from burstlens.core.existence import surely_exists
from burstlens.core.model import Fingerprint
from burstlens.core.outcome import Outcome
from burstlens.core.run import events as ev
from burstlens.core.run.snapshot import attached_now
from burstlens.workflows.driver.answering import Answering
from burstlens.workflows.driver.choosing import Choosing
from burstlens.workflows.driver.driver_log import note_turn
from burstlens.workflows.driver.entered import viewing_of
from burstlens.workflows.driver.look import Look, declared_files, in_turn, place_of
from burstlens.workflows.driver.look_end import LookEnd
from burstlens.workflows.driver.model_word import ModelWord
from burstlens.workflows.driver.presence import Presence
from burstlens.workflows.driver.steering import Steering
from burstlens.workflows.driver.target import TICK_S, Target
from burstlens.workflows.driver.viewing import FIRST_S
from burstlens.workflows.frames.attachment import Attachment
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.report import FolderReport, Report
from burstlens.workflows.making import watching
from burstlens.workflows.ordering.graph import URGENT, Done, Graph
from burstlens.workflows.ordering.guarding import Guarding
from burstlens.workflows.ordering.production import Production
from burstlens.workflows.ordering.retries import Retries
from burstlens.workflows.ordering.rewrites import Rewrites
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.placement.observer import Observation, Observer
from burstlens.workflows.publishing.context import RunContext
from burstlens.workflows.publishing.flushing import Flushing
from burstlens.workflows.publishing.snapshot import Snapshot

FOLDER = "look"
"""The folder of the run's links and of its unfinished products, below ``watched/``."""
WATCH_S, IDLE_WATCH_S, EARLY_WATCH_S = 2.0, 10.0, 0.1
"""Longest idle call of the watcher: while the model writes, when it has been quiet for long, and on
the early worker, which draws as well."""
IDLE_POLL_S = 1.0
"""Pause between two looks at a folder in which nothing was written for ``QUIET_S``."""
QUIET_S = 60.0
SWEPT = 200
"""Finished files that one call looks at again."""
HANGS_S = 30.0
"""A look at the folder that takes longer hangs, if nothing else answers either."""


class AttachedDriver:
    """Looks at one folder until the looking ends. ``leaving`` gets the signals, as of Ctrl-C."""

    def __init__(
        self,
        context: RunContext,
        graph: Graph,
        look: Look,
        observer: Observer,
        without_process: Callable[[], Observer],
        tick: Callable[[Snapshot], None],
        leaving: Sequence[int],
    ) -> None:
        self.run, self.journal, self._requests = context.run, context.journal, context.requests
        self.history = history = context.history
        self.snapshot = context.snapshot
        self.recipe = context.recipe
        self.site = context.site
        self.graph = graph
        self.look = look
        self.observer = observer
        self._without_process = without_process
        self.presence = Presence(context.run, history, context.site.scheduler)
        self.steering = Steering(context)
        self.guarding = Guarding(context, self._has_ended)
        self.buffer = BufferRef("posix", str(context.run.path / "watched"), FOLDER, owned=False)
        self.production = Production(context, graph, self.buffer, 2 * graph.workers, self.guarding)
        self._choosing = Choosing(context, graph, self.production, look)
        self._viewing = viewing_of(context, graph, look, self.production, lambda: self.observer)
        self._retries = Retries(self.snapshot.alarm)
        again = self._begin, self._retries.later
        self.rewrites = Rewrites(context, graph, self.production, self.buffer, *again)
        self._leaving, self._model_word = leaving, ModelWord(context)
        self._tick = tick
        self._cursor = Cursor()
        self._ending = LookEnd()
        self._declared = declared_files(history)
        self._swept = 0
        self._since = self._started = time.monotonic()
        self._drawn = False
        known = history.attached
        self._identity: tuple[int, int] | None = None
        if known is not None and known.inode is not None:
            self._identity = known.device or 0, known.inode
        self._last_tick = self._reads_again = 0.0
        self._flushing = Flushing(context)
        self._target = Target(context.run.path, context.snapshot)
        self._answering = Answering(None if look.inside else look.path)
        self.asked: str | None = None

    @property
    def attempt(self) -> int:
        """The number of the current attempt."""
        return self.history.attempt

    waits, place = "", None
    """No job of this run waits in a queue."""

    @property
    def over(self) -> bool:
        """Whether the model certainly writes no more."""
        return self._ending.finished

    def _has_ended(self, attempt: int) -> bool:
        return attempt != self.attempt or self.observer.over()

    def drive(self) -> Outcome:
        """Look until the end. Raises RunError when the run directory is lost or another's."""
        self._viewing.open()
        self.graph.ask_block(None)
        self._prepare()
        try:
            turned = time.monotonic()
            while (end := self._end()) is None:
                for done in self.graph.events(self.production.wait_s(TICK_S)):
                    self._take(done)
                self._advance(time.monotonic())
                turned = note_turn(turned)
            self._model_word.flush()
            self.guarding.settle(done=False)
            return end
        finally:
            self.presence.close()
            if not self.presence.lost:
                self.production.publisher.close()

    def _prepare(self) -> None:
        if self.history.attached is None:
            look, place = self.look, place_of(self.look)
            self.journal.append(
                ev.RunAttached(path=look.path, model=look.model, reason=look.reason, **place)
            )
            for text in (look.reason, *look.left_out):
                self.snapshot.note(text)
        if not self.history.attempt:
            self._begin("what is there on arrival")
        self._link()
        self._show(None)
        self.production.publisher.settle()
        self.production.publisher.clean_incoming()
        self.production.backlog.arriving = True
        self.snapshot.open(self.production)
        self.snapshot.state = "running"
        self._watch()

    def _begin(self, evidence: str) -> int:
        """Begin a new attempt of the model, for that reason; returns its number."""
        attempt = self.history.attempt + 1
        self.journal.append(ev.AttemptObserved(attempt=attempt, evidence=evidence))
        self._link()
        if attempt > 1 and self.observer.over():
            self.observer = self._without_process()  # what was named is not this attempt's
        if attempt > 1:
            self.snapshot.alarm(f"attempt {attempt} of the model: {evidence}")
        return attempt

    def _link(self) -> None:
        """Make the link through which workers see the folder as that of the current attempt."""
        folder = self.run.path / "watched" / FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        link = folder / str(self.history.attempt)
        if not link.is_symlink():
            link.symlink_to(self.look.path)

    def _watch(self) -> None:
        if self._viewing.gone:
            return
        idle = self._ending.quiet_s > QUIET_S and not self.production.backlog.arriving
        poll_s = self.look.poll_s or self.site.viewing.poll_interval_s
        self._since = time.monotonic()
        self.graph.view(
            "watch",
            None,
            watching.watch_folder,
            self.buffer,
            self.recipe.model,
            self.run.id,
            self.attempt,
            self._cursor,
            Attachment(
                self.look.selection(self.history),
                str(self.run.path / "watched" / "clock"),
                self._to_sweep(),
                self._ending.finished,
                self._ending.finished and self._ending.watched_all,
            ),
            self._longest_s(idle=idle),
            max(poll_s, IDLE_POLL_S) if idle else poll_s,
            self.guarding.patterns,
            priority=URGENT,
        )

    def _longest_s(self, *, idle: bool) -> float:
        """How long a call of the watcher waits for news at most."""
        if self.graph.is_early:
            return EARLY_WATCH_S
        return IDLE_WATCH_S if idle and self.look.page else WATCH_S

    def _to_sweep(self) -> dict[str, Fingerprint]:
        """The next finished files to look at again, in turn."""
        chosen, self._swept = in_turn(self._declared, self._swept, SWEPT)
        comparing = self.rewrites.comparing
        return {file: found for file, found in chosen.items() if file not in comparing}

    # What comes back from the graph.

    def _take(self, done: Done) -> None:
        if done.kind == "watch":
            self._on_watch(done)
        elif done.kind == "work":
            self.production.returned(done)
            self._drawn = True
        elif done.kind == "stopped":
            self.snapshot.alarm(str(done.error or done.value))
        elif not self._viewing.gone:
            if done.kind == "choose":
                self.rewrites.take(self._choosing.returned(done))
            elif done.kind == "compare":
                self.rewrites.returned(done)
            self._declared = declared_files(self.history)

    def _on_watch(self, done: Done) -> None:
        if done.error is None:
            self._viewing.gave()
        if (done.error and self._viewing.gone) or self._retries.lost(done, self._watch):
            return
        if done.error is not None:
            raise RunError(
                f"{self.look.path} cannot be watched: {done.error}; burstlens resume {self.run.id}"
            ) from done.error
        report: Report = done.value.report
        self._cursor = report.cursor
        if report.folder is not None:
            self._observe_folder(report.folder)
        before = self.production.backlog.arriving
        self.production.backlog.arriving = bool(report.folder and report.folder.arriving)
        # Frames that the log names and that were not chosen are not lost; where nothing more is to
        # be expected, no product waits for another stream.
        seen = self.history.observed
        quiet = seen is not None and seen.state in {"quiet", "ended", "failed"}
        ended = report.ended or (quiet and not self.production.backlog.arriving)
        self.production.outputs.heard(report, self.attempt)
        silent = replace(report, frames=(), written=(), timed=(), blocks=(), ended=ended)
        self.production.take(silent, self.attempt)
        if before:
            self.production.backlog.rank_arrived(report.frames)
        self.rewrites.take(self._choosing.take(report.frames))
        self.rewrites.close(report.folder)
        if report.urgent:
            self._declared = declared_files(self.history)
        for line in report.alarms:
            self.journal.append(ev.Alarm(text=line))
            self.snapshot.alarm(line)
        if before:  # what lay there on arrival is not late
            self.snapshot.ask_late()
        self.snapshot.heard(report, done.value.free_bytes)
        self.guarding.heard(report, self.production.space, done.value.free_bytes, self.attempt)
        self._ending.take(report)
        if not (report.frames or self.production.backlog.arriving):
            self._viewing.launch_late()
        self._watch()

    def _observe_folder(self, folder: FolderReport) -> None:
        if folder.lost:
            self._lose(folder.lost)
            return
        if folder.identity is None:
            return
        known, self._identity = self._identity, folder.identity
        same = known is None or known[1] == folder.identity[1]  # a later mount is another device
        if self.history.path_lost is not None:
            what = "is back" if same else "is another one now"
            self.journal.append(ev.PathBack(evidence=f"the folder {what}", same=same))
            self.snapshot.note(f"{self.look.path} {what}")
        if not same:
            self._begin("the folder is another one")
        if folder.restarted:
            self._begin(folder.restarted)

    def _lose(self, evidence: str) -> None:
        if self.history.path_lost is None:
            self.journal.append(ev.PathLost(evidence=evidence))
            self.snapshot.alarm(f"{self.look.path}: {evidence}; it is looked for again")

    def _advance(self, now: float) -> None:
        self.presence.look(now)
        self._requests.write_held(now)
        self._retries.call_due(now)
        self._drawn |= self.production.look()
        self.rewrites.look()
        try:
            self.production.publish()
            self._flushing.look(self.production.publisher, now)
            self._target.written(now)
            if self._drawn:  # not before the first picture is published
                self._viewing.launch_late()
        except OSError as error:
            self._target.wait(error, now, over=self._ending.finished or self._ending.quiet)
        self._submit(now)
        if now - self._last_tick >= TICK_S:
            self._last_tick = now
            self._look_around(now)

    def _submit(self, now: float) -> None:
        """Hand on the next work, as far as the rate at which frames may be read allows it."""
        if now < self._reads_again or self._viewing.gone:
            return
        rate = self.look.max_read_rate
        self.production.slots = 1 if rate else 2 * self.graph.workers
        read = self.production.submit(now)
        if rate and read:
            self._reads_again = now + read / rate

    def _look_around(self, now: float) -> None:
        if now - self._started > FIRST_S:
            self._viewing.launch_late()
            self._viewing.mend()
        self.guarding.look()
        if surely_exists(self.run.claim(self.journal.epoch + 1)):
            raise RunError(f"another driver has taken over {self.run.id}; this one ends")
        late_s = now - self._since if self.snapshot.block == "running" else 0.0
        if late_s > HANGS_S and self._answering.is_silent(now):
            self._lose(f"it has not answered for {late_s:.0f} s")
        self.steering.look(self.production, over=False)
        self._observe(now)
        self._viewing.look(self)
        self.snapshot.write()
        self._tick(self.snapshot)

    def _observe(self, now: float) -> None:
        """Ask the observer about the model, and note what has changed."""
        found = self._ending.observe(self.observer, now, page=self.look.page)
        self._model_word.look(settled=self.production.settled)
        self._note(found)

    def _note(self, found: Observation) -> None:
        """Journal and show what was observed, where it has changed."""
        known = self.history.observed
        last = self._viewing.gone and self.observer.over()  # the scheduler's word is the best
        if known is None or (known.state, known.attempt) != (found.state, self.attempt) or (
            last and known.evidence != found.evidence
        ):  # fmt: skip
            self._model_word.journal(known, found, self.attempt)
            self.snapshot.note(f"the model: {found.state}, {found.evidence}")
        self._show(found)
        self.snapshot.state = found.state if found.state in {"quiet", "waiting"} else "running"

    def _show(self, found: Observation | None) -> None:
        """Put the folder and what was observed of its model into the snapshot."""
        part = attached_now(self.look.shown(self._choosing.left_out), self.history)
        if found is not None:
            part = replace(part, **asdict(found))
        self.snapshot.attached = part

    def _end(self) -> Outcome | None:
        """How the looking ended; None while it goes on."""
        asked = self.run.stop_requested()
        stops = self.look.allow_stop and not self.observer.over()
        if asked and not stops and self.run.stop_reason().get("by") == "guard":
            self.run.clear_control()  # a worker asked for it, of a model that had ended
            asked = None
        if self._leaving or (asked and not stops):
            return Outcome("stopped", 0, "looking has ended, the model is not touched")
        if asked:
            self.journal.append(ev.ControlReceived(control=asked))
            self.graph.login("stopped", None, self.observer.stop, asked == "stop-now")
            self.run.clear_control()
        if self.look.page:
            return None
        if self._viewing.gone:
            return self._viewing.end()
        if self.rewrites.busy or self._choosing.busy or not self.production.settled:
            return None
        outcome = self._ending.outcome(self.observer, time.monotonic())
        if outcome is None:
            return None
        if (decided := self._ending.observation) is not None:
            self._note(decided)
        return self.snapshot.judge(outcome)
