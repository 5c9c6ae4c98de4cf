"""Parsl still has what Burstlens uses of it beyond its public API.

What a failure means and what to do: CONTRIBUTING.md, "Raising the bound on Parsl". Two more uses
are tested elsewhere: the import without SQLAlchemy in ``test_worker_pool.py``, the end of a pool
whose queues are gone in ``tests/fault/test_environment.py``.
"""

from __future__ import annotations

import inspect
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from multiprocessing.managers import SyncManager
from pathlib import Path

import pytest
import zmq

from burstlens.cluster_configs.parsl_config import config, viewing_block
from burstlens.cluster_configs.parsl_internals import (
    IDLE_WORKER_ENDED,
    INTERCHANGE,
    LOG_FOLDER,
    QUEUE_HOLDER,
    SUBMIT_SCRIPTS,
    WORKER_POOL,
    KeepsScript,
    ProviderInternals,
    ScriptKeptError,
    add_executor,
    pool_command,
    with_priority,
    write_scripts_in,
)
from burstlens.cluster_configs.site import SITES, read
from burstlens.workflows.making import tasks

# isort: split
import parsl
from parsl.dataflow.dflow import DataFlowKernel
from parsl.executors import HighThroughputExecutor
from parsl.jobs.states import JobState, JobStatus
from parsl.providers import LSFProvider, PBSProProvider, SlurmProvider

pytestmark = pytest.mark.integration

LOCAL = read(SITES / "local.toml")
SITE = replace(LOCAL, viewing=replace(LOCAL.viewing, workers=1))


MEMBERS = {
    (DataFlowKernel, "add_executors"): "to replace an executor whose interchange has died",
    (HighThroughputExecutor, "_start_local_interchange_process"): "to notice that one dies early",
    (HighThroughputExecutor, "bad_state_is_set"): "to notice that an executor fails all tasks",
    (HighThroughputExecutor, "scale_out_facade"): "to launch a block when the driver wants one",
    (HighThroughputExecutor, "set_bad_state_and_fail_all"): "to fail tasks that nobody will run",
    (HighThroughputExecutor, "status_polling_interval"): "to keep Parsl's poller away",
    (SlurmProvider, "_status"): "to take the states of jobs from Burstlens's own scheduler",
    (SlurmProvider, "_write_submit_script"): "to print a batch script without submitting it",
    (SlurmProvider, "execute_wait"): "to print a batch script without asking Slurm",
}
"""What for Burstlens calls or overrides a method or property."""


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    """A loaded Parsl, as a run loads it."""
    with parsl.load(config(SITE, tmp_path_factory.mktemp("parsl"), 1)) as kernel:
        yield kernel


@pytest.fixture(scope="module")
def make(loaded):
    """Makes an executor and starts its interchange."""
    blocks = []

    def make(start=True):
        block = viewing_block(SITE, f"viewing-{len(blocks)}", Path(loaded.run_dir))
        blocks.append(block)
        if start:
            add_executor(loaded, block)
        return block

    yield make
    for block in blocks:
        if block.jobs():
            block.cancel_jobs()


@pytest.fixture
def idle(make):
    """An executor with an interchange of its own and without workers."""
    block = make()
    yield block
    block.interchange_proc.kill()


@pytest.fixture(scope="module")
def running(loaded, make):
    """An executor with a block, which has run tasks: two of priority 2, then two of priority 0."""
    block = make()
    block.app = parsl.python_app(tasks.node, data_flow_kernel=loaded, executors=[block.label])
    queued = [block.app(time.monotonic, **with_priority(number)) for number in (2, 2, 0, 0)]
    block.launch_block()
    block.begun = [future.result(60) for future in queued]
    return block


def await_that(holds, why):
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end, why
        time.sleep(0.1)


