"""The testbed itself: what the other tests on a real Slurm build on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cluster import processes
from testbed import Testbed, TestbedError

CREATE = (
    "#!/bin/sh\n#BB create_persistent name={name} capacity={size} access=striped type=scratch\n"
)
DESTROY = "#!/bin/sh\n#BB destroy_persistent name={name}\n"


def test_persistent_buffer_is_made_used_and_given_back_by_an_ordinary_user(slurm):
    job = slurm.submit(CREATE.format(name="storm", size="30GiB") + "id -un\n")
    assert slurm.wait(job)["JobState"] == "COMPLETED"
    assert (slurm.home / f"slurm-{job}.out").read_text() == f"{slurm.user.pw_name}\n"
    assert slurm.burst()["storm"]["Size"] == "40GB"  # two granules

    words = "#!/bin/sh\n#DW persistentdw name=storm\n"
    said = "echo frame > $DW_PERSISTENT_STRIPED_storm/wrfout; realpath $DW_PERSISTENT_STRIPED_storm"
    job = slurm.submit(f"{words}{said}\n")
    assert slurm.wait(job)["JobState"] == "COMPLETED"
    data = Path((slurm.home / f"slurm-{job}.out").read_text().strip())
    assert (data / "wrfout").read_text() == "frame\n"
    # Where an emulated libdatawarp keeps its state: beside the data, the owner's alone.
    for part in ("stages", "deferred"):
        found = (data.parent / part).stat()
        assert (found.st_uid, found.st_mode & 0o777) == (slurm.user.pw_uid, 0o700)

    assert (
        slurm.wait(slurm.submit(DESTROY.format(name="storm") + "true\n"))["JobState"] == "COMPLETED"
    )
    assert slurm.burst() == {}
    assert not data.exists()
    functions = [call.function for call in slurm.calls() if call.token in ("storm", job)]
    assert functions.index("create_persistent") < functions.index("setup")
    assert functions[-1] == "teardown"


def test_a_failed_stage_in_holds_the_job_with_the_reason(slurm):
    source = slurm.folder("staged") / "input.dat"
    source.write_bytes(b"x" * 100)
    os.chown(source, slurm.user.pw_uid, slurm.user.pw_gid)
    script = (
        "#!/bin/sh\n#DW jobdw type=scratch access_mode=striped capacity=1GiB\n"
        f"#DW stage_in type=file source={source} destination=$DW_JOB_STRIPED/input.dat\n"
        "cat $DW_JOB_STRIPED/input.dat\n"
    )
    with slurm.knobs(fail_stage="input"):
        job = slurm.submit(script)
        until = time.monotonic() + 120
        while "Input/output error" not in str(found := slurm.job(job)):
            assert time.monotonic() < until, found
            time.sleep(0.1)
    assert found["JobState"] == "PENDING"
    slurm.daemons.ask("scancel", job)
    slurm.wait(job)
    job = slurm.submit(script)
    slurm.wait(job)
    assert (slurm.home / f"slurm-{job}.out").read_bytes() == b"x" * 100


def test_stages_that_a_job_put_off_are_done_after_its_end(slurm):
    target = slurm.folder("deferred") / "product"
    request = f'{{"source": "made", "destination": "{target}"}}'
    job = slurm.submit(
        "#!/bin/sh\n#DW jobdw type=scratch access_mode=striped capacity=1GiB\n"
        "cd $DW_JOB_STRIPED && echo picture > made\n"
        f"echo '{request}' > $(realpath .)/../deferred/1.json\n"
        f"test ! -e {target} && echo not yet\n"
    )
    slurm.wait(job)
    assert (slurm.home / f"slurm-{job}.out").read_text() == "not yet\n"
    assert target.read_text() == "picture\n"
    assert target.stat().st_uid == slurm.user.pw_uid
    done = [call.argv for call in slurm.calls("deferred") if call.token == job]
    assert done == [(f"made -> {target}",)]


@pytest.mark.slow
def test_a_pool_can_be_made_small_for_a_while(slurm):
    with slurm.knobs(pool_bytes=40 * 10**9):
        assert "TotalSpace=40GB" in slurm.daemons.ask("scontrol", "show", "burst")
    assert "TotalSpace=10TB" in slurm.daemons.ask("scontrol", "show", "burst")


@pytest.mark.slow
def test_a_node_and_the_controller_can_go_and_come_back_while_a_job_runs(slurm):
    job = slurm.submit("#!/bin/sh\nwhile ! test -e go; do sleep 0.1; done\necho done\n")
    node = slurm.wait(job, "RUNNING")["NodeList"]
    slurm.daemons.stop(node)
    slurm.restart_controller()
    assert slurm.daemons.pid(node) is None
    slurm.daemons.start(node)
    (slurm.home / "go").touch()
    assert slurm.wait(job)["JobState"] == "COMPLETED"
    assert (slurm.home / f"slurm-{job}.out").read_text() == "done\n"


@pytest.mark.slow
def test_slurm_can_be_made_to_forget_ended_jobs_soon(slurm):
    with slurm.configured(MinJobAge=2):
        job = slurm.submit("#!/bin/sh\ntrue\n")
        slurm.wait(job)
        until = time.monotonic() + 120
        while slurm.job(job):
            assert time.monotonic() < until
            time.sleep(0.5)


def test_its_interpreter_and_programs_run_as_the_user(slurm):
    done = slurm.run([slurm.python, "-c", "import os, burstlens, parsl, numpy; print(os.getuid())"])
    assert (done.stdout.strip(), done.stderr) == (str(slurm.user.pw_uid), "")
    assert slurm.run(["burstlens", "--version"]).stdout.startswith("burstlens ")
    # Parsl starts it by name.
    assert slurm.run(["sh", "-c", "command -v interchange.py"]).returncode == 0


def test_anyone_may_look_at_the_service(slurm):
    assert slurm.run(["dwstat", "pools"]).stdout.split()[:5] == [
        *("pool", "units", "quantity", "free", "gran")
    ]


@pytest.mark.slow
def test_two_at_once_do_not_meet_and_a_killed_owner_leaves_nothing(slurm, tmp_path):
    slurm.clear()  # a test that failed before may have left a job
    program = tmp_path / "owner.py"
    program.write_text(
        "import subprocess, sys, tempfile, time\nfrom pathlib import Path\n"
        f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from testbed import Testbed\n"
        "root = Path(tempfile.mkdtemp(prefix='burstlens-slurm-', dir='/tmp'))\nroot.chmod(0o755)\n"
        "guard = subprocess.Popen([sys.executable, sys.path[0] + '/testbed.py', 'guard', root],\n"
        "                         stdin=subprocess.PIPE, start_new_session=True)\n"
        "testbed = Testbed(root)\ntestbed.start()\n"
        "testbed.submit('#!/bin/sh\\nsetsid sleep 600 &\\ntouch running\\nsleep 600\\n')\n"
        "while not (testbed.home / 'running').exists(): time.sleep(0.1)\n"
        "print(root, flush=True)\ntime.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, program], stdout=subprocess.PIPE, text=True) as owner:
        try:
            root = Path(owner.stdout.readline().strip())
            assert _sleeping(root) >= 1
            other = Testbed(root).daemons.ask("squeue", "-h", "-o", "%t").split()
            assert other == ["R"]
            assert [job for job in slurm.jobs() if job["JobState"] == "RUNNING"] == []
        finally:
            os.kill(owner.pid, signal.SIGKILL)
    until = time.monotonic() + 120
    while root.exists() or processes.marked(root):
        assert time.monotonic() < until, processes.marked(root)
        time.sleep(0.1)


def _sleeping(root):
    commands = [Path(f"/proc/{pid}/cmdline") for pid in processes.marked(root)]
    return sum(b"sleep" in path.read_bytes() for path in commands)


@pytest.mark.slow
def test_clear_ends_what_a_test_has_left(slurm):
    made = slurm.submit(CREATE.format(name="left", size="1GiB") + "true\n")
    slurm.wait(made)
    running = slurm.submit("#!/bin/sh\n#DW persistentdw name=left\nsleep 600\n")
    slurm.wait(running, "RUNNING")
    slurm.clear()
    assert slurm.burst() == {}
    assert slurm.job(running)["JobState"] == "CANCELLED"


def test_sbatch_refused_says_why(slurm):
    with pytest.raises(TestbedError, match="Invalid --time"):
        slurm.submit("#!/bin/sh\n#SBATCH --time=soon\ntrue\n")
