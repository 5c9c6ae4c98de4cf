"""The jobs of viewing blocks: what is asked of the scheduler about them, beside the driver's loop.

Parsl's commands (submit, cancel) and the scheduler's answers may take minutes when the scheduler is
away. They run on a thread of their own, in order; the loop reads what was heard last.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from burstlens.cluster_configs.batch_script import VIEWING
from burstlens.cluster_configs.calls import SchedulerCalls
from burstlens.cluster_configs.parsl_config import Block, ViewingBlock
from burstlens.cluster_configs.scheduler import JobState, SchedulerError
from burstlens.core.printable import printable

_log = logging.getLogger(__name__)
AGAIN_S = 10.0
"""The pause before a submission that has failed is repeated."""
ENDS_S = 10.0
"""How long the end of the driver waits for cancellations: workers without an interchange end by
themselves, and what waits in the queue is withdrawn after it."""


@dataclass(frozen=True, slots=True)
class BlockAnswer:
    """What was heard of a block's jobs: their ``states``, the numbers of those that are ``live``;
    ``asked`` is when the questions were put (monotonic), 0 before there is an answer. A job that
    was cancelled because it would never begin keeps its hopeless state."""

    asked: float = 0.0
    live: frozenset[str] = frozenset()
    states: Mapping[str, JobState] = field(default_factory=dict)


class ScheduledBlocks:
    """Submits, asks about and cancels the jobs of blocks of a ``batch``; no method waits."""

    def __init__(self, batch: Block) -> None:
        self.batch = batch
        self._calls = SchedulerCalls()
        self._answers: dict[str, BlockAnswer] = {}
        self._calm: set[str] = set()
        self._hopeless: dict[str, JobState] = {}
        self._submits: dict[str, str | None] = {}
        self._refusals: dict[str, str] = {}
        self._failed: set[str] = set()
        self._next_submit = 0.0

    def cancel_former(self) -> None:
        """Cancel the blocks of a former driver, before any is submitted."""
        names = f"{self.batch.token}-{VIEWING}"
        self._calls.begin(lambda: self.batch.scheduler.cancel_all(self.batch.comment, names))

    def submit(self, block: ViewingBlock, after: str | None) -> None:
        """Submit a job of that block, to begin when the job ``after`` has begun.

        It is repeated while the scheduler does not answer, and once if it answers.
        """
        self._submits[block.label] = after
        self._refusals.pop(block.label, None)
        self._failed.discard(block.label)
        self._next_submit = time.monotonic() + AGAIN_S
        self._calls.begin(lambda: self._submit(block))

    def submit_due(self, block: ViewingBlock) -> None:
        """Repeat a submission that the scheduler has not answered."""
        now = time.monotonic()
        if block.label in self._submits and now >= self._next_submit and self._calls.idle:
            self._next_submit = now + AGAIN_S
            self._calls.begin(lambda: self._submit(block))

    def is_submitting(self, block: ViewingBlock) -> bool:
        """Whether a job of the block is still to be submitted."""
        return block.label in self._submits

    def refusal(self, block: ViewingBlock) -> str:
        """Why the scheduler did not accept the latest job of the block; empty if it did."""
        return self._refusals.get(block.label, "")

    def cancel(self, block: ViewingBlock) -> None:
        """Cancel all jobs of the block."""
        self._submits.pop(block.label, None)
        self._calls.begin(block.cancel_jobs)

    def calm(self, job_id: str) -> None:
        """Note that a job has reported its begin."""
        if job_id not in self._calm:
            self._calm.add(job_id)
            self._calls.begin(lambda: self.batch.scheduler.calm(job_id))

    def ask(self, block: ViewingBlock, *, closely: bool = False) -> None:
        """Ask about the block's jobs unless a call is open; ``closely``: what the scheduler says
        now."""
        if self._calls.idle:
            self._calls.begin(lambda: self._ask(block, closely=closely))

    def answer(self, block: ViewingBlock) -> BlockAnswer:
        """What was heard last of the block's jobs."""
        return self._answers.get(block.label, BlockAnswer())

    def live(self, block: ViewingBlock) -> set[str]:
        """The numbers of the block's jobs that wait or run, as far as known."""
        answer = self.answer(block)
        return {
            number
            for job_id, number in block.jobs().items()
            if job_id not in answer.states or number in answer.live
        }

    def why_waiting(self, block: ViewingBlock) -> str:
        """Why the block's latest job has not begun, in the scheduler's words; empty if it has."""
        states = list(self.answer(block).states.values())
        return states[-1].reason if states and states[-1].waiting else ""

    def close(self) -> None:
        """Wait for the cancellations, for a moment."""
        self._calls.wait(ENDS_S)

    def _ask(self, block: ViewingBlock, *, closely: bool) -> None:
        asked, scheduler = time.monotonic(), self.batch.scheduler
        states = {}
        for job_id in block.jobs():
            if closely:
                try:
                    states[job_id] = scheduler.look(job_id)
                except SchedulerError as error:
                    if error.passing:
                        return  # no answer
                    states[job_id] = scheduler.state(job_id)
            else:
                states[job_id] = scheduler.state(job_id)
        live = frozenset(block.live_blocks())
        self._hopeless |= {job_id: state for job_id, state in states.items() if state.hopeless}
        given_up = {job_id: self._hopeless[job_id] for job_id in states if job_id in self._hopeless}
        self._answers[block.label] = BlockAnswer(asked, live, states | given_up)
        self._cancel_hopeless([job_id for job_id in given_up if not states[job_id].over])

    def _cancel_hopeless(self, job_ids: list[str]) -> None:
        """Cancel jobs that will never begin; those that stay are cancelled after the next question,
        also when somebody has released them."""
        if job_ids:
            try:
                self.batch.scheduler.cancel(job_ids)
            except SchedulerError as error:
                _log.warning("jobs of viewing blocks are not cancelled: %s", error)

    def _submit(self, block: ViewingBlock) -> None:
        if block.label not in self._submits:
            return  # cancelled meanwhile
        before = block.jobs()
        block.provider.after = self._submits[block.label]
        block.launch_block()
        if block.jobs() != before:
            self._submits.pop(block.label, None)
            return
        reason = printable(block.provider.refusal)
        try:
            self._cancel_strays(block)
            is_final = block.label in self._failed  # the first one may have met an outage's end
            self._failed.add(block.label)
        except SchedulerError as error:
            is_final = not error.passing
        if is_final:
            self._refusals[block.label] = reason
            self._submits.pop(block.label, None)
        else:
            _log.warning("the viewing block is not submitted: %s; it is tried again", reason)

    def _cancel_strays(self, block: ViewingBlock) -> None:
        """Cancel what the scheduler has accepted and failed to say. Raises SchedulerError."""
        scheduler, token = self.batch.scheduler, f"{self.batch.token}-{VIEWING}"
        strays = [
            job.job_id
            for job in scheduler.jobs(self.batch.comment)
            if job.name.startswith(f"{token}-parsl.{block.label}.")
            and not job.over
            and job.job_id not in block.jobs()
        ]
        if strays:
            with contextlib.suppress(SchedulerError):
                scheduler.cancel(strays)
