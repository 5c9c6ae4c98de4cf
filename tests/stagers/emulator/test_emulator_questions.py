"""Queries, waits, terminations; many callers at once; stripes."""

from __future__ import annotations

import errno
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


class TestQuestions:
    def test_a_missing_file_and_one_never_staged_are_different_errors(self, job):
        job.file()
        for call in ("query_file", "query_list"):
            assert job.call(call, job.dw / "no") == (-errno.ENOENT, -1, -1, -1, -1)
            assert job.call(call, job.dw / "frame.nc") == (-errno.EINVAL, -1, -1, -1, -1)
        for call in ("wait_file", "terminate_file", "wait_list", "terminate_list"):
            assert job.call(call, job.dw / "no") == -errno.ENOENT
            assert job.call(call, job.dw / "frame.nc") == -errno.EINVAL

    def test_a_directory_without_stages_counts_nothing(self, job):
        job.file()
        assert job.call("query_directory", job.dw) == (0, 0, 0, 0, 0)
        assert job.call("query_directory", job.dw / "no")[0] == -errno.ENOENT
        assert job.call("wait_directory", job.dw) == 0
        assert job.call("terminate_directory", job.dw) == -errno.EINVAL

    def test_outside_of_any_instance_nothing_is_known(self, job):
        (job.pfs / "a").touch()
        assert job.call("query_file", job.pfs / "a")[0] == -errno.EINVAL
        assert job.call("query_directory", job.pfs)[0] == -errno.EINVAL
        assert job.call("concurrency", job.pfs, "1") == -errno.EINVAL

    def test_of_nested_instances_the_inner_one_holds_the_file(self, job):
        job.environment["DW_JOB_STRIPED"] = f"{job.dw}/inner/"
        job.file("inner/frame.nc")
        assert job.out("inner/frame.nc") == 0
        assert job.settled("inner/frame.nc") == job.complete
        assert (job.dw / "inner.stages").is_dir()
        assert not job.state.exists()

    def test_a_file_made_anew_under_the_name_was_never_staged(self, job):
        job.file()
        job.out()
        assert job.settled() == job.complete
        (job.dw / "frame.nc").rename(job.dw / "moved.nc")
        job.file()
        assert job.call("query_file", job.dw / "frame.nc")[0] == -errno.EINVAL
        assert job.call("query_file", job.dw / "moved.nc") == job.complete

    def test_no_signal_ends_a_wait(self, job):
        job.file(content=b"x" * 600_000)
        job.out(env=job.slow)
        program = [job.prefix / "clients" / "dwcall", "wait_file", job.dw / "frame.nc"]
        with subprocess.Popen(program, env=job.environment, stdout=subprocess.PIPE) as waiting:
            status = Path(f"/proc/{waiting.pid}/status")
            caught = 1 << (signal.SIGUSR1 - 1)  # else the signal would end the program
            job.until(lambda: int(re.search(r"SigCgt:\t(\w+)", status.read_text())[1], 16) & caught)
            while waiting.poll() is None:
                waiting.send_signal(signal.SIGUSR1)
                time.sleep(0.01)
            assert waiting.stdout.read() == b"0\n"
        assert job.call("query_file", job.dw / "frame.nc") == job.complete


