"""The emulator of libdatawarp, seen by C programs that were written for the library."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from burstlens.errors import SiteError
from burstlens.stagers import emulator

CLIENTS = Path(__file__).parent / "clients"
COMPLETE, PENDING, DEFERRED, FAILED = [[0, *(int(i == at) for i in range(4))] for at in range(4)]
SANITIZE = ("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined")
SLOW = {"DW_EMULATOR_BANDWIDTH": "1000000"}

pytestmark = pytest.mark.skipif(
    not (shutil.which("cc") and shutil.which("pkg-config")),
    reason="the emulator and its C clients need cc and pkg-config",
)


def compile_clients(prefix: Path, *flags: str) -> None:
    """As their authors would: the library is found by pkg-config alone."""
    environment = os.environ | {"PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")}
    found = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "cray-datawarp"],
        env=environment, capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    (prefix / "clients").mkdir()
    for source in CLIENTS.glob("*.c"):
        subprocess.run(
            ["cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-pthread", *flags, source,
             "-o", prefix / "clients" / source.stem, *found],
            check=True,
        )  # fmt: skip


@pytest.fixture(scope="session")
def plain(tmp_path_factory):
    prefix = tmp_path_factory.mktemp("plain")
    emulator.build(prefix, ("-Werror", "-Wshadow"))
    compile_clients(prefix)
    return prefix


@pytest.fixture(scope="session")
def sanitized(tmp_path_factory):
    """Library, program and clients with the sanitizers of addresses and of undefined behaviour."""
    prefix = tmp_path_factory.mktemp("sanitized")
    try:
        emulator.build(prefix, SANITIZE)
    except SiteError:
        pytest.skip("this compiler has no address sanitizer")
    compile_clients(prefix, *SANITIZE)
    return prefix


@dataclass
class Job:
    """A job that holds one instance: its environment, the clients, the two file systems."""

    prefix: Path
    dw: Path
    pfs: Path
    environment: dict[str, str]

    def run(self, *words, env=None, timeout=30, **how):
        done = subprocess.run(
            [self.prefix / "clients" / words[0], *words[1:]],
            env=self.environment | (env or {}), capture_output=True, text=True, timeout=timeout,
            **how,
        )  # fmt: skip
        assert "Sanitizer" not in done.stderr, done.stderr
        assert "runtime error" not in done.stderr, done.stderr
        return done

    def call(self, *words, env=None, **how):
        """What a call returned, and the counts of a query."""
        done = self.run("dwcall", *words, env=env, **how)
        assert done.stdout, (words, done.returncode, done.stderr)
        numbers = [int(word) for word in done.stdout.split()]
        return numbers if len(numbers) > 1 else numbers[0]

    def tool(self, *words):
        return subprocess.run(
            [self.prefix / "bin" / "dw-emulator", *words],
            env=self.environment, capture_output=True, text=True, timeout=30,
        )  # fmt: skip

    def file(self, name="frame.nc", content=b"frame"):
        path = self.dw / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    def out(self, name="frame.nc", when="now", env=None):
        """Start staging a file of the instance out under its own name."""
        return self.call("file_out", self.dw / name, self.pfs / Path(name).name, when, env=env)

    def settled(self, name="frame.nc"):
        """Wait for a file's stage, then ask for it."""
        self.call("wait_file", self.dw / name)
        return self.call("query_file", self.dw / name)

    @property
    def state(self):
        return self.dw.with_name(self.dw.name + ".stages")

    def copiers(self):
        """The processes that copy for this instance."""
        found = []
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_bytes().split(b"\0")
                if words[1:3] == [b"copy", os.fsencode(self.state)]:
                    found.append(int(entry.name))
        return found


