"""A run that launches its model: buffer, stage in, jobs, frames, products, home."""

from __future__ import annotations

import math

from burstlens.cluster_configs.schedulers import LOCAL
from burstlens.core.errors import GivenUpError, RunError
from burstlens.core.exit_codes import STOPPED, leading
from burstlens.core.outcome import Outcome, failure_code
from burstlens.core.run import events as ev
from burstlens.workflows.deciding.buffered import BufferedRun
from burstlens.workflows.deciding.checkpoints import CheckpointKeeping
from burstlens.workflows.deciding.homecoming import Homecoming
from burstlens.workflows.deciding.job_change import JobChange
from burstlens.workflows.deciding.jobs import BY, Jobs
from burstlens.workflows.deciding.output_watch import OutputWatch
from burstlens.workflows.deciding.state import FIRST_S, RunState
from burstlens.workflows.deciding.target import PATIENCE_S, Target
from burstlens.workflows.ordering import events as happened
from burstlens.workflows.ordering import instructions as todo
from burstlens.workflows.ordering.guarding import Guarding
from burstlens.workflows.ordering.pressure import Pressure
from burstlens.workflows.ordering.production import Production
from burstlens.workflows.ordering.shown_points import ShownPoints
from burstlens.workflows.publishing.snapshot import JobsNow

LEAVES_S = 15.0
"""How long after ``stop-now`` the provision may take to cancel what it has asked for."""


