"""Requests that the run directory refuses: held, obeyed here, written when it can be."""

from __future__ import annotations

import json
import os
import resource
import signal

import pytest

from burstlens.core.errors import RunError
from burstlens.core.run.directory import RunDir
from burstlens.core.run.requests import PRESSED_S, catch_signals, requests_of

GUARD = {"by": "guard", "guard": "whole", "text": "W is NaN"}


@pytest.fixture
def run(tmp_path):
    made = RunDir(tmp_path / "r")
    made.create()
    return made


@pytest.fixture
def refuse(run):
    """Lets the run directory refuse every request, until what it returns is called."""
    run.control.rmdir()
    run.control.touch()
    return run.control.unlink


@pytest.fixture
def no_content():
    """Lets files be made, as on a full disk, but take no byte; what it returns ends that."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    yield lambda: resource.setrlimit(resource.RLIMIT_FSIZE, before)
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_stop_that_is_refused_is_in_force_here_with_its_reason_and_written_later(run, refuse):
    requests, said, told = requests_of(run), [], []
    requests.report_failure = said.append
    requests.send_directly = lambda name, reason: told.append((name, reason)) or True
    assert not requests.make_request("stop", GUARD)
    requests.write_held(0.0)
    assert (run.stop_requested(), run.stop_reason()) == ("stop", GUARD)
    assert told == [("stop", GUARD)] * 2  # each time: its receiver may have come since
    (text,) = said
    assert text.endswith("it is tried again; the model's supervisor was told directly")
    refuse()
    requests.write_held(1.0)
    assert json.loads((run.control / "stop").read_bytes()) == GUARD
    assert requests.held == {}


def test_a_disk_that_takes_the_name_alone_gets_the_reason_when_it_has_room(run, no_content):
    requests = requests_of(run)
    requests.make_request("stop", GUARD)
    assert (run.control / "stop").read_bytes() == b""
    assert run.stop_reason() == GUARD
    no_content()
    requests.write_held(1.0)
    assert json.loads((run.control / "stop").read_bytes()) == GUARD


def test_a_person_s_stop_never_gets_a_guard_s_reason(run, no_content):
    (run.control / "stop").touch()
    requests = requests_of(run)
    requests.make_request("stop-now", GUARD)
    assert run.stop_reason() == {}
    no_content()
    requests.write_held(1.0)
    assert (run.control / "stop").read_bytes() == b""
    assert run.stop_requested() == "stop-now"


def test_a_new_attempt_is_not_stopped_by_a_request_for_the_one_before(run, refuse):
    requests_of(run).make_request("stop", GUARD)
    refuse()
    run.clear_control()
    requests_of(run).write_held(1.0)
    assert run.stop_requested() is None
    assert not run.control.exists()


def test_a_request_is_forgotten_also_where_a_file_of_an_earlier_one_stays(run, refuse):
    requests_of(run).make_request("stop", GUARD)
    refuse()
    (run.control / "frame-done").mkdir(parents=True)
    with pytest.raises(RunError, match="cannot take"):
        run.clear_control()
    requests_of(run).write_held(1.0)
    assert os.listdir(run.control) == ["frame-done"]


def test_ctrl_c_writes_nothing_itself_and_is_in_force_at_once(run, refuse):
    with catch_signals(run) as requests:
        os.kill(os.getpid(), signal.SIGINT)
        assert run.stop_requested() == "stop"
        requests.write_held(0.0)
        os.kill(os.getpid(), signal.SIGINT)
        assert run.stop_requested() == "stop-now"
        requests.write_held(0.0)
        refuse()
        requests.write_held(1.0)
    assert sorted(os.listdir(run.control)) == ["stop", "stop-now"]


def test_two_ctrl_c_between_two_turns_of_the_loop_and_sigterm_ask_for_a_stop_at_once(run):
    with catch_signals(run) as requests:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        assert run.stop_requested() == "stop-now"
        requests.write_held(0.0)
    assert run.stop_requested() == "stop-now"
    run.clear_control()
    with catch_signals(run) as requests:
        os.kill(os.getpid(), signal.SIGTERM)
        requests.write_held(0.0)
    assert os.listdir(run.control) == ["stop-now"]


def test_ctrl_c_after_a_stop_of_somebody_else_stops_at_once(run):
    run.request("stop")
    with catch_signals(run) as requests:
        os.kill(os.getpid(), signal.SIGINT)
        requests.write_held(0.0)
    assert run.stop_requested() == "stop-now"


def test_a_second_ctrl_c_does_not_wait_for_the_directory_for_ever(run, refuse):
    with catch_signals(run) as requests:
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGINT)
        requests.write_held(0.0)
        requests.write_held(PRESSED_S - 1.0)
        with pytest.raises(RunError, match=r"cannot be written to .*burstlens resume r"):
            requests.write_held(PRESSED_S + 1.0)
