"""The logs of Burstlens's own processes: what an entry holds, how much is kept, what faults do."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
import time

import pytest

from burstlens.core.errors import RunError
from burstlens.core.run import logs
from burstlens.core.run.log_level import log_level
from burstlens.core.run.logs import RunLog, close_log, open_log, open_worker_log

ENTRY = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (\w+) worker (\S+) (\d+) (burstlens\.\S+): (.*)"
)
log = logging.getLogger("burstlens.tests")


@pytest.fixture
def opened(run_dir, monkeypatch):
    """Opens the log of a worker of the run; closes it after the test. No write counts as slow."""
    monkeypatch.setattr(logs, "SLOW_S", float("inf"))
    handlers = []

    def make(level="info", name="node-0", kind="worker"):
        handlers.append(open_log(run_dir.path, kind, level, name))
        return handlers[-1]

    yield make
    for handler in handlers:
        close_log(handler)


@pytest.fixture
def kept(run_dir):
    """The text of the worker's log; empty without one."""
    path = run_dir.logs / "burstlens" / "worker-node-0.log"
    return lambda: path.read_text(encoding="utf-8") if path.exists() else ""


def test_an_entry_has_time_level_process_host_pid_logger_and_text(opened, kept):
    opened()
    log.info("frame %s is whole: %s", "d01", "log")
    found = ENTRY.fullmatch(kept().removesuffix("\n"))
    assert found
    assert found.groups() == (
        "INFO", os.uname().nodename, str(os.getpid()), "burstlens.tests", "frame d01 is whole: log"
    )  # fmt: skip