class LaunchedRun(BufferedRun):
    """Decides for a run whose model Burstlens launches. ``shown`` is what the pictures of earlier
    drivers show."""

    guarding: Guarding

    def __init__(
        self, state: RunState, shown: ShownPoints, *, buffer_name: str, lasts: bool
    ) -> None:
        super().__init__(state, buffer_name=buffer_name, lasts=lasts)
        self.jobs, self.guarding = Jobs(state), Guarding(state.context, state.outbox)
        self.checkpoints = CheckpointKeeping(state, self.guarding, lasts=lasts)
        self._shown = shown
        self._homecoming = Homecoming(state, self.jobs, lasts=lasts)
        self._change = JobChange(state, self.jobs, self.checkpoints, self._homecoming, lasts=lasts)
        self._pressure = Pressure(state.recipe, state.snapshot, state.outbox)
        self._target = Target(state)
        self._watch = OutputWatch(state)
        self._is_local = state.site.scheduler == LOCAL
        self._is_separate = state.site.viewing.placement == "separate"
        self._began = 0.0
        self._leaves_at = math.inf
        last = state.history.jobs.get(f"attempt-{state.history.attempt}")
        self._resumes = last is not None and last.outcome is None

    def jobs_now(self) -> JobsNow:
        """The simulation and the steps around it."""
        jobs = self.jobs
        return JobsNow(jobs.attempt, jobs.asked, jobs.seen.waits, jobs.seen.place, jobs.over)

    # The buffer and the inputs.

    def begin(self) -> None:
        """Ask for the buffer, unless a former driver had brought all home."""
        self._began = self.state.now
        if self._is_local:
            self.state.open_block()
        self._prepare()

    def _prepare(self) -> None:
        state, history = self.state, self.state.history
        known = self.known
        if history.buffer_released and history.brought_home:
            # A former driver died before it could say so.
            state.finish(state.snapshot.judge(Outcome("done", 0)))
        elif known and history.brought_home and self._homecoming.goes_back(known):
            # A former driver died as it gave the buffer back: asking would make a new one.
            self._homecoming.free(known, state.snapshot.judge(Outcome("done", 0)))
        else:
            self.ask_for_buffer()

    def buffer_ready(self, event: happened.BufferReady) -> None:
        """Open the production, and go on where a former driver has stopped."""
        state, history = self.state, self.state.history
        buffer = self.take_buffer(event)
        if not event.adopted:
            self.jobs.fresh_buffer = True
            self._change.note_lost_buffer()
        self.production = Production(
            state.context, state.outbox, buffer, self.guarding, self._shown
        )
        state.snapshot.open(self.production.load)
        if self._stops_early and not history.brought_home:
            self._homecoming.free(buffer, self._early_end())
            return
        if not self._is_local:
            state.open_block()
        if history.brought_home:
            # A former driver died between the last file home and the end: only freeing is left.
            self._homecoming.free(buffer, state.snapshot.judge(Outcome("done", 0)))
        elif (lost := self._change.lost_checkpoint()) is not None:
            self._homecoming.free(buffer, lost)
        elif history.staged_in or state.site.job_stages_in:
            self._start_jobs()
        else:
            self.stage_in()

    def staged_in(self, event: happened.StagedIn) -> None:
        """Start the jobs."""
        if not self._homecoming.begun:
            self.note_stage_in(event)
            self._start_jobs()

    def _start_jobs(self) -> None:
        assert self.buffer is not None
        self.state.snapshot.state = "starting"
        jobs = self.jobs
        jobs.describe(self.buffer)
        self.guarding.resume(jobs.attempt, jobs.continuation.time, jobs.written_by)
        if self.production is not None:
            self.production.begin_attempt()

    # The jobs and their output.

    def jobs_described(self) -> None:
        """Launch them, and watch for frames."""
        if not self._homecoming.begun:
            self.jobs.launch()
            if not self.jobs.has_nothing_left:
                self._watch.begin(self.jobs.attempt)
                self._look()

    def job_submitted(self, event: happened.JobSubmitted) -> None:
        """Journal the job's id; the viewing block's job waits for that of the simulation."""
        self.jobs.submitted(event)
        if self._is_separate and event.name == self.jobs.simulation:
            self.state.do(todo.AskBlock(event.job_id.partition(":")[2]))

    def job_ended(self, event: happened.JobEnded) -> None:
        """Judge a job's end."""
        end = self.jobs.ended(event)
        if end is not None and self.buffer is not None and not self._homecoming.begun:
            self._homecoming.free(self.buffer, end)
        if event.end is not None and event.end.well and event.end.message:
            self.state.snapshot.alarm(event.end.message)

    def frames_found(self, event: happened.FramesFound) -> None:
        """Order products of new frames, and look again."""
        state, production, report = self.state, self.production, event.report
        assert production is not None
        if self._homecoming.begun:
            return
        attempt = self._watch.take(report)
        if attempt != self.jobs.attempt:  # an earlier one, of which a former driver left some
            production.take(report, attempt)
            if report.ended:
                production.promised.forget()
            self._look()
            return
        self.checkpoints.take(report, attempt)
        production.take(report, attempt)
        for line in report.alarms:
            state.alarm(line)
        state.snapshot.heard(report, event.free_bytes)
        if not (report.ended or report.cursor.speech.ended_well or self.jobs.over):
            self._pressure.look(
                production.space,
                production.releases.stuck(held=self.jobs.holders),
                free_bytes=event.free_bytes,
                fraction=state.snapshot.fraction,
                stopping=state.stop.control is not None,
            )
        self.guarding.heard(report, production.space, event.free_bytes, attempt)
        if report.stopping:
            self.stop_requested()
        self.jobs.heard(report)
        if not report.frames:
            state.do(todo.LaunchBlock())
        if not report.ended:
            self._look()

    def _look(self) -> None:
        assert self.buffer is not None
        self._watch.look(self.buffer, self.guarding.patterns)

    # What is to be done next.

    @property
    def model_over(self) -> bool:
        """Whether all jobs have ended."""
        return self.jobs.over

    def turn(self) -> None:
        """Publish what has come back."""
        if self.production is not None:
            self.production.slots = 2 * self.state.workers
        super().turn()

    def publish(self, production: Production) -> None:
        """Where nothing more is written, see whether anything could be."""
        production.publish(probe=self.jobs.is_silent)

    def published(self, event: happened.ProductsPublished) -> None:
        """Submit, release; bring home what is kept when all is done."""
        production, jobs, now = self.production, self.jobs, self.state.now
        assert production is not None
        production.published(event)
        if event.error is not None:
            self._target.refused(event.error, over=jobs.writes_no_more)
        elif self.drawn:  # not before the first picture is published
            self.state.do(todo.LaunchBlock())
        production.submit(now)
        if event.error is None:  # after it: to delete a frame takes a worker as long as to read one
            production.releases.begin(held=jobs.holders)
            self._target.written()
        if self._homecoming.begun:
            return
        assert self.buffer is not None
        judging = self.checkpoints.judging
        judging.next_one(self.buffer)
        self.checkpoints.prune(self.buffer, production)
        if self._watch.ended and jobs.following and self._goes_on(production):
            return
        over = self._watch.ended and jobs.over
        if over and production.settled and not jobs.following and judging.may_end(jobs.outcome()):
            done = jobs.outcome().state == "done"
            if self.checkpoints.home.brings_last(self.buffer, production, done=done):
                return
            space = production.space
            self._homecoming.begin(self.buffer, space.stale_files(), space.shared(space.files))
        elif production.stuck(now, PATIENCE_S):
            if over:
                self.state.finish(self._stuck(production))
            elif jobs.writes_no_more:
                self._target.refuse(_unstaged(production))

    def _goes_on(self, production: Production) -> bool:
        """Begin the attempt that follows, once guards have read all frames, and workers the
        checkpoint: it may still become suspect. Whether it has begun."""
        self.checkpoints.judge()
        jobs = self.jobs
        end = jobs.ends[jobs.simulation]
        assert end is not None
        judging = self.checkpoints.judging
        if production.oldest_unread() is not None or jobs.next_job.pending or not judging.is_done:
            return False
        if self._change.is_due:
            assert self.buffer is not None
            return self._change.leave(self.buffer, production)
        record = jobs.segments.choose(jobs.attempt, end)
        if jobs.segments.problem:
            return False
        jobs.go_on(record)
        self._start_jobs()
        return True

    def _stuck(self, production: Production) -> Outcome:
        jobs, text = self.jobs.outcome(), _unstaged(production)
        message = "; ".join(filter(None, (jobs.message, text)))
        code = leading(jobs.exit_code, failure_code(text))
        return Outcome("failed", code, message, jobs.line)

    def tick(self) -> None:
        """Look around: the block, the jobs, what people ask for."""
        if self.state.now - self._began > FIRST_S:
            self.state.do(todo.LaunchBlock())
        has_buffer = self.buffer is not None
        self.jobs.look(buffer=has_buffer and not self._homecoming.gives_back)

    def jobs_seen(self, event: happened.JobsSeen) -> None:
        """Replace a block that has ended, unless the buffer has gone with its job; obey requests;
        end a run of which nothing can be seen."""
        state, jobs = self.state, self.jobs
        jobs.take_sight(event)
        if event.buffer_end and not jobs.live and not self._homecoming.gives_back:
            self._change.lose_buffer(event.buffer_end)
        if event.buffer_end == "":
            state.do(todo.MendBlock(state.kinds))
        self.stop_requested()
        if self._is_separate and jobs.over and not event.began and not state.history.frames:
            self._watch.ended = True  # there is nothing to see
            if not jobs.following:
                state.finish(jobs.outcome())

    # Requests to stop.

    @property
    def _stops_early(self) -> bool:
        """Whether this driver is asked to stop before there is an attempt of its own. Not while a
        former driver's may still run: then the request is for that attempt."""
        return self.state.stop.control is not None and not self._resumes

    def stop_requested(self) -> None:
        """Let the phase that is under way obey what is asked in it."""
        if self.state.stop.control is None or self._homecoming.gives_back:
            return  # then the provision obeys
        if self.jobs.attempt:
            self.jobs.stop()
        elif self.buffer is None:
            self._stop_waiting()
        elif self._stops_early and not self._homecoming.begun:
            self._homecoming.free(self.buffer, self._early_end())

    def _stop_waiting(self) -> None:
        """End the run when the provision has not cancelled what it asked for in time.

        It sees the request itself, cancels and says what is left; that is waited for, after
        ``stop-now`` for a moment.
        """
        if not self._stops_early:
            return
        now = self.state.now
        if self.state.stop.control == "stop-now":
            self._leaves_at = min(self._leaves_at, now + LEAVES_S)
        if now >= self._leaves_at:
            what = "what was asked of the scheduler may still come"
            left = f"{what}: burstlens free {self.state.run.id} gives it back"
            self.state.finish(self._early_end(left=left))

    def _early_end(self, what: str = "", left: str | None = None) -> Outcome:
        """The end of a run without an attempt, journalled as obeyed; ``what`` says what became of
        the buffer, ``left`` what may be left of it."""
        stop = self.state.stop
        self.state.outbox.append(ev.ControlReceived(control=stop.control or "stop"))
        message = "stopped before the simulation started"
        code = BY.get(str(stop.reason.get("by")), STOPPED)
        return Outcome("stopped", code, f"{message}; {what}" if what else message, left=left)

    # The end.

    def wants(self, instruction: todo.Instruction) -> bool:
        """Nothing is staged in, started or watched any more when all is being brought home."""
        begins = todo.StageIn | todo.DescribeJobs | todo.SubmitAhead | todo.Watch
        over = isinstance(instruction, begins)
        return not (over and self._homecoming.begun)

    def go_on(self, instruction: todo.Instruction) -> None:
        """The buffer is asked for, and the watcher sent, as all is by now."""
        if isinstance(instruction, todo.ProvideBuffer):
            self._prepare()
        else:
            super().go_on(instruction)

    def refused(self, event: happened.NodeFailed) -> None:
        """End the run, or its driver, where what failed is needed."""
        state, error = self.state, event.error
        match event.node:
            case todo.ProvideBuffer() if isinstance(error, GivenUpError):
                what = "what was asked of the scheduler may have come all the same"
                left = f"{what}: burstlens free {state.run.id} looks for it"
                state.finish(self._early_end(str(error), left))
            case todo.ProvideBuffer():
                state.finish(Outcome("failed", failure_code(error), str(error)))
            case todo.StageIn(buffer=buffer):
                message = f"stage in failed: {error}"
                self._homecoming.free(buffer, Outcome("failed", failure_code(error), message))
            case todo.DescribeJobs() as node if self.jobs.is_ended_by(node, error):
                self._watch.ended = True
                if self.jobs.has_nothing_left and self.jobs.steps.jobs:
                    self.jobs.describe(node.buffer)
            case todo.DescribeJobs() if isinstance(error, Exception):
                state.fail(error)
            case todo.SubmitAhead():
                self.jobs.next_job.refused(str(error))
            case todo.Watch():
                text = f"the output cannot be watched: {error}; burstlens resume {state.run.id}"
                state.fail(RunError(text))
            case todo.BringHome() as node:
                if not self._homecoming.waits_for(node, error):
                    self._homecoming.leave_buffer(error)
            case todo.Destroy() as node:
                self._homecoming.leave(node, error)
            case todo.Ask() as node:
                self.checkpoints.refused(node, error)

    def answered(self, event: happened.QuestionAnswered) -> None:
        """A checkpoint is deleted, or was read."""
        self.checkpoints.answered(event)

    def brought_home(self, event: happened.BroughtHome) -> None:
        """Give the buffer back."""
        self._homecoming.take(event)

    def buffer_freed(self, event: happened.BufferFreed) -> None:
        """The run is over."""
        self.state.outbox.append(ev.BufferReleased())
        self.state.finish(event.outcome)

    def settle(self) -> None:
        """Let guards that have judged nothing say so; no job is to wait any more."""
        end = self.state.end
        self.guarding.settle(done=end is not None and end.state == "done")
        self.jobs.next_job.settle()


def _unstaged(production: Production) -> str:
    return f"{production.backlog.size} products cannot be staged ({production.trouble})"
