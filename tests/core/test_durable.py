from __future__ import annotations

import os
import resource
import subprocess
import sys

import pytest

from burstlens.core.durable import (
    LARGEST_DROPPED_BYTES,
    make_folders,
    open_regular,
    read_dropped,
    read_json,
    sync_folder,
    write_json,
    write_whole,
)


@pytest.fixture
def flushed(monkeypatch):
    """What was flushed to disk: name and size, in order."""
    found: list[tuple[str, int]] = []
    flush = os.fsync

    def noted(descriptor: int) -> None:
        path = os.readlink(f"/proc/self/fd/{descriptor}")
        found.append((os.path.basename(path), os.fstat(descriptor).st_size))
        flush(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    return found


@pytest.fixture
def closes_all():
    """Fails where the test leaves a file open."""
    before = set(os.listdir("/proc/self/fd"))
    yield
    assert set(os.listdir("/proc/self/fd")) == before


def test_content_is_on_disk_before_its_name_and_the_name_on_return(tmp_path, flushed):
    write_whole(tmp_path / "run.json", "content")
    (part, size), (folder, _) = flushed
    assert (part, size) == (f".run.json.{os.getpid()}.part", len("content"))
    assert folder == tmp_path.name


def test_what_need_not_survive_a_crash_is_not_brought_to_disk(tmp_path, flushed):
    write_whole(tmp_path / "status.json", "content", sync=False)
    write_json(tmp_path / "status.json", {}, sync=False)
    assert flushed == []


def test_text_without_utf8_is_written_escaped(tmp_path):
    write_whole(tmp_path / "log", "ä\udc80")
    assert (tmp_path / "log").read_bytes() == "ä".encode() + b"\\udc80"


@pytest.mark.usefixtures("closes_all")
def test_a_folder_is_brought_to_disk_and_nothing_else_is_one(tmp_path, flushed):
    sync_folder(tmp_path)
    assert [name for name, _ in flushed] == [tmp_path.name]
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError):
        sync_folder(tmp_path / "file")


@pytest.mark.usefixtures("closes_all")
def test_folders_are_made_below_one_that_is_there_and_may_be_there_already(tmp_path):
    for _ in range(2):
        make_folders(tmp_path / "a" / "b" / "c", tmp_path)
    assert (tmp_path / "a" / "b" / "c").is_dir()
    make_folders(tmp_path, tmp_path)


@pytest.mark.usefixtures("closes_all")
def test_no_folder_is_made_below_a_missing_path_or_a_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        make_folders(tmp_path / "run" / "a", tmp_path / "run")
    assert os.listdir(tmp_path) == []
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError):
        make_folders(tmp_path / "file" / "a", tmp_path / "file")


@pytest.mark.usefixtures("closes_all")
@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_a_path_that_is_not_a_regular_file_is_refused_by_its_name(tmp_path, kind):
    path = tmp_path / kind
    os.mkfifo(path) if kind == "pipe" else path.mkdir()
    with pytest.raises(OSError, match=f"it is not a regular file.*{kind}"):
        open_regular(path)


def test_a_dropped_file_is_read_up_to_the_largest_size(tmp_path):
    text = '{"a": 1}'
    path = tmp_path / "stop"
    path.write_text(text.ljust(LARGEST_DROPPED_BYTES))
    assert read_dropped(path) == {"a": 1}
    path.write_text(text.ljust(LARGEST_DROPPED_BYTES + 1))
    assert read_dropped(path) is None


@pytest.mark.usefixtures("closes_all")
def test_a_dropped_link_pipe_or_nothing_reads_as_none(tmp_path):
    (tmp_path / "file").write_text("{}")
    (tmp_path / "link").symlink_to("file")
    os.mkfifo(tmp_path / "pipe")
    found = [read_dropped(tmp_path / name) for name in ("file", "link", "pipe", "gone", "a\0b")]
    assert found == [{}, None, None, None, None]
    assert read_json(tmp_path / "link") == {}


def test_new_content_replaces_the_old_and_leaves_no_temporary_file(tmp_path):
    path = tmp_path / "status.json"
    write_json(path, {"state": "läuft"})
    write_json(path, {"state": "done"}, sync=False)
    assert read_json(path) == {"state": "done"}
    assert os.listdir(tmp_path) == ["status.json"]


@pytest.mark.integration
def test_a_full_disk_leaves_the_old_content_and_no_temporary_file(tmp_path):
    path = tmp_path / "status.json"
    write_whole(path, "old\n")
    code = f"""
import pathlib, sys
from burstlens.core.durable import write_whole
try:
    write_whole(pathlib.Path({str(path)!r}), "x" * 100_000)
except OSError as error:
    sys.exit(error.errno)
"""
    done = subprocess.run(
        [sys.executable, "-B", "-c", code],  # else it cuts the compiled modules, too
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)),
    )
    assert done.returncode == 27  # EFBIG
    assert path.read_text() == "old\n"
    assert os.listdir(tmp_path) == ["status.json"]


def test_a_folder_that_was_made_and_reported_as_failed_is_made(tmp_path, monkeypatch):
    real = os.mkdir

    def late(*words, **named):
        real(*words, **named)
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "mkdir", late)
    make_folders(tmp_path / "a" / "b", below=tmp_path)
    assert (tmp_path / "a" / "b").is_dir()
    monkeypatch.setattr(os, "mkdir", lambda *_, **__: late("/proc/no"))
    with pytest.raises(OSError, match="no"):
        make_folders(tmp_path / "c", below=tmp_path)


def test_a_missing_folder_is_reported_as_such(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_whole(tmp_path / "gone" / "status.json", "x")


@pytest.mark.parametrize("content", [b"", b'{"half": ', b"[1, 2]", b"\xff\xfe", b"3"])
def test_what_is_not_yet_a_json_object_reads_as_none(tmp_path, content):
    path = tmp_path / "ended.json"
    path.write_bytes(content)
    assert read_json(path) is None
    assert read_json(tmp_path / "absent.json") is None
    assert read_json(path / "below-a-file.json") is None


def test_a_new_file_obeys_the_umask(tmp_path):
    before = os.umask(0o077)
    try:
        write_json(tmp_path / "run.json", {})
    finally:
        os.umask(before)
    assert (tmp_path / "run.json").stat().st_mode & 0o777 == 0o600