@pytest.fixture(params=["plain", "sanitized"])
def job(request, tmp_path):
    made = Job(
        request.getfixturevalue(request.param), tmp_path / "instance", tmp_path / "pfs",
        {key: value for key, value in os.environ.items() if not key.startswith("DW_")},
    )  # fmt: skip
    made.dw.mkdir()
    made.pfs.mkdir()
    made.environment["DW_PERSISTENT_STRIPED_storm"] = f"{made.dw}/"
    yield made
    for pid in made.copiers():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def until(condition, seconds=20.0):
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "never came true"
        time.sleep(0.005)
    return found


class TestOut:
    def test_a_file_arrives_with_the_mode_of_the_umask(self, job):
        job.file(content=b"x" * 3_000_000).chmod(0o755)
        assert job.call("file_out", job.dw / "frame.nc", job.pfs / "a", "now", umask=0o027) == 0
        assert job.settled() == COMPLETE
        assert (job.pfs / "a").read_bytes() == b"x" * 3_000_000
        assert (job.pfs / "a").stat().st_mode & 0o777 == 0o640

    def test_an_empty_file_and_one_in_the_way_arrive(self, job):
        job.file(content=b"")
        (job.pfs / "frame.nc").write_bytes(b"older")
        assert job.out() == 0
        assert job.settled() == COMPLETE
        assert (job.pfs / "frame.nc").read_bytes() == b""

    def test_a_relative_target_is_below_the_callers_folder(self, job):
        job.file()
        assert job.call("file_out", job.dw / "frame.nc", "here", "now", cwd=job.pfs) == 0
        assert job.settled() == COMPLETE
        assert (job.pfs / "here").exists()

    def test_the_caller_that_is_killed_leaves_its_stage(self, job):
        job.file(content=b"x" * 400_000)
        words = ["--die", "file_out", job.dw / "frame.nc", job.pfs / "a", "now"]
        done = job.run("dwcall", *words, env=SLOW)
        assert (done.returncode, done.stdout) == (-signal.SIGKILL, "0\n")
        assert job.call("query_file", job.dw / "frame.nc") == PENDING
        assert job.settled() == COMPLETE
        assert (job.pfs / "a").stat().st_size == 400_000

    def test_another_program_sees_the_stage_end_by_asking(self, job):
        job.file(content=b"x" * 300_000)
        job.out(env=SLOW)
        done = job.run("poll", job.dw / "frame.nc")
        assert done.stdout == "complete 1 deferred 0 failed 0 seen 1\n"

    def test_another_program_needs_no_environment_to_find_the_instance(self, job):
        job.file()
        assert job.out() == 0
        del job.environment["DW_PERSISTENT_STRIPED_storm"]
        assert job.settled() == COMPLETE
        assert job.call("owns", job.dw / "new") == 1
        assert job.call("owns", job.pfs) == 0

    def test_a_file_that_is_being_staged_is_busy(self, job):
        job.file(content=b"x" * 1_000_000)
        assert job.out(env=SLOW) == 0
        assert job.out() == -errno.EBUSY
        (job.pfs / "in").touch()
        assert job.call("file_in", job.dw / "frame.nc", job.pfs / "in") == -errno.EBUSY
        assert (job.dw / "frame.nc").stat().st_size == 1_000_000, "truncated under the copier"
        assert job.call("terminate_file", job.dw / "frame.nc") == 0
        assert job.out() == 0
        assert job.settled() == COMPLETE

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
    def test_what_cannot_be_staged_is_told_at_the_call(self, job, source, target, expected):
        job.file()
        os.mkfifo(job.dw / "pipe")
        (job.dw / "link").symlink_to(job.pfs / "file")
        (job.pfs / "file").touch()
        (job.pfs / "old").mkdir()
        pfs = target if target == "-" else job.pfs / target
        assert job.call("file_out", job.dw / source, pfs, "now") == -expected
        assert sorted(path.name for path in job.pfs.iterdir()) == ["file", "old"]

    def test_a_folder_that_may_not_be_written_is_told(self, job, ordinary):
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
        assert job.call("query_directory", job.dw / "case") == [0, 3, 0, 0, 0]
        assert {str(p.relative_to(job.pfs)): p.read_text() for p in job.pfs.rglob("*[abck]")} == {
            "a": "a", "below/b": "below/b", "below/deeper/c": "below/deeper/c"
        }  # fmt: skip

    def test_a_directory_goes_as_it_was_at_the_call(self, job):
        job.file("case/a", b"x" * 200_000)
        assert job.call("directory_out", job.dw / "case", job.pfs, "now", env=SLOW) == 0
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
        job.call("file_out", job.dw / "case" / "b", job.pfs / "b", "now", env=SLOW)
        case = job.dw / "case"
        assert job.call("directory_out", case, job.pfs, "now") == -errno.EBUSY
        assert job.call("query_file", case / "a")[0] == -errno.EINVAL

    def test_a_list_goes_by_the_names_of_its_files(self, job):
        files = [job.file(f"{name}/{name}", name.encode()) for name in "abc"]
        assert job.call("list_out", "now", job.pfs, *files) == 0
        assert job.call("wait_list", *files) == 0
        assert job.call("query_list", *files) == [0, 3, 0, 0, 0]
        assert {path.name: path.read_text() for path in job.pfs.iterdir()} == dict(
            zip("abc", "abc", strict=True)
        )

    def test_a_list_with_a_missing_file_starts_nothing(self, job):
        here = job.file()
        assert job.call("list_out", "now", job.pfs, here, job.dw / "no") == -errno.ENOENT
        assert job.call("query_file", here)[0] == -errno.EINVAL