class TestTerminate:
    def test_a_stage_given_up_is_forgotten_and_writes_no_more(self, job):
        job.file(content=b"x" * 2_000_000)
        job.out(env=job.slow)
        job.until(lambda: (job.pfs / "frame.nc").exists())
        assert job.call("terminate_file", job.dw / "frame.nc") == 0
        assert job.call("query_file", job.dw / "frame.nc")[0] == -errno.EINVAL
        size = (job.pfs / "frame.nc").stat().st_size
        job.until(lambda: not job.copiers())
        assert (job.pfs / "frame.nc").stat().st_size == size < 2_000_000
        assert job.call("terminate_file", job.dw / "frame.nc") == -errno.EINVAL

    def test_one_of_a_directory_is_given_up_alone(self, job):
        for name in "abc":
            job.file(f"case/{name}", b"x" * 200_000)
        case = job.dw / "case"
        job.call("directory_out", case, job.pfs, "now", env=job.slow)
        assert job.call("terminate_file", case / "b") == 0
        assert job.call("wait_directory", case) == 0
        assert job.call("query_directory", case) == (0, 2, 0, 0, 0)

    def test_a_directory_and_a_list_are_given_up_together(self, job):
        for name in "ab":
            job.file(name, b"x" * 2_000_000)
        assert job.call("directory_out", job.dw, job.pfs, "now", env=job.slow) == 0
        assert job.call("terminate_directory", job.dw) == 0
        assert job.call("query_directory", job.dw) == (0, 0, 0, 0, 0)
        files = [job.dw / "a", job.dw / "b"]
        assert job.call("list_out", "now", job.pfs, *files, env=job.slow) == 0
        assert job.call("terminate_list", *files) == 0
        job.until(lambda: not job.copiers())


class TestManyCallers:
    def test_of_callers_at_once_one_stages_the_file(self, job):
        job.file(content=b"x" * 500_000)
        program = [job.prefix / "clients" / "dwcall", "file_out", job.dw / "frame.nc"]
        callers = [
            subprocess.Popen(
                [*program, job.pfs / str(i), "now"], env=job.environment | job.slow,
                stdout=subprocess.PIPE,
            )
            for i in range(12)
        ]  # fmt: skip
        said = sorted(int(caller.communicate()[0]) for caller in callers)
        assert said == [-errno.EBUSY] * 11 + [0]
        assert job.settled() == job.complete
        assert len(list(job.pfs.iterdir())) == 1

    def test_callers_with_threads_and_children_of_their_own_notice_nothing(self, job):
        folders = [job.dw / str(i) for i in range(3)]
        for folder in folders:
            folder.mkdir()
            (job.pfs / folder.name).mkdir()
        program = job.prefix / "clients" / "threads"
        callers = [
            subprocess.Popen([program, folder, job.pfs / folder.name, "8"], env=job.environment)
            for folder in folders
        ]
        assert [caller.wait(120) for caller in callers] == [0, 0, 0]
        assert job.call("query_directory", job.dw) == (0, 3 * 4 * 8, 0, 0, 0)
        for path in job.dw.rglob("*.*"):
            assert (job.pfs / path.relative_to(job.dw)).read_text() == str(path)

    @pytest.mark.parametrize("limit", [1, 3])
    def test_no_more_stages_copy_at_once_than_allowed(self, job, limit):
        assert job.call("concurrency", job.dw, "0") == -errno.EINVAL
        assert job.call("concurrency", job.dw, str(limit)) == 0
        for name in "abcde":
            job.file(name, b"x" * 100_000)
        # A second a file: as many as may are seen at once on a busy machine, too.
        slow = {"DW_EMULATOR_BANDWIDTH": "100000"}
        assert job.call("directory_out", job.dw, job.pfs, "now", env=slow) == 0
        most = 0

        def over():
            nonlocal most
            sizes = [path.stat().st_size for path in job.pfs.iterdir()]
            most = max(most, sum(0 < size < 100_000 for size in sizes))
            return sizes == [100_000] * 5

        job.until(over)
        assert most == limit


def test_stripes_are_kept_checked_and_inherited_by_files(job):
    lines = job.run("stripes", job.dw).stdout.splitlines()
    assert lines == [
        "default size 8388608 width>0 1 start>=0 1",
        "set 0",
        "file size 4194304 width>0 1 start>=0 1",
        "odd 1",
        "zero 1",
        "negative 1",
        "folder 0",
        "below size 1048576 width>0 1 start>=0 1",
        "late 0",
        "below size 1048576 width>0 1 start>=0 1",
        f"elsewhere errno {errno.ENODATA}",
        "elsewhere 1",
        f"closed errno {errno.EBADF}",
    ]
