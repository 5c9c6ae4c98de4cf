"""The driver's loop: one for all kinds of run. It carries out what the state wants done, and tells
it what happened.

It runs on the login node and is light: no netCDF, no rendering, no path on the buffer.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, assert_never

from burstlens.cluster_configs.schedulers import LOCAL
from burstlens.core.errors import BurstlensError, RunError, SiteError
from burstlens.core.existence import surely_exists
from burstlens.core.outcome import Outcome, is_full
from burstlens.core.run.event import Event
from burstlens.core.run.wording import progress_text
from burstlens.workflows.deciding.state import RunState
from burstlens.workflows.deciding.target import TICK_S
from burstlens.workflows.driver.dispatch import Dispatch
from burstlens.workflows.driver.driver_log import note_turn
from burstlens.workflows.driver.home_taken import settle_home
from burstlens.workflows.driver.inbox import Inbox
from burstlens.workflows.driver.launching import Launching
from burstlens.workflows.driver.presence import Presence
from burstlens.workflows.ordering import events as happened
from burstlens.workflows.ordering import instructions as todo
from burstlens.workflows.placement import buffer as buffers
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.placement.job_buffer import JobBuffer
from burstlens.workflows.placement.provision import Provision
from burstlens.workflows.publishing.context import RunContext
from burstlens.workflows.publishing.snapshot import Snapshot
from burstlens.workflows.viewing.graph import Graph, NodeResult


class Loop:
    """Drives one run to its end. ``tick`` is called about twice a second with the snapshot."""

    def __init__(
        self,
        context: RunContext,
        graph: Graph,
        dispatch: Dispatch,
        inbox: Inbox,
        state: RunState,
        tick: Callable[[Snapshot], None],
        provision: Provision | None = None,
        launching: Launching | None = None,
    ) -> None:
        self._context, self._run, self._site = context, context.run, context.site
        self._journal, self._requests = context.journal, context.requests
        self._snapshot = context.snapshot
        self._graph, self._dispatch = graph, dispatch
        self._state, self._tick = state, tick
        self._inbox, self._notices = inbox, context.notices
        self._words: dict[str, Callable[[], None]] = {}
        self._provision, self._launching = provision, launching
        self._history = context.history
        self._ticked, self._refused, self._fault = 0.0, False, ""
        self._unsynced: list[todo.Destroy | todo.Release] = []

    def run(self) -> Outcome:
        """Run to the end.

        Raises RunError when another driver took over, or the run directory is lost or another's.
        """
        state, site = self._state, self._site
        presence = Presence(self._run, self._history, site.scheduler)
        try:
            for event in self._inbox.begin():
                self._take(event)
            self._take(happened.LoopBegun())
            turned = time.monotonic()
            while state.end is None:
                for event in self._events(self._dispatch.wait_s(TICK_S)):
                    self._take(event)
                now = time.monotonic()
                presence.look(now)  # before anything is written by name
                self._requests.write_held(now)
                for event in self._dispatch.results():
                    self._take(event)
                self._take(happened.Turn(self._graph.workers, self._graph.is_early))
                if now - self._ticked >= TICK_S:
                    self._ticked = now
                    self._look_around()
                if self._refused:  # the run directory takes nothing
                    time.sleep(TICK_S)
                turned = note_turn(turned)
            for event in self._inbox.look(adds=False):
                self._take(event)
            self._take(happened.RunOver())
            return state.end
        finally:
            presence.close()
            if not presence.lost:
                self._dispatch.close()

    def _take(self, event: happened.StateEvent) -> None:
        """Give the state an event, and what follows from it at once."""
        events = deque([event])
        while events:
            event = events.popleft()
            for cause in self._inbox.before(event, self._state.stop):
                events.extend(self._handle(cause))
            events.extend(self._handle(event))

    def _handle(self, event: happened.StateEvent) -> list[happened.StateEvent]:
        """Carry out what the event asks for; returns what has happened by that."""
        now, t = time.monotonic(), time.time()
        self._snapshot.latencies.note_clock(now, t)
        if any(map(is_full, _errors_of(event))):
            self._snapshot.full_disk.measure()
        event = replace(event, now=now, t=t)
        found: list[happened.StateEvent] = []
        for instruction in self._state.handle(event):
            found += self._carry_out(instruction)
        return found

    def _look_around(self) -> None:
        if surely_exists(self._run.claim(self._journal.epoch + 1)):
            raise RunError(f"another driver has taken over {self._run.id}; this one ends")
        if self._unsynced:
            self._free_synced()
        self._take(self._see_block())
        for event in self._inbox.look(adds=self._state.policy.production is not None):
            self._take(event)
        self._take(happened.Tick())
        self._notices.look(self._progress)
        self._state.show()
        self._snapshot.write()
        self._tick(self._snapshot)

    def _progress(self) -> str:
        status = self._snapshot.value()
        return ", ".join(filter(None, [status.state, progress_text(status)]))

    def _see_block(self) -> happened.BlockSeen:
        graph = self._graph
        return happened.BlockSeen(
            graph.block_state(), graph.block_waits, graph.label, graph.workers, graph.is_early
        )

    # What has ended.

    def _events(self, timeout_s: float) -> Iterator[happened.StateEvent]:
        """What the graph's nodes have given; waits so long for the first one."""
        for ended in self._graph.events(timeout_s):
            event = ended if isinstance(ended, happened.JobSubmitted) else self._event_of(ended)
            if event is not None:
                yield event

    def _event_of(self, ended: NodeResult) -> happened.StateEvent | None:
        node, value, error = ended.node, ended.value, ended.error
        match node:
            case todo.Launch():
                return self._launching_of_run.ended(node, value, error)
            case todo.Make():
                return self._dispatch.made(node, value, error)
            case todo.Release():
                return happened.FramesReleased(node.frames, value, error)
            case todo.Warm():
                return None
        if error is not None:
            return happened.NodeFailed(node, error)
        match node:
            case todo.ProvideBuffer():
                return self._buffer_ready(*value)
            case todo.StageIn():
                return happened.StagedIn(*value)
            case todo.DescribeJobs():
                return happened.JobsDescribed()
            case todo.SubmitAhead():
                return happened.JobSubmitted(node.name, value)
            case todo.CancelWaiting():
                return None
            case todo.Watch():
                return happened.FramesFound(value.report, value.free_bytes)
            case todo.BringHome():
                return happened.BroughtHome(node.buffer, value)
            case todo.Destroy():
                return happened.BufferFreed(node.buffer, node.outcome)
            case todo.Ask():
                return happened.QuestionAnswered(node, value)
            case _:
                assert_never(node)

    def _buffer_ready(self, buffer: BufferRef, adopted: bool) -> happened.BufferReady:
        """The buffer, of which later blocks know."""
        provision = self._provision_of_run
        if not adopted:  # its job's host may have brought results home
            settle_home(self._context)
        if isinstance(provision, JobBuffer):
            self._graph.enter(provision.inside())
        if self._site.scheduler != LOCAL:
            self._graph.mount(provision.lines(buffer))
        return happened.BufferReady(buffer, adopted, None if adopted else provision.origin(buffer))

    @property
    def _provision_of_run(self) -> Provision:
        assert self._provision is not None, "this kind of run has no buffer"
        return self._provision

    @property
    def _launching_of_run(self) -> Launching:
        assert self._launching is not None, "this kind of run has no jobs"
        return self._launching

    # What is to be done.

    def _carry_out(self, instruction: todo.Instruction) -> list[happened.StateEvent]:
        """Do it, or begin to; returns what has happened by that."""
        graph = self._graph
        match instruction:
            case todo.ProvideBuffer():
                graph.login(instruction, self._provision_of_run.provide, instruction.known)
            case todo.StageIn():
                self._dispatch.stage_in(instruction)
            case todo.DescribeJobs():
                return self._call(instruction, self._launching_of_run.describe, instruction)
            case todo.Launch():
                self._launching_of_run.launch(instruction)
            case todo.SubmitAhead():
                graph.login(instruction, self._launching_of_run.submit_ahead, instruction)
            case todo.CancelWaiting():
                graph.login(instruction, self._launching_of_run.launcher.cancel_waiting)
            case todo.Watch():
                self._dispatch.watch(instruction)
            case Event():
                self._journal.write(instruction)
            case todo.Make():
                self._dispatch.make(instruction)
            case todo.Publish():
                return [self._publish(instruction)]
            case todo.Discard():
                self._dispatch.publisher.discard(instruction.receipt)
            case todo.Release():
                self._unsynced.append(instruction)
                self._free_synced()
            case todo.Warm():
                graph.warm(instruction.kinds)
            case todo.BringHome():
                self._dispatch.bring_home(instruction)
            case todo.Destroy():
                self._unsynced.append(instruction)
                self._free_synced()
            case todo.Ask(place=todo.AskPlace.LOOP):
                return self._call(instruction, instruction.function, *instruction.args)
            case todo.Ask(place=todo.AskPlace.BESIDE):
                graph.login(instruction, instruction.function, *instruction.args)
            case todo.Ask():
                priority = instruction.priority
                graph.view(instruction, instruction.function, *instruction.args, priority=priority)
            case todo.Sync():
                self._sync(instruction)
            case todo.SeeJobs():
                return [self._launching_of_run.see(instruction)]
            case todo.OpenBlock():
                label = graph.open_block()
                graph.warm(instruction.kinds)
                return [happened.BlockOpened(label)]
            case todo.LaunchBlock():
                self._launch_block()
            case todo.AskBlock():
                graph.ask_block(instruction.after)
            case todo.MendBlock():
                return self._mend_block(instruction)
            case todo.CloseBlock():
                graph.close_block()
            case todo.Request():
                self._requests.make_request(instruction.name, instruction.reason)
            case todo.DropRequest():
                self._inbox.drop(instruction.name)
            case todo.PrepareWord():
                word, ways = instruction.word, instruction.ways
                self._words[word.key] = self._notices.due(word, ways)
            case todo.SendWord():
                self._words.pop(instruction.key)()
            case todo.ClearRequests():
                self._clear_requests()
            case todo.End():
                pass
            case todo.Fail():
                raise instruction.error
            case _:
                assert_never(instruction)
        return []

    def _call(
        self, node: todo.DescribeJobs | todo.Ask, function: Callable[..., Any], *args: Any
    ) -> list[happened.StateEvent]:
        """Call it in the loop, which waits for it."""
        try:
            value = function(*args)
        except (OSError, BurstlensError) as error:
            return [happened.NodeFailed(node, error)]
        event = self._event_of(NodeResult(node, value))
        return [] if event is None else [event]

    def _publish(self, instruction: todo.Publish) -> happened.ProductsPublished:
        event = self._dispatch.publish(instruction, time.monotonic())
        self._refused = event.error is not None
        return event

    def _free_synced(self) -> None:
        """Delete raw frames, or free the space, when what was published is known for good."""
        try:
            self._journal.sync()
        except OSError as error:
            fault = f"{error.filename or self._run.path} cannot be written"
            if fault != self._fault:
                self._snapshot.alarm(f"{fault} ({error.strerror or error})")
            self._fault = fault
            return
        self._fault = ""
        for node in self._unsynced:
            if isinstance(node, todo.Release):
                self._dispatch.release(node)
            elif node.gives_back:
                give_back = self._provision_of_run.give_back
                self._graph.login(node, give_back, node.buffer, node.others)
            else:
                self._graph.view(node, buffers.destroy, node.buffer)
        self._unsynced.clear()

    def _sync(self, instruction: todo.Sync) -> None:
        try:
            self._journal.sync()
        except OSError:
            # A target that is full or away now gets these lines first when it is back.
            if instruction.required:
                raise

    def _launch_block(self) -> None:
        """Launch the block that waits for an early worker. A full disk: it is tried again."""
        if not self._graph.is_early or not surely_exists(self._run.parsl):  # away for a while
            return
        try:
            self._graph.launch_late()
        except SiteError as error:
            raise SiteError(f"{error}; then: burstlens resume {self._run.id}") from error
        except OSError as error:
            self._require_full(error)

    def _require_full(self, error: OSError) -> None:
        """Raise the error, unless a disk is full: then an alarm says so."""
        self._snapshot.full_disk.measure()
        if not self._snapshot.full_disk.take(error):
            raise error

    def _mend_block(self, instruction: todo.MendBlock) -> list[happened.StateEvent]:
        try:
            reason = self._graph.mend_block()
        except OSError as error:  # as above
            self._require_full(error)
            return []
        if reason is None:
            return []
        if self._graph.is_early:  # what was asked of the block before may have died with it
            self._graph.warm(instruction.kinds)
        return [happened.BlockReplaced(reason)]

    def _clear_requests(self) -> None:
        try:
            self._run.clear_control()
        except RunError as error:
            self._snapshot.alarm(str(error))


def _errors_of(event: happened.StateEvent) -> list[BaseException | None]:
    match event:
        case happened.NodeFailed() | happened.ProductsPublished():
            return [event.error]
        case happened.ResultsRead() | happened.WorkReturned():
            return [result.error for result in event.results.values()]
    return []