class TestIn:
    def test_the_file_is_there_at_once_empty_and_never_executable(self, job):
        (job.pfs / "model").write_bytes(b"x" * 200_000)
        (job.pfs / "model").chmod(0o755)
        job.file("model", b"an older and longer one" * 20_000).chmod(0o755)
        assert job.call("file_in", job.dw / "model", job.pfs / "model", env=SLOW) == 0
        assert (job.dw / "model").stat().st_size < 200_000
        assert job.settled("model") == COMPLETE
        assert (job.dw / "model").read_bytes() == b"x" * 200_000
        assert (job.dw / "model").stat().st_mode & 0o111 == 0

    def test_a_directory_and_a_list_come_in_without_links(self, job):
        (job.pfs / "below").mkdir()
        for name in ("a", "below/b"):
            (job.pfs / name).write_text(name)
        (job.pfs / "link").symlink_to("a")
        assert job.call("directory_in", job.dw, job.pfs) == 0
        assert job.call("wait_directory", job.dw) == 0
        assert job.call("query_directory", job.dw) == [0, 2, 0, 0, 0]
        assert (job.dw / "below" / "b").read_text() == "below/b"
        assert not (job.dw / "link").exists()
        (job.dw / "list").mkdir()
        assert job.call("list_in", job.dw / "list", job.pfs / "a", job.pfs / "below" / "b") == 0
        assert job.settled("list/a") == job.settled("list/b") == COMPLETE

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
    def test_what_cannot_come_in_is_told_and_nothing_is_made(self, job, target, source, expected):
        (job.pfs / "a").touch()
        assert job.call("file_in", job.dw / target, job.pfs / source) == -expected
        assert not (job.dw / "new").exists()
        assert not (job.pfs / "new").exists()


