from __future__ import annotations

import json
import os
import signal
import stat
import time

import pytest

from burstlens.core.durable import read_json
from burstlens.workflows.placement import model_folder
from burstlens.workflows.placement.model_folder import link_inputs
from burstlens.workflows.placement.supervisor import PASSING, start_ticks

# Neither this program nor its child ends on TERM; the child writes its own pid.
STUBBORN = "trap '' TERM; sh -c 'trap \"\" TERM; echo $$ > child; sleep 300' & wait; sleep 300"


@pytest.fixture
def place(tmp_path):
    return tmp_path / "buffer" / "storm-1" / "1"


@pytest.fixture
def ended(job, supervise):
    """Runs a program to its end under a supervisor; what ``ended.json`` says."""

    def run(program, **fields):
        folder = job(program, **fields)
        supervise(folder).wait(120)
        return read_json(folder / "ended.json")

    return run


def test_the_program_runs_in_its_own_folder_and_its_log_comes_home(ended, place, run_dir):
    end = ended("pwd; echo $GREETING >&2", environment={"GREETING": "hello"})
    assert (end["exit_code"], end["signal"], end["reason"]) == (0, None, "exited")
    assert end["started"] <= end["ended"]
    home = run_dir.logs / "attempt-1" / "model.log"
    assert home.read_text() == f"{place}\nhello\n" == (place / "model.log").read_text()


def test_logs_come_home_after_a_failure_too(ended, run_dir):
    end = ended("mkdir deep; echo cfl > deep/rsl.error.0000; exit 3", keep_logs=["deep/rsl.*"])
    assert (end["exit_code"], end["reason"], end["last_line"]) == (3, "exited", "")
    assert (run_dir.logs / "attempt-1" / "deep" / "rsl.error.0000").read_text() == "cfl\n"


def test_the_last_line_of_a_failed_programs_log_comes_with_its_end(ended):
    end = ended("echo first; printf 'no \\377compiler\\n\\n \\n'; exit 3")
    assert end["last_line"] == "no \ufffdcompiler"
    assert ended("echo all is well", name="attempt-2")["last_line"] == ""


def test_the_log_of_an_attempt_that_was_killed_stays_when_the_next_one_truncates_it(ended, run_dir):
    """WRF does so with its ``rsl.error.0000``, in whatever folder it starts."""
    for attempt in ("attempt-1", "attempt-2"):
        program = f"echo {attempt} > rsl.error.0000; kill -KILL $$"
        assert ended(program, name=attempt, keep_logs=["rsl.*"])["signal"] == "SIGKILL"
    logs = sorted(run_dir.logs.glob("attempt-*/rsl.error.0000"))
    assert [path.read_text() for path in logs] == ["attempt-1\n", "attempt-2\n"]


def test_the_signal_that_ended_the_program_is_reported(ended):
    end = ended("kill -SEGV $$")
    assert (end["exit_code"], end["signal"], end["reason"]) == (None, "SIGSEGV", "exited")


def test_a_missing_program_is_reported_as_not_started(ended, job):
    end = ended("", argv=["./wrf.exe"])
    assert (end["reason"], end["exit_code"]) == ("not started", None)
    assert "wrf.exe" in end["message"]


def test_a_missing_buffer_is_reported_as_not_started(ended, tmp_path):
    (tmp_path / "file").write_text("")
    end = ended("true", root=str(tmp_path / "file"))
    assert end["reason"] == "not started"
    assert "file" in end["message"]


def test_the_root_is_resolved_from_the_jobs_own_environment(job, supervise, tmp_path):
    mount = tmp_path / "mount"
    mount.mkdir()
    folder = job("pwd", root="$BB_MOUNT")
    supervise(folder, BB_MOUNT=str(mount)).wait(120)
    assert (mount / "storm-1" / "1" / "model.log").read_text() == f"{mount}/storm-1/1\n"


def test_started_names_the_processes_for_good(job, supervise, wait_for):
    folder = job("sleep 300")
    child = supervise(folder)
    started = wait_for(lambda: read_json(folder / "started.json"))
    assert started["supervisor"] == child.pid
    assert started["group_ticks"] == start_ticks(started["group"])
    assert os.getpgid(started["group"]) == started["group"] != os.getpgid(child.pid)


