"""What Burstlens uses of Parsl that Parsl's documentation does not offer, behind plain names.

Parsl may change any of it in any release. So pyproject.toml excludes releases that were not tried,
``tests/sites/test_parsl_internals.py`` checks each use, and no other module of Burstlens may have
one: CONTRIBUTING.md, "Raising the bound on Parsl". ``unmonitored.py`` relies on one more property,
that Parsl can be imported without SQLAlchemy.

Parsl is imported inside of functions: the worker pool imports this module before Parsl.
"""

from __future__ import annotations

import random
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from multiprocessing.context import BaseContext
from typing import Any

INTERCHANGE = "parsl.executors.high_throughput.interchange"
"""Run as ``__main__``, it is the interchange: Parsl's script ``interchange.py`` by the driver's own
interpreter, and without SQLAlchemy."""
WORKER_POOL = "parsl.executors.high_throughput.process_worker_pool"
"""Run as ``__main__``, it is the worker pool, whose workers look for its functions there."""
LOG_FOLDER = "--logdir"
"""The pool's option with the folder below which it makes one for its logs."""
QUEUE_HOLDER = "SyncManager"
"""Beginning of the name of the pool's child that holds its queues: the pool makes these by
``SpawnContext.Manager()``."""
IDLE_WORKER_ENDED = "was not busy when it died"
"""In what the pool's watch of its workers logs, below this pool's name, of one without a task."""
SUBMIT_SCRIPTS = "submit_scripts"
"""Folder that ``DataFlowKernel.add_executors`` gives to providers for their batch scripts."""

_MANAGER_FIELDS = ("manager", "block_id", "worker_count", "active", "draining")
_PATIENCE_MS = 200


def fork_workers_by(context: BaseContext) -> None:
    """Let the worker pool of this process start its children by ``context``.

    The pool takes its processes and queues from ``parsl.multiprocessing.SpawnContext``.
    """
    import parsl.multiprocessing

    parsl.multiprocessing.SpawnContext = context


def pool_command(program: str) -> str:
    """Parsl's command for the worker pool, with ``program`` in place of Parsl's script.

    ``launch_cmd`` is a documented option; its fields and the pool's options stand in
    ``DEFAULT_LAUNCH_CMD`` only.
    """
    from parsl.executors.high_throughput.executor import DEFAULT_LAUNCH_CMD

    return str(DEFAULT_LAUNCH_CMD.replace("process_worker_pool.py", program))


def add_executor(kernel: Any, executor: Any) -> None:
    """Start an executor while Parsl runs, by ``DataFlowKernel.add_executors``.

    A block whose interchange has died needs a new executor; Parsl documents only those of its
    configuration.
    """
    kernel.add_executors([executor])


def with_priority(number: int) -> dict[str, dict[str, int]]:
    """The keyword argument of a task that the interchange sends before those of higher numbers.

    The argument is documented, its key ``priority`` for this executor is not.
    """
    return {"parsl_resource_specification": {"priority": number}}


class LeastLoaded:
    """Which node gets the next task: the one with the largest part of its workers idle; of those
    that are equal, the one whose newest task is the oldest (a ManagerSelector; the ``tasks`` of a
    manager stand in the order in which they were sent, with numbers that grow).

    So the batches of one frame go to different nodes, each of which reads the frame once, as long
    as there are that many nodes. Parsl's own choice is random.
    """

    def sort_managers(
        self, ready_managers: Mapping[bytes, Any], manager_list: Collection[bytes]
    ) -> list[bytes]:
        """The nodes' managers, the least loaded last: the interchange takes that one first."""

        def load(name: bytes) -> tuple[float, int, float]:
            manager = ready_managers[name]
            tasks = manager["tasks"]
            part = len(tasks) / max(1, manager["max_capacity"])
            return part, tasks[-1] if tasks else -1, random.random()

        return sorted(manager_list, key=load, reverse=True)


def least_loaded() -> LeastLoaded:
    """A LeastLoaded that an executor accepts as its ``manager_selector``, a documented option."""
    from parsl.executors.high_throughput.manager_selector import ManagerSelector

    ManagerSelector.register(LeastLoaded)
    return LeastLoaded()


@dataclass(frozen=True, slots=True)
class Manager:
    """The worker pool of one node, as the interchange knows it (``MANAGERS`` in its commands)."""

    name: str
    block: str
    workers: int
    active: bool
    """Whether it gets tasks: it is not held."""
    draining: bool
    """Whether it gets no more tasks because its drain period is over."""


