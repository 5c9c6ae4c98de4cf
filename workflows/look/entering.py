"""Steps inside a running job of the user's own, on whose node files lie that nobody else sees."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Sequence

from burstlens.cluster_configs.inside import Inside
from burstlens.cluster_configs.scheduler import (
    FORGOTTEN,
    EnterableScheduler,
    SchedulerError,
)
from burstlens.cluster_configs.schedulers import LOCAL, scheduler
from burstlens.cluster_configs.site import Site
from burstlens.core.errors import RunError, SiteError
from burstlens.core.printable import printable
from burstlens.workflows.look.observer.observed_job import require_own

BEGINS_S = 120.0
"""How long a step may take to begin, with the imports of its program."""
ENDS_S = 10.0
IN_SCRIPT = "start look in the job's script"
"""What can be done where a job cannot be entered."""


def entered(job_id: str, site: Site) -> Inside:
    """The job as its steps need it. Raises SiteError where the site cannot or does not allow it,
    RunError unless the job is this user's and runs; each says what to do."""
    if site.scheduler == LOCAL:
        raise SiteError(
            f"site {site.name} has no scheduler to reach the node of job {job_id}: --site names "
            f"the job's cluster, or {IN_SCRIPT}"
        )
    batch = scheduler(site.scheduler)(site.batch)
    if not isinstance(batch, EnterableScheduler):
        raise SiteError(
            f"{batch.title} starts no steps inside of a job that runs: {IN_SCRIPT} of job {job_id}"
        )
    if not site.look.enter_jobs:
        raise SiteError(
            f"site {site.name} does not let look enter jobs ([look] enter_jobs in its file): "
            f"{IN_SCRIPT} of job {job_id}"
        )
    if not batch.job_ids.fullmatch(job_id):
        raise RunError(f'"{printable(job_id)[:80]}" is not the id of a job of {batch.title}')
    batch.require()
    title = f"{batch.title}: job {job_id}"
    state = batch.look(job_id)
    batch.forget(job_id)  # this process does not wait for it
    if state.state == FORGOTTEN:
        raise RunError(f"{batch.title} does not know job {job_id}, or does not show it")
    if state.over or state.ending:
        raise RunError(
            f"{printable(f'{title} {state.text}')}: what lay on the disks of its nodes is gone "
            "with it, or about to go"
        )
    require_own(title, batch.owner(job_id), "look enters jobs of your own only")
    if state.waiting:
        raise RunError(
            f"{printable(f'{title} {state.text}')}: it has not begun. Repeat the command when it "
            f"runs, or {IN_SCRIPT}"
        )
    return batch.inside(job_id)


def call_inside(inside: Inside, site: Site, program: Sequence[str], limit_s: float) -> str:
    """The output of a short program that runs as a step of the job; ``limit_s`` beyond its begin.

    Raises SchedulerError when the step does not begin, fails or does not end. Ctrl-C ends it.
    """
    batch = scheduler(site.scheduler)(site.batch)
    argv = [*batch.step_words(inside, inside.cpus, quiet=True), *program]
    try:
        # In a session of its own: on Ctrl-C launchers such as srun would ask for a second one.
        step = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, errors="replace", start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        raise SchedulerError(f"{argv[0]} cannot be started: {error.strerror}") from error
    try:
        said, trouble = step.communicate(timeout=BEGINS_S + limit_s)
    except subprocess.TimeoutExpired:
        raise SchedulerError(
            f"a step of job {inside.job_id} did not answer within {BEGINS_S + limit_s:.0f} s",
            passing=True,
        ) from None
    finally:
        _end(step)
    if step.returncode:
        lines = [line for line in trouble.splitlines() if line.strip()]
        why = printable("; ".join(lines[-2:])) or f"exit code {step.returncode}"
        raise SchedulerError(f"a step of job {inside.job_id} failed: {why}")
    return said


def _end(step: subprocess.Popen[str]) -> None:
    """End the launcher, which ends its step."""
    if step.poll() is None:
        step.send_signal(signal.SIGTERM)
        try:
            step.communicate(timeout=ENDS_S)
        except subprocess.TimeoutExpired:
            step.kill()
            step.communicate()