def test_the_worker_pool_imports_the_module_without_parsl():
    program = (
        "import sys, burstlens.cluster_configs.worker_pool;"
        "print({'parsl', 'zmq', 'pydantic'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("set()\n", ""), "it would import before it forks"


@pytest.mark.parametrize(
    ("kind", "name"), MEMBERS, ids=lambda value: getattr(value, "__name__", value)
)
def test_parsl_still_has(kind, name):
    assert hasattr(kind, name), f"Burstlens needs it {MEMBERS[kind, name]}"


def test_parsl_still_has_the_programs_that_ours_run():
    for module in (INTERCHANGE, WORKER_POOL):
        source = Path(find_spec(module).origin).read_text()
        why = f"{module} is run by cluster_configs/interchange.py or worker_pool.py"
        assert "__main__" in source, why


def test_parsl_still_has_a_command_of_the_worker_pool_that_begins_with_its_script():
    command = pool_command("python -m ours")
    why = "viewing blocks start cluster_configs/worker_pool.py with the options of Parsl's script"
    assert command.startswith("python -m ours "), why
    assert "process_worker_pool.py" not in command, why
    assert "--block_id={{block_id}}" in command, why
    why = "the pool's logs follow a run directory that is moved, by this option"
    assert f"{LOG_FOLDER}={{logdir}} " in command, why


def test_the_pool_still_holds_its_queues_in_a_process_of_this_name():
    source = inspect.getsource(import_module(WORKER_POOL))
    why = "worker_pool.py ends a pool whose queues are gone, and finds their process by its name"
    assert "SpawnContext.Manager()" in source, why
    assert SyncManager.__name__ == QUEUE_HOLDER, why
    why = "worker_pool.py ends a pool of which an idle worker has ended, and hears of it so"
    assert IDLE_WORKER_ENDED in source, why
    assert f'getLogger("{WORKER_POOL}")' in source, why


def test_parsl_still_has_a_folder_for_batch_scripts(loaded, idle):
    folder = idle.provider.script_dir
    assert folder == str(Path(loaded.run_dir) / SUBMIT_SCRIPTS), "dry runs name it"


def test_parsl_still_leaves_an_executor_without_a_polling_interval_alone(loaded, idle):
    why = "the poller would hang with an interchange that has died"
    assert loaded.executors[idle.label] is idle
    assert idle not in loaded.job_status_poller._executors, why


def test_parsl_still_starts_its_interchange_by_the_replaced_method(loaded, make):
    block = make(start=False)
    block.interchange_launch_cmd = ["sh", "-c", "cat > /dev/null; exit 1"]
    begin = time.monotonic()
    with pytest.raises(ChildProcessError, match="it ended with 1 before it answered"):
        add_executor(loaded, block)
    assert time.monotonic() - begin < 60, "Parsl itself waits two minutes"


def test_parsl_still_has_the_process_of_its_interchange(idle):
    assert not idle.is_broken()
    idle.interchange_proc.kill()
    idle.interchange_proc.wait()
    assert idle.is_broken(), "the driver replaces an executor whose interchange has died"


def test_parsl_still_has_a_socket_for_tasks_whose_sends_can_be_limited(idle):
    idle.limit_sends(50)
    idle.drop_unsent()
    idle.interchange_proc.kill()
    idle.interchange_proc.wait()
    why = "without a limit one dead interchange stops the tasks of all executors"
    await_that(lambda: not sent(idle), why)


def sent(block):
    try:
        block.outgoing_q.put({"task_id": 0, "context": {}, "buffer": b""})
    except zmq.Again:
        return False
    return True


def test_parsl_still_fails_all_tasks_of_an_executor_in_a_bad_state(idle):
    future = idle.submit(tasks.node, {}, len, "")
    assert not future.done()
    idle.fail_tasks(RuntimeError("its interchange has died"))
    assert "its interchange has died" in str(future.exception(10)), "they would stay for ever"
    assert idle.is_broken()


def test_parsl_still_has_a_time_limit_for_commands(idle):
    assert idle.managers(()) == []
    os.kill(idle.interchange_proc.pid, signal.SIGSTOP)
    idle.silent_s = 0.2
    why = "the driver's loop would wait for ever for an interchange that does not answer"
    assert idle.managers(()) is None, why
    assert idle.managers(()) is None, "a command client is of no use after its first time-out"


@pytest.mark.slow
def test_parsl_still_sends_tasks_in_the_order_of_their_priority(running):
    *last, one, other = running.begun
    assert min(one, other) < min(last), "the watcher's task would wait behind products"


def test_parsl_still_makes_workers_by_the_replaced_context(running):
    loaded = running.app(eval, "'burstlens.viz.kinds.map.draw' in __import__('sys').modules")
    assert loaded.result(60), "each worker would import 1,100 modules by itself"


@pytest.mark.slow
def test_parsl_still_numbers_blocks_lists_worker_pools_and_has_a_command_that_holds_one(running):
    running.launch_block()
    first, second = running.jobs().values()
    assert (first, second) == ("0", "1"), "the driver finds a block's job by its number"
    await_that(lambda: len(running.managers({first, second})) == 2, "the second pool connects")
    assert running.live_blocks() == {first, second}
    why = "workers on a node that Slurm has given up would get tasks, without the buffer"
    found = running.managers({first})  # holds the other
    assert found is not None, why
    assert [(one.block, one.workers, one.draining) for one in found] == [(first, 2, False)]
    active = {one.block: one.active for one in running.managers({first, second})}
    assert active == {first: True, second: False}, why


class Provider(ProviderInternals, SlurmProvider):
    """Jobs run when they are asked for the first time, then they are over."""

    asked = 0
    answer = (0, "Submitted batch job 0", "")

    def execute_wait(self, cmd, timeout=None):
        return self.answer

    def job_status(self, job_id):
        self.asked += 1
        return JobStatus(JobState.RUNNING if self.asked == 1 else JobState.COMPLETED)


def test_the_slurm_provider_still_hands_in_a_script_in_a_folder_of_ours(tmp_path):
    provider = Provider(scheduler_options="#SBATCH --comment=a")
    write_scripts_in(provider, str(tmp_path))
    why = "dry runs print the script of a viewing block, runs add the job that it waits for"
    assert provider.submit_with("#SBATCH --dependency=after:6\n", "pool", 1, "name") == "0", why
    (first,) = tmp_path.iterdir()
    text = first.read_text()
    assert text.index("--comment=a") < text.index("--dependency=after:6"), why
    provider.submit_with("", "pool", 1, "other")
    (second,) = set(tmp_path.iterdir()) - {first}
    assert "--dependency" not in second.read_text(), why


@pytest.mark.parametrize("provider", [SlurmProvider, PBSProProvider, LSFProvider])
def test_providers_still_write_their_script_before_they_call_a_command(
    provider, tmp_path, monkeypatch
):
    called = tmp_path / "called"
    for name in ("sacct", "squeue", "sbatch", "qsub", "bsub"):
        command = tmp_path / "bin" / name
        command.parent.mkdir(exist_ok=True)
        command.write_text(f"#!/bin/sh\necho $0 >> {called}\n")
        command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    kept = type("Kept", (KeepsScript, ProviderInternals, provider), {})()
    (tmp_path / "scripts").mkdir()
    write_scripts_in(kept, str(tmp_path / "scripts"))
    with pytest.raises(ScriptKeptError):
        kept.submit_with("#a line of ours\n", "pool", 1, "name")
    (script,) = (tmp_path / "scripts").iterdir()
    assert "#a line of ours\n" in script.read_text()
    assert not called.exists(), "a dry run would ask the scheduler, or submit a job"


def test_a_script_that_was_not_accepted_is_an_error_also_where_the_provider_raises_none(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    (tmp_path / "bsub").write_text("#!/bin/sh\necho 'No such queue' >&2; exit 255\n")
    (tmp_path / "bsub").chmod(0o755)
    refused = type("Refused", (ProviderInternals, LSFProvider), {})()
    write_scripts_in(refused, str(tmp_path))
    with pytest.raises(RuntimeError, match="its script was not accepted"):
        refused.submit_with("", "pool", 1, "name")


def test_the_slurm_provider_still_asks_for_states_by_one_method_and_keeps_them(tmp_path):
    provider = Provider()
    write_scripts_in(provider, str(tmp_path))
    job = provider.submit_with("", "pool", 1, "name")
    states = [provider.status([job])[0].state for _ in range(3)]
    why = "Parsl would ask Slurm each time, and lacks some of its states"
    assert states == [JobState.RUNNING, JobState.COMPLETED, JobState.COMPLETED], why
    assert provider.asked == 2, why
