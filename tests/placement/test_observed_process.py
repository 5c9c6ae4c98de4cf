"""A process that somebody else started: real ones, that run, end, ignore signals, are replaced."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from observer_case import SUCCESS, activity, python, wait_for

from burstlens.core.errors import RunError
from burstlens.workflows.look.observer.observer import Observer

pytestmark = pytest.mark.integration
DEAF = "import signal, time; signal.signal(15, signal.SIG_IGN); print(flush=True); time.sleep(60)"
REUSE = Path(__file__).with_name("reuse.py")


def test_a_process_that_runs_is_a_model_that_runs(start):
    process = start(["sleep", "60"])
    observer = Observer(pid=process.pid)
    seen = observer.look(0.0, activity())
    assert (seen.state, seen.evidence) == ("running", f"process {process.pid} (sleep) runs")
    assert not observer.over()


def test_a_process_that_runs_and_writes_nothing_is_quiet_and_has_not_ended(start):
    observer = Observer(pid=start(["sleep", "60"]).pid)
    seen = observer.look(0.0, activity(900.0, reason="Program received signal SIGSEGV"))
    assert seen.state == "quiet"
    assert "(sleep) runs; nothing was written for 15 min" in seen.evidence
    assert "its log says: Program received signal SIGSEGV" in seen.evidence
    assert not observer.over()
    assert not observer.quiet_end(1e6)


def test_a_process_whose_log_says_the_end_is_over_when_it_is_gone(start):
    process = start(["sleep", "60"])
    observer = Observer(pid=process.pid)
    done = {"ended_well": True, "last_line": SUCCESS}
    seen = observer.look(0.0, activity(5.0, **done))
    assert seen.state == "ended"
    assert seen.evidence.startswith(f"the log's last line: {SUCCESS}; process {process.pid}")
    assert not observer.over()
    process.kill()
    process.wait()
    assert observer.look(1.0, None).state == "ended"
    assert observer.over()


def test_one_that_hangs_after_its_end_is_over_in_the_end(start):
    observer = Observer(pid=start(["sleep", "60"]).pid)
    observer.look(0.0, activity(700.0, ended_well=True, last_line=SUCCESS))
    assert observer.over()


@pytest.mark.parametrize(
    ("tells_end", "fields", "state", "says"),
    [
        (True, {}, "failed", "its log does not say that it ended well; its last line: Timing"),
        (True, {"reason": "Disk quota exceeded"}, "failed", "its log says: Disk quota exceeded"),
        (True, {"last_line": ""}, "ended", "no log says how"),
        (False, {}, "ended", "no log says how"),
        (False, {"reason": "Disk quota exceeded"}, "failed", "its log says: Disk quota exceeded"),
        (True, {"ended_well": True, "last_line": SUCCESS}, "ended", f"its log says: {SUCCESS}"),
    ],
)
def test_how_a_process_ended_is_what_its_log_says(start, tells_end, fields, state, says):
    process = start(["sleep", "60"])
    observer = Observer(pid=process.pid, tells_end=tells_end)
    process.kill()
    process.wait()
    observer.look(0.0, activity(5.0, **fields))
    seen = observer.look(11.0, activity(16.0, **fields))
    assert seen.state == state
    assert seen.evidence.startswith(f"process {process.pid} (sleep) has ended; {says}")
    assert observer.over()
    assert observer.outcome().state == {"ended": "done"}.get(state, state)


def test_the_last_writes_of_a_process_that_has_ended_are_waited_for(start):
    process = start(["sleep", "60"])
    observer = Observer(pid=process.pid)
    process.kill()
    process.wait()
    assert observer.look(0.0, activity(1.0)).state == "ending"
    assert observer.look(11.0, activity(2.0)).state == "ending"  # something writes on
    assert not observer.over()
    assert observer.look(20.0, activity(11.0)).state == "failed"
    assert observer.over()


def test_they_are_not_waited_for_without_a_watcher(start):
    process = start(["sleep", "60"])
    observer = Observer(pid=process.pid)
    observer.look(0.0, activity(1.0))
    process.kill()
    process.wait()
    observer.look(50.0, None)
    assert not observer.over()
    observer.look(61.0, None)
    assert observer.over()


def test_a_zombie_has_ended(start):
    process = start(["sleep", "60"])
    observer = Observer(pid=process.pid)
    process.kill()  # and nobody waits for it
    wait_for(lambda: f"{process.pid} (sleep) has ended" in observer.look(0.0, None).evidence)
    with pytest.raises(RunError, match=rf"process {process.pid} \(sleep\) has ended already"):
        Observer(pid=process.pid)


def test_a_stopped_process_is_said_to_be_stopped(start):
    process = start(["sleep", "60"])
    observer = Observer(pid=process.pid)
    process.send_signal(signal.SIGSTOP)
    wait_for(lambda: "is stopped (as by Ctrl-Z)" in observer.look(0.0, None).evidence)
    assert observer.look(0.0, None).state == "running"


def test_a_number_without_a_process_is_refused(start):
    process = start(["true"])
    process.wait()
    for pid in (process.pid, 2**22 + 1):
        with pytest.raises(RunError, match=f"there is no process {pid} on "):
            Observer(pid=pid)
    for pid in (0, -1):
        with pytest.raises(RunError, match=f"{pid} is not the number of a process"):
            Observer(pid=pid)


def test_a_thread_is_refused_with_the_number_of_its_process(start):
    code = "import threading, time; threading.Thread(target=time.sleep, args=[60]).start()"
    process = start(python(f"{code}; print(flush=True)"), ready=True)
    (thread,) = {int(name) for name in os.listdir(f"/proc/{process.pid}/task")} - {process.pid}
    with pytest.raises(RunError, match=f"{thread} is a thread of process {process.pid}"):
        Observer(pid=thread)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can start another user's process")
def test_another_users_process_is_observed_and_not_stopped(start):
    process = start(["sleep", "60"], user=65534)
    observer = Observer(pid=process.pid)
    assert observer.look(0.0, None).state == "running"
    with pytest.raises(RunError, match=r"\(sleep\) is another user's: it can be observed, not"):
        Observer(pid=process.pid, allow_stop=True)
    with pytest.raises(RunError, match="--allow-stop"):
        observer.stop(now=True)
    assert process.poll() is None


def test_what_started_this_command_is_observed_and_not_stopped():
    for pid in (os.getpid(), os.getppid()):
        if Path(f"/proc/{pid}").stat().st_uid == os.getuid():
            with pytest.raises(RunError, match="started this command"):
                Observer(pid=pid, allow_stop=True)


def test_looking_never_signals(start):
    process = start(python(DEAF), ready=True)
    observer = Observer(pid=process.pid, allow_stop=True)
    for now in range(50):
        observer.look(1000.0 * now, activity(1000.0 * now))
    time.sleep(0.1)
    assert process.poll() is None


def test_a_stop_is_sigterm(start):
    process = start(["sleep", "60"])
    observer = Observer(pid=process.pid, allow_stop=True)
    said = observer.stop(now=False)
    assert said == f"SIGTERM was sent to process {process.pid} (sleep); SIGKILL follows in 10 s"
    assert process.wait(120) == -signal.SIGTERM
    assert f"{process.pid} (sleep) has ended after SIGTERM" in observer.look(0.0, None).evidence
    assert "has ended" in observer.stop(now=False)


@pytest.mark.parametrize("with_handle", [True, False])
def test_one_that_ignores_it_is_killed_by_a_later_look(start, monkeypatch, with_handle):
    if not with_handle:  # a kernel before 5.3

        def unknown(pid: int, flags: int = 0) -> int:
            raise OSError(38, "Function not implemented")

        monkeypatch.setattr(os, "pidfd_open", unknown)
    process = start(python(DEAF), ready=True)
    observer = Observer(pid=process.pid, allow_stop=True)
    observer.stop(now=True)
    begin = time.monotonic()
    while process.poll() is None:
        evidence = observer.look(0.0, None).evidence
        assert "SIGTERM was sent" in evidence or "SIGKILL was sent" in evidence
        assert time.monotonic() < begin + 10
        time.sleep(0.05)
    assert process.returncode == -signal.SIGKILL
    assert time.monotonic() - begin > 1.5
    assert "has ended" in observer.look(0.0, None).evidence


def test_a_script_that_is_stopped_names_what_it_leaves_running(start):
    process = start(["sh", "-c", "sleep 61 & echo $!; wait"])
    child = int(process.stdout.readline())
    try:
        # Until it has begun its program it is called as its parent.
        wait_for(lambda: Path(f"/proc/{child}/comm").read_text() == "sleep\n")
        observer = Observer(pid=process.pid, allow_stop=True)
        observer.stop(now=False)
        process.wait(120)
        evidence = observer.look(0.0, None).evidence
        assert f"processes that it started still run: {child} (sleep)" in evidence
    finally:
        os.kill(child, signal.SIGKILL)


def test_a_later_observer_goes_on_with_the_same_process(start):
    process = start(["sleep", "60"])
    mark = Observer(pid=process.pid).mark
    later = Observer(pid=process.pid, allow_stop=True, mark=mark)
    assert later.look(0.0, None).state == "running"
    process.kill()
    process.wait()
    last = Observer(pid=process.pid, allow_stop=True, mark=mark)
    last.look(0.0, activity(100.0, ended_well=True, last_line=SUCCESS))
    assert last.over()


@pytest.mark.parametrize(
    ("part", "value", "standing", "says"),
    [
        (0, "login07", "running", "was seen on login07"),
        (1, "0d5c", "failed", "was restarted"),
        (2, "12", "failed", "has ended"),  # the number is another process's now
    ],
)
def test_a_mark_of_another_machine_boot_or_start_is_another_process(
    start, part, value, standing, says
):
    process = start(["sleep", "60"])
    words = Observer(pid=process.pid).mark.split()
    words[part] = value
    observer = Observer(pid=process.pid, allow_stop=True, mark=" ".join(words))
    seen = observer.look(0.0, activity(30.0))
    assert seen.state == standing
    assert says in seen.evidence
    if standing == "failed":
        assert "has ended" in observer.stop(now=True)
    else:
        with pytest.raises(RunError, match="cannot be stopped from here"):
            observer.stop(now=True)
    time.sleep(0.1)
    assert process.poll() is None


@pytest.mark.skipif(
    os.getuid() != 0 or shutil.which("unshare") is None, reason="needs a namespace of processes"
)
def test_a_number_that_the_kernel_gave_to_another_process_is_never_signalled():
    argv = ["unshare", "--pid", "--fork", "--mount-proc", sys.executable, str(REUSE)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60)
    assert done.stdout.split("\n")[:-1] == ["same number", "has ended", "still runs"], done.stderr


@pytest.mark.skipif(
    os.getuid() != 0 or shutil.which("unshare") is None, reason="needs a mount of its own"
)
def test_a_process_that_the_machine_hides_is_observed_by_its_number(start):
    process = start(["sleep", "60"])
    code = (
        "import os; from burstlens.workflows.look.observer.observer import Observer\n"
        "os.setgid(65534); os.setuid(65534)\n"
        f"assert not os.path.exists('/proc/{process.pid}')\n"
        f"print(Observer(pid={process.pid}).look(0.0, None))\n"
        f"Observer(pid={process.pid}, allow_stop=True)\n"
    )
    mount = 'mount -t proc -o hidepid=2 proc /proc && exec "$@"'
    argv = ["unshare", "--mount", "sh", "-c", mount, "sh", sys.executable, "-c", code]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60)
    assert f"process {process.pid} runs" in done.stdout, done.stderr
    assert "another user's: it can be observed, not stopped" in done.stderr


def test_with_no_file_handle_left_the_last_answer_counts(start):
    process = start(["sleep", "60"])
    observer = Observer(pid=process.pid)
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1, before[1]))
    try:
        state = observer.look(0.0, None).state
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert state == "running"
    assert not observer.over()


def test_a_job_and_a_process_together_are_refused():
    with pytest.raises(RunError, match="not both"):
        Observer(job="1", pid=os.getpid())


def test_while_the_last_writes_are_awaited_a_quiet_model_is_still_quiet(start):
    process = start(["sleep", "60"])
    observer = Observer(pid=process.pid)
    assert observer.look(0.0, activity(900.0)).state == "quiet"
    process.kill()
    process.wait()
    seen = observer.look(1.0, activity(901.0))
    assert (seen.state, observer.over()) == ("quiet", False)
    assert "has ended; wrfout_d01 was written 15 min" in seen.evidence
    assert observer.look(12.0, activity(912.0)).state == "failed"
