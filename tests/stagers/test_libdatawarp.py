"""The binding: each call against the emulator, and its errors against small libraries of C."""

from __future__ import annotations

import contextlib
import errno
import pickle
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from cffi import FFI

from burstlens.core.errors import SiteError, StagingError
from burstlens.stagers import libdatawarp
from burstlens.stagers.libdatawarp import Counts, Directory, File, FileList

pytestmark = pytest.mark.integration

DOCS = Path(__file__).parents[2] / "docs" / "datawarp.md"
COMPLETE = Counts(complete=1, pending=0, deferred=0, failed=0)
DEFERRED = Counts(complete=0, pending=0, deferred=1, failed=0)

# Answers with the errno that the path spells; its walk fails, and counts how often it is closed.
ODD = """
#include <stdlib.h>
int closed = 0;
int dw_wait_file_stage(const char *path) { return -atoi(path); }
int dw_open_failed_stage(const char *path, void **state) { *state = &closed; return 0; }
int dw_read_failed_stage(void *state, char *path, int size, int *number) {
    path[0] = '/'; path[1] = 'a'; path[2] = 0; *number = 28;
    return (*(int *)state)++ < 0 ? 0 : 2;
}
int dw_close_failed_stage(void *state) { closed = 100; return 0; }
"""


@pytest.fixture
def odd(tmp_path, libdatawarp_at):
    source = tmp_path / "odd.c"
    source.write_text(ODD)
    library = tmp_path / "libodd.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    libdatawarp_at(library)
    return library


def walks_closed(library):
    ffi = FFI()
    ffi.cdef("extern int closed;")
    return ffi.dlopen(str(library)).closed == 100


@pytest.fixture
def pfs(tmp_path):
    (tmp_path / "pfs").mkdir()
    return tmp_path / "pfs"


