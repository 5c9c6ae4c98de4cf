from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from burstlens.core.durable import read_json, write_json
from burstlens.workflows.placement.launch import LocalLauncher
from burstlens.workflows.placement.supervised import MOST_SHOWN, Ended, JobFailedError, run_job

pytestmark = pytest.mark.integration


@pytest.fixture
def launcher():
    return LocalLauncher()


@pytest.fixture
def submit(launcher, job, wait_for):
    """Submits a job; its folder, id and what ``started.json`` says."""
    begun = []

    def call(program, **fields):
        folder = job(program, **fields)
        job_id = launcher.submit(folder)
        started = wait_for(lambda: read_json(folder / "started.json"))
        begun.append(started["group"])
        return folder, job_id, started

    yield call
    for group in begun:
        try:
            os.killpg(group, signal.SIGKILL)
        except ProcessLookupError:
            continue


def test_a_job_is_found_again_by_another_process_without_its_id(submit):
    folder, job_id, started = submit("sleep 300")
    other = LocalLauncher()
    assert (
        other.find(folder)
        == job_id
        == f"local:{started['supervisor']}:{started['supervisor_ticks']}"
    )
    assert other.alive(job_id)
    assert other.find(folder.parent) is None


def test_a_number_that_was_given_to_another_process_is_not_the_job(launcher):
    assert not launcher.alive(f"local:{os.getpid()}:1")
    assert not launcher.alive("local:999999999:1")


def test_what_a_killed_supervisor_left_is_ended_with_its_children(
    submit, launcher, wait_for, alive, tmp_path
):
    program = "trap '' TERM; sh -c 'trap \"\" TERM; echo $$ > child; sleep 300' & wait; sleep 300"
    folder, job_id, started = submit(program)
    place = tmp_path / "buffer" / "storm-1" / "1" / "child"
    child = int(wait_for(lambda: place.exists() and place.read_text()))
    os.kill(started["supervisor"], signal.SIGKILL)
    wait_for(lambda: not launcher.alive(job_id))
    assert alive(started["group"])
    assert launcher.clear(folder)
    wait_for(lambda: not alive(started["group"]) and not alive(child))
    assert not launcher.clear(folder)


def test_children_are_ended_when_their_leader_has_died_with_the_supervisor(
    submit, launcher, wait_for, alive, tmp_path
):
    program = "sh -c 'trap \"\" TERM; echo $$ > child; sleep 300' & wait"
    folder, _, started = submit(program)
    place = tmp_path / "buffer" / "storm-1" / "1" / "child"
    child = int(wait_for(lambda: place.exists() and place.read_text()))
    os.kill(started["supervisor"], signal.SIGKILL)
    wait_for(lambda: not alive(started["group"]))
    assert alive(child)
    assert launcher.clear(folder)
    wait_for(lambda: not alive(child))


def test_another_process_of_the_same_number_is_left_alone(launcher, job, alive):
    folder = job("true")
    own = os.getpgid(0)
    write_json(folder / "started.json", {"group": own, "group_ticks": 1, "host": "x"})
    assert not launcher.clear(folder)
    assert alive(os.getpid())


def test_a_job_is_awaited_and_its_end_handed_on(launcher, job, wait_for):
    ids = []
    end = run_job(launcher, job("true"), ids.append, [])
    assert end == Ended(0, None, "exited")
    assert end.well
    [job_id] = ids
    wait_for(lambda: not launcher.alive(job_id))


def test_a_job_that_fails_raises_with_its_end(launcher, job):
    with pytest.raises(JobFailedError, match="attempts/1 ended with exit code 3") as raised:
        run_job(launcher, job("exit 3"), lambda _: None, [])
    assert raised.value.ended.exit_code == 3


def test_the_last_line_of_its_log_is_short_and_printable(launcher, job):
    program = f"printf 'first\\nwhy \\033[31m\\377{'y' * 2 * MOST_SHOWN}\\n'; exit 3"
    with pytest.raises(JobFailedError) as raised:
        run_job(launcher, job(program), lambda _: None, [])
    said = raised.value.ended.last_line
    assert said.startswith("why ")
    assert len(said) <= MOST_SHOWN
    assert said.isprintable()


