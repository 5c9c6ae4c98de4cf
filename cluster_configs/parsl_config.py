"""Parsl's configuration for a site: one viewing block and threads for what the login node does.

Each setting that differs from Parsl's default was measured; docs/decisions/0003-parsl.md.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import zmq
from parsl.config import Config
from parsl.executors import HighThroughputExecutor, ThreadPoolExecutor
from parsl.providers import LocalProvider

from burstlens.cluster_configs.site import Site
from burstlens.errors import SiteError

JOBS = "jobs"
"""Label of the threads that start and await supervised jobs."""
BLOCK_VARIABLE = "BURSTLENS_BLOCK"
"""Names Parsl's folder of the run in the environment of each process of its viewing block."""
HEARTBEAT_S = 2
LOST_S = 10
"""A worker that was killed is noticed after one heartbeat, an orphaned block ends after this."""
_PATIENCE_MS = 200

# The interchange leaves the terminal's process group, so that Ctrl-C reaches the driver alone,
# and gets SIGTERM when the driver dies, so that no worker outlives it for long.
_INTERCHANGE = ("setsid", "setpriv", "--pdeathsig", "TERM", "interchange.py")


def config(site: Site, parsl_folder: Path, jobs: int) -> Config:
    """A configuration without a viewing block yet; ``jobs`` supervised jobs may run at once."""
    return Config(
        executors=[ThreadPoolExecutor(label=JOBS, max_threads=jobs)],
        run_dir=str(parsl_folder),
        retries=2,
        strategy="none",
        strategy_period=0.5,
        # A record of each task at INFO costs ten times the submission itself.
        initialize_logging=False,
        usage_tracking=0,
        exit_mode="cleanup",
    )


class ViewingBlock(HighThroughputExecutor):  # type: ignore[misc]  # Parsl has no types
    """An executor that Parsl's poller leaves alone; the driver starts and replaces its block.

    The poller asks the interchange without a time limit: when that has died, the poller's thread
    hangs, and with it every later block and the end of the run.
    """

    status_polling_interval = 0

    def _start_local_interchange_process(self) -> None:
        """Start the interchange. Raises ChildProcessError when it ends before it answers."""
        client = self.command_client
        client.run = self._first_answer  # Parsl's own waits two minutes for one that has died
        try:
            super()._start_local_interchange_process()
        finally:
            del client.run

    def _first_answer(self, message: str, timeout_s: float) -> Any:
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


def viewing_block(site: Site, label: str, parsl_folder: Path) -> HighThroughputExecutor:
    """The executor of one viewing block: the product workers and one more that watches.

    Every process of the block has ``parsl_folder`` in its environment. Raises
    SiteError when Parsl's programs or util-linux are missing.
    """
    ensure_programs()
    here = Path(sys.executable).parent
    return ViewingBlock(
        label=label,
        address=site.viewing.address,
        encrypted=True,
        max_workers_per_node=site.workers() + 1,
        cores_per_worker=1e-6,  # max_workers_per_node alone decides
        heartbeat_period=HEARTBEAT_S,
        heartbeat_threshold=LOST_S,
        poll_period=1000,
        interchange_launch_cmd=_INTERCHANGE,
        block_error_handler=False,  # the driver replaces a block; it never fails the tasks
        provider=LocalProvider(
            init_blocks=0,
            min_blocks=0,
            max_blocks=1,
            worker_init=f"export PATH={_quoted(here)}:$PATH\n"
            f"export {BLOCK_VARIABLE}={_quoted(parsl_folder)}\n"
            "export HDF5_USE_FILE_LOCKING=FALSE MPLBACKEND=Agg OMP_NUM_THREADS=1\n"
            + site.viewing.worker_init,
        ),
    )


def ensure_programs() -> None:
    """Put the environment's programs on PATH for the driver. Raises SiteError when one is not."""
    from shutil import which

    here = str(Path(sys.executable).parent)
    if here not in os.environ.get("PATH", "").split(os.pathsep):
        os.environ["PATH"] = here + os.pathsep + os.environ.get("PATH", "")
    for program in ("interchange.py", "process_worker_pool.py", "setsid", "setpriv", "ps"):
        if which(program) is None:
            package = {"ps": "procps", "setsid": "util-linux", "setpriv": "util-linux"}
            raise SiteError(
                f"{program} is not on PATH; it comes with {package.get(program, 'parsl')}"
            )


def _quoted(path: Path) -> str:
    from shlex import quote

    return quote(str(path))