class TestCalls:
    @pytest.fixture(autouse=True)
    def _real(self, emulator):
        pass

    def test_a_file_goes_out(self, buffer, pfs):
        frame = File(buffer / "frame.nc")
        Path(frame.path).write_bytes(b"frame")
        frame.stage_out(pfs / "copy.nc")
        frame.wait()
        assert frame.query() == COMPLETE
        assert (pfs / "copy.nc").read_bytes() == b"frame"

    def test_a_file_comes_in(self, buffer, pfs):
        (pfs / "input").write_bytes(b"input")
        File(buffer / "input").stage_in(pfs / "input")
        File(buffer / "input").wait()
        assert File(buffer / "input").query() == COMPLETE
        assert (buffer / "input").read_bytes() == b"input"

    def test_the_documented_calls_run(self, buffer, pfs):
        code = re.search(r"```python\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)[1]
        (buffer / "frame.nc").write_bytes(b"frame")
        names = {}
        exec(
            code.replace("/path/on/the/buffer", str(buffer)).replace("/lustre/me", str(pfs)), names
        )
        assert names["counts"] == COMPLETE
        assert (pfs / "frame.nc").read_bytes() == b"frame"

    def test_a_directory_goes_out_with_what_is_below(self, buffer, pfs):
        (buffer / "case" / "below").mkdir(parents=True)
        (buffer / "case" / "a").write_bytes(b"a")
        (buffer / "case" / "below" / "b").write_bytes(b"b")
        case = Directory(buffer / "case")
        case.stage_out(pfs)
        case.wait()
        assert case.query() == Counts(2, 0, 0, 0)
        assert sorted(path.read_bytes() for path in pfs.rglob("*") if path.is_file()) == [
            b"a",
            b"b",
        ]

    def test_a_directory_comes_in_with_what_is_below(self, buffer, pfs):
        (pfs / "below").mkdir()
        (pfs / "below" / "b").write_bytes(b"b")
        (buffer / "case").mkdir()
        case = Directory(buffer / "case")
        case.stage_in(pfs)
        case.wait()
        assert case.query().complete == 1
        assert [path.read_bytes() for path in buffer.rglob("b")] == [b"b"]

    def test_a_list_comes_in_and_goes_out(self, buffer, pfs):
        for name in "abc":
            (pfs / name).write_bytes(name.encode())
        (buffer / "in").mkdir()
        Directory(buffer / "in").stage_files_in([pfs / name for name in "abc"])
        files = FileList(tuple(buffer / "in" / name for name in "abc"))
        files.wait()
        assert files.query() == Counts(3, 0, 0, 0)
        (pfs / "out").mkdir()
        files.stage_out(pfs / "out")
        files.wait()
        assert files.query() == Counts(3, 0, 0, 0)
        assert {path.name: path.read_bytes() for path in (pfs / "out").iterdir()} == {
            "a": b"a", "b": b"b", "c": b"c"
        }  # fmt: skip

    @pytest.mark.parametrize("kind", ["file", "directory", "list"])
    def test_a_deferred_stage_waits_and_can_be_revoked_or_activated(self, buffer, pfs, kind):
        (buffer / "case").mkdir()
        (buffer / "case" / "a").write_bytes(b"a")
        staged, target = {
            "file": (File(buffer / "case" / "a"), pfs / "a"),
            "directory": (Directory(buffer / "case"), pfs),
            "list": (FileList((buffer / "case" / "a",)), pfs),
        }[kind]
        staged.stage_out(target, at_job_end=True)
        assert staged.query() == DEFERRED
        staged.revoke()
        assert File(buffer / "case" / "a") not in deferred(buffer)
        staged.stage_out(target, at_job_end=True)
        staged.activate()
        staged.wait()
        assert staged.query() == COMPLETE
        assert (pfs / "a").read_bytes() == b"a"

    def test_a_stage_given_up_is_forgotten(self, buffer, pfs, fault):
        fault("hang", "a")
        (buffer / "a").write_bytes(b"a")
        staged = File(buffer / "a")
        staged.stage_out(pfs / "a")
        assert staged.query() == Counts(0, 1, 0, 0)
        staged.terminate()
        with pytest.raises(StagingError) as raised:
            staged.query()
        assert raised.value.errno == errno.EINVAL

    def test_a_failed_stage_is_on_record_with_its_errno(self, buffer, pfs, fault):
        fault("EIO", "b")
        for name in "ab":
            (buffer / name).write_bytes(b"x")
            File(buffer / name).stage_out(pfs / name)
            File(buffer / name).wait()
        assert File(buffer / "b").query() == Counts(0, 0, 0, 1)
        ((path, number),) = [(one.path, one.errno) for one in libdatawarp.failed_stages(buffer)]
        assert (Path(path).name, number) == ("b", errno.EIO)

    def test_a_file_never_staged_and_a_missing_one_are_different_errors(self, buffer):
        (buffer / "a").touch()
        for name, number in (("a", errno.EINVAL), ("gone", errno.ENOENT)):
            with pytest.raises(StagingError) as raised:
                File(buffer / name).query()
            assert raised.value.errno == number
            assert str(buffer / name) in str(raised.value)

    def test_stripes_are_set_and_read(self, buffer):
        with (buffer / "wide").open("wb") as stream:
            libdatawarp.set_stripes(stream.fileno(), 1 << 20, 2)
            found = libdatawarp.stripes(stream.fileno())
            assert (found.size_bytes, found.width) == (1 << 20, 2)
            with pytest.raises(StagingError) as raised:
                libdatawarp.set_stripes(stream.fileno(), 1000, 2)
        assert raised.value.errno == errno.EINVAL

    def test_the_number_of_stages_at_once_can_be_set(self, buffer, pfs):
        libdatawarp.set_stage_concurrency(buffer, 1)
        for name in "abc":
            (buffer / name).write_bytes(b"x")
            File(buffer / name).stage_out(pfs / name)
        files = FileList(tuple(buffer / name for name in "abc"))
        files.wait()
        assert files.query().complete == 3
        with pytest.raises(StagingError):
            libdatawarp.set_stage_concurrency(buffer / "absent", 1)

    def test_other_threads_run_while_one_waits(self, buffer, pfs, fault):
        fault("hang", "a")
        (buffer / "a").write_bytes(b"a")
        staged = File(buffer / "a")
        staged.stage_out(pfs / "a")
        entered, left = threading.Event(), threading.Event()

        def wait():
            entered.set()
            with contextlib.suppress(StagingError):  # what it says of a stage given up is open
                staged.wait()
            left.set()

        thread = threading.Thread(target=wait)
        thread.start()
        entered.wait()
        # Nothing ends that wait but this thread: with the GIL held it would never come to it.
        assert not left.wait(0.3)
        staged.terminate()
        thread.join(120)
        assert left.is_set()

    def test_a_path_in_an_instance_is_known_as_emulated(self, buffer, pfs):
        assert libdatawarp.emulated(buffer)
        assert not libdatawarp.emulated(pfs)


def deferred(buffer):
    found = []
    for path in buffer.rglob("*"):
        try:
            if path.is_file() and File(path).query().deferred:
                found.append(File(path))
        except StagingError:
            continue
    return found


@pytest.mark.usefixtures("odd")
class TestErrors:
    @pytest.mark.parametrize(
        "number",
        [errno.EAGAIN, errno.EBUSY, errno.EALREADY, errno.EINTR, errno.ETIMEDOUT, errno.ENOBUFS],
    )
    def test_what_may_pass_is_transient(self, number):
        with pytest.raises(StagingError, match="dw_wait_file_stage") as raised:
            File(str(number)).wait()
        assert (raised.value.errno, raised.value.path) == (number, str(number))
        assert raised.value.transient
        assert pickle.loads(pickle.dumps(raised.value)).errno == number

    @pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC, errno.ENOENT, errno.EINVAL])
    def test_what_stays_is_not(self, number):
        with pytest.raises(StagingError) as raised:
            File(str(number)).wait()
        assert raised.value.errno == number
        assert not raised.value.transient

    def test_a_function_that_the_library_lacks_is_named_when_it_is_called(self, odd):
        with pytest.raises(SiteError, match="dw_query_file_stage") as raised:
            File("0").query()
        assert str(odd) in str(raised.value)
        File("0").wait()  # what it has still works

    def test_a_path_that_c_would_cut_short_is_refused(self):
        with pytest.raises(StagingError, match="NUL"):
            File("0\0" + "5").wait()

    def test_a_walk_that_is_left_early_is_closed(self, odd):
        walk = libdatawarp.failed_stages("/")
        assert next(walk) == libdatawarp.FailedStage("/a", errno.ENOSPC)
        assert not walks_closed(odd)
        walk.close()
        assert walks_closed(odd)

    def test_a_walk_that_breaks_is_closed(self, odd):
        def first():
            for failed in libdatawarp.failed_stages("/"):
                raise KeyError(failed.path)

        with pytest.raises(KeyError):
            first()
        assert walks_closed(odd)

    def test_a_library_that_is_not_the_emulator_emulates_no_instance(self):
        assert not libdatawarp.emulated("/")