def test_a_job_that_has_ended_is_not_started_again(launcher, job, wait_for, tmp_path):
    folder, ids = job("echo again >> count"), []
    run_job(launcher, folder, ids.append, [])
    wait_for(lambda: not launcher.alive(ids[0]))  # its process ends after its report
    assert run_job(LocalLauncher(), folder, pytest.fail, []).well
    assert (tmp_path / "buffer" / "storm-1" / "1" / "count").read_text() == "again\n"


def test_a_job_that_runs_is_adopted(submit):
    folder, job_id, _ = submit("sleep 1; exit 0")
    ids = []
    assert run_job(LocalLauncher(), folder, ids.append, []).well
    assert ids == [job_id]


def test_a_job_whose_supervisor_was_killed_is_lost_and_says_so(submit, alive):
    folder, _, started = submit("exec sleep 300")
    os.kill(started["supervisor"], signal.SIGKILL)
    with pytest.raises(JobFailedError, match="was lost: its supervisor was killed"):
        run_job(LocalLauncher(), folder, lambda _: None, [])
    assert read_json(folder / "ended.json")["reason"] == "lost"
    assert not alive(started["group"])


def test_a_job_that_was_lost_on_a_full_disk_is_known_until_the_disk_takes_its_end(
    submit, launcher, wait_for
):
    folder, _, started = submit("sleep 300")
    part = folder / f".ended.json.{os.getpid()}.part"
    part.mkdir()  # what is written first cannot be
    leaving, ends = threading.Event(), []

    def wait():
        try:
            run_job(launcher, folder, lambda _: None, [], leaving)
        except JobFailedError as error:
            ends.append(error.ended)

    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    os.kill(started["supervisor"], signal.SIGKILL)
    wait_for(lambda: launcher.unreported == {folder})
    part.rmdir()
    waiting.join(120)
    assert [end.reason for end in ends] == ["lost"]
    assert launcher.unreported == set()


@pytest.mark.parametrize(
    ("end", "text"),
    [
        (Ended(1, None, "exited"), "ended with exit code 1"),
        (Ended(None, "SIGKILL", "exited"), "was ended by SIGKILL"),
        (Ended(None, "SIGTERM", "walltime"), "was ended by SIGTERM (walltime)"),
        (Ended(0, None, "stop"), "ended with exit code 0 (stop)"),
        (Ended(None, None, "preempted", "job 7"), "ended (preempted); job 7"),
        (Ended(0, None, "stop_by"), "stopped ahead of the end of its job, as it was asked to"),
        (Ended(None, None, "not started", "no wrf.exe"), "could not be started: no wrf.exe"),
    ],
)
def test_ends_are_described_in_words(end, text):
    assert end.text() == text
    assert not end.well
    assert end.stopped == (end.reason == "stop")


def test_an_end_that_cannot_be_read_for_a_moment_is_not_lost(job, tmp_path):
    # A directory in the place of the file would be an error that lasts; EIO comes from a file
    # server, here from a library that is loaded before the C library.
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    source = Path(__file__).parents[1] / "fault" / "injector.c"
    library = tmp_path / "injector.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
    folder = job("exit 0")
    program = (
        "import sys; from pathlib import Path\n"
        "from burstlens.workflows.placement.launch import LocalLauncher\n"
        "from burstlens.workflows.placement.supervised import run_job\n"
        "print(run_job(LocalLauncher(), Path(sys.argv[1]), lambda _: None, []).text())\n"
    )
    faults = {"COMMAND": "*run_job*", "CALL": "open", "PATH": "*/ended.json"}
    faults |= {"FIRST": "1", "TIMES": "12", "ERRNO": str(errno.EIO), "LOG": str(tmp_path / "log")}
    environment = {f"INJECT_{name}": value for name, value in faults.items()}
    done = subprocess.run(
        [sys.executable, "-c", program, folder],
        env=os.environ | environment | {"LD_PRELOAD": str(library)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (tmp_path / "log").exists()
    assert (done.returncode, done.stdout) == (0, "ended with exit code 0\n"), done.stderr
