"""Stages out and in, as C programs see them."""

from __future__ import annotations

import errno
import os
import signal
import subprocess

import pytest

pytestmark = pytest.mark.slow


class TestOut:
    def test_a_file_arrives_with_the_mode_of_the_umask(self, job):
        job.file(content=b"x" * 3_000_000).chmod(0o755)
        assert job.call("file_out", job.dw / "frame.nc", job.pfs / "a", "now", umask=0o027) == 0
        assert job.settled() == job.complete
        assert (job.pfs / "a").read_bytes() == b"x" * 3_000_000
        assert (job.pfs / "a").stat().st_mode & 0o777 == 0o640

    def test_an_empty_file_and_one_in_the_way_arrive(self, job):
        job.file(content=b"")
        (job.pfs / "frame.nc").write_bytes(b"older")
        assert job.out() == 0
        assert job.settled() == job.complete
        assert (job.pfs / "frame.nc").read_bytes() == b""

    def test_a_relative_target_is_below_the_callers_folder(self, job):
        job.file()
        assert job.call("file_out", job.dw / "frame.nc", "here", "now", cwd=job.pfs) == 0
        assert job.settled() == job.complete
        assert (job.pfs / "here").exists()

    def test_the_caller_that_is_killed_leaves_its_stage(self, job):
        job.file(content=b"x" * 700_000)
        words = ["--die", "file_out", job.dw / "frame.nc", job.pfs / "a", "now"]
        done = job.run("dwcall", *words, env=job.slow)
        assert (done.returncode, done.stdout) == (-signal.SIGKILL, "0\n")
        assert job.call("query_file", job.dw / "frame.nc") == job.pending
        assert job.settled() == job.complete
        assert (job.pfs / "a").stat().st_size == 700_000

    def test_another_program_sees_the_stage_end_by_asking(self, job):
        job.file(content=b"x" * 3_000_000)  # seconds: another program starts slowly when sanitized
        job.out(env=job.slow)
        done = job.run("poll", job.dw / "frame.nc")
        assert done.stdout == "complete 1 deferred 0 failed 0 seen 1\n"

    def test_another_program_needs_no_environment_to_find_the_instance(self, job):
        job.file()
        assert job.out() == 0
        del job.environment["DW_PERSISTENT_STRIPED_storm"]
        assert job.settled() == job.complete
        assert job.call("owns", job.dw / "new") == 1
        assert job.call("owns", job.pfs) == 0

    def test_a_file_that_is_being_staged_is_busy(self, job):
        job.file(content=b"x" * 1_000_000)
        assert job.out(env=job.slow) == 0
        assert job.out() == -errno.EBUSY
        (job.pfs / "in").touch()
        assert job.call("file_in", job.dw / "frame.nc", job.pfs / "in") == -errno.EBUSY
        assert (job.dw / "frame.nc").stat().st_size == 1_000_000, "truncated under the copier"
        assert job.call("terminate_file", job.dw / "frame.nc") == 0
        assert job.out() == 0
        assert job.settled() == job.complete

    @pytest.mark.parametrize(
        ("source", "target", "expected"),
        [
            ("gone", "a", errno.ENOENT),
            (".", "a", errno.EISDIR),
            ("pipe", "a", errno.EINVAL),
            ("frame.nc", "absent/a", errno.ENOENT),
            ("frame.nc", "old", errno.EISDIR),
            ("frame.nc", "file/a", errno.ENOTDIR),
            ("frame.nc", "-", errno.EINVAL),
            ("frame.nc", "../instance/b", errno.EINVAL),
            ("../pfs/file", "a", errno.EINVAL),
            ("link", "a", errno.EINVAL),
        ],
    )
    def test_what_cannot_be_staged_fails_at_the_call(self, job, source, target, expected):
        job.file()
        os.mkfifo(job.dw / "pipe")
        (job.dw / "link").symlink_to(job.pfs / "file")
        (job.pfs / "file").touch()
        (job.pfs / "old").mkdir()
        pfs = target if target == "-" else job.pfs / target
        assert job.call("file_out", job.dw / source, pfs, "now") == -expected
        assert sorted(path.name for path in job.pfs.iterdir()) == ["file", "old"]

    def test_a_folder_that_may_not_be_written_is_reported(self, job, ordinary):
        job.file()
        job.pfs.chmod(0o555)
        program = [*ordinary, job.prefix / "clients" / "dwcall"]
        for words in (
            ["file_out", job.dw / "frame.nc", job.pfs / "a", "now"],
            ["directory_out", job.dw, job.pfs, "now"],
            ["list_out", "now", job.pfs, job.dw / "frame.nc"],
        ):
            done = subprocess.run([*program, *words], env=job.environment, capture_output=True)
            assert int(done.stdout) == -errno.EACCES

    def test_what_an_unknown_type_asks_for_is_refused(self, job):
        job.file()
        assert job.out(when="4") == -errno.EINVAL

    def test_a_directory_goes_with_all_that_is_below_but_links(self, job):
        for name in ("a", "below/b", "below/deeper/c"):
            job.file(f"case/{name}", name.encode())
        (job.dw / "case" / "link").symlink_to("a")
        assert job.call("directory_out", job.dw / "case", job.pfs, "now") == 0
        assert job.call("wait_directory", job.dw / "case") == 0
        assert job.call("query_directory", job.dw / "case") == (0, 3, 0, 0, 0)
        assert {str(p.relative_to(job.pfs)): p.read_text() for p in job.pfs.rglob("*[abck]")} == {
            "a": "a", "below/b": "below/b", "below/deeper/c": "below/deeper/c"
        }  # fmt: skip

    def test_a_directory_goes_as_it_was_at_the_call(self, job):
        job.file("case/a", b"x" * 500_000)
        assert job.call("directory_out", job.dw / "case", job.pfs, "now", env=job.slow) == 0
        job.file("case/later")
        assert job.call("wait_directory", job.dw) == 0
        assert [path.name for path in job.pfs.iterdir()] == ["a"]

    def test_a_directory_needs_its_target(self, job):
        job.file("case/a")
        absent, plain = job.pfs / "absent", job.pfs / "file"
        plain.touch()
        case = job.dw / "case"
        assert job.call("directory_out", case, absent, "now") == -errno.ENOENT
        assert job.call("directory_out", case, plain, "now") == -errno.ENOTDIR
        assert job.call("directory_out", case / "a", job.pfs, "now") == -errno.ENOTDIR
        assert job.call("directory_out", job.dw / "no", job.pfs, "now") == -errno.ENOENT
        assert not absent.exists()

    def test_one_busy_file_keeps_the_whole_directory_back(self, job):
        job.file("case/a")
        job.file("case/b", b"x" * 1_000_000)
        job.call("file_out", job.dw / "case" / "b", job.pfs / "b", "now", env=job.slow)
        case = job.dw / "case"
        assert job.call("directory_out", case, job.pfs, "now") == -errno.EBUSY
        assert job.call("query_file", case / "a")[0] == -errno.EINVAL

    def test_a_list_goes_by_the_names_of_its_files(self, job):
        files = [job.file(f"{name}/{name}", name.encode()) for name in "abc"]
        assert job.call("list_out", "now", job.pfs, *files) == 0
        assert job.call("wait_list", *files) == 0
        assert job.call("query_list", *files) == (0, 3, 0, 0, 0)
        assert {path.name: path.read_text() for path in job.pfs.iterdir()} == dict(
            zip("abc", "abc", strict=True)
        )

    def test_a_list_with_a_missing_file_starts_nothing(self, job):
        here = job.file()
        assert job.call("list_out", "now", job.pfs, here, job.dw / "no") == -errno.ENOENT
        assert job.call("query_file", here)[0] == -errno.EINVAL