class TestLoading:
    def test_a_missing_library_is_one_message_with_all_places(self, libdatawarp_at, monkeypatch):
        monkeypatch.setenv("PKG_CONFIG_PATH", "")
        libdatawarp_at("/nowhere/libdatawarp.so")
        with pytest.raises(SiteError) as raised:
            File("/a").query()
        message = str(raised.value)
        for place in ("$BURSTLENS_LIBDATAWARP", "pkg-config cray-datawarp", "dynamic linker",
                      "/opt/cray/dws/default/lib", "/nowhere/libdatawarp.so"):  # fmt: skip
            assert place in message

    def test_a_file_that_is_not_a_library_is_reported(self, libdatawarp_at, tmp_path):
        (tmp_path / "text.so").write_text("not a library")
        libdatawarp_at(tmp_path / "text.so")
        with pytest.raises(SiteError, match=r"text\.so"):
            File("/a").query()

    def test_pkg_config_finds_it_where_the_variable_does_not(
        self, emulator, buffer, libdatawarp_at, monkeypatch
    ):
        monkeypatch.setenv("PKG_CONFIG_PATH", str(emulator.parent / "pkgconfig"))
        libdatawarp_at(None)
        assert libdatawarp.emulated(buffer)

    def test_a_variable_that_names_no_library_warns_when_another_is_taken(
        self, emulator, buffer, libdatawarp_at, monkeypatch
    ):
        monkeypatch.setenv("PKG_CONFIG_PATH", str(emulator.parent / "pkgconfig"))
        libdatawarp_at("/nowhere/libdatawarp.so")
        with pytest.warns(UserWarning, match="is taken instead"):
            assert libdatawarp.emulated(buffer)

    def test_nothing_is_loaded_by_the_import(self):
        code = "import sys, burstlens.stagers.datawarp; sys.exit('cffi' in sys.modules)"
        assert subprocess.run([sys.executable, "-c", code]).returncode == 0