def test_inputs_are_linked_runnable_and_in_the_baseline(ended, tmp_path, place):
    inputs = tmp_path / "buffer" / "storm-1" / "inputs"
    (inputs / "data").mkdir(parents=True)
    (inputs / "wrf.exe").write_text("#!/bin/sh\ncat data/table > out\n")
    (inputs / "data" / "table").write_text("42")
    end = ended(
        "", argv=["./wrf.exe"], inputs="storm-1/inputs", executables=["wrf.exe", "left-behind.exe"]
    )
    assert end["exit_code"] == 0, end
    assert (place / "out").read_text() == "42"
    assert os.readlink(place / "data" / "table") == "../../inputs/data/table"
    assert (inputs / "wrf.exe").stat().st_mode & stat.S_IXUSR
    job_folder = tmp_path / "runs" / "storm-1" / "attempts" / "1"
    assert set(read_json(job_folder / "baseline.json")) == {"wrf.exe", "data/table"}


def test_a_log_among_the_inputs_is_not_written_to(ended, tmp_path, place):
    inputs = tmp_path / "buffer" / "storm-1" / "inputs"
    inputs.mkdir(parents=True)
    (inputs / "model.log").write_text("of an earlier run\n")
    ended("echo new", inputs="storm-1/inputs")
    assert (place / "model.log").read_text() == "new\n"
    assert (inputs / "model.log").read_text() == "of an earlier run\n"


def test_what_stands_in_the_folder_is_not_replaced_by_a_link(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "here").mkdir()
    (tmp_path / "in" / "namelist.input").write_text("new")
    (tmp_path / "here" / "namelist.input").write_text("mine")
    link_inputs(tmp_path / "in", tmp_path / "here")
    link_inputs(tmp_path / "in", tmp_path / "here")
    assert (tmp_path / "here" / "namelist.input").read_text() == "mine"


def test_an_input_that_the_model_may_write_is_copied_and_empty_folders_are_made(
    ended, tmp_path, place
):
    inputs = tmp_path / "buffer" / "storm-1" / "inputs"
    (inputs / "out" / "empty").mkdir(parents=True)
    for name in ("out/frame_1", "table", "rsl.out"):
        (inputs / name).write_text("of an earlier run\n")
    end = ended(
        "echo new > out/frame_1; touch out/empty/made; cat table",
        inputs="storm-1/inputs",
        copied="out/.*|table.+",
    )
    assert end["exit_code"] == 0
    assert (place / "out" / "frame_1").read_text() == "new\n"
    assert (inputs / "out" / "frame_1").read_text() == "of an earlier run\n"
    assert (place / "table").is_symlink()
    assert list((inputs / "out" / "empty").iterdir()) == []


def test_the_baseline_has_size_and_time_and_passes_over_dead_links(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "old").write_text("1234")
    (tmp_path / "dead").symlink_to("nowhere")
    status = (tmp_path / "sub" / "old").stat()
    assert model_folder.baseline(tmp_path, PASSING) == {"sub/old": [4, status.st_mtime_ns]}


def test_stop_now_ends_the_program_and_all_its_children(
    job, supervise, wait_for, alive, place, run_dir
):
    folder = job(STUBBORN)
    supervise(folder)
    child = int(wait_for(lambda: (place / "child").exists() and (place / "child").read_text()))
    run_dir.request("stop-now")
    end = wait_for(lambda: read_json(folder / "ended.json"))
    assert (end["reason"], end["signal"]) == ("stop-now", "SIGKILL")
    wait_for(lambda: not alive(child))


def test_stop_ends_the_program_when_its_time_is_over(job, supervise, wait_for, place, run_dir):
    folder = job("touch begun; sleep 300", stop_grace_s=0.0)
    supervise(folder)
    wait_for((place / "begun").exists)
    run_dir.request("stop")
    end = wait_for(lambda: read_json(folder / "ended.json"))
    assert (end["reason"], end["signal"]) == ("stop", "SIGTERM")


def test_stop_now_cuts_a_stop_short_that_is_under_way(job, supervise, wait_for, place, run_dir):
    folder = job(STUBBORN, stop_grace_s=0.0)
    supervise(folder)
    wait_for((place / "child").exists)
    run_dir.request("stop")
    time.sleep(1.0)  # it has seen the request by now, and waits
    assert not (folder / "ended.json").exists()
    asked = time.time()
    run_dir.request("stop-now")
    end = wait_for(lambda: read_json(folder / "ended.json"))
    assert end["signal"] == "SIGKILL"
    assert end["ended"] - asked < 8  # a stop alone waits longer; on an idle machine this is 2 s