class TestIn:
    def test_the_file_is_there_at_once_empty_and_never_executable(self, job):
        (job.pfs / "model").write_bytes(b"x" * 500_000)
        (job.pfs / "model").chmod(0o755)
        job.file("model", b"an older and longer one" * 20_000).chmod(0o755)
        assert job.call("file_in", job.dw / "model", job.pfs / "model", env=job.slow) == 0
        assert (job.dw / "model").stat().st_size < 500_000
        assert job.settled("model") == job.complete
        assert (job.dw / "model").read_bytes() == b"x" * 500_000
        assert (job.dw / "model").stat().st_mode & 0o111 == 0

    def test_a_directory_and_a_list_come_in_without_links(self, job):
        (job.pfs / "below").mkdir()
        for name in ("a", "below/b"):
            (job.pfs / name).write_text(name)
        (job.pfs / "link").symlink_to("a")
        assert job.call("directory_in", job.dw, job.pfs) == 0
        assert job.call("wait_directory", job.dw) == 0
        assert job.call("query_directory", job.dw) == (0, 2, 0, 0, 0)
        assert (job.dw / "below" / "b").read_text() == "below/b"
        assert not (job.dw / "link").exists()
        (job.dw / "list").mkdir()
        assert job.call("list_in", job.dw / "list", job.pfs / "a", job.pfs / "below" / "b") == 0
        assert job.settled("list/a") == job.settled("list/b") == job.complete

    @pytest.mark.parametrize(
        ("target", "source", "expected"),
        [
            ("new", "gone", errno.ENOENT),
            ("new", ".", errno.EISDIR),
            ("absent/new", "a", errno.ENOENT),
            (".", "a", errno.EISDIR),
            ("../pfs/new", "a", errno.EINVAL),
        ],
    )
    def test_what_cannot_come_in_is_reported_and_nothing_is_made(
        self, job, target, source, expected
    ):
        (job.pfs / "a").touch()
        assert job.call("file_in", job.dw / target, job.pfs / source) == -expected
        assert not (job.dw / "new").exists()
        assert not (job.pfs / "new").exists()
