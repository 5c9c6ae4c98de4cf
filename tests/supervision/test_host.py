"""The host of a job that has a buffer of its own, as a process of its own."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from burstlens.core.durable import read_json
from burstlens.workflows.placement import host as hosts

pytestmark = pytest.mark.integration

FOLDER = "storm-1-0a1b"


@pytest.fixture
def host(tmp_path, run_dir):
    """The host's folder of a run directory; which leaves as soon as nothing runs."""
    folder = run_dir.path / "steps" / "host-1"
    (folder / "queue").mkdir(parents=True)
    (folder / "leave").touch()
    return folder


@pytest.fixture
def serve(host):
    """Runs the host to its end with these candidates for the buffer's root."""

    def run(*candidates, room=1, **environment):
        words = [str(host), "BURSTLENS_JOB_BUFFER", FOLDER]
        words += [str(room), *map(str, candidates)] if candidates else []
        return subprocess.run(
            [sys.executable, "-P", hosts.__file__, *words],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=60,
        )

    return run


@pytest.fixture
def program(host, run_dir):
    """A job in the host's queue; returns what its program says of the buffer."""
    folder = run_dir.job("attempt-1")
    folder.mkdir(parents=True)
    job = {
        "run_dir": str(run_dir.path), "name": "attempt-1", "root": "$BURSTLENS_JOB_BUFFER",
        "folder": f"{FOLDER}/1", "log": "model.log", "keep_logs": ["model.log"],
        "argv": ["sh", "-c", "pwd; ls -d $BURSTLENS_JOB_BUFFER/*"],
    }  # fmt: skip
    (folder / "job.json").write_text(json.dumps(job))
    (host / "queue" / "attempt-1").write_text(str(folder))
    return lambda: (run_dir.logs / "attempt-1" / "model.log").read_text().splitlines()


def test_the_root_is_expanded_on_the_node_and_the_model_runs_there(host, serve, program, tmp_path):
    (tmp_path / "bb" / "ada").mkdir(parents=True)
    done = serve(tmp_path / "bb" / "$WHO", WHO="ada")
    assert done.returncode == 0, done.stderr
    root = tmp_path / "bb" / "ada"
    assert read_json(host / "host.json")["root"] == str(root)
    assert program() == [f"{root}/{FOLDER}/1", f"{root}/{FOLDER}"]
    assert not list(root.iterdir()), "the run's folder is left on the disk"


def test_its_job_is_known_by_what_the_scheduler_says_of_its_jobs(host, serve, tmp_path):
    says = {"job_id_variable": "LSB_JOBID", "node_variable": "NODE", "cpus": "$(echo 5)"}
    (host / "job.json").write_text(json.dumps(says))
    assert serve(tmp_path, LSB_JOBID="7", NODE="n7").returncode == 0
    facts = read_json(host / "host.json")
    assert (facts["job_id"], facts["node"], facts["cpus"]) == ("7", "n7", 5)


@pytest.mark.parametrize(
    ("says", "node"),
    [
        ({"node_variable": ""}, socket.gethostname()),
        ({"node_variable": "NODE"}, None),
        (None, None),
    ],
    ids=["the host's name", "not set", "a driver of 0.2"],
)
def test_a_node_without_a_name_of_the_schedulers_has_the_hosts(host, serve, tmp_path, says, node):
    if says is not None:
        (host / "job.json").write_text(json.dumps(says))
    assert serve(tmp_path).returncode == 0
    facts = read_json(host / "host.json")
    assert (facts["job_id"], facts["node"]) == (None, node)
    assert facts["cpus"] >= 1


def test_candidates_without_their_variable_are_passed_over(host, serve, tmp_path):
    assert serve("/mnt/$NOT_SET_HERE", tmp_path).returncode == 0
    assert read_json(host / "host.json")["root"] == str(tmp_path)


def test_a_node_without_a_fit_folder_is_named_with_each_reason(host, serve, tmp_path):
    (tmp_path / "file").write_text("")
    small = tmp_path / "small"
    small.mkdir()
    done = serve("/mnt/$NOT_SET_HERE", tmp_path / "file", small, room=1 << 60)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "has no folder for the buffer: /mnt/$NOT_SET_HERE has a variable" in line
    assert f"cannot make {tmp_path}/file/{FOLDER} on the buffer (Not a directory)" in line
    assert f"{small} has " in line
    assert "of 1,152,921,504,606,846,976 bytes free" in line
    assert not (host / "host.json").exists()
    assert not list(small.iterdir())


@pytest.mark.parametrize("variables", [{}, {"BURSTLENS_JOB_BUFFER": ""}])
def test_a_job_without_its_buffer_says_which_variable_is_missing(host, serve, variables):
    done = serve(**variables)
    assert done.returncode == 1
    assert done.stderr == "BURSTLENS_JOB_BUFFER is not set: the job does not have its buffer\n"
    assert not (host / "host.json").exists()


