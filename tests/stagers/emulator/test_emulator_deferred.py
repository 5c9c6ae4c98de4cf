"""Stages at the end of a job, alone and beside a burst-buffer service."""

from __future__ import annotations

import errno
import json
import shutil

import pytest

pytestmark = pytest.mark.slow


class TestDeferred:
    def test_it_is_carried_out_at_the_end_of_the_job(self, job):
        job.file()
        assert job.out(when="later") == 0
        assert job.call("query_file", job.dw / "frame.nc") == job.deferred
        assert job.out() == -errno.EBUSY
        assert not (job.pfs / "frame.nc").exists()
        assert job.tool("data-out", job.dw).returncode == 0
        assert job.call("query_file", job.dw / "frame.nc") == job.complete
        assert (job.pfs / "frame.nc").read_bytes() == b"frame"

    def test_a_program_that_swaps_its_results_leaves_the_last(self, job):
        done = job.run("deferred", job.dw, job.pfs, "5")
        assert done.stdout == "complete 0 pending 0 deferred 1 failed 0\n"
        assert job.tool("data-out", job.dw).returncode == 0
        assert (job.pfs / "result").read_text() == "result 4\n"

    def test_revoked_it_was_never_staged(self, job):
        job.file()
        job.out(when="later")
        assert job.call("file_out", job.dw / "frame.nc", "-", "revoke") == 0
        assert job.call("query_file", job.dw / "frame.nc")[0] == -errno.EINVAL
        assert job.call("file_out", job.dw / "frame.nc", "-", "revoke") == -errno.EINVAL
        job.tool("data-out", job.dw)
        assert list(job.pfs.iterdir()) == []

    def test_activated_it_is_staged_at_once(self, job):
        job.file()
        job.out(when="later")
        assert job.call("file_out", job.dw / "frame.nc", "-", "activate") == 0
        assert job.settled() == job.complete
        assert job.call("file_out", job.dw / "frame.nc", "-", "activate") == -errno.EINVAL

    def test_of_a_directory_what_was_put_off_is_activated(self, job):
        job.file("case/a")
        assert job.call("directory_out", job.dw / "case", "-", "activate") == -errno.EINVAL
        assert job.call("directory_out", job.dw / "case", job.pfs, "later") == 0
        job.file("case/b")
        assert job.call("directory_out", job.dw / "case", "-", "activate") == 0
        assert job.call("wait_directory", job.dw) == 0
        assert job.call("query_directory", job.dw) == (0, 1, 0, 0, 0)

    def test_a_list_is_revoked_as_a_whole_or_not_at_all(self, job):
        files = [job.file(name) for name in "ab"]
        assert job.call("list_out", "later", job.pfs, files[0]) == 0
        assert job.call("list_out", "revoke", "-", *files) == -errno.EINVAL
        assert job.call("query_file", files[0]) == job.deferred
        assert job.call("list_out", "revoke", "-", files[0]) == 0

    def test_the_end_of_a_job_reports_what_failed_and_waits_for_the_rest(self, job):
        job.file("a")
        job.file("slow", b"x" * 300_000)
        job.out("a", when="later")
        job.out("slow", env=job.slow)
        (job.pfs / "a").mkdir()
        done = job.tool("data-out", job.dw)
        assert done.returncode == 1
        assert f"{job.dw}/a: Is a directory" in done.stderr
        assert job.call("query_file", job.dw / "slow") == job.complete


class TestService:
    """An instance as a burst-buffer service keeps it: N/data, and N/deferred for the end."""

    @pytest.fixture
    def job(self, job, tmp_path):
        job.dw = tmp_path / "7" / "data"
        job.dw.mkdir(parents=True)
        (tmp_path / "7" / "deferred").mkdir()
        mount = tmp_path / "mount"
        mount.symlink_to(job.dw)
        job.environment["DW_PERSISTENT_STRIPED_storm"] = f"{mount}/"
        return job

    @property
    def names(self):
        return [
            "plain",
            'quo"te\\',
            "new\nline",
            "größe",
            "🌀",
            b"latin-\xe9".decode(errors="surrogateescape"),
        ]

    def requests(self, job):
        found = {}
        for path in sorted((job.dw.parent / "deferred").glob("*.json")):
            with open(path) as stream:
                found[path] = json.load(stream)
        return found

    def test_what_is_put_off_is_left_for_it_as_json(self, job):
        for name in self.names:
            job.file(name)
            assert job.out(name, when="later") == 0
        asked = [(one["source"], one["destination"]) for one in self.requests(job).values()]
        assert sorted(asked) == sorted((name, str(job.pfs / name)) for name in self.names)
        assert not (job.dw.parent / "stages").exists()
        assert sorted(path.name for path in job.dw.parent.iterdir()) == ["data", "deferred"]

    def test_what_it_has_carried_out_is_complete(self, job):
        job.file("a")
        job.file("b")
        job.out("a", when="later")
        job.out("b", when="later")
        for path, request in self.requests(job).items():
            if request["source"] == "a":
                shutil.copyfile(job.dw / "a", request["destination"])
            path.unlink()
        assert job.call("query_file", job.dw / "a") == job.complete
        assert job.call("query_file", job.dw / "b") == job.failed, "gone without a target"

    def test_what_is_revoked_or_activated_is_no_more_asked_of_it(self, job):
        for name in "abc":
            job.file(name)
            job.out(name, when="later")
        job.call("file_out", job.dw / "a", "-", "revoke")
        job.call("file_out", job.dw / "b", "-", "activate")
        job.call("terminate_file", job.dw / "c")
        assert self.requests(job) == {}
        assert job.settled("b") == job.complete

    def test_a_folder_for_the_state_is_used_where_it_made_one(self, job):
        (job.dw.parent / "stages").mkdir()
        job.file()
        job.out()
        assert job.settled() == job.complete
        assert list((job.dw.parent / "stages").iterdir())
        assert not list((job.dw.parent / "deferred").iterdir())