class TestQuestions:
    def test_a_file_not_there_and_one_never_staged_are_told_apart(self, job):
        job.file()
        for call in ("query_file", "query_list"):
            assert job.call(call, job.dw / "no") == [-errno.ENOENT, -1, -1, -1, -1]
            assert job.call(call, job.dw / "frame.nc") == [-errno.EINVAL, -1, -1, -1, -1]
        for call in ("wait_file", "terminate_file", "wait_list", "terminate_list"):
            assert job.call(call, job.dw / "no") == -errno.ENOENT
            assert job.call(call, job.dw / "frame.nc") == -errno.EINVAL

    def test_a_directory_without_stages_counts_nothing(self, job):
        job.file()
        assert job.call("query_directory", job.dw) == [0, 0, 0, 0, 0]
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
        assert job.settled("inner/frame.nc") == COMPLETE
        assert (job.dw / "inner.stages").is_dir()
        assert not job.state.exists()

    def test_a_file_made_anew_under_the_name_was_never_staged(self, job):
        job.file()
        job.out()
        assert job.settled() == COMPLETE
        (job.dw / "frame.nc").rename(job.dw / "moved.nc")
        job.file()
        assert job.call("query_file", job.dw / "frame.nc")[0] == -errno.EINVAL
        assert job.call("query_file", job.dw / "moved.nc") == COMPLETE

    def test_no_signal_ends_a_wait(self, job):
        job.file(content=b"x" * 600_000)
        job.out(env=SLOW)
        program = [job.prefix / "clients" / "dwcall", "wait_file", job.dw / "frame.nc"]
        with subprocess.Popen(program, env=job.environment, stdout=subprocess.PIPE) as waiting:
            time.sleep(0.1)  # the handler is set by then, or the signal would end the program
            while waiting.poll() is None:
                waiting.send_signal(signal.SIGUSR1)
                time.sleep(0.01)
            assert waiting.stdout.read() == b"0\n"
        assert job.call("query_file", job.dw / "frame.nc") == COMPLETE


class TestTerminate:
    def test_a_stage_given_up_is_forgotten_and_writes_no_more(self, job):
        job.file(content=b"x" * 2_000_000)
        job.out(env=SLOW)
        until(lambda: (job.pfs / "frame.nc").exists())
        assert job.call("terminate_file", job.dw / "frame.nc") == 0
        assert job.call("query_file", job.dw / "frame.nc")[0] == -errno.EINVAL
        size = (job.pfs / "frame.nc").stat().st_size
        until(lambda: not job.copiers())
        assert (job.pfs / "frame.nc").stat().st_size == size < 2_000_000
        assert job.call("terminate_file", job.dw / "frame.nc") == -errno.EINVAL

    def test_one_of_a_directory_is_given_up_alone(self, job):
        for name in "abc":
            job.file(f"case/{name}", b"x" * 200_000)
        case = job.dw / "case"
        job.call("directory_out", case, job.pfs, "now", env=SLOW)
        assert job.call("terminate_file", case / "b") == 0
        assert job.call("wait_directory", case) == 0
        assert job.call("query_directory", case) == [0, 2, 0, 0, 0]

    def test_a_directory_and_a_list_are_given_up_together(self, job):
        for name in "ab":
            job.file(name, b"x" * 2_000_000)
        assert job.call("directory_out", job.dw, job.pfs, "now", env=SLOW) == 0
        assert job.call("terminate_directory", job.dw) == 0
        assert job.call("query_directory", job.dw) == [0, 0, 0, 0, 0]
        files = [job.dw / "a", job.dw / "b"]
        assert job.call("list_out", "now", job.pfs, *files, env=SLOW) == 0
        assert job.call("terminate_list", *files) == 0
        until(lambda: not job.copiers())


