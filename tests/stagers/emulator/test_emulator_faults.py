"""Trouble made on purpose, copiers that die."""

from __future__ import annotations

import errno
import os
import signal
import subprocess

import pytest

pytestmark = pytest.mark.slow


class TestFaults:
    def test_a_failed_stage_has_its_errno_and_can_be_started_again(self, job):
        trouble = {"DW_EMULATOR_FAULTS": "EIO:*/checkpoint.0001:1 EDQUOT:*/checkpoint.0003"}
        done = job.run("checkpoint", job.dw, job.pfs, "4", env=trouble)
        assert done.stdout.splitlines() == [
            "complete 2 pending 0 deferred 0 failed 2",
            f"failed {job.dw}/checkpoint.0001 {errno.EIO} 1",
            f"failed {job.dw}/checkpoint.0003 {errno.EDQUOT} 1",
            "complete 3 pending 0 deferred 0 failed 1",
            f"failed {job.dw}/checkpoint.0003 {errno.EDQUOT} 1",
        ]
        assert done.returncode == 1
        for name in ("checkpoint.0000", "checkpoint.0001", "checkpoint.0002"):
            assert (job.pfs / name).read_bytes() == (job.dw / name).read_bytes()

    def test_a_failed_stage_is_on_record_until_it_is_given_up_or_unlinked(self, job):
        for name in "ab":
            job.file(name)
            job.out(name, env={"DW_EMULATOR_FAULTS": "EIO:*"})
            assert job.settled(name) == job.failed
        assert job.call("terminate_file", job.dw / "a") == 0
        (job.dw / "b").unlink()
        assert job.call("query_directory", job.dw) == (0, 0, 0, 0, 0)

    @pytest.mark.parametrize("name", ["EBUSY", "EAGAIN", "ENOBUFS", "call-ENOSPC", "call-EIO"])
    def test_a_call_fails_as_the_fault_says_and_starts_nothing(self, job, name):
        job.file()
        expected = getattr(errno, name.removeprefix("call-"))
        assert job.out(env={"DW_EMULATOR_FAULTS": f"{name}:*/frame.nc"}) == -expected
        assert job.call("query_file", job.dw / "frame.nc")[0] == -errno.EINVAL
        assert job.out(env={"DW_EMULATOR_FAULTS": f"{name}:*/other"}) == 0

    def test_only_the_nth_stage_fails(self, job):
        trouble = {"DW_EMULATOR_FAULTS": "EIO:*:@3"}
        seen = []
        for name in "abcd":
            job.file(name)
            job.out(name, env=trouble)
            seen.append(job.settled(name))
        assert seen == [job.complete, job.complete, job.failed, job.complete]

    def test_a_copier_that_is_killed_has_failed_its_stage(self, job):
        job.file(content=b"x" * 2_000_000)
        job.out(env=job.slow)
        (copier,) = job.until(job.copiers)
        assert job.call("query_file", job.dw / "frame.nc") == job.pending
        os.kill(copier, signal.SIGKILL)
        assert job.settled() == job.failed
        assert job.out() == 0
        assert job.settled() == job.complete
        assert (job.pfs / "frame.nc").stat().st_size == 2_000_000

    def test_one_that_kills_itself_half_way_leaves_half(self, job):
        job.file(content=b"x" * 1000)
        job.out(env={"DW_EMULATOR_FAULTS": "kill:*"})
        assert job.settled() == job.failed
        assert (job.pfs / "frame.nc").stat().st_size == 500
        assert (
            f"{job.dw}/frame.nc -> {job.pfs}/frame.nc  (Input/output error)"
            in job.tool("status", job.dw).stdout
        )

    def test_a_stage_that_never_ends_can_be_given_up(self, job):
        job.file(content=b"x" * 1000)
        job.out(env={"DW_EMULATOR_FAULTS": "hang:*"})
        job.until(lambda: (job.pfs / "frame.nc").exists() and (job.pfs / "frame.nc").stat().st_size)
        assert job.call("query_file", job.dw / "frame.nc") == job.pending
        assert job.call("terminate_file", job.dw / "frame.nc") == 0
        job.until(lambda: not job.copiers())

    def test_a_copier_ends_when_its_instance_is_destroyed(self, job):
        job.file()
        job.out(env={"DW_EMULATOR_FAULTS": "hang:*"})
        job.until(job.copiers)
        # The copier takes its own files away meanwhile, which rm lets pass.
        subprocess.run(["rm", "-rf", job.dw, job.state], check=True)
        job.until(lambda: not job.copiers())

    def test_a_short_copy_says_that_it_is_complete(self, job):
        job.file(content=b"x" * 1000)
        job.out(env={"DW_EMULATOR_FAULTS": "short:*/frame.nc:1"})
        assert job.settled() == job.complete
        assert (job.pfs / "frame.nc").stat().st_size == 500

    def test_a_misspelt_fault_is_reported(self, job):
        job.file()
        assert job.out(env={"DW_EMULATOR_FAULTS": "EOI:*"}) == -errno.EINVAL
        assert job.tool("faults", job.dw, "hung:*").returncode == 2

    def test_the_tool_sets_and_clears_faults_and_counting_begins_anew(self, job):
        job.file()
        for _ in range(2):
            assert job.tool("faults", job.dw, "EBUSY:*:1", "delay=0.05").returncode == 0
            assert job.out() == -errno.EBUSY
            assert job.out() == 0
            assert job.settled() == job.complete
        assert job.tool("faults", job.dw).returncode == 0
        assert job.out() == 0

    def test_a_limit_on_the_size_of_files_fails_the_stage(self, job):
        job.file(content=b"x" * 3_000_000)
        limited = ["prlimit", "--fsize=2000000", str(job.prefix / "clients" / "dwcall")]
        words = ["file_out", job.dw / "frame.nc", job.pfs / "a", "now"]
        subprocess.run([*limited, *words], env=job.environment, check=True, capture_output=True)
        assert job.settled() == job.failed
        assert "File too large" in job.tool("status", job.dw / "frame.nc").stdout
