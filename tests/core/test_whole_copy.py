"""Copies are whole or not there, and a rename that happened is not an error."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from burstlens.core import whole_copy
from burstlens.core.whole_copy import BLOCK, BUFFER, Checksum, copy_whole, rename


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """More than is in memory at once, and a piece of a block."""
    path = tmp_path / "source"
    path.write_bytes(os.urandom(4 * BUFFER + 12345))
    return path


@pytest.fixture
def target(tmp_path: Path) -> Path:
    (tmp_path / "there").mkdir()
    return tmp_path / "there" / "target"


def names(target: Path) -> list[str]:
    return sorted(os.listdir(target.parent))


def test_a_copy_holds_the_same_bytes_and_says_so(source: Path, target: Path):
    content = source.read_bytes()
    assert copy_whole(source, target) == Checksum(len(content), zlib.crc32(content))
    assert target.read_bytes() == content
    assert names(target) == ["target"]


@pytest.mark.parametrize("size", [1, BLOCK, BLOCK + 1, BUFFER, BUFFER + 1, 2 * BUFFER])
def test_files_that_end_at_or_near_the_end_of_a_block_are_copied(
    size: int, tmp_path: Path, target: Path
):
    content = os.urandom(size)
    (tmp_path / "small").write_bytes(content)
    assert copy_whole(tmp_path / "small", target) == Checksum(size, zlib.crc32(content))
    assert target.read_bytes() == content


def test_what_is_brought_to_disk_while_more_is_copied_is_brought_or_the_copy_fails(
    source: Path, target: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(whole_copy, "FLUSHED_BYTES", BUFFER)
    real, first = os.fdatasync, []

    def failing(descriptor):
        if not first:  # the kernel says it once
            first.append(descriptor)
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        real(descriptor)

    monkeypatch.setattr(os, "fdatasync", failing)
    with pytest.raises(OSError, match="Input/output"):
        copy_whole(source, target)
    assert names(target) == []


def test_an_empty_file_is_copied(tmp_path: Path, target: Path):
    (tmp_path / "empty").touch()
    assert copy_whole(tmp_path / "empty", target) == Checksum(0, 0)
    assert target.read_bytes() == b""


def test_a_copy_replaces_a_link_and_not_what_it_leads_to(source: Path, target: Path):
    target.with_name("other").write_bytes(b"other")
    target.symlink_to("other")
    copy_whole(source, target)
    assert not target.is_symlink()
    assert target.with_name("other").read_bytes() == b"other"


def test_the_mode_is_the_umasks_or_that_of_the_source(source: Path, target: Path):
    source.chmod(0o750)
    os.utime(source, ns=(10**18, 10**18))
    before = os.umask(0o027)
    try:
        copy_whole(source, target)
        assert target.stat().st_mode & 0o777 == 0o640
    finally:
        os.umask(before)
    copy_whole(source, target, keep_mode=True)
    assert (target.stat().st_mode & 0o777, target.stat().st_mtime_ns) == (0o750, 10**18)


@pytest.mark.parametrize("number", [errno.EIO, errno.ESTALE, errno.ENOSPC])
@pytest.mark.parametrize("call", ["readv", "write", "preadv", "fdatasync", "fsync", "replace"])
def test_a_call_that_fails_leaves_what_was_there(
    call: str, number: int, source: Path, target: Path, monkeypatch: pytest.MonkeyPatch
):
    target.write_bytes(b"older")
    real, calls = getattr(os, call), []

    def failing(*words, **named):
        calls.append(words)
        if len(calls) == (3 if call in ("readv", "write", "preadv") else 1):
            raise OSError(number, os.strerror(number))
        return real(*words, **named)

    monkeypatch.setattr(os, call, failing)
    with pytest.raises(OSError, match=os.strerror(number)) as raised:
        copy_whole(source, target)
    assert (raised.value.filename == str(source)) == (call == "readv")
    assert target.read_bytes() == b"older"
    assert names(target) == ["target"]


def test_a_read_that_ends_too_early_is_no_end_of_the_file(
    source: Path, target: Path, monkeypatch: pytest.MonkeyPatch
):
    real, calls = os.readv, []

    def short(descriptor, buffers):
        calls.append(descriptor)
        return 0 if len(calls) == 3 else real(descriptor, buffers)

    monkeypatch.setattr(os, "readv", short)
    with pytest.raises(OSError, match="only") as raised:
        copy_whole(source, target)
    assert raised.value.errno == errno.EIO
    assert names(target) == []


def test_a_write_of_a_part_is_continued(
    source: Path, target: Path, monkeypatch: pytest.MonkeyPatch
):
    real = os.write
    monkeypatch.setattr(os, "write", lambda file, block: real(file, block[:77777]))
    copy_whole(source, target)
    assert target.read_bytes() == source.read_bytes()


def test_a_byte_that_changes_on_the_way_is_noticed(
    source: Path, target: Path, monkeypatch: pytest.MonkeyPatch
):
    real, calls = os.write, []

    def flipping(file, block):
        calls.append(file)
        content = bytearray(block)
        content[0] ^= len(calls) == 2
        return real(file, content)

    monkeypatch.setattr(os, "write", flipping)
    with pytest.raises(OSError, match="the copy differs") as raised:
        copy_whole(source, target)
    assert raised.value.errno == errno.EIO
    assert names(target) == []


@pytest.mark.parametrize("grows", [False, True])
def test_a_source_that_grows_meanwhile_is_only_taken_where_it_may(
    grows: bool, source: Path, target: Path, monkeypatch: pytest.MonkeyPatch
):
    real, content = os.write, source.read_bytes()

    def growing(file, block):
        with source.open("ab") as stream:
            stream.write(b"more")
        return real(file, block)

    monkeypatch.setattr(os, "write", growing)
    if grows:
        copy_whole(source, target, grows=True)
        assert target.read_bytes() == content
    else:
        with pytest.raises(OSError, match="it changed while it was copied") as raised:
            copy_whole(source, target)
        assert raised.value.errno == errno.EAGAIN
        assert names(target) == []


@pytest.mark.parametrize(
    ("make", "number"),
    [(Path.mkdir, errno.EISDIR), (os.mkfifo, errno.EINVAL), (lambda path: None, errno.ENOENT)],
)
def test_what_is_not_a_file_is_not_copied(make, number: int, tmp_path: Path, target: Path):
    make(tmp_path / "odd")
    with pytest.raises(OSError, match="odd") as raised:
        copy_whole(tmp_path / "odd", target)
    assert raised.value.errno == number
    assert names(target) == []


def test_a_rename_that_happened_and_was_reported_as_failed_is_done(
    source: Path, target: Path, monkeypatch: pytest.MonkeyPatch
):
    real = os.replace

    def late(one, other):
        real(one, other)
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "replace", late)
    target.write_bytes(b"older")
    content = source.read_bytes()
    rename(source, target)
    assert target.read_bytes() == content
    assert not source.exists()


def test_a_rename_that_failed_is_an_error(
    source: Path, target: Path, monkeypatch: pytest.MonkeyPatch
):
    def failing(*_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(OSError, match="Input/output"):
        rename(source, target)
    assert source.exists()


COPY = """\
import resource, sys, threading
from burstlens.core import whole_copy
whole_copy.FLUSHED_BYTES = 1 << 20
vmsize = next(line for line in open("/proc/self/status") if line.startswith("VmSize:"))
stack, used = 1 << 30, 1024 * int(vmsize.split()[1])
threading.stack_size(stack)
resource.setrlimit(resource.RLIMIT_AS, (used + {threads} * stack + stack // 2,) * 2)
copied = whole_copy.copy_whole(*sys.argv[1:])
print(copied.bytes, copied.crc32)
"""


@pytest.mark.integration
@pytest.mark.parametrize("threads", [0, 1, 2])
def test_a_large_file_is_copied_where_the_machine_starts_no_more_threads(
    threads: int, source: Path, target: Path
):
    command = [sys.executable, "-c", COPY.format(threads=threads), source, target]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    content = source.read_bytes()
    assert (done.stderr, done.stdout.split()) == ("", [str(len(content)), str(zlib.crc32(content))])
    assert target.read_bytes() == content