class TestDeferred:
    def test_it_is_carried_out_at_the_end_of_the_job(self, job):
        job.file()
        assert job.out(when="later") == 0
        assert job.call("query_file", job.dw / "frame.nc") == DEFERRED
        assert job.out() == -errno.EBUSY
        assert not (job.pfs / "frame.nc").exists()
        assert job.tool("data-out", job.dw).returncode == 0
        assert job.call("query_file", job.dw / "frame.nc") == COMPLETE
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
        assert job.settled() == COMPLETE
        assert job.call("file_out", job.dw / "frame.nc", "-", "activate") == -errno.EINVAL

    def test_of_a_directory_what_was_put_off_is_activated(self, job):
        job.file("case/a")
        assert job.call("directory_out", job.dw / "case", "-", "activate") == -errno.EINVAL
        assert job.call("directory_out", job.dw / "case", job.pfs, "later") == 0
        job.file("case/b")
        assert job.call("directory_out", job.dw / "case", "-", "activate") == 0
        assert job.call("wait_directory", job.dw) == 0
        assert job.call("query_directory", job.dw) == [0, 1, 0, 0, 0]

    def test_a_list_is_revoked_as_a_whole_or_not_at_all(self, job):
        files = [job.file(name) for name in "ab"]
        assert job.call("list_out", "later", job.pfs, files[0]) == 0
        assert job.call("list_out", "revoke", "-", *files) == -errno.EINVAL
        assert job.call("query_file", files[0]) == DEFERRED
        assert job.call("list_out", "revoke", "-", files[0]) == 0

    def test_the_end_of_a_job_tells_what_failed_and_waits_for_the_rest(self, job):
        job.file("a")
        job.file("slow", b"x" * 300_000)
        job.out("a", when="later")
        job.out("slow", env=SLOW)
        (job.pfs / "a").mkdir()
        done = job.tool("data-out", job.dw)
        assert done.returncode == 1
        assert f"{job.dw}/a: Is a directory" in done.stderr
        assert job.call("query_file", job.dw / "slow") == COMPLETE


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
        told = [(one["source"], one["destination"]) for one in self.requests(job).values()]
        assert sorted(told) == sorted((name, str(job.pfs / name)) for name in self.names)
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
        assert job.call("query_file", job.dw / "a") == COMPLETE
        assert job.call("query_file", job.dw / "b") == FAILED, "gone without a target"

    def test_what_is_revoked_or_activated_is_no_more_asked_of_it(self, job):
        for name in "abc":
            job.file(name)
            job.out(name, when="later")
        job.call("file_out", job.dw / "a", "-", "revoke")
        job.call("file_out", job.dw / "b", "-", "activate")
        job.call("terminate_file", job.dw / "c")
        assert self.requests(job) == {}
        assert job.settled("b") == COMPLETE

    def test_a_folder_for_the_state_is_used_where_it_made_one(self, job):
        (job.dw.parent / "stages").mkdir()
        job.file()
        job.out()
        assert job.settled() == COMPLETE
        assert list((job.dw.parent / "stages").iterdir())
        assert not list((job.dw.parent / "deferred").iterdir())


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
            assert job.settled(name) == FAILED
        assert job.call("terminate_file", job.dw / "a") == 0
        (job.dw / "b").unlink()
        assert job.call("query_directory", job.dw) == [0, 0, 0, 0, 0]

    @pytest.mark.parametrize("name", ["EBUSY", "EAGAIN", "ENOBUFS", "call-ENOSPC", "call-EIO"])
    def test_a_call_fails_as_told_and_starts_nothing(self, job, name):
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
        assert seen == [COMPLETE, COMPLETE, FAILED, COMPLETE]

    def test_a_copier_that_is_killed_has_failed_its_stage(self, job):
        job.file(content=b"x" * 2_000_000)
        job.out(env=SLOW)
        (copier,) = until(job.copiers)
        assert job.call("query_file", job.dw / "frame.nc") == PENDING
        os.kill(copier, signal.SIGKILL)
        assert job.settled() == FAILED
        assert job.out() == 0
        assert job.settled() == COMPLETE
        assert (job.pfs / "frame.nc").stat().st_size == 2_000_000

    def test_one_that_kills_itself_half_way_leaves_half(self, job):
        job.file(content=b"x" * 1000)
        job.out(env={"DW_EMULATOR_FAULTS": "kill:*"})
        assert job.settled() == FAILED
        assert (job.pfs / "frame.nc").stat().st_size == 500
        assert (
            f"{job.dw}/frame.nc -> {job.pfs}/frame.nc  (Input/output error)"
            in job.tool("status", job.dw).stdout
        )

    def test_a_stage_that_never_ends_can_be_given_up(self, job):
        job.file(content=b"x" * 1000)
        job.out(env={"DW_EMULATOR_FAULTS": "hang:*"})
        until(lambda: (job.pfs / "frame.nc").exists() and (job.pfs / "frame.nc").stat().st_size)
        assert job.call("query_file", job.dw / "frame.nc") == PENDING
        assert job.call("terminate_file", job.dw / "frame.nc") == 0
        until(lambda: not job.copiers())

    def test_a_copier_ends_when_its_instance_is_destroyed(self, job):
        job.file()
        job.out(env={"DW_EMULATOR_FAULTS": "hang:*"})
        until(job.copiers)
        shutil.rmtree(job.dw)
        shutil.rmtree(job.state)
        until(lambda: not job.copiers())

    def test_a_short_copy_says_that_it_is_complete(self, job):
        job.file(content=b"x" * 1000)
        job.out(env={"DW_EMULATOR_FAULTS": "short:*/frame.nc:1"})
        assert job.settled() == COMPLETE
        assert (job.pfs / "frame.nc").stat().st_size == 500

    def test_a_misspelt_fault_is_told(self, job):
        job.file()
        assert job.out(env={"DW_EMULATOR_FAULTS": "EOI:*"}) == -errno.EINVAL
        assert job.tool("faults", job.dw, "hung:*").returncode == 2

    def test_the_tool_sets_and_clears_faults_and_counting_begins_anew(self, job):
        job.file()
        for _ in range(2):
            assert job.tool("faults", job.dw, "EBUSY:*:1", "delay=0.05").returncode == 0
            assert job.out() == -errno.EBUSY
            assert job.out() == 0
            assert job.settled() == COMPLETE
        assert job.tool("faults", job.dw).returncode == 0
        assert job.out() == 0

    def test_a_limit_on_the_size_of_files_fails_the_stage(self, job):
        job.file(content=b"x" * 3_000_000)
        limited = ["prlimit", "--fsize=2000000", str(job.prefix / "clients" / "dwcall")]
        words = ["file_out", job.dw / "frame.nc", job.pfs / "a", "now"]
        subprocess.run([*limited, *words], env=job.environment, check=True, capture_output=True)
        assert job.settled() == FAILED
        assert "File too large" in job.tool("status", job.dw / "frame.nc").stdout


