from __future__ import annotations

import os
import resource
import subprocess
import sys

import pytest

from burstlens.durable import read_json, write_json, write_whole


def test_new_content_replaces_the_old_and_leaves_no_temporary_file(tmp_path):
    path = tmp_path / "status.json"
    write_json(path, {"state": "läuft"})
    write_json(path, {"state": "done"}, sync=False)
    assert read_json(path) == {"state": "done"}
    assert os.listdir(tmp_path) == ["status.json"]


def test_a_full_disk_leaves_the_old_content_and_no_temporary_file(tmp_path):
    path = tmp_path / "status.json"
    write_whole(path, "old\n")
    code = f"""
import pathlib, sys
from burstlens.durable import write_whole
try:
    write_whole(pathlib.Path({str(path)!r}), "x" * 100_000)
except OSError as error:
    sys.exit(error.errno)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)),
    )
    assert done.returncode == 27  # EFBIG
    assert path.read_text() == "old\n"
    assert os.listdir(tmp_path) == ["status.json"]


def test_a_folder_that_is_gone_is_told_as_it_is(tmp_path):
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
