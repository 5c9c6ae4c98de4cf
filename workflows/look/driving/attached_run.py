"""A run that others started: it watches a folder, and makes products beside it.

It has no buffer, no stage in and no jobs of its own. The observer answers what a supervisor
answers, from what can be seen; nothing is ever written, locked or signalled below the folder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from msgspec.structs import replace

from burstlens.cluster_configs.scheduler import JobState
from burstlens.core.errors import RunError
from burstlens.core.outcome import Outcome
from burstlens.core.run import events as ev
from burstlens.core.run.snapshot import attached_now
from burstlens.workflows.deciding.state import FIRST_S, Policy, RunState
from burstlens.workflows.deciding.target import Target
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.watch import Attachment
from burstlens.workflows.look.driving.answering import Answering
from burstlens.workflows.look.driving.choosing import Choosing
from burstlens.workflows.look.driving.entered_job import EnteredJob
from burstlens.workflows.look.driving.look_end import LookEnd, ModelWord, Sight, observe
from burstlens.workflows.look.driving.rewrites import Rewrites
from burstlens.workflows.look.driving.watched_folder import FOLDER, WatchedFolder
from burstlens.workflows.look.observer.observer import Observation, Observer
from burstlens.workflows.look.options import Look
from burstlens.workflows.ordering import events as happened
from burstlens.workflows.ordering import instructions as todo
from burstlens.workflows.ordering.guarding import Guarding
from burstlens.workflows.ordering.production import Production
from burstlens.workflows.ordering.shown_points import ShownPoints
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.publishing.snapshot import JobsNow

WATCH_S, IDLE_WATCH_S, EARLY_WATCH_S = 2.0, 10.0, 0.1
"""Longest idle call of the watcher: while the model writes, when it has been quiet for long, and on
the early worker, which draws as well."""
IDLE_POLL_S = 1.0
"""Pause between two looks at a folder in which nothing was written for ``QUIET_S``."""
QUIET_S = 60.0
HANGS_S = 30.0
"""A look at the folder that takes longer hangs, if nothing else answers either."""


class AttachedRun(Policy):
    """Decides for a look at one folder, at that ``place``. ``without_process`` makes an observer of
    logs and frames alone, ``shown`` is what the pictures of earlier drivers show, ``table`` the
    run's recipe."""

    production: Production
    guarding: Guarding

    def __init__(
        self, state: RunState, look: Look, observer: Observer,
        without_process: Callable[[], Observer], *,
        place: Mapping[str, Any], shown: ShownPoints, table: Mapping[str, Any],
    ) -> None:  # fmt: skip
        super().__init__(state)
        context, outbox = state.context, state.outbox
        self.look, self.observer, self._without_process = look, observer, without_process
        self._place, self._ending = place, LookEnd()
        self.guarding = Guarding(context, outbox, self._has_ended)
        self.buffer = BufferRef("posix", str(state.run.path / "watched"), FOLDER, owned=False)
        self.production = Production(context, outbox, self.buffer, self.guarding, shown)
        self._choosing = Choosing(state, self.production, look, table)
        self._entered = EnteredJob(state, look, self.production) if look.inside else None
        self.rewrites = Rewrites(
            context, outbox, self.production, self.buffer, self._begin, state.later
        )
        self._model_word = ModelWord(context, outbox)
        self._cursor = Cursor()
        self._folder = WatchedFolder(state, look.path, self._begin)
        self._since = self._began = self._reads_again = 0.0
        self._target = Target(state)
        self._answering = Answering(None if look.inside else look.path)

    @property
    def attempt(self) -> int:
        """The number of the current attempt."""
        return self.state.history.attempt

    def jobs_now(self) -> JobsNow:
        """No job of this run waits in a queue."""
        return JobsNow(self.attempt, over=self._ending.finished)

    @property
    def _is_gone(self) -> bool:
        """Whether no worker can run any more."""
        return self._entered is not None and self._entered.gone

    def _has_ended(self, attempt: int) -> bool:
        return attempt != self.attempt or self._ending.finished

    # The folder.

    def begin(self) -> None:
        """Ask for the viewing block, where it can run, and read the folder."""
        self._began = self._since = self.state.now
        if self._entered is not None:
            self._entered.ask(self.observer, 0.0, "begin")
        else:
            self._open()

    def _open(self) -> None:
        if not self._is_gone:
            self.state.open_block()
        self.state.do(todo.AskBlock())
        history, snapshot = self.state.history, self.state.snapshot
        if history.attached is None:
            look = self.look
            self.state.outbox.append(
                ev.RunAttached(path=look.path, model=look.model, reason=look.reason, **self._place)
            )
            for text in (look.reason, *look.left_out):
                snapshot.note(text)
        if not history.attempt:
            self._begin("what is there on arrival")
        self._folder.link(self.attempt)
        self._show(None)
        self.production.backlog.arriving = True
        snapshot.open(self.production.load)
        snapshot.state = "running"
        self._watch()

    def _begin(self, evidence: str) -> int:
        """Begin a new attempt of the model, for that reason; returns its number."""
        attempt = self.state.history.attempt + 1
        self.state.outbox.append(ev.AttemptObserved(attempt=attempt, evidence=evidence))
        self._folder.link(attempt)
        if attempt > 1 and self._ending.finished:
            self.observer = self._without_process()  # what was named is not this attempt's
            self._ending.sight = None
        return attempt

    def _watch(self) -> None:
        if self._is_gone:
            return
        idle = self._ending.quiet_s > QUIET_S and not self.production.backlog.arriving
        poll_s = self.look.poll_s or self.state.site.viewing.poll_interval_s
        self._since = self.state.now
        ended = self._ending.finished
        clock = str(self.state.run.path / "watched" / "clock")
        swept = self._folder.to_sweep(self.rewrites.comparing)
        watched_all = ended and self._ending.watched_all
        attachment = Attachment(
            self.look.selection(self.state.history), clock, swept, ended, watched_all
        )
        poll_s = max(poll_s, IDLE_POLL_S) if idle else poll_s
        about = self.buffer, self.attempt, self._cursor, self._longest_s(idle=idle), poll_s
        self.state.do(todo.Watch(*about, self.guarding.patterns, attachment))

    def _longest_s(self, *, idle: bool) -> float:
        """How long a call of the watcher waits for news at most."""
        if self.state.block.early:
            return EARLY_WATCH_S
        return IDLE_WATCH_S if idle and self.look.page else WATCH_S

    def frames_found(self, event: happened.FramesFound) -> None:
        """Order products of new frames, and look again."""
        state, production, report = self.state, self.production, event.report
        self._cursor = report.cursor
        if report.folder is not None:
            self._folder.take(report.folder)
        before = production.backlog.arriving
        production.backlog.arriving = bool(report.folder and report.folder.arriving)
        # Frames that the log names and that were not chosen are not lost; where nothing more is to
        # be expected, no product waits for another stream.
        seen = state.history.observed
        quiet = seen is not None and seen.state in {"quiet", "ended", "failed"}
        ended = report.ended or (quiet and not production.backlog.arriving)
        production.outputs.heard(report, self.attempt)
        silent = replace(report, frames=(), written=(), timed=(), blocks=(), ended=ended)
        production.take(silent, self.attempt)
        if before:
            production.backlog.rank_arrived(report.frames)
        self.rewrites.take(self._choosing.take(report.frames))
        self.rewrites.close(report.folder)
        if report.urgent:
            self._folder.read_declared()
        for line in report.alarms:
            state.alarm(line)
        if before:  # what lay there on arrival is not late
            state.snapshot.latencies.ask_late(state.t)
        state.snapshot.heard(report, event.free_bytes)
        self.guarding.heard(report, production.space, event.free_bytes, self.attempt)
        self._ending.take(report)
        if not (report.frames or production.backlog.arriving):
            state.do(todo.LaunchBlock())
        self._watch()

    # What comes back.

    def answered(self, event: happened.QuestionAnswered) -> None:
        """Take what a worker, the observer or the scheduler says."""
        value, about = event.value, event.ask.about
        match event.ask.kind:
            case "observe":
                self._take_sight(value, ends=about)
            case "job":
                self._take_job(value, about)
            case "silent" if value:
                late_s = self.state.now - self._since
                self._folder.lose(f"it has not answered for {late_s:.0f} s")
            case "stopped":
                self.state.snapshot.alarm(str(value))
            case "choose" if not self._is_gone:
                self._choosing.returned(about, value)
                self._take_chosen()
            case "fit":
                self._choosing.fit(about, value)
                self._take_chosen()
            case "compare" if not self._is_gone:
                self.rewrites.returned(about, value)
                self._folder.read_declared()

    def wants(self, instruction: todo.Instruction) -> bool:
        """Nothing that takes a worker, where none can come; no comparison that is out of date."""
        match instruction:
            case todo.Watch():
                return not self._is_gone
            case todo.Ask(kind="compare", about=suspect):
                return not self._is_gone and self.rewrites.wants(suspect)
        return True

    def refused(self, event: happened.NodeFailed) -> None:
        """End the driver where the folder cannot be watched."""
        error = event.error
        match event.node:
            case todo.Watch():
                again = f"burstlens resume {self.state.run.id}"
                text = f"{self.look.path} cannot be watched: {error}; {again}"
                self.state.fail(RunError(text))
            case todo.Ask(kind="stopped"):
                self.state.snapshot.alarm(str(error))
            case todo.Ask(kind="link"):
                self.state.fail(RunError(f"{error}; burstlens resume {self.state.run.id}"))
            case todo.Ask(kind="choose", about=about) if not self._is_gone:
                self._choosing.failed(about, error)
                self._take_chosen()
            case todo.Ask(kind="fit", about=about):
                self._choosing.unfit(about, error)
                self._take_chosen()
            case todo.Ask(kind="compare", about=suspect) if not self._is_gone:
                self.rewrites.failed(suspect, error)

    # What is to be done next.

    def turn(self) -> None:
        """Compare what has waited; publish what has come back."""
        self.rewrites.look()
        super().turn()

    def published(self, event: happened.ProductsPublished) -> None:
        """Submit; end where nothing more is waited for."""
        state, now = self.state, self.state.now
        self.production.published(event)
        if self._entered is not None:
            self._entered.published()
        if event.error is not None:
            over = self._ending.finished or self._ending.quiet
            self._target.refused(event.error, over=over)
        else:
            self._target.written()
            if self.drawn:  # not before the first picture is published
                state.do(todo.LaunchBlock())
        self._submit(now)
        if self._ending.over and self._is_settled and not self.look.page:
            self._observe(ends=True)

    def _take_chosen(self) -> None:
        """Hand on the frames that have waited for what they are held against."""
        self.rewrites.take(self._choosing.chosen())
        self._folder.read_declared()

    def _submit(self, now: float) -> None:
        """Hand on the next work, as far as the rate at which frames may be read allows it."""
        if now < self._reads_again or self._is_gone:
            return
        rate = self.look.max_read_rate
        self.production.slots = 1 if rate else 2 * self.state.workers
        read = self.production.submit(now)
        if rate and read:
            self._reads_again = now + read / rate

    @property
    def _is_settled(self) -> bool:
        busy = self.rewrites.busy or self._choosing.busy
        return not (busy or self._is_gone) and self.production.settled

    def tick(self) -> None:
        """Look around: the block, the folder's server, the model, what people ask for."""
        state, now = self.state, self.state.now
        if now - self._began > FIRST_S:
            state.do(todo.LaunchBlock())
            if self._entered is None:
                state.do(todo.MendBlock(state.kinds))
            else:
                self._entered.look(self.observer)
        late_s = now - self._since if state.snapshot.block == "running" else 0.0
        if late_s > HANGS_S:
            state.do(todo.Ask("silent", self._answering.is_silent, (now,), todo.AskPlace.LOOP))
        self._observe(ends=False)

    def stop_requested(self) -> None:
        """End the looking, or stop a model that may be stopped."""
        state, stop = self.state, self.state.stop
        stops = self.look.allow_stop and not self._ending.finished
        if stop.control is None:
            return
        if stop.control != "leave" and (stops or stop.reason.get("by") == "guard"):
            if stops:
                state.outbox.append(ev.ControlReceived(control=stop.control))
                at_once = (stop.control == "stop-now",)
                state.do(todo.Ask("stopped", self.observer.stop, at_once, todo.AskPlace.BESIDE))
            # Else a worker asked for it, of a model that had ended.
            state.clear_requests()
        else:
            state.finish(Outcome("stopped", 0, "looking has ended, the model is not touched"))

    def settle(self) -> None:
        """Send word of the model's end; let guards that have judged nothing say so."""
        self._model_word.flush()
        self.guarding.settle(done=False)

    # The model.

    def _observe(self, *, ends: bool) -> None:
        """Ask the observer about the model. Quiet ends nothing that a page shows."""
        args = self.observer, self.state.now, self._ending.activity, self.look.page and not ends
        self.state.do(todo.Ask("observe", observe, args, todo.AskPlace.LOOP, about=ends))

    def _take_sight(self, sight: Sight, *, ends: bool) -> None:
        """Note what was observed; a look that waits for nothing more ``ends`` by it."""
        self._ending.sight = sight
        if not ends:
            self._model_word.look(settled=self.production.settled)
        elif not self._ending.over:
            return
        self._note(sight.observation)
        if ends:
            self.state.finish(self.state.snapshot.judge(sight.outcome))

    def _take_job(self, found: JobState | None, when: str) -> None:
        """Take what the scheduler says of the job that the workers are in."""
        entered = self._entered
        assert entered is not None
        if when == "begin":
            entered.take_first(found, self.observer)
            self._open()
        elif entered.gone:
            sight = self._ending.sight
            if sight is not None and not self.look.page:
                self.state.finish(entered.end(found, sight))
        else:
            entered.take(found, self.observer)

    def _note(self, found: Observation) -> None:
        """Journal and show what was observed, where it has changed."""
        state, known = self.state, self.state.history.observed
        last = self._is_gone and self._ending.finished  # the scheduler's word is the best
        if known is None or (known.state, known.attempt) != (found.state, self.attempt) or (
            last and known.evidence != found.evidence
        ):  # fmt: skip
            self._model_word.journal(known, found, self.attempt)
        self._show(found)
        state.snapshot.state = found.state if found.state in {"quiet", "waiting"} else "running"

    def _show(self, found: Observation | None) -> None:
        """Put the folder and what was observed of its model into the snapshot."""
        part = attached_now(self.look.shown(self._choosing.left_out), self.state.history)
        if found is not None:
            part = replace(part, **asdict(found))
        self.state.snapshot.attached = part