class TestManyCallers:
    def test_of_callers_at_once_one_stages_the_file(self, job):
        job.file(content=b"x" * 500_000)
        program = [job.prefix / "clients" / "dwcall", "file_out", job.dw / "frame.nc"]
        callers = [
            subprocess.Popen(
                [*program, job.pfs / str(i), "now"], env=job.environment | SLOW,
                stdout=subprocess.PIPE,
            )
            for i in range(12)
        ]  # fmt: skip
        said = sorted(int(caller.communicate()[0]) for caller in callers)
        assert said == [-errno.EBUSY] * 11 + [0]
        assert job.settled() == COMPLETE
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
        assert [caller.wait(30) for caller in callers] == [0, 0, 0]
        assert job.call("query_directory", job.dw) == [0, 3 * 4 * 8, 0, 0, 0]
        for path in job.dw.rglob("*.*"):
            assert (job.pfs / path.relative_to(job.dw)).read_text() == str(path)

    @pytest.mark.parametrize("limit", [1, 3])
    def test_no_more_stages_copy_at_once_than_allowed(self, job, limit):
        assert job.call("concurrency", job.dw, "0") == -errno.EINVAL
        assert job.call("concurrency", job.dw, str(limit)) == 0
        for name in "abcde":
            job.file(name, b"x" * 100_000)
        assert job.call("directory_out", job.dw, job.pfs, "now", env=SLOW) == 0
        most = 0

        def over():
            nonlocal most
            sizes = [path.stat().st_size for path in job.pfs.iterdir()]
            most = max(most, sum(0 < size < 100_000 for size in sizes))
            return sizes == [100_000] * 5

        until(over)
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