def test_a_stop_that_came_while_the_job_waited_starts_no_program(ended, place, run_dir):
    run_dir.request("stop")
    end = ended("touch begun")
    assert (end["reason"], end["exit_code"]) == ("stop", None)
    assert not (place / "begun").exists()


def test_stop_leaves_time_for_the_frame_in_progress(job, supervise, wait_for, place, run_dir):
    folder = job("touch begun; sleep 2; echo whole > frame", stop_grace_s=60)
    supervise(folder)
    wait_for((place / "begun").exists)
    run_dir.request("stop")
    end = wait_for(lambda: read_json(folder / "ended.json"))
    assert (end["reason"], end["exit_code"]) == ("exited", 0)
    assert (place / "frame").read_text() == "whole\n"


def test_a_program_ends_at_its_walltime(ended):
    end = ended("sleep 300", walltime_s=0.5)
    assert (end["reason"], end["signal"]) == ("walltime", "SIGTERM")


def test_a_supervisor_that_the_scheduler_ends_ends_its_program_first(job, supervise, wait_for):
    folder = job("sleep 300")
    child = supervise(folder)
    wait_for(lambda: read_json(folder / "started.json"))
    child.send_signal(signal.SIGTERM)
    end = wait_for(lambda: read_json(folder / "ended.json"))
    assert (end["reason"], end["signal"]) == ("terminated by SIGTERM", "SIGTERM")


def test_children_do_not_outlive_a_program_that_has_ended(job, supervise, wait_for, alive, place):
    folder = job("sleep 300 & echo $! > child; exit 0")
    supervise(folder).wait(120)
    assert read_json(folder / "ended.json")["exit_code"] == 0
    child = int((place / "child").read_text())
    wait_for(lambda: not alive(child))


def test_a_killed_supervisor_takes_its_program_with_it(job, supervise, wait_for, alive):
    folder = job("exec sleep 300")
    child = supervise(folder)
    started = wait_for(lambda: read_json(folder / "started.json"))
    child.kill()
    wait_for(lambda: not alive(started["group"]))
    assert not (folder / "ended.json").exists()


def test_a_second_supervisor_of_the_same_folder_refuses(job, supervise, wait_for, place):
    folder = job("echo once >> count; sleep 300")
    supervise(folder)
    wait_for((place / "count").exists)
    second = supervise(folder)
    assert second.wait(120) == 1
    assert "a supervisor already" in second.stderr.read()
    assert (place / "count").read_text() == "once\n"


def test_files_of_the_job_obey_the_umask(job, supervise):
    folder = job("touch frame")
    before = os.umask(0o077)
    try:
        supervise(folder).wait(120)
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in folder.glob("*.json")}
    assert modes.pop("job.json") & 0o600
    assert set(modes.values()) == {0o600}
    assert (folder / "claim").stat().st_mode & 0o777 == 0o600


def test_ended_is_written_when_the_run_directory_is_back(job, supervise, wait_for, run_dir):
    folder = job("sleep 1")
    supervise(folder)
    wait_for(lambda: read_json(folder / "started.json"))
    away = folder.with_name("away")
    folder.rename(away)
    begun = time.monotonic()
    wait_for(lambda: time.monotonic() > begun + 2)  # its program has ended meanwhile
    away.rename(folder)
    assert wait_for(lambda: read_json(folder / "ended.json"))["exit_code"] == 0


SRUN = """\
#!/bin/sh
echo "$*" >> {calls}
"$@" || {{ echo "srun: error: n2: task 1: Exited with exit code 1"; exit 1; }}
"""


@pytest.fixture
def each_node(tmp_path):
    """A program that stands in for srun: it notes what it is to start, and starts it."""
    path = tmp_path / "srun"
    path.write_text(SRUN.format(calls=tmp_path / "calls"))
    path.chmod(0o755)
    return [str(path)]


