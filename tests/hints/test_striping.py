"""The file system of a folder by the table of mounts, and stripes of folders by ``lfs``.

There is no Lustre here: a table of mounts that names one, and a program that notes what it was
given, stand at its place.
"""

from __future__ import annotations

import os
import shlex

import pytest

from burstlens.workflows.hints import striping
from burstlens.workflows.hints.striping import file_system, set_stripes

pytestmark = pytest.mark.integration

TABLE = r"""
/dev/vda / ext4 rw 0 0
10.0.0.1@o2ib:/s /scratch lustre rw,flock 0 0
tmpfs /scratch/fast\040disk tmpfs rw 0 0
nfs:/home /home nfs4 rw 0 0
nvme /home xfs rw 0 0
"""


def test_the_longest_mount_point_that_holds_the_folder_counts(tmp_path):
    table = tmp_path / "mounts"
    table.write_text(TABLE)
    found = {
        folder: file_system(folder, table)
        for folder in ("/", "/scratch", "/scratch/me/run", "/scratches", "/scratch/fast disk/x")
    }
    assert found == {
        "/": "ext4",
        "/scratch": "lustre",
        "/scratch/me/run": "lustre",
        "/scratches": "ext4",
        "/scratch/fast disk/x": "tmpfs",
    }


def test_of_two_mounts_at_one_place_the_later_one_is_seen(tmp_path):
    table = tmp_path / "mounts"
    table.write_text(TABLE)
    assert file_system("/home/me", table) == "xfs"


def test_without_the_table_it_is_not_known(tmp_path):
    assert file_system("/", tmp_path / "none") == ""


def test_this_machine_s_table_has_the_root():
    assert file_system("/proc/self") == "proc"


@pytest.fixture
def lustre(tmp_path, monkeypatch):
    """Makes ``lfs`` a shell script, the only program on PATH, and calls set_stripes below a folder
    that a table of mounts calls Lustre; what it yields, and what lfs was given."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    table = tmp_path / "mounts"
    table.write_text(f"10.0.0.1@tcp:/scratch {tmp_path} lustre rw 0 0\n")
    base = tmp_path / "it's here"

    def call(*stripes, lfs="exit 0"):
        if lfs is not None:
            program = tmp_path / "bin" / "lfs"
            given = shlex.quote(str(tmp_path / "given"))
            program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> {given}\n{lfs}\n')
            program.chmod(0o755)
        found = list(set_stripes(base, stripes, table))
        given = tmp_path / "given"
        return found, given.read_text().splitlines() if given.exists() else []

    return call


def wide(folder="", count=64, size=4 << 20):
    return {"folder": folder, "count": count, "size": size}


def test_an_empty_folder_gets_its_stripes_and_no_shell_reads_its_name(lustre, tmp_path):
    ((worked, text),), given = lustre(wide())
    folder = str(tmp_path / "it's here")
    assert given == ["setstripe", "-c", "64", "-S", "4194304", folder]
    assert worked
    assert text == f"new files of {folder} get 64 stripes of 4 MiB"


def test_folders_below_are_made_and_the_file_system_s_own_size_is_left(lustre, tmp_path):
    found, given = lustre(wide("out", -1, None))
    assert given == ["setstripe", "-c", "-1", str(tmp_path / "it's here" / "out")]
    assert found[0][1].endswith("get stripes on all targets")


def test_what_a_folder_holds_already_keeps_its_stripes_and_that_is_said(lustre, tmp_path):
    (tmp_path / "it's here").mkdir()
    (tmp_path / "it's here" / "wrfrst").touch()
    ((worked, text),), _ = lustre(wide())
    assert worked
    assert text.endswith("; what it holds already, 1 entries, keeps its own")


@pytest.mark.parametrize(
    ("lfs", "why"),
    [
        (None, "there is no lfs on PATH"),
        ("echo 'error: setstripe: stripe count 64: Invalid argument'; exit 22", "Invalid argument"),
        ("exit 3", "lfs ended with 3"),
    ],
)
def test_lfs_that_is_missing_or_fails_is_said_and_the_next_folder_is_tried(lustre, lfs, why):
    found, _ = lustre(wide("a"), wide("b"), lfs=lfs)
    assert [worked for worked, _ in found] == [False, False]
    assert all(why in text for _, text in found)


def test_lfs_that_hangs_is_given_up(lustre, monkeypatch):
    monkeypatch.setattr(striping, "LIMIT_S", 0.2)
    ((worked, text),), _ = lustre(wide(), lfs="exec /bin/sleep 60")
    assert not worked
    assert text.endswith("lfs setstripe did not end within 0.2 s")


def test_a_folder_that_cannot_be_made_is_said(lustre, tmp_path):
    (tmp_path / "it's here").write_text("a file")
    ((worked, text),), given = lustre(wide("out"))
    assert (worked, given) == (False, [])
    assert "does not get 64 stripes of 4 MiB" in text


def test_on_another_file_system_lfs_is_not_started(tmp_path):
    ((worked, text),) = set_stripes(tmp_path, [wide()])
    assert not worked
    assert text == f"{tmp_path} is on {file_system(tmp_path)}: 64 stripes of 4 MiB have no effect"
    assert os.listdir(tmp_path) == []
