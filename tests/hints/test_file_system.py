"""The file system of a folder, by the table of mounts."""

from __future__ import annotations

from burstlens.workflows.hints.file_system import file_system

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
