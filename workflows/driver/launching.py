"""The jobs of a run where they are: described, started, looked at."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from burstlens.core.durable import read_json
from burstlens.core.existence import check_existence
from burstlens.workflows.driver.scheduling import BufferJob
from burstlens.workflows.ordering.events import JobEnded, JobsSeen, StagedIn
from burstlens.workflows.ordering.instructions import (
    DescribeJobs,
    Launch,
    SeeJobs,
    SubmitAhead,
)
from burstlens.workflows.placement import direct_requests
from burstlens.workflows.placement.job_buffer import JobBuffer
from burstlens.workflows.placement.job_file import JobFile
from burstlens.workflows.placement.job_folder import has_stopped, lacks
from burstlens.workflows.placement.launch import Launcher, LocalLauncher
from burstlens.workflows.placement.provision import Provision
from burstlens.workflows.placement.stage_in import DONE
from burstlens.workflows.placement.supervised import Ended, JobFailedError, describe
from burstlens.workflows.publishing.context import RunContext
from burstlens.workflows.recipe.recipe import Step
from burstlens.workflows.viewing.graph import Graph


class Launching:
    """Starts a run's supervised jobs, by the site's ``launcher``, None for this machine alone."""

    def __init__(
        self, context: RunContext, graph: Graph, provision: Provision, launcher: Launcher | None
    ) -> None:
        self._run, self._recipe, self._site = context.run, context.recipe, context.site
        self._journal, self._graph = context.journal, graph
        self._local = LocalLauncher()
        self.launcher: Launcher = launcher or self._local
        self._file = JobFile(context.run, context.recipe, context.site, context.history, provision)
        self._provision, self._buffer_job = provision, BufferJob(provision, graph)
        self._described: dict[str, dict[str, Any]] = {}
        self._nodes: dict[str, Future[Ended]] = {}
        self._live: set[str] = set()
        context.requests.send_directly = self._tell

    def describe(self, asked: DescribeJobs) -> None:
        """Have all on disk that must be there before a job is submitted. Raises OSError: the next
        call goes on."""
        if asked.fresh:
            (self._run.path / DONE).unlink(missing_ok=True)  # what was staged in is gone with it
        self._file.open(asked.buffer, asked.attempt, asked.continuation, asked.written_by)
        self._journal.sync()
        steps = {step.name: step for step in self._recipe.steps}
        jobs: list[tuple[str, Step | None]] = [(name, steps[step]) for name, step in asked.steps]
        first = [one for one in jobs if one[1] is not None and one[1].phase == "before"]
        if asked.simulation is not None:
            jobs.insert(len(first), (asked.simulation, None))
        for name, step in jobs:
            folder = self._run.job(name)
            if not check_existence(folder / "job.json"):
                if name not in self._described:  # once: the first of all stages in
                    make = (
                        self._file.simulation(name) if step is None else self._file.step(step, name)
                    )
                    self._described[name] = make | self._idle(name, asked)
                describe(folder, self._described[name])

    def _idle(self, name: str, asked: DescribeJobs) -> dict[str, float]:
        """For how long the job with the buffer had waited for the simulation that it runs first."""
        idle_s = self._provision.launcher.idle_s if isinstance(self._provision, JobBuffer) else 0.0
        is_first = asked.fresh and name == asked.simulation
        return {"idle_s": round(idle_s, 3)} if is_first and idle_s else {}

    def launch(self, asked: Launch) -> None:
        """Start a job when those that it needs have ended well."""
        launcher = self._local if asked.on_login else self.launcher
        after = [self._nodes[name] for name in asked.after]
        self._live.add(asked.name)
        self._nodes[asked.name] = self._graph.job(asked, launcher, self._run.job(asked.name), after)

    def submit_ahead(self, asked: SubmitAhead) -> str:
        """Submit the job that waits for the next attempt, or find it again; returns its id. Raises
        SiteError, and OSError."""
        folder = self._run.job(asked.name)
        if isinstance(self._provision, JobBuffer):
            return self._provision.submit_ahead(folder)
        found = self.launcher.find(folder)
        if found is not None:
            return found
        describe(folder, self._file.ahead(asked.name, asked.attempt))
        return self.launcher.submit_ahead(folder, asked.after)

    def ended(self, asked: Launch, value: Ended | None, error: BaseException | None) -> JobEnded:
        """How a job ended that was launched."""
        self._live.discard(asked.name)
        end = error.ended if isinstance(error, JobFailedError) else value
        if end is None:
            return JobEnded(asked.name, None, _root(error))
        failed = not (end.well or end.stopped) and asked.name.startswith("step-")
        return JobEnded(asked.name, end, said=end.last_line if failed else "")

    def see(self, asked: SeeJobs) -> JobsSeen:
        """What can be seen of the jobs now."""
        folder = self._run.job(asked.simulation)
        return JobsSeen(
            waits=next(iter(self.launcher.waits.values()), ""),
            place=self.launcher.place,
            began=not asked.began or not lacks(folder, "started.json"),
            silent=bool(asked.live) and self._is_silent(asked, folder),
            staged=self._staged() if asked.staged else None,
            buffer_end=self._buffer_job.end() if asked.buffer else "",
            begun=self._begun(folder) if asked.begun else None,
            idle_s=_idle_s(self._run.job(asked.ahead)) if asked.ahead else None,
        )

    def _begun(self, folder: Path) -> float | None:
        """When the job of the simulation in that folder has begun, in Unix seconds; None before its
        program was started, and while that cannot be seen."""
        report = folder / "started.json"
        if isinstance(self._provision, JobBuffer):
            report = self._provision.launcher.host / "host.json"
        with contextlib.suppress(OSError):
            started = read_json(report) or {}
            if "started" in started:  # of a host of an earlier version it is not known
                return float(started["started"]) - float(started.get("idle_s", 0.0))
        return None

    def _staged(self) -> StagedIn | None:
        """What the first job reports of its stage in."""
        counts = None
        with contextlib.suppress(OSError):  # looked for again in a moment
            counts = read_json(self._run.path / DONE)
        if counts is None:
            return None
        return StagedIn(counts.get("files"), counts.get("bytes"), counts.get("left"))

    def _is_silent(self, asked: SeeJobs, folder: Path) -> bool:
        """Whether the programs of all live jobs have ended, which the run directory has not taken
        yet."""
        if self.launcher is not self._local and folder not in self.launcher.unreported:
            return False  # the loop waits for no file server
        return all(self._has_gone(name, asked.simulation) for name in asked.live)

    def _has_gone(self, name: str, simulation: str) -> bool:
        folder = self._run.job(name)
        if folder in self.launcher.unreported | self._local.unreported:
            return True
        begins = name == simulation or not lacks(folder, "submitting")
        return has_stopped(folder, must_begin=begins)

    def _tell(self, name: str, reason: Mapping[str, Any] | None) -> bool:
        """Give a request to the supervisors on this node that live; whether there is any."""
        told = [direct_requests.send(self._run.job(job), name, reason) for job in self._live]
        return any(told)


def _idle_s(folder: Path) -> float | None:
    """How long the job of that folder has waited for an attempt, where it has ended without one."""
    with contextlib.suppress(OSError):
        ended = read_json(folder / "ended.json")
        if ended is not None:
            return float(ended.get("idle_s", 0.0))
    return None


def _root(error: BaseException | None) -> str:
    while error is not None and error.__cause__ is not None:
        error = error.__cause__
    return str(error)