def test_times_are_in_utc_whatever_the_zone(opened, kept, monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        opened()
        log.info("now")
        began = time.strptime(kept()[:19], "%Y-%m-%dT%H:%M:%S")
    finally:
        monkeypatch.undo()
        time.tzset()
    assert abs(time.mktime(began) - time.mktime(time.gmtime())) < 60


def test_no_line_of_a_text_passes_for_an_entry_or_controls_a_terminal(opened, kept):
    opened()
    log.info("model said: %s", "one\n2026-01-01T00:00:00.000Z INFO forged\x1b[2J\ttext")
    first, second = kept().splitlines()
    assert ENTRY.fullmatch(first)
    assert second == "    2026-01-01T00:00:00.000Z INFO forged?[2J text"


def test_an_exception_is_logged_with_its_traceback(opened, kept):
    opened()
    try:
        raise ValueError("no such level")
    except ValueError:
        log.exception("a product failed")
    assert "    Traceback" in kept()
    assert "    ValueError: no such level" in kept()


def test_secrets_are_masked(opened, kept):
    opened()
    log.warning("cannot post to %s", "https://hooks.example.org/services/T0/B1/abcdef")
    assert kept().endswith("cannot post to https://hooks.example.org/[redacted]\n")


@pytest.mark.parametrize(
    ("level", "said"),
    [("debug", "DIWE"), ("info", "IWE"), ("warning", "WE"), ("error", "E"), ("off", "")],
)
def test_a_log_holds_its_level_and_above(opened, kept, level, said):
    opened(level)
    for name in ("debug", "info", "warning", "error"):
        getattr(log, name)("text")
    assert "".join(line.split()[1][0] for line in kept().splitlines()) == said


@pytest.mark.parametrize(
    ("given", "level"), [({}, "info"), ({"BURSTLENS_LOG": ""}, "info"),
                         ({"BURSTLENS_LOG": " Debug "}, "debug"), ({"BURSTLENS_LOG": "off"}, "off")]
)  # fmt: skip
def test_the_level_comes_from_the_environment(given, level):
    assert log_level(given) == level


def test_a_level_that_does_not_exist_is_refused_with_those_that_do():
    with pytest.raises(RunError, match=r"'loud' is not a level; it is one of debug, info, warn"):
        log_level({"BURSTLENS_LOG": "loud"})


def test_parsl_is_in_the_log_at_debug_alone(opened, kept):
    parsl = logging.getLogger("parsl.some")
    opened("info")
    parsl.info("quiet")
    opened("debug", kind="driver")
    parsl.debug("task launched")
    folder = next(iter(opened("info").path.parent.glob("driver*.log")))
    assert "parsl.some: task launched" in folder.read_text()
    assert "quiet" not in kept()


def test_a_log_is_two_files_of_bounded_size(opened, run_dir):
    opened()
    for number in range(6000):
        log.info("entry %d of many, all of which would take more than a megabyte by far: %s",
                 number, "x" * 200)  # fmt: skip
    found = sorted((run_dir.logs / "burstlens").iterdir())
    assert [path.name for path in found] == ["worker-node-0.log", "worker-node-0.log.1"]
    assert all(path.stat().st_size <= logs.OTHERS_BYTES for path in found)
    assert "entry 5999 of many" in found[0].read_text()


def test_logs_of_workers_on_ever_new_nodes_do_not_pile_up(opened, run_dir):
    folder = run_dir.logs / "burstlens"
    folder.mkdir()
    (folder / "driver.log").touch()
    os.utime(folder / "driver.log", (0, 0))
    for number in range(logs.MOST_FILES + 60):
        path = folder / f"worker-node{number}-0.log"
        path.touch()
        os.utime(path, (1e9 + number, 1e9 + number))
    opened()
    log.info("text")
    names = {path.name for path in folder.iterdir()}
    assert len(names) == logs.MOST_FILES + 2  # those that are kept, the driver's and this one
    assert {"driver.log", "worker-node-0.log", f"worker-node{logs.MOST_FILES + 59}-0.log"} <= names
    assert "worker-node59-0.log" not in names


def test_a_full_disk_loses_entries_and_nothing_else(opened, capfd):
    handler = opened()
    handler.path = type(handler.path)("/dev/full")
    for number in range(100):
        log.info("entry %d", number)
    assert handler.missed == 100
    assert capfd.readouterr() == ("", "")


def test_after_a_full_disk_the_log_says_how_much_is_missing(opened, kept, monkeypatch):
    monkeypatch.setattr(logs, "PAUSE_S", 0.0)
    handler = opened()
    path, handler.path = handler.path, type(handler.path)("/dev/full")
    log.info("lost")
    log.info("lost, too")
    handler.path = path
    log.info("there again")
    note, entry = kept().splitlines()
    assert note == "    2 entries before this one could not be written"
    assert entry.endswith("there again")


def test_after_an_error_the_file_system_is_left_alone(opened, kept):
    handler = opened()
    path, handler.path = handler.path, type(handler.path)("/dev/full")
    log.info("lost")
    handler.path = path  # it could be written now, but nothing tries for PAUSE_S
    log.info("lost, too")
    assert (handler.missed, kept()) == (2, "")


def test_a_run_directory_that_is_away_is_not_made_anew(opened, run_dir, monkeypatch, kept):
    monkeypatch.setattr(logs, "PAUSE_S", 0.0)
    hidden = run_dir.path.with_name("hidden")
    run_dir.path.rename(hidden)
    opened()
    log.info("lost")
    assert not run_dir.path.exists()
    hidden.rename(run_dir.path)
    log.info("there again")
    assert "there again" in kept()


def test_a_folder_that_cannot_be_made_disturbs_nothing(opened, run_dir, capfd):
    (run_dir.logs / "burstlens").write_text("in the way")
    opened()
    log.info("lost")
    assert capfd.readouterr() == ("", "")


def test_arguments_that_do_not_fit_disturb_nothing(opened, kept, capfd, monkeypatch):
    monkeypatch.setattr(logging.getLogger("burstlens"), "propagate", False)  # pytest's would raise
    opened()
    log.info("%d frames", "many")
    log.info("good")
    assert "good" in kept()
    assert capfd.readouterr() == ("", "")


def test_a_link_in_place_of_a_log_is_not_followed(opened, run_dir, tmp_path):
    (run_dir.logs / "burstlens").mkdir()
    (run_dir.logs / "burstlens" / "worker-node-0.log").symlink_to(tmp_path / "elsewhere")
    opened()
    log.info("lost")
    assert not (tmp_path / "elsewhere").exists()


def test_a_deleted_log_is_begun_anew(opened, kept, monkeypatch):
    monkeypatch.setattr(logs, "CHECK_S", 0.0)
    handler = opened()
    log.info("first")
    handler.path.unlink()
    log.info("second")
    assert kept().endswith("second\n")
    assert "first" not in kept()


def test_a_log_has_the_mode_that_the_umask_gives(opened, run_dir):
    before = os.umask(0o027)
    try:
        opened()
        log.info("text")
    finally:
        os.umask(before)
    assert (run_dir.logs / "burstlens" / "worker-node-0.log").stat().st_mode & 0o777 == 0o640


def test_a_closed_log_takes_no_more(opened, kept):
    handler = opened()
    log.info("first")
    close_log(handler)
    log.info("second")
    assert len(kept().splitlines()) == 1


def test_a_worker_opens_its_log_once_and_another_process_none(run_dir, monkeypatch):
    def ours():
        return [it for it in logging.getLogger("burstlens").handlers if isinstance(it, RunLog)]

    monkeypatch.setenv("BURSTLENS_RUN_DIR", str(run_dir.path))
    monkeypatch.setenv("BURSTLENS_LOG", "loud")  # of a site: no reason to fail each task
    monkeypatch.delenv("PARSL_WORKER_RANK", raising=False)
    open_worker_log()
    assert not ours()
    monkeypatch.setenv("PARSL_WORKER_RANK", "3")
    open_worker_log()
    open_worker_log()
    [handler] = ours()
    assert handler.path.name == f"worker-{os.uname().nodename}-3.log"
    close_log(handler)


WRITER = """
import logging, sys
from pathlib import Path
from burstlens.core.run import logs
logs.OTHERS_BYTES, logs.SLOW_S = int(sys.argv[3]), float("inf")
logs.open_log(Path(sys.argv[1]), "worker", "info", sys.argv[2])
log = logging.getLogger("burstlens.tests")
for number in range(400):
    log.info("%s", f"entry {number} " + "x" * 300)
"""


def written_by_five(run_dir, limit_bytes):
    """The log of five processes that are given one name, as two blocks' workers of one node may."""
    words = [sys.executable, "-c", WRITER, str(run_dir.path), "node-0", str(limit_bytes)]
    writers = [subprocess.Popen(words) for _ in range(5)]
    assert [writer.wait(60) for writer in writers] == [0] * 5
    return sorted((run_dir.logs / "burstlens").iterdir())


@pytest.mark.integration
def test_processes_of_one_name_lose_no_entry(run_dir):
    [path] = written_by_five(run_dir, 1 << 30)
    lines = path.read_text().splitlines()
    assert len(lines) == 2000
    assert all(ENTRY.fullmatch(line) for line in lines)


@pytest.mark.integration
def test_processes_of_one_name_keep_whole_entries_as_they_rotate(run_dir):
    found = written_by_five(run_dir, 1 << 15)
    assert [path.name for path in found] == ["worker-node-0.log", "worker-node-0.log.1"]
    assert all(ENTRY.fullmatch(line) for path in found for line in path.read_text().splitlines())
