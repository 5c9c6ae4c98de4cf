"""Whether the job that has a run's buffer has ended, by a scheduler that nobody waits for."""

from __future__ import annotations

import time

from burstlens.cluster_configs.calls import LatestAnswer
from burstlens.cluster_configs.scheduler import SchedulerError
from burstlens.workflows.ordering.graph import Graph
from burstlens.workflows.placement.job_buffer import JobBuffer
from burstlens.workflows.placement.provision import Provision

LOOK_S = 2.0
"""How often a scheduler that does not answer is asked."""
LEAVES_S = 30.0
"""How long a job that has ended may take to leave its buffer; until then nobody says why it did."""


class BufferJob:
    """The job with the buffer, where the buffer is a job's: asked about once its viewing block is
    gone."""

    def __init__(self, provision: Provision, graph: Graph) -> None:
        self._provision = provision if isinstance(provision, JobBuffer) else None
        self._graph = graph
        self._answer = LatestAnswer(self._ask, LOOK_S)
        self._gone_since: float | None = None
        self._leaves_since: float | None = None

    def end(self) -> str | None:
        """How it ended, in the scheduler's words; empty while it runs; None while the scheduler has
        not answered."""
        if self._provision is None or self._graph.block_state() != "gone":
            self._gone_since = self._leaves_since = None
            return ""
        self._gone_since = self._gone_since or time.monotonic()
        return self._answer.since(self._gone_since)

    def _ask(self) -> str:
        """How it ended. Raises SchedulerError, also while it ends, and OSError."""
        assert self._provision is not None
        job = self._provision.job_now()
        if job is None:
            return "it is not known to the scheduler"
        if job.ending or (job.over and not job.final):
            self._leaves_since = self._leaves_since or time.monotonic()
            if time.monotonic() - self._leaves_since < LEAVES_S:
                raise SchedulerError(f"job {job.job_id} is ending", passing=True)
        else:
            self._leaves_since = None
        return f"job {job.job_id}: {job.text}" if job.over or job.ending else ""