class BlockInternals:
    """Mixed in before HighThroughputExecutor: an executor whose blocks the driver replaces."""

    provider: Any
    bad_state_is_set: bool
    interchange_proc: Any
    command_client: Any
    outgoing_q: Any
    job_ids_to_block: dict[str, str]

    status_polling_interval = 0
    """Keeps Parsl's poller from this executor: it asks the interchange without a time limit. When
    that has died, the poller's thread hangs, and with it every later block and the end of the run.
    """
    silent_s = 10.0
    """Longest time that a living interchange takes to answer."""

    def launch_block(self) -> None:
        """Start one block now (``scale_out_facade``): no strategy of Parsl's does so on request."""
        self.scale_out_facade(1)  # type: ignore[attr-defined]

    def jobs(self) -> dict[str, str]:
        """The block's number of each job of this executor (``job_ids_to_block``)."""
        return dict(self.job_ids_to_block)

    def live_jobs(self) -> list[str]:
        """The jobs that wait or run, by their ids."""
        jobs = list(self.jobs())
        states = self.provider.status(jobs)
        return [job for job, state in zip(jobs, states, strict=True) if not state.terminal]

    def live_blocks(self) -> set[str]:
        """The numbers of the blocks whose jobs wait or run."""
        live = self.live_jobs()
        return {self.jobs()[job] for job in live}

    def cancel_jobs(self) -> None:
        """End all jobs of this executor; Parsl itself cancels only those of executors it polls."""
        self.provider.cancel(list(self.jobs()))

    def is_broken(self) -> bool:
        """Whether it can run no more tasks (``bad_state_is_set``, ``interchange_proc``): Parsl
        itself does not look whether its interchange lives."""
        process = self.interchange_proc
        return self.bad_state_is_set or process is None or process.poll() is not None

    def fail_tasks(self, reason: Exception) -> None:
        """Fail all tasks, now and later (``set_bad_state_and_fail_all``)."""
        self.set_bad_state_and_fail_all(reason)  # type: ignore[attr-defined]

    def limit_sends(self, milliseconds: int) -> None:
        """Let a send to the interchange fail after this time (``outgoing_q.zmq_socket``).

        Without an interchange at its other end it blocks for ever, and with it the one thread by
        which Parsl launches the tasks of every executor.
        """
        import zmq

        self.outgoing_q.zmq_socket.setsockopt(zmq.SNDTIMEO, milliseconds)

    def drop_unsent(self) -> None:
        """Let what was meant for an interchange that has died not hold up the end of Parsl."""
        import zmq

        self.outgoing_q.zmq_socket.setsockopt(zmq.LINGER, 0)

    def managers(self, live: Collection[str]) -> list[Manager] | None:
        """The managers of its ``live`` blocks that the interchange knows; None when it does not
        answer.

        Those of a block whose job is over get no more tasks (``HOLD_MANAGER``): on a node that
        Slurm has given up they may go on, but without the buffer. The interchange answers within
        moments; if it died meanwhile, Parsl's command channel is useless, and with it this
        executor. Parsl's ``connected_managers`` would wait for ever.
        """
        from parsl.executors.high_throughput.errors import (
            CommandClientBadError,
            CommandClientTimeoutError,
        )

        try:
            found = [
                Manager(*(one[field] for field in _MANAGER_FIELDS)) for one in self._ask("MANAGERS")
            ]
            for manager in found:
                if manager.block not in live and manager.active:
                    self._ask(["HOLD_MANAGER", manager.name])
        except (CommandClientTimeoutError, CommandClientBadError):
            return None
        return [manager for manager in found if manager.block in live]

    def _ask(self, message: str | list[str]) -> Any:
        return self.command_client.run(message, timeout_s=self.silent_s)

    def _start_local_interchange_process(self) -> None:
        """Start the interchange. Raises ChildProcessError when it ends before it answers."""
        client = self.command_client
        client.run = self._first_answer  # Parsl's own waits two minutes for one that has died
        try:
            super()._start_local_interchange_process()  # type: ignore[misc]
        finally:
            del client.run

    def _first_answer(self, message: str, timeout_s: float) -> Any:
        import zmq

        socket, end = self.command_client.zmq_socket, time.monotonic() + timeout_s
        for readiness in (zmq.POLLOUT, zmq.POLLIN):
            while not socket.poll(_PATIENCE_MS, readiness):
                code = self.interchange_proc.poll()
                if code is not None:
                    raise ChildProcessError(f"it ended with {code} before it answered")
                if time.monotonic() > end:
                    raise TimeoutError(f"no answer within {timeout_s:.0f} s")
            if readiness == zmq.POLLOUT:
                socket.send_pyobj(message)
        return socket.recv_pyobj()


class ProviderInternals:
    """Mixed in before a provider for a scheduler: a subclass asks for the states of jobs."""

    resources: dict[str, dict[str, Any]]
    scheduler_options: str

    def job_status(self, job_id: str) -> Any:
        """The JobStatus of a job that was not over when it was last asked."""
        raise NotImplementedError

    def submit_with(self, lines: str, command: str, tasks_per_node: int, name: str) -> str:
        """Submit a job with more lines at the head of its script (``scheduler_options``, which
        Parsl reads again for each job). Raises what the provider does, of many kinds."""
        given = self.scheduler_options
        self.scheduler_options = given + lines
        try:
            job_id = super().submit(command, tasks_per_node, name)  # type: ignore[misc]
        finally:
            self.scheduler_options = given
        if job_id is None:  # some providers log why, and raise nothing
            raise RuntimeError("its script was not accepted, and Parsl's provider keeps why")
        return str(job_id)

    def _status(self) -> None:
        for job_id, job in self.resources.items():
            if not job["status"].terminal:
                job["status"] = self.job_status(job_id)


class ScriptKeptError(Exception):
    """A script was written, and is not submitted."""


class KeepsScript:
    """Mixed in before a provider: it writes the script that it would submit, raises ScriptKeptError
    in place of a submission, and asks nothing."""

    def execute_wait(self, cmd: str, timeout: float | None = None) -> tuple[int, str, str]:
        """Call no command, such as SlurmProvider's first one."""
        return 0, "", ""

    def _write_submit_script(self, *script: Any) -> None:
        # Not when it calls a command: LSFProvider does so past any class that is mixed in.
        super()._write_submit_script(*script)  # type: ignore[misc]
        raise ScriptKeptError


def write_scripts_in(provider: Any, folder: str) -> None:
    """Let a provider of no kernel write its scripts in ``folder`` (``script_dir``)."""
    provider.script_dir = folder