def test_records_of_files_that_have_gone_are_swept(plain, tmp_path):
    (tmp_path / "i").mkdir()
    job = Job(plain, tmp_path / "i", tmp_path, os.environ | {"DW_JOB_STRIPED": f"{tmp_path}/i"})
    (job.dw / "stays").write_text("a")
    assert job.call("file_out", job.dw / "stays", tmp_path / "stays", "now") == 0
    for i in range(255):
        (job.dw / "frame").write_text(str(i))
        subprocess.run(
            [plain / "clients" / "dwcall", "file_out", job.dw / "frame", tmp_path / "a", "now"],
            env=job.environment, check=True, capture_output=True,
        )  # fmt: skip
        subprocess.run([plain / "clients" / "poll", job.dw / "frame"], env=job.environment)
        (job.dw / "frame").rename(tmp_path / "old")
    until(lambda: len([path for path in job.state.iterdir() if "-" in path.name]) < 10)
    assert job.call("query_file", job.dw / "stays") == COMPLETE


class TestBuild:
    def test_it_says_that_it_is_an_emulator(self, plain):
        says = b"Burstlens emulator of libdatawarp"
        assert says in (plain / "lib" / "libdatawarp.so").read_bytes()
        assert "mulator" in (plain / "lib" / "pkgconfig" / "cray-datawarp.pc").read_text()
        assert "EMULATOR" in (plain / "include" / "datawarp.h").read_text()
        tool = subprocess.run([plain / "bin" / "dw-emulator"], capture_output=True, text=True)
        assert "emulator" in tool.stderr

    def test_only_what_the_header_declares_is_exported(self, plain):
        listed = subprocess.run(
            ["nm", "-D", "--defined-only", plain / "lib" / "libdatawarp.so"],
            capture_output=True, text=True, check=True,
        ).stdout.split()[2::3]  # fmt: skip
        header = (plain / "include" / "datawarp.h").read_text()
        assert listed
        assert [name for name in listed if f"{name}(" not in header and name != "dw_emulator"] == []

    def test_its_header_serves_a_cxx_program(self, plain, tmp_path):
        if not shutil.which("c++"):
            pytest.skip("no c++ here")
        (tmp_path / "a.cc").write_text(
            '#include <datawarp.h>\nint main() { return dw_emulator_owns("/nowhere/at/all"); }\n'
        )
        subprocess.run(
            ["c++", "-Wall", "-Wextra", "-Werror", f"-I{plain}/include", tmp_path / "a.cc", "-o",
             tmp_path / "a", f"-L{plain}/lib", "-ldatawarp", f"-Wl,-rpath,{plain}/lib"],
            check=True,
        )  # fmt: skip
        assert subprocess.run([tmp_path / "a"]).returncode == 0

    def test_it_is_built_again_only_when_it_changed(self, plain):
        before = (plain / "lib" / "libdatawarp.so.1").stat().st_mtime_ns
        emulator.build(plain, ("-Werror", "-Wshadow"))
        assert (plain / "lib" / "libdatawarp.so.1").stat().st_mtime_ns == before
        (plain / ".built").write_text("of other sources")
        emulator.build(plain, ("-Werror", "-Wshadow"))
        assert (plain / "lib" / "libdatawarp.so.1").stat().st_mtime_ns > before

    def test_without_a_compiler_one_line_says_so(self, tmp_path):
        done = subprocess.run(
            [sys.executable, "-m", "burstlens.stagers.emulator", tmp_path / "new"],
            env=os.environ | {"PATH": str(tmp_path)}, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 1
        assert len(done.stderr.splitlines()) == 1
        assert "no cc on PATH" in done.stderr