def test_inputs_folders_and_logs_are_those_of_each_node(ended, each_node, tmp_path, run_dir):
    (tmp_path / "source").write_text("physics")
    files = [[str(tmp_path / "source"), "namelist.input"]]
    listed = {"kind": "posix", "by": "", "left": 0, "files": files, "folders": []}
    (run_dir.path / "stage-in.json").write_text(json.dumps(listed))
    end = ended(
        "cat namelist.input",
        each_node=each_node,
        stage_in={"list": "stage-in.json", "folder": "storm-1"},
        inputs="storm-1/inputs",
    )
    assert end["reason"] == "exited", end
    assert (run_dir.logs / "attempt-1" / "model.log").read_text() == "physics"
    stage, make, logs = (tmp_path / "calls").read_text().splitlines()
    assert f"stage_in {run_dir.path}/stage-in.json {tmp_path}/buffer/storm-1" in stage
    assert f"model_folder.py make {run_dir.job('attempt-1')} {tmp_path}/buffer" in make
    assert f"model_folder.py logs {run_dir.job('attempt-1')} {tmp_path}/buffer" in logs


def test_what_a_node_cannot_do_is_reported_without_the_launchers_own_lines(
    ended, each_node, tmp_path, run_dir
):
    listed = {"kind": "posix", "by": "", "left": 0, "files": [["/away", "x"]], "folders": []}
    (run_dir.path / "stage-in.json").write_text(json.dumps(listed))
    stage_in = {"list": "stage-in.json", "folder": "storm-1"}
    end = ended("true", each_node=each_node, launcher_lines=["srun: "], stage_in=stage_in)
    assert end["reason"] == "not started"
    assert end["message"].startswith("stage in failed: ")
    assert "/away (No such file or directory)" in end["message"]
    assert "srun" not in end["message"]


def test_logs_of_other_nodes_join_those_of_the_first(job, tmp_path, run_dir):
    folder = job("true", keep_logs=["rsl.*", "namelist.input"])
    place = tmp_path / "buffer" / "storm-1" / "1"
    place.mkdir(parents=True)
    for name in ("rsl.error.0000", "rsl.error.0032"):
        (place / name).write_text("of the second node")
    (place / "namelist.input").symlink_to("rsl.error.0000")
    home = run_dir.logs / "attempt-1"
    home.mkdir()
    (home / "rsl.error.0000").write_text("of the first node")
    assert model_folder.main("logs", folder, tmp_path / "buffer") == 0
    assert sorted(path.name for path in home.iterdir()) == ["rsl.error.0000", "rsl.error.0032"]
    assert (home / "rsl.error.0000").read_text() == "of the first node"


def test_its_own_log_says_what_it_did(ended, run_dir):
    ended("exit 3")
    text = (run_dir.logs / "burstlens" / "supervisor-attempt-1.log").read_text()
    assert " INFO supervisor " in text
    assert "sh is started in" in text
    assert "the program has ended with status 3: exited" in text


def test_its_own_log_is_kept_at_the_level_of_the_job(ended, run_dir):
    ended("true", log_level="off")
    assert not (run_dir.logs / "burstlens").exists()


def test_a_log_that_cannot_be_kept_does_not_change_the_end(ended, run_dir):
    (run_dir.logs / "burstlens").write_text("in the way")
    assert ended("exit 3")["exit_code"] == 3


def test_small_files_that_a_job_brings_along_lie_in_its_folder_and_never_write_through_a_link(
    ended, place, tmp_path
):
    place.mkdir(parents=True)
    (tmp_path / "other").write_text("kept")
    (place / ".romio_hints").symlink_to(tmp_path / "other")
    files, places = {".romio_hints": "cb_nodes 2\n"}, {"ROMIO_HINTS": "storm-1/1/.romio_hints"}
    end = ended('cat "$ROMIO_HINTS"', files=files, places=places)
    assert end["exit_code"] == 0
    assert (place / "model.log").read_text() == "cb_nodes 2\n"
    assert (tmp_path / "other").read_text() == "kept"


def test_a_file_that_cannot_be_brought_along_keeps_the_program_from_starting(ended, place):
    (place / ".romio_hints").mkdir(parents=True)
    end = ended("true", files={".romio_hints": "cb_nodes 2\n"})
    assert (end["reason"], end["exit_code"]) == ("not started", None)
    assert ".romio_hints" in end["message"]


def test_stripes_that_cannot_be_set_are_logged_and_the_program_runs(ended, place, run_dir):
    wanted = [{"folder": "", "count": 64, "size": 4 << 20}]
    end = ended("true", stripes=wanted)
    assert end["exit_code"] == 0
    (log,) = run_dir.path.glob("logs/burstlens/supervisor*")
    assert f"{place} is on " in log.read_text()
    assert "64 stripes of 4 MiB have no effect" in log.read_text()