@pytest.fixture
def waiting(host, run_dir, tmp_path):
    """Starts a host that waits for a driver, with a clock that can be set; ends it."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    (host / "leave").unlink()
    source = Path(__file__).parents[1] / "fault" / "clock.c"
    library, offset = tmp_path / "clock.so", tmp_path / "offset"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source], check=True)
    offset.write_text("+0\n")
    run_dir.status.write_text("{}")
    clock = {"LD_PRELOAD": str(library), "CLOCK_OFFSET": str(offset)}
    (tmp_path / "buffer").mkdir()
    child = subprocess.Popen(
        [sys.executable, "-P", hosts.__file__, str(host), "BURSTLENS_JOB_BUFFER", FOLDER],
        env={**os.environ, **clock, "BURSTLENS_JOB_BUFFER": str(tmp_path / "buffer")},
    )
    end = time.monotonic() + 120
    while not (host / "host.json").exists():
        assert time.monotonic() < end
        time.sleep(0.02)
    yield child, offset
    child.kill()
    child.wait()


@pytest.mark.parametrize("seconds", [7200, -7200])
def test_a_clock_that_is_set_costs_no_living_driver_its_buffer(waiting, host, tmp_path, seconds):
    child, offset = waiting
    offset.write_text(f"{seconds:+d}\n")
    with pytest.raises(subprocess.TimeoutExpired):
        child.wait(3 * hosts.PERIOD_S + 1.0)
    assert (tmp_path / "buffer" / FOLDER).is_dir()
    (host / "leave").touch()
    assert child.wait(120) == 0


class TestSilence:
    """How long no driver has written, by the host's own clock."""

    @pytest.fixture
    def silent(self, host, run_dir, monkeypatch):
        monkeypatch.setattr(hosts, "DRIVERLESS_S", 0.2)
        run_dir.status.write_text("{}")
        return hosts.Host(host)

    def test_a_driver_that_writes_is_heard_whatever_the_server_calls_now(self, silent, run_dir):
        for number in range(4):
            os.utime(run_dir.status, (number, number))  # a server whose clock is decades behind
            assert not silent._forsaken()
            time.sleep(0.1)

    def test_silence_counts_only_while_somebody_could_write(self, silent, host):
        assert not silent._forsaken()
        time.sleep(0.3)
        (host / ".asked.part").mkdir()  # nothing can be written there
        assert not silent._forsaken()
        (host / ".asked.part").rmdir()
        time.sleep(0.3)
        assert silent._forsaken()


def test_a_signal_goes_to_the_supervisors_from_the_loop(waiting, program, host, run_dir):
    child, _ = waiting
    ended = run_dir.job("attempt-1") / "ended.json"
    end = time.monotonic() + 120
    while not ended.exists():
        assert time.monotonic() < end
        time.sleep(0.02)
    child.send_signal(signal.SIGTERM)
    assert child.wait(120) == 0


@pytest.mark.parametrize("name", ["leave", "attempt-1.over", "ended.json"])
def test_what_cannot_be_seen_for_a_while_does_not_end_the_host(
    name, host, serve, program, tmp_path, injector
):
    done = serve(
        tmp_path / "bb",
        LD_PRELOAD=str(injector),
        INJECT_COMMAND="*host.py*",
        INJECT_CALL="stat",
        INJECT_PATH=f"*/{name}",
        INJECT_TIMES="3",
        INJECT_ERRNO=str(errno.ESTALE),
        INJECT_LOG=str(tmp_path / "injected"),
    )
    assert (tmp_path / "injected").exists(), "no such call was made"
    assert done.returncode == 0, done.stderr
    assert program() == [f"{tmp_path}/bb/{FOLDER}/1", f"{tmp_path}/bb/{FOLDER}"]
    assert (host / "queue" / "attempt-1.over").exists()


def test_one_that_no_driver_has_used_says_how_long_it_was_idle(host, tmp_path):
    (host / "leave").unlink()
    words = [str(host), "BURSTLENS_JOB_BUFFER", FOLDER]
    process = subprocess.Popen(
        [sys.executable, "-P", hosts.__file__, *words],
        env={**os.environ, "BURSTLENS_JOB_BUFFER": str(tmp_path)},
    )
    end = time.monotonic() + 60
    while read_json(host / "host.json") is None and time.monotonic() < end:
        time.sleep(0.02)
    started = read_json(host / "host.json")["started"]
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0
    idle_s = read_json(host / "ended.json")["idle_s"]
    assert 0.5 <= idle_s <= time.time() - started + 0.1
    assert (host / "leave").exists(), "no driver may use it any more"
    assert not (host / hosts.HOME).exists()
