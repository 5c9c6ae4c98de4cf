"""What a job's folder says of its program, where its supervisor can write nothing more."""

from __future__ import annotations

import socket
import subprocess

import pytest

from burstlens.core.durable import write_json
from burstlens.workflows.placement.job_folder import has_stopped
from burstlens.workflows.placement.job_processes import start_ticks


@pytest.fixture
def job(tmp_path):
    folder = tmp_path / "1"
    folder.mkdir()
    write_json(folder / "job.json", {})
    return folder


@pytest.fixture
def program():
    process = subprocess.Popen(["sleep", "1000"])
    yield process
    process.kill()
    process.wait()


def begin(job, process, **other):
    facts = {"host": socket.gethostname(), "group": process.pid}
    write_json(job / "started.json", facts | {"group_ticks": start_ticks(process.pid)} | other)


@pytest.mark.integration
def test_a_program_has_stopped_when_its_process_is_gone(job, program):
    begin(job, program)
    assert not has_stopped(job, must_begin=True)
    program.kill()
    program.wait()
    assert has_stopped(job, must_begin=True)


@pytest.mark.integration
def test_another_process_with_the_number_of_a_program_is_not_that_program(job, program):
    begin(job, program, group_ticks=1)
    assert has_stopped(job, must_begin=True)


@pytest.mark.integration
def test_nothing_is_concluded_of_a_program_on_another_machine(job, program):
    begin(job, program, host="elsewhere", group_ticks=1)
    assert not has_stopped(job, must_begin=True)


def test_a_job_that_has_not_begun_has_stopped_only_where_it_need_not_begin(job):
    assert has_stopped(job, must_begin=False)
    assert not has_stopped(job, must_begin=True)
    (job / "claim").touch()  # its supervisor is about to start the program
    assert not has_stopped(job, must_begin=False)


def test_nothing_is_concluded_of_a_folder_that_is_away(tmp_path):
    assert not has_stopped(tmp_path / "1", must_begin=False)
