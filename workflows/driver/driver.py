"""The driver: one loop that turns what the graph's nodes give into the next nodes.

It runs on the login node and is light: no netCDF, no rendering, no path on the buffer.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from burstlens.core.errors import GivenUpError, RunError
from burstlens.core.existence import surely_exists
from burstlens.core.exit_codes import leading
from burstlens.core.no_space import failure_code
from burstlens.core.outcome import Outcome
from burstlens.core.run import events as ev
from burstlens.workflows.driver.buffer_events import note_buffer, note_lost_frames
from burstlens.workflows.driver.driver_log import note_turn
from burstlens.workflows.driver.early_stop import EarlyStop
from burstlens.workflows.driver.homecoming import Homecoming
from burstlens.workflows.driver.jobs import Jobs
from burstlens.workflows.driver.presence import Presence
from burstlens.workflows.driver.steering import Steering
from burstlens.workflows.driver.target import PATIENCE_S, TICK_S, Target
from burstlens.workflows.driver.viewing import FIRST_S, Viewing
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.hints.stripes import folder_stripes
from burstlens.workflows.making import watching
from burstlens.workflows.ordering.graph import URGENT, Done, Graph
from burstlens.workflows.ordering.guarding import Guarding
from burstlens.workflows.ordering.pressure import Pressure
from burstlens.workflows.ordering.production import Production
from burstlens.workflows.ordering.retries import Retries
from burstlens.workflows.placement import buffer as buffers
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.placement.job_buffer import JobBuffer
from burstlens.workflows.placement.launch import Launcher
from burstlens.workflows.placement.provision import Provision
from burstlens.workflows.publishing.context import RunContext
from burstlens.workflows.publishing.flushing import Flushing
from burstlens.workflows.publishing.snapshot import Snapshot

WATCH_S, FIRST_WATCH_S, EARLY_WATCH_S = 2.0, 1.0, 0.1
"""Longest idle call of the watcher: what files in progress take of the buffer is as old. On the
early worker, which draws as well: the first one, in which a model may write a frame, and the
others."""


class Driver:
    """Drives one run to its end. ``tick`` is called about twice a second with the snapshot."""

    def __init__(
        self,
        context: RunContext,
        graph: Graph,
        provision: Provision,
        launcher: Launcher | None,
        tick: Callable[[Snapshot], None],
    ) -> None:
        self.context = context
        self.run = run = context.run
        self.recipe = recipe = context.recipe
        self.site = context.site
        self.graph = graph
        self.journal = context.journal
        self.history = context.history
        self.presence = Presence(run, context.history, context.site.scheduler)
        self.snapshot = context.snapshot
        self.steering = Steering(context)
        self.guarding = Guarding(context)
        self.provision = provision
        self._early_stop = EarlyStop(run, context.journal, context.history)
        self.jobs = Jobs(context, graph, provision, launcher)
        self.buffer: BufferRef | None = None
        self.production: Production | None = None
        self._pressure = Pressure(run, recipe, self.snapshot)
        self._cursor = Cursor()
        self._watched_all = self._drawn = False
        self._started = time.monotonic()
        self._end: Outcome | None = None
        self._retries = Retries(self.snapshot.alarm)
        self._homecoming = Homecoming(
            context, graph, provision, self.jobs, self._lost, self._retries
        )
        self._viewing = Viewing(context, graph)
        self._tick = tick
        self._last_tick = 0.0
        self._flushing = Flushing(context)
        self._target = Target(context.run.path, context.snapshot)
        self._handlers: dict[str, Callable[[Done], None]] = {
            "buffer": self._on_buffer,
            "stagein": self._on_staged_in,
            "submitted": self._on_submitted,
            "job": self._on_job,
            "watch": self._on_watch,
            "work": self._on_work,
            "home": self._homecoming.on_home,
            "freed": self._homecoming.on_freed,
            "released": self._on_released,
            "warm": lambda done: None,
        }

    def drive(self) -> Outcome:
        """Run to the end.

        Raises RunError when another driver took over, or the run directory is lost or another's.
        """
        if self._local:
            self._viewing.open()
        self._prepare()
        try:
            turned = time.monotonic()
            while (end := self._end or self._homecoming.end) is None:
                for done in self.graph.events(self._wait_s):
                    self._handlers[done.kind](done)
                self._advance(time.monotonic())
                turned = note_turn(turned)
            self.guarding.settle(done=end.state == "done")
            return end
        finally:
            self.presence.close()
            if self.production is not None and not self.presence.lost:
                self.production.publisher.close()

    def _prepare(self) -> None:
        known = BufferRef(**self.history.buffer) if self.history.buffer else None
        if self.history.buffer_released:
            known = None
            if self.history.brought_home:  # a former driver died before it could say so
                self._end = self.snapshot.judge(Outcome("done", 0))
                return
        if known and self.history.brought_home and self._homecoming.goes_back(known):
            # A former driver died as it gave the buffer back: asking would make a new one.
            self._homecoming.free(known, self.snapshot.judge(Outcome("done", 0)))
            return
        self.snapshot.state = "waiting for the buffer"
        if known is None:
            # On disk before anything is asked for: `free` looks for it even after a kill.
            kind, name = self.site.buffer.kind, self.provision.name
            self.journal.append(ev.BufferRequested(kind=kind, name=name))
            self.journal.sync()
        self.graph.login("buffer", None, self.provision.provide, known)

    @property
    def _wait_s(self) -> float:
        return TICK_S if self.production is None else self.production.wait_s(TICK_S)

    @property
    def _local(self) -> bool:
        return self.site.scheduler == "local"

    @property
    def _separate(self) -> bool:
        return self.site.viewing.placement == "separate"

    # What comes back from the graph.

    def _lost(self, done: Done, again: Callable[[], None]) -> bool:
        if done.error is None:
            self._viewing.gave()
        return self._retries.lost(done, again)

    def _on_buffer(self, done: Done) -> None:
        if self._lost(done, self._prepare):
            return
        if isinstance(done.error, GivenUpError):
            left = "what was asked of the scheduler may have come all the same"
            self._end = self._early_stop.outcome(
                str(done.error), left=f"{left}: burstlens free {self.run.id} looks for it"
            )
            return
        if done.error is not None:
            self._end = Outcome("failed", failure_code(done.error), str(done.error))
            return
        found, adopted = done.value
        self.buffer = replace(found, by=found.by or self.site.buffer.stager or "")
        if not adopted:
            self.history.staged_in = False
            self.jobs.fresh_buffer = True
            note_lost_frames(self.journal, self.snapshot)
        note_buffer(self.journal, self.snapshot, self.provision, self.buffer, found=adopted)
        self.production = Production(
            self.context, self.graph, self.buffer, 2 * self.graph.workers, self.guarding
        )
        self.production.publisher.settle()
        self.production.publisher.clean_incoming()
        self.snapshot.open(self.production)
        if self._early_stop.asked and not self.history.brought_home:
            self._homecoming.free(self.buffer, self._early_stop.outcome())
            return
        if isinstance(self.provision, JobBuffer):
            self.graph.enter(self.provision.inside())
        if not self._local:
            self.graph.mount(self.provision.lines(self.buffer))
            self._viewing.open()
        if self.history.brought_home:
            # A former driver died between the last file home and the end: only freeing is left.
            self._homecoming.free(self.buffer, self.snapshot.judge(Outcome("done", 0)))
            return
        if self.history.staged_in or self.site.job_stages_in:
            self._start_jobs()
            return
        self.snapshot.state = "staging in"
        self._stage_in()

    def _stage_in(self) -> None:
        if self._homecoming.begun:  # stopped before it could be tried again
            return
        leave = self.recipe.simulation.leave
        inputs, model = str(self.recipe.inputs), self.recipe.model
        stripes = folder_stripes(self.recipe.simulation.stripes, self.recipe.ranks)
        self.graph.view(
            "stagein", None, buffers.stage_in, self.buffer, inputs, model, leave, stripes
        )

    def _on_staged_in(self, done: Done) -> None:
        if self._homecoming.begun or self._lost(done, self._stage_in):
            return
        if done.error is not None:
            assert self.buffer is not None
            failed = Outcome("failed", failure_code(done.error), f"stage in failed: {done.error}")
            self._homecoming.free(self.buffer, failed)
            return
        files, size, left = done.value
        self.journal.append(ev.StageInDone(files=files, bytes=size, left=left))
        self._start_jobs()

    def _start_jobs(self) -> None:
        assert self.buffer is not None
        self.snapshot.state = "starting"
        start = partial(self.jobs.start, self.buffer)
        if not self._homecoming.begun and self._retries.made("start", start, self._start_jobs):
            self._watch()

    def _on_submitted(self, done: Done) -> None:
        self.jobs.submitted(done.about, done.value)
        if self._separate and done.about == self.jobs.simulation:
            self.graph.ask_block(done.value.partition(":")[2])

    def _watch(self) -> None:
        self.graph.view(
            "watch",
            None,
            watching.watch_buffer,
            self.buffer,
            self.recipe.model,
            self.run.id,
            self.jobs.attempt,
            self._cursor,
            str(self.jobs.folder),
            self._longest_s(),
            self.site.viewing.poll_interval_s,
            self.guarding.patterns,
            priority=URGENT,
        )

    def _longest_s(self) -> float:
        """How long a call of the watcher waits for news at most."""
        if not self.graph.is_early:
            return WATCH_S
        return EARLY_WATCH_S if self._cursor.scans else FIRST_WATCH_S

    def _on_job(self, done: Done) -> None:
        end = self.jobs.ended(done.about, done.value, done.error)
        if end is not None and self.buffer is not None and not self._homecoming.begun:
            self._homecoming.free(self.buffer, end)
        if done.value is not None and done.value.message:
            self.snapshot.alarm(done.value.message)

    def _on_watch(self, done: Done) -> None:
        assert self.production is not None
        if self._homecoming.begun or self._lost(done, self._watch):
            return
        if done.error is not None:
            raise RunError(
                f"the output cannot be watched: {done.error}; burstlens resume {self.run.id}"
            ) from done.error
        report = done.value.report
        self._cursor = report.cursor
        self.production.take(report, self.jobs.attempt)
        for line in report.alarms:
            self.journal.append(ev.Alarm(text=line))
            self.snapshot.alarm(line)
        self.snapshot.heard(report, done.value.free_bytes)
        if not (report.ended or report.cursor.speech.ended_well or self.jobs.over):
            self._pressure.look(
                self.production.space,
                self.production.releases.stuck(held=self.jobs.holders),
                free_bytes=done.value.free_bytes,
                fraction=self.snapshot.fraction,
            )
        self.guarding.heard(report, self.production.space, done.value.free_bytes, self.jobs.attempt)
        if report.stopping:
            self._heed_stop()
        self.jobs.heard(report)
        self._watched_all = report.ended
        if not report.frames:
            self._viewing.launch_late()
        if not report.ended:
            self._watch()

    def _on_work(self, done: Done) -> None:
        assert self.production is not None
        self.production.returned(done)
        self._drawn = True

    def _on_released(self, done: Done) -> None:
        assert self.production is not None
        self.production.releases.returned(done)

    # What is to be done next.

    def _advance(self, now: float) -> None:
        self.presence.look(now)  # before anything is written by name
        self.context.requests.write_held(now)
        self._retries.call_due(now)
        if self.production is not None:
            self._drawn |= self.production.look()
            written = self._writes(now, self._publish)
            self.production.submit(now)
            if written:  # after it: to delete a frame takes a worker as long as to read one
                self._writes(now, self._release)
        if now - self._last_tick >= TICK_S:
            self._last_tick = now
            self._look_around()
        if self.production is not None and not self._homecoming.begun:
            over = self._watched_all and self.jobs.over
            if over and self.production.settled:
                assert self.buffer is not None
                self._homecoming.begin(self.buffer)
            elif self.production.stuck(now, PATIENCE_S):
                if over:
                    self._end = self._stuck(self.production)
                elif self.jobs.writes_no_more:
                    self._target.refuse(self._unstaged(self.production))

    def _writes(self, now: float, write: Callable[[float], None]) -> bool:
        """Write to the run directory; False, after a moment, where it is full or away."""
        try:
            write(now)
        except OSError as error:
            self._target.wait(error, now, over=self.jobs.writes_no_more)
            return False
        return True

    def _publish(self, now: float) -> None:
        assert self.production is not None
        if self.jobs.is_silent:
            self._target.probe()
        self.production.publish()
        if self._drawn:  # not before the first picture is published
            self._viewing.launch_late()
        self._flushing.look(self.production.publisher, now)

    def _release(self, now: float) -> None:
        assert self.production is not None
        self.production.releases.begin(held=self.jobs.holders)
        self._target.written(now)

    def _stuck(self, production: Production) -> Outcome:
        jobs = self.jobs.outcome()
        message = self._unstaged(production)
        text = f"{jobs.message}; {message}" if jobs.message else message
        return Outcome("failed", leading(jobs.exit_code, failure_code(message)), text, jobs.line)

    def _unstaged(self, production: Production) -> str:
        return f"{production.backlog.size} products cannot be staged ({production.trouble})"

    def _look_around(self) -> None:
        if self._last_tick - self._started > FIRST_S:
            self._viewing.launch_late()
        self.jobs.note_stage_in()
        if self.buffer is None or not self._homecoming.lost_buffer():
            self._viewing.mend()
        self._heed_stop()
        self.guarding.look()
        if surely_exists(self.run.claim(self.journal.epoch + 1)):
            raise RunError(f"another driver has taken over {self.run.id}; this one ends")
        self.steering.look(self.production, over=self.jobs.over)
        if self._separate and self.jobs.over and not self.jobs.began:
            self._end = self._end or self.jobs.outcome()  # there is nothing to see
        self._viewing.look(self.jobs)
        if self.production is not None:
            self.production.slots = 2 * self.graph.workers
        self.snapshot.write()
        self._tick(self.snapshot)

    def _heed_stop(self) -> None:
        """Let the phase that is under way obey what is asked in it."""
        asked = self.run.stop_requested()
        if asked is None or self._homecoming.gives_back:  # then the provision obeys
            return
        if self.jobs.attempt:
            self.jobs.stop(asked)
        elif self.buffer is None:
            self._end = self._end or self._early_stop.waited_for_buffer()
        elif self._early_stop.asked and not self._homecoming.begun:
            self._homecoming.free(self.buffer, self._early_stop.outcome())
